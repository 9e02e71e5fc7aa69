package dev.millrace;

import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;

/**
 * Millrace inside a Java program.
 *
 * <pre>
 *   try (Database database = Millrace.open()) {
 *       database.execute("CREATE STREAM clicks (page TEXT); CREATE MATERIALIZED VIEW ...");
 *       database.subscribe("SUBSCRIBE TO totals").subscribe(subscriber);   // Flow.Publisher of batches
 *       database.insert("clicks", arrowRows);
 *       try (StatementResult.Rows rows = database.query("SELECT * FROM totals")) { ... }
 *   }
 * </pre>
 *
 * What Arrow makes of its buffers by itself, such as IPC, needs {@code --add-opens=java.base/java.nio=ALL-UNNAMED}. Who owns what,
 * and which threads do what, is said at {@link Database} and in docs/embedding.md.
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
