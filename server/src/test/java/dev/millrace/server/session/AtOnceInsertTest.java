package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.server.transaction.TableKeys;
import dev.millrace.sql.ParsedStatement;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.type.DataType;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.Lock;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** An INSERT of constants on a thread that may not wait: it is executed as a whole, or nothing has happened. */
class AtOnceInsertTest {
    private static String tag(TestDatabase database, String sql) {
        Optional<Session.Acceptance> accepted = database.session().insertAtOnce(sql);
        String tag = accepted.map(rows -> rows.result().toString()).orElse("");
        accepted.ifPresent(rows -> database.session().endStatement());
        return tag;
    }

    @Test
    void rowsOfConstantsAreThereForTheNextStatement() {
        try (TestDatabase database = new TestDatabase()) {
            database.run("CREATE TABLE keyed (id INT PRIMARY KEY, a TEXT)");
            database.run("CREATE TABLE plain (a DOUBLE PRECISION, b TIMESTAMP, c BOOLEAN)");
            database.run("CREATE STREAM s (n INT)");
            database.run("CREATE MATERIALIZED VIEW v AS SELECT sum(n) AS total FROM s");
            assertEquals("INSERT 0 2", tag(database, "INSERT INTO keyed VALUES (1, 'a(b);--'), (2, NULL);"));
            assertEquals("INSERT 0 1", tag(database, "insert into plain (c, a) values (true, -1.5)"));
            assertEquals(
                    "INSERT 0 1",
                    tag(database, "INSERT INTO public.\"plain\" VALUES (1, TIMESTAMP '2026-01-01', NULL)"));
            assertEquals("INSERT 0 3", tag(database, "INSERT INTO s VALUES (1), (2), ('3')"));
            assertEquals(List.of("1|a(b);--", "2|"), database.rows("SELECT * FROM keyed ORDER BY id"));
            assertEquals(List.of("2|-0.5"), database.rows("SELECT count(*), sum(a) FROM plain"));
            assertEquals(List.of("6"), database.rows("SELECT total FROM v"));
        }
    }

    @Test
    void whatIsNotThatSimpleChangesNothing() {
        try (TestDatabase database = new TestDatabase()) {
            database.run("CREATE TABLE t (id INT PRIMARY KEY, a TEXT NOT NULL)");
            database.run("CREATE TABLE ruled (id INT, a INT CHECK (a > 0))");
            database.run("INSERT INTO t VALUES (1, 'a')");
            for (String sql : List.of(
                    "INSERT INTO t VALUES (1, 'again')", // each of these fails, or needs more than its constants
                    "INSERT INTO t VALUES (2, NULL)",
                    "INSERT INTO t VALUES (2, 'a'), (2, 'b')",
                    "INSERT INTO t VALUES ('x', 'a')",
                    "INSERT INTO t VALUES (1.5, 'a')",
                    "INSERT INTO t VALUES (2)",
                    "INSERT INTO t VALUES (2, 'a', 'b')",
                    "INSERT INTO t VALUES (2, lower('A'))",
                    "INSERT INTO t VALUES (2, 'a' || 'b')",
                    "INSERT INTO t VALUES (2, 'a') ON CONFLICT DO NOTHING",
                    "INSERT INTO t VALUES (2, 'a') RETURNING id",
                    "INSERT INTO t VALUES (2, 'a'); DELETE FROM t",
                    "INSERT INTO t SELECT 2, 'a'",
                    "INSERT INTO t DEFAULT VALUES",
                    "INSERT INTO ruled VALUES (1, 1)",
                    "INSERT INTO missing VALUES (2, 'a')",
                    "INSERT INTO t VALUES (2, 'a",
                    "INSERT",
                    "UPDATE t SET a = 'b'",
                    "")) {
                assertEquals("", tag(database, sql), sql);
            }
            assertEquals(List.of("1|a"), database.rows("SELECT * FROM t"));
            assertEquals(List.of("0"), database.rows("SELECT count(*) FROM ruled"));
            assertEquals("INSERT 0 1", tag(database, "INSERT INTO t VALUES (2, 'b')"));
        }
    }

    /** Once with its grammar, and then by what it begins with. */
    @Test
    void whatBeginsAsOneBeforeIsExecutedLikeIt() {
        try (TestDatabase database = new TestDatabase()) {
            database.run("CREATE TABLE t (a TEXT, b INT, c TIMESTAMP)");
            String start = "INSERT INTO t (b, a) VALUES ";
            assertEquals("INSERT 0 1", tag(database, start + "(1, 'one')"));
            assertEquals("INSERT 0 2", tag(database, start + "(2, 'it''s'), (-3, NULL);"));
            assertEquals("INSERT 0 1", tag(database, start + "(4, e'\\x34')"), "by the grammar again");
            for (String wrong : List.of("(5)", "(5, 'a', 'b')", "('x', 'a')", "(5, 'a') RETURNING a", "(5, 'a'), ")) {
                assertEquals("", tag(database, start + wrong), wrong);
            }
            assertEquals("INSERT 0 1", tag(database, "INSERT INTO t (b, c) VALUES (6, '2026-01-01')"));
            assertEquals("INSERT 0 1", tag(database, "INSERT INTO t (b, c) VALUES (7, DATE '2026-01-02')"));
            assertEquals(
                    List.of("4|4|", "it's|2|", "one|1|", "|-3|", "|6|2026-01-01 00:00:00", "|7|2026-01-02 00:00:00"),
                    database.rows("SELECT * FROM t"));
        }
    }

    private static String tag(
            TestDatabase database, ParsedStatement statement, List<DataType> types, String... values) {
        List<Optional<String>> texts =
                Stream.of(values).map(Optional::ofNullable).toList();
        Optional<Session.Acceptance> accepted = database.session().insertAtOnce(statement, Parameters.of(types, texts));
        String tag = accepted.map(rows -> rows.result().toString()).orElse("");
        accepted.ifPresent(rows -> database.session().endStatement());
        return tag;
    }

    @Test
    void valuesOfAPreparedStatementAreAsItsColumnsAreWritten() {
        try (TestDatabase database = new TestDatabase()) {
            database.run("CREATE TABLE t (a TEXT, b INT, c DOUBLE PRECISION)");
            ParsedStatement statement = database.session()
                    .parse("INSERT INTO t VALUES ($1, $2, -1.5), ('b', $2, $3)")
                    .get(0);
            assertTrue(database.session().insertsAtOnce(statement));
            List<DataType> types = List.of(DataType.NULL, DataType.INTEGER, DataType.INTEGER);
            for (int i = 0; i < 3; i++) { // found out, and then known
                assertEquals("INSERT 0 2", tag(database, statement, types, "it's " + i, "" + i, "7"));
                assertEquals("", tag(database, statement, types, "a", "b", "7"), "a text is no number");
                assertEquals("", tag(database, statement, types, "a", "1", "1.5"), "it is declared as a whole number");
                assertEquals("", tag(database, statement, types, "a", "1"), "one has no value");
            }
            assertEquals("INSERT 0 2", tag(database, statement, List.of(), null, "3", "1e-3"));
            assertEquals(
                    List.of(
                            "b|0|7",
                            "b|1|7",
                            "b|2|7",
                            "b|3|0.001",
                            "it's 0|0|-1.5",
                            "it's 1|1|-1.5",
                            "it's 2|2|-1.5",
                            "|3|-1.5"),
                    database.rows("SELECT * FROM t"));
            database.run("DROP TABLE t");
            assertEquals("", tag(database, statement, types, "a", "1", "7"));
            database.run("CREATE TABLE t (b INT, a INT, c INT)");
            assertEquals("", tag(database, statement, types, "a", "1", "7"), "it is another table");
            for (String other : List.of(
                    "INSERT INTO t VALUES ($1) RETURNING a",
                    "INSERT INTO t VALUES ($1 + 1)",
                    "INSERT INTO t VALUES ($1) ON CONFLICT DO NOTHING",
                    "UPDATE t SET a = $1")) {
                assertFalse(
                        database.session()
                                .insertsAtOnce(database.session().parse(other).get(0)),
                        other);
            }
        }
    }

    @Test
    void whatWasKnownOfATableIsNotTakenForAnotherOfItsName() {
        try (TestDatabase database = new TestDatabase()) {
            String insert = "INSERT INTO t VALUES (1, '2')";
            database.run("CREATE TABLE t (a INT, b TEXT)");
            assertEquals("INSERT 0 1", tag(database, insert));
            database.run("DROP TABLE t");
            assertEquals("", tag(database, insert));
            database.run("CREATE TABLE t (b TEXT, a INT)");
            assertEquals("", tag(database, insert), "1 is no text");
            assertEquals("INSERT 0 1", tag(database, "INSERT INTO t VALUES ('1', '2')"));
            database.run("CREATE ROLE reader");
            database.run("SET ROLE reader");
            assertEquals("", tag(database, "INSERT INTO t VALUES ('1', '2')"), "it may not");
            database.run("RESET ROLE");
            assertEquals(List.of("1|2"), database.rows("SELECT * FROM t"));
        }
    }

    @Test
    void aTransactionKeepsItsRowsToItself() {
        try (TestDatabase database = new TestDatabase();
                Session other = database.database().session()) {
            database.run("CREATE TABLE t (id INT PRIMARY KEY)");
            database.run("BEGIN");
            assertEquals("", tag(database, "INSERT INTO t VALUES (1)"));
            database.run("INSERT INTO t VALUES (1)");
            assertTrue(other.insertAtOnce("INSERT INTO t VALUES (1)").isEmpty(), "another transaction has the key");
            assertTrue(other.insertAtOnce("INSERT INTO t VALUES (2)").isPresent());
            other.endStatement();
            database.run("ROLLBACK");
            assertTrue(other.insertAtOnce("INSERT INTO t VALUES (1)").isPresent());
            other.endStatement();
        }
    }

    @Test
    void whoChangesATableIsNotWaitedFor() throws InterruptedException {
        try (TestDatabase database = new TestDatabase()) {
            database.run("CREATE TABLE keyed (id INT PRIMARY KEY)");
            database.run("CREATE TABLE plain (id INT)");
            for (String name : List.of("keyed", "plain")) {
                TableKeys keys = Objects.requireNonNull(
                        database.database().instance().tableKeys().get(name));
                String insert = "INSERT INTO " + name + " VALUES (1)";
                holding(keys.lock(), () -> assertEquals("", tag(database, insert)));
                holding(
                        keys.sharedLock(),
                        () -> assertEquals(name.equals("plain") ? "INSERT 0 1" : "", tag(database, insert)));
            }
            assertEquals(
                    List.of("1|0"), database.rows("SELECT (SELECT count(*) FROM plain), (SELECT count(*) FROM keyed)"));
        }
    }

    /** Runs work while another thread holds a lock. */
    private static void holding(Lock lock, Runnable work) throws InterruptedException {
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(1);
        Thread holder = new Thread(() -> {
            lock.lock();
            try {
                held.countDown();
                done.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } finally {
                lock.unlock();
            }
        });
        holder.start();
        held.await();
        try {
            work.run();
        } finally {
            done.countDown();
            holder.join();
        }
    }

    @Test
    void aSessionThatNeverReadsGoesOnToInsert() {
        try (TestDatabase database = new TestDatabase()) {
            database.run("CREATE STREAM s (n INT)");
            database.run("CREATE MATERIALIZED VIEW v AS SELECT count(*) AS n FROM s");
            int atOnce = 0;
            for (int i = 0; i < 1_000; i++) {
                String insert = "INSERT INTO s VALUES (" + i + ")";
                if (tag(database, insert).isEmpty()) {
                    database.run(insert); // now and then it waits for what it wrote
                } else {
                    atOnce++;
                }
            }
            assertTrue(atOnce > 900, atOnce + " of 1000");
            assertEquals(List.of("1000"), database.rows("SELECT n FROM v"));
        }
    }
}
