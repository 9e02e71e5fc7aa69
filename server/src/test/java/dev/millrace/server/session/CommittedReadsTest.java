package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.memory.Memory;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Who was told that rows are in a table finds them there by any session, as programs do that have a pool of them. */
@Timeout(120)
class CommittedReadsTest {
    private static final int ROWS = 1500;
    private static final int READERS = 3; // more than processors, so that what is shown is late at times

    @TempDir
    Path folder;

    private final AtomicLong told = new AtomicLong(-1);
    private final AtomicBoolean isOver = new AtomicBoolean();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    private static long number(Session session, String query) {
        try (StatementResults results = session.execute(query);
                StatementResult result = results.next();
                Batch batch = ((StatementResult.Rows) result).next().orElseThrow()) {
            return Memory.getLong(batch.dataAddress(0));
        }
    }

    private static void run(Session session, String statements) {
        try (StatementResults results = session.execute(statements)) {
            while (results.hasNext()) {
                results.next().close();
            }
        }
    }

    private void write(Database database, String commit, boolean isTransaction) {
        try (Session session = database.session()) {
            run(session, "SET synchronous_commit = " + commit);
            for (long row = 0; row < ROWS && failure.get() == null; row++) {
                String insert = "INSERT INTO t VALUES (" + row + ", " + row + ")";
                run(session, isTransaction ? "BEGIN; " + insert + "; COMMIT" : insert);
                told.set(row);
            }
        } finally {
            isOver.set(true);
        }
    }

    private void read(Database database) {
        try (Session session = database.session()) {
            while (!isOver.get() && failure.get() == null) {
                long before = told.get();
                long there = number(session, "SELECT count(*) FROM t");
                assertTrue(there > before, () -> there + " rows, where row " + before + " was told of");
                long known = told.get();
                if (known >= 0) {
                    assertEquals(1, number(session, "SELECT count(*) FROM t WHERE id = " + known), "by its key");
                }
            }
        }
    }

    private Thread begin(Runnable work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (Throwable e) {
                failure.compareAndSet(null, e);
            }
        });
        thread.start();
        return thread;
    }

    @ParameterizedTest
    @CsvSource({"false, on, false", "true, on, false", "true, off, false", "true, on, true", "true, off, true"})
    void whatSomebodyWasToldIsReadByAll(boolean isKept, String commit, boolean isTransaction) throws Exception {
        DatabaseOptions options = DatabaseOptions.defaults();
        try (Database database = Database.open(isKept ? options.withData(folder) : options)) {
            database.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, v BIGINT);"
                    + "CREATE MATERIALIZED VIEW busy AS SELECT v % 10 AS k, count(*) AS n FROM t GROUP BY v % 10");
            Thread[] readers = new Thread[READERS];
            for (int i = 0; i < READERS; i++) {
                readers[i] = begin(() -> read(database));
            }
            begin(() -> write(database, commit, isTransaction)).join();
            for (Thread reader : readers) {
                reader.join();
            }
            if (failure.get() != null) {
                throw new AssertionError(failure.get());
            }
            assertEquals(ROWS - 1, told.get());
        }
    }
}
