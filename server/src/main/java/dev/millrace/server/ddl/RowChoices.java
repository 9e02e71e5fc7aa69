package dev.millrace.server.ddl;

import dev.millrace.condense.ErrorColumns;
import dev.millrace.connector.Options;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.tree.Rewriter;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.result.StatementResult.Command;
import dev.millrace.server.retention.Backfill;
import dev.millrace.server.retention.RetainedStreams;
import dev.millrace.server.retention.RowChoice;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * {@code materialize}, the option of queries that read what streams kept, and ALTER .. SET and RESET of it, which takes effect at once. By who holds the
 * lock of definitions.
 */
final class RowChoices {
    private final Instance database;

    RowChoices(Instance database) {
        this.database = database;
    }

    /** Whether a statement alters this option, among others. */
    static boolean isOne(Statement.AlterOptions alter) {
        return alter.kind() != ObjectKind.TABLE
                && alter.kind() != ObjectKind.STREAM
                && alter.options().containsKey(RowChoice.OPTION);
    }

    Command alter(Statement.AlterOptions alter) {
        CatalogObject object = database.catalog().require(alter.kind(), alter.name());
        if (alter.options().size() > 1) {
            throw MillraceException.notAvailableYet("ALTER .. SET of " + RowChoice.OPTION + " and others at once")
                    .withHint("set it by itself");
        }
        String text = alter.options().getOrDefault(RowChoice.OPTION, "");
        boolean isReset = text.isEmpty();
        RowChoice choice = isReset ? RowChoice.ALL : RowChoice.of(new Options(Map.of(RowChoice.OPTION, text)));
        List<Backfill> backfills = database.retained().backfillsOf(alter.name());
        if (backfills.isEmpty()) {
            throw ofNoPast();
        }
        database.standing(alter.name())
                .ifPresent(query -> require(alter.name(), choice, query.plan(), streams(backfills)));
        Map<String, String> options = new TreeMap<>(object.options());
        options.remove(RowChoice.OPTION);
        if (!isReset) {
            options.put(RowChoice.OPTION, text);
        }
        database.catalog().replace(object.withOptions(options));
        backfills.forEach(backfill -> backfill.choose(choice));
        return Command.of("ALTER " + alter.kind().sqlName().toUpperCase(Locale.ROOT));
    }

    private static List<String> streams(List<Backfill> backfills) {
        return backfills.stream().map(Backfill::stream).toList();
    }

    /**
     * Refuses what a query cannot be given.
     *
     * @param query its name
     * @param plan of the query, by its own readers or not
     * @param streams whose past it reads
     * @throws MillraceException 0A000 if bounds are asked for, which hold of all rows; 22023 if no stream has sketches, and the choice is among their rows
     */
    void require(String query, RowChoice choice, PlanNode plan, List<String> streams) {
        if (choice.isAll()) {
            return;
        }
        if (streams.stream().anyMatch(stream -> asksErrors(plan, stream, query))) {
            throw MillraceException.notAvailableYet(
                            "error_bound, or max_error, with " + RowChoice.OPTION + " = '" + choice + "'")
                    .withHint("bounds hold of an answer over all rows: " + RowChoice.OPTION + " = 'all'");
        }
        if (choice.isOfSketches() && streams.stream().noneMatch(database.retained()::isSketched)) {
            throw MillraceException.user(
                            SqlState.INVALID_PARAMETER_VALUE,
                            RowChoice.OPTION + " = '" + choice + "' is for streams WITH (retention.form = 'sketch')")
                    .withHint(RowChoice.OPTION + " = 'sample(0.1)' is for any stream that keeps its rows");
        }
    }

    /** Whether a plan reads how far values of a stream may be off. */
    private boolean asksErrors(PlanNode plan, String stream, String query) {
        Schema schema = database.catalog().object(stream).orElseThrow().schema();
        Set<String> names = Set.of(stream, RetainedStreams.ownName(stream, query));
        boolean[] asks = {false};
        Rewriter.rewrite(plan, node -> {
            asks[0] |= node instanceof PlanNode.Scan scan
                    && names.contains(scan.relation())
                    && scan.columns().stream().anyMatch(column -> ErrorColumns.isOne(schema, column));
            return Optional.empty();
        });
        return asks[0];
    }

    /** Refuses a choice of a query that reads no past. */
    static void requireNone(RowChoice choice) {
        if (!choice.isAll()) {
            throw ofNoPast();
        }
    }

    private static MillraceException ofNoPast() {
        return MillraceException.user(
                        SqlState.INVALID_PARAMETER_VALUE,
                        RowChoice.OPTION + " is for queries that read what a stream WITH (retention = ..) keeps")
                .withHint("start = 'earliest' has a query read it");
    }
}
