package dev.millrace.server.session;

import dev.millrace.engine.runtime.StandingQuery;
import java.util.Optional;

/** What a simulation sees and does of a database that no statement says. On the thread of the database. */
public final class InsideDatabase {
    private InsideDatabase() {}

    /** Whether a query shares what runs it. */
    public static boolean isShared(Database database, String query) {
        return database.instance().standing(query).flatMap(StandingQuery::group).isPresent();
    }

    /** The text of a secret, which nobody is shown. */
    public static Optional<String> secret(Database database, String name) {
        return database.instance().secrets().text(name);
    }

    /** Whether a query that began in the past of a stream has not all of it. */
    public static boolean isReadingThePast(Database database) {
        return database.instance().retained().backfills().stream()
                .anyMatch(backfill -> !backfill.progress().isOver());
    }

    /** Whether the log of rows takes none, because the disk does not. */
    public static boolean isRefusingRows(Database database) {
        return database.instance().journal().failure().isPresent();
    }

    /** What the thread that looks after streams does now and then where there are threads. */
    public static void maintainRetention(Database database) {
        database.instance()
                .retained()
                .removeDropped(number -> database.instance()
                        .catalogStore()
                        .directory()
                        .orElseThrow()
                        .catalog()
                        .numbers()
                        .contains(number));
        database.instance().retained().maintain();
    }
}
