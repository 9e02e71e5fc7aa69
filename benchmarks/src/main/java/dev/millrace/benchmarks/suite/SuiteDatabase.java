package dev.millrace.benchmarks.suite;

import dev.millrace.batch.Batch;
import dev.millrace.engine.runtime.Engine;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;
import dev.millrace.server.session.Session;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** A database in which a suite runs. Used by one thread. */
final class SuiteDatabase implements AutoCloseable {
    private final Database database;
    private final Session session;

    SuiteDatabase(DatabaseOptions options, String setup) {
        database = Database.open(options);
        session = database.session();
        try {
            execute(setup);
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    Engine engine() {
        return database.engine();
    }

    /** Waits until all that was accepted is in all views, bounded sources to their end. */
    void flush() {
        session.flush();
    }

    /** Another session, for another thread, which closes it. */
    Session another() {
        return database.session();
    }

    /** Executes statements whose rows do not matter. */
    void execute(String sql) {
        select(sql, batch -> {});
    }

    /** Gives the rows of the last query to a consumer, batch by batch, and closes them; returns the columns. */
    Schema select(String sql, Consumer<Batch> consumer) {
        Schema schema = new Schema(List.of());
        try (StatementResults results = session.execute(sql)) {
            while (results.hasNext()) {
                try (StatementResult result = results.next()) {
                    if (result instanceof StatementResult.Rows rows) {
                        schema = rows.schema();
                        for (Optional<Batch> next = rows.next(); next.isPresent(); next = rows.next()) {
                            try (Batch batch = next.get()) {
                                consumer.accept(batch);
                            }
                        }
                    }
                }
            }
        }
        return schema;
    }

    @Override
    public void close() {
        session.close();
        database.close();
    }
}
