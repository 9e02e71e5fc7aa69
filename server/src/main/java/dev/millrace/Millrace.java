package dev.millrace;

import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;

/**
 * Millrace inside a Java program.
 *
 * <pre>
 *   try (Database database = Millrace.open();
 *           Session session = database.session()) {
 *       session.execute("CREATE STREAM clicks (page TEXT); ...").drain();
 *   }
 * </pre>
 *
 * Arrow's buffers need {@code --add-opens=java.base/java.nio=ALL-UNNAMED}.
 */
public final class Millrace {
    private Millrace() {}

    /** A database in memory, with a worker per core. */
    public static Database open() {
        return open(DatabaseOptions.defaults());
    }

    public static Database open(DatabaseOptions options) {
        return Database.open(options);
    }
}
