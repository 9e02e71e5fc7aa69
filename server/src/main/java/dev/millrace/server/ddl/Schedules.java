package dev.millrace.server.ddl;

import dev.millrace.connector.Options;
import dev.millrace.engine.intake.Schedule;
import dev.millrace.engine.runtime.QueryOptions;
import dev.millrace.error.MillraceException;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.result.StatementResult.Command;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.ObjectKind;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** {@code schedule}, the option of continuous queries and views, and ALTER .. SET and RESET of it, which takes effect at once. By who holds the lock of definitions. */
final class Schedules {
    static final String OPTION = "schedule";

    private final Instance database;

    Schedules(Instance database) {
        this.database = database;
    }

    /** What options say. @throws MillraceException 22023 for what is no schedule */
    static QueryOptions scheduled(QueryOptions how, Options options) {
        return options.text(OPTION).map(Schedule::of).map(how::withSchedule).orElse(how);
    }

    /** Whether a statement alters this option, among others. */
    static boolean isOne(Statement.AlterOptions alter) {
        return (alter.kind() == ObjectKind.CONTINUOUS_QUERY || alter.kind() == ObjectKind.MATERIALIZED_VIEW)
                && alter.options().containsKey(OPTION);
    }

    Command alter(Statement.AlterOptions alter) {
        CatalogObject object = database.catalog().require(alter.kind(), alter.name());
        if (alter.options().size() > 1) {
            throw MillraceException.notAvailableYet("ALTER .. SET of " + OPTION + " and others at once")
                    .withHint("set it by itself");
        }
        String text = alter.options().getOrDefault(OPTION, "");
        Schedule schedule = text.isEmpty() ? Schedule.DATA : Schedule.of(text);
        Map<String, String> options = new TreeMap<>(object.options());
        options.remove(OPTION);
        if (!text.isEmpty()) {
            options.put(OPTION, text);
        }
        database.standing(alter.name())
                .filter(query -> query.state().isAlive())
                .ifPresent(query -> query.schedule(schedule));
        database.catalog().replace(object.withOptions(options));
        return Command.of("ALTER " + alter.kind().sqlName().toUpperCase(Locale.ROOT));
    }
}
