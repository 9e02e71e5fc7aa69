package dev.millrace.server.ddl;

import dev.millrace.connector.Options;
import dev.millrace.error.MillraceException;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.planning.StatementKinds;
import dev.millrace.server.result.StatementResult.Command;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.ObjectKind;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;

/** Options of PostgreSQL's relations that say how rows lie on disk, which tools send. They have no effect, and a notice says so. */
final class StorageOptions {
    private static final String NO_EFFECT = " has no effect here";
    private static final String AUTOVACUUM = "autovacuum_";

    /** By name, what is told of it. */
    private static final Map<String, String> KNOWN = new TreeMap<>(Map.of(
            "with no data", "a materialized view is filled as it is made: WITH NO DATA" + NO_EFFECT,
            "unlogged", "rows are kept as those of any table: UNLOGGED" + NO_EFFECT));

    static {
        for (String name : List.of(
                "fillfactor",
                "parallel_workers",
                "toast_tuple_target",
                "vacuum_index_cleanup",
                "vacuum_truncate",
                "user_catalog_table",
                "deduplicate_items",
                AUTOVACUUM + "enabled",
                AUTOVACUUM + "vacuum_threshold",
                AUTOVACUUM + "vacuum_scale_factor",
                AUTOVACUUM + "analyze_threshold",
                AUTOVACUUM + "analyze_scale_factor",
                AUTOVACUUM + "vacuum_cost_delay",
                AUTOVACUUM + "vacuum_cost_limit",
                AUTOVACUUM + "freeze_max_age")) {
            KNOWN.put(name, "storage parameter \"" + name + "\"" + NO_EFFECT);
            KNOWN.put("toast." + name, "storage parameter \"toast." + name + "\"" + NO_EFFECT);
        }
    }

    private static final Set<ObjectKind> STORED =
            Set.of(ObjectKind.TABLE, ObjectKind.MATERIALIZED_VIEW, ObjectKind.INDEX);

    private StorageOptions() {}

    /** Takes those that are among the options of CREATE. */
    static void passOver(Options options, Consumer<String> notices) {
        KNOWN.forEach((name, notice) -> options.text(name).ifPresent(value -> notices.accept(notice)));
    }

    /**
     * ALTER .. SET and RESET of such options.
     *
     * @throws MillraceException 0A000 for any other
     */
    static Command alter(Statement.AlterOptions alter, DatabaseCatalog catalog, Consumer<String> notices) {
        String command = "ALTER " + alter.kind().sqlName().toUpperCase(Locale.ROOT);
        CatalogObject object = catalog.object(alter.name())
                .orElseThrow(
                        () -> DatabaseCatalog.undefined(alter.kind().sqlName(), alter.name(), catalog.relationNames()));
        if (object.kind() != alter.kind()) {
            throw StatementKinds.wrongKind(
                    alter.name(), object.kind().sqlName(), alter.kind().sqlName());
        }
        for (String option : alter.options().keySet()) {
            if (!STORED.contains(alter.kind()) || !KNOWN.containsKey(option)) {
                throw MillraceException.notAvailableYet(command + " .. SET or RESET (" + option + ")")
                        .withHint("DROP it and CREATE it WITH other options");
            }
        }
        alter.options().keySet().forEach(option -> notices.accept(KNOWN.getOrDefault(option, "")));
        return Command.of(command);
    }
}
