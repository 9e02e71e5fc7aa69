package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.server.instance.Instance;
import dev.millrace.server.storage.CatalogChange;
import dev.millrace.server.storage.CatalogRecord;
import dev.millrace.server.storage.DataDirectory;
import dev.millrace.server.storage.DataPlace;
import dev.millrace.server.storage.KeptObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rows of tables are there again, whatever wrote them, after closing and after the process was gone at any moment. */
@Tag("long")
class DurableTablesTest {
    private static final long SEED = Long.getLong("millrace.durable.seed", 1);
    private static final int STEPS = Integer.getInteger("millrace.durable.steps", 250);

    private static final int PAGE_BYTES = 4096;

    @TempDir
    Path folder;

    private TestDatabase open() {
        return new TestDatabase(folder.resolve("data"));
    }

    /**
     * What a process that is killed now leaves: the files as they are. While it writes a copy is of no one moment: what the log says last is
     * copied first, and each file from its end, so that there is no record without those before it.
     */
    private Path crashed(String name) {
        Path from = folder.resolve("data");
        Path to = folder.resolve(name);
        Comparator<Path> stateFirst = Comparator.comparing(file -> !file.endsWith("log.state"));
        try (Stream<Path> files = Files.walk(from)) {
            List<Path> all = files.toList();
            for (Path directory : all.stream().filter(Files::isDirectory).toList()) {
                Files.createDirectories(to.resolve(from.relativize(directory)));
            }
            for (Path file : all.stream()
                    .filter(Files::isRegularFile)
                    .sorted(stateFirst.thenComparing(Comparator.reverseOrder()))
                    .toList()) {
                copyFromItsEnd(file, to.resolve(from.relativize(file)));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return to;
    }

    private static void copyFromItsEnd(Path from, Path to) throws IOException {
        try (FileChannel in = FileChannel.open(from, StandardOpenOption.READ);
                FileChannel out = FileChannel.open(to, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            ByteBuffer page = ByteBuffer.allocate(PAGE_BYTES);
            for (long at = (in.size() - 1) / PAGE_BYTES * PAGE_BYTES; at >= 0; at -= PAGE_BYTES) {
                in.read(page.clear(), at);
                out.write(page.flip(), at);
            }
        }
    }

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted((a, b) -> b.compareTo(a)).toList()) {
                Files.delete(file);
            }
        }
    }

    @Test
    void whateverWritesRowsTheyAreThereAgain() {
        List<String> before;
        try (TestDatabase database = open()) {
            database.run("""
                    CREATE TABLE t (id INT PRIMARY KEY, a TEXT, n NUMERIC(10,2), at TIMESTAMPTZ, l INT[], u UUID, i INTERVAL);
                    CREATE TABLE bag (a INT, b TEXT);
                    INSERT INTO t VALUES (1, 'one', 1.5, '2026-01-01 10:00Z', ARRAY[1,2], gen_random_uuid(), '1 day 2 seconds');
                    INSERT INTO t SELECT g, 'x' || g, g / 3.0, now(), ARRAY[g, NULL], NULL, NULL FROM generate_series(2, 5000) g;
                    UPDATE t SET a = a || '!' WHERE id % 7 = 0;
                    DELETE FROM t WHERE id % 11 = 0;
                    INSERT INTO t (id, a) VALUES (1, 'again'), (6000, 'new') ON CONFLICT (id) DO UPDATE SET a = excluded.a;
                    INSERT INTO bag VALUES (1, 'x'), (1, 'x'), (2, NULL);
                    MERGE INTO bag USING t ON bag.a = t.id AND t.id = 2 WHEN MATCHED THEN UPDATE SET b = 'merged';
                    CREATE TABLE copy AS SELECT id, a FROM t WHERE id < 100;
                    TRUNCATE copy;
                    INSERT INTO copy VALUES (7, 'seven')
                    """);
            database.run(
                    "BEGIN; INSERT INTO bag VALUES (9, 'both'); DELETE FROM copy; INSERT INTO copy VALUES (8, 'both'); COMMIT");
            database.run("BEGIN; INSERT INTO bag VALUES (99, 'never'); ROLLBACK");
            before = all(database, "t", "bag", "copy");
        }
        for (int round = 0; round < 2; round++) {
            try (TestDatabase again = open()) {
                assertEquals(before, all(again, "t", "bag", "copy"));
                assertTrue(again.error("INSERT INTO t (id) VALUES (6000)").startsWith("23505 "));
            }
        }
    }

    private static List<String> all(TestDatabase database, String... tables) {
        List<String> rows = new ArrayList<>();
        for (String table : tables) {
            rows.addAll(database.rows("SELECT '" + table + "', * FROM " + table));
        }
        return rows;
    }

    /** Also where the last thing that was written of a table was that it has other columns. */
    @Test
    void numbersOfColumnsGoOnBehindAnAlteration() {
        try (TestDatabase database = open()) {
            database.run("CREATE TABLE t (id SERIAL PRIMARY KEY, a INT); INSERT INTO t (a) VALUES (1), (2), (3);"
                    + "ALTER TABLE t ADD COLUMN b INT");
            database.run("CREATE TABLE n (id INT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, a INT);"
                    + "ALTER TABLE n ALTER COLUMN id RESTART WITH 41");
        }
        try (TestDatabase again = open()) {
            assertEquals(List.of("4"), again.rows("INSERT INTO t (a) VALUES (4) RETURNING id"));
            assertEquals(List.of("41"), again.rows("INSERT INTO n (a) VALUES (1) RETURNING id"));
            again.run("ALTER TABLE n ALTER id RESTART");
            assertEquals(List.of("1"), again.rows("INSERT INTO n (a) VALUES (1) RETURNING id"));
            assertTrue(again.error("ALTER TABLE n ALTER a RESTART WITH 2")
                    .contains("is not an identity or serial column"));
            assertTrue(again.error("ALTER TABLE n ALTER id RESTART WITH 0").startsWith("22023 "));
            assertTrue(again.error("ALTER TABLE n ALTER id RESTART WITH 7, ADD CHECK (a > 5)")
                    .startsWith("23514 "));
            assertEquals(List.of("2"), again.rows("INSERT INTO n (a) VALUES (1) RETURNING id"));
        }
    }

    @Test
    void whatAColumnTookAlongIsGoneAfterARestart() throws IOException {
        try (TestDatabase database = open()) {
            database.run(
                    "CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT GENERATED ALWAYS AS (a + 1) STORED, c INT CHECK (c > a));"
                            + "CREATE INDEX of_b ON t (b); INSERT INTO t (id, a, c) VALUES (1, 10, 11); ALTER TABLE t DROP COLUMN a CASCADE;"
                            + "ALTER TABLE t DROP COLUMN id; INSERT INTO t VALUES (3), (3)");
            try (TestDatabase again = new TestDatabase(crashed("cascaded"))) {
                assertEquals(List.of("11", "3", "3"), again.rows("SELECT * FROM t"));
            }
        }
        try (TestDatabase again = open()) {
            assertEquals(List.of("11", "3", "3"), again.rows("SELECT * FROM t"));
            assertEquals(List.of("0"), again.rows("SELECT count(*) FROM pg_constraint WHERE conrelid = 't'::regclass"));
            assertEquals(List.of("0"), again.rows("SELECT count(*) FROM pg_indexes WHERE tablename = 't'"));
        }
    }

    @Test
    void answersOverTablesAreComputedAnew() {
        try (TestDatabase database = open()) {
            database.run("""
                    CREATE TABLE t (k TEXT, v BIGINT);
                    CREATE MATERIALIZED VIEW sums AS SELECT k, sum(v) AS v FROM t GROUP BY k;
                    CREATE MATERIALIZED VIEW top AS SELECT max(v) AS v FROM sums;
                    INSERT INTO t SELECT 'k' || g % 10, g FROM generate_series(1, 1000) g;
                    DELETE FROM t WHERE v > 990
                    """);
        }
        try (TestDatabase again = open()) {
            assertEquals(again.rows("SELECT k, sum(v) FROM t GROUP BY k"), again.rows("SELECT * FROM sums"));
            again.run("INSERT INTO t VALUES ('k1', 1000000)");
            assertEquals(
                    again.rows("SELECT max(s) FROM (SELECT sum(v) AS s FROM t GROUP BY k) x"),
                    again.rows("SELECT * FROM top"));
        }
    }

    /** While a statement is at work that drops or alters a table, what the table had is kept until that is on disk. */
    @Test
    void aTableThatIsBeingDroppedIsNotForgotten() {
        try (TestDatabase database = open()) {
            database.run("CREATE TABLE t AS SELECT md5(g::text) AS a FROM generate_series(1, 60000) g");
            database.run("CREATE TABLE other AS SELECT md5(g::text) AS a FROM generate_series(1, 60000) g");
            Instance instance = database.database().instance();
            instance.definitionLock().lock(); // as DROP holds it until it is on disk
            try {
                instance.catalog().remove("t");
            } finally {
                instance.definitionLock().unlock();
            }
            database.run("CHECKPOINT; CHECKPOINT");
            Path crashed = crashed("dropping"); // the record of the DROP never came
            try (TestDatabase again = new TestDatabase(crashed)) {
                assertEquals(List.of("60000"), again.rows("SELECT count(*) FROM t"));
                assertEquals(List.of("60000"), again.rows("SELECT count(*) FROM other"));
            }
        }
    }

    /** A table that cannot be made again, for a function that is gone, has its rows as soon as it can. */
    @Test
    void rowsOfATableThatIsNotRestoredStay() {
        try (TestDatabase database = open()) {
            database.run("CREATE TABLE t (a INT); INSERT INTO t VALUES (1), (2)");
        }
        define("t", "CREATE TABLE t (a INT DEFAULT nosuch(1))");
        try (TestDatabase database = open()) {
            assertEquals(1, database.database().notRestored().size());
            database.run(
                    "CREATE TABLE other (a TEXT); INSERT INTO other SELECT md5(g::text) FROM generate_series(1, 120000) g");
            database.run("CHECKPOINT");
        }
        define("t", "CREATE TABLE t (a INT)");
        try (TestDatabase again = open()) {
            assertEquals(List.of("1", "2"), again.rows("SELECT * FROM t"));
            assertEquals(List.of("120000"), again.rows("SELECT count(*) FROM other"));
        }
    }

    /** Keeps another definition of a table. */
    private void define(String name, String sql) {
        try (DataDirectory directory = DataDirectory.open(DataPlace.of(folder.resolve("data")))) {
            KeptObject is = directory.catalog().object(name).orElseThrow();
            KeptObject other = new KeptObject(
                    name,
                    is.kind(),
                    sql,
                    is.createdMicros(),
                    is.owner(),
                    is.jar(),
                    is.number(),
                    is.since(),
                    is.basis(),
                    is.paused(),
                    is.numeric());
            directory.keep(
                    new CatalogRecord(List.of(new CatalogChange.Define(other)), Optional.empty(), Optional.empty()));
        }
    }

    @Test
    void manyRowsAreThereAgain() {
        try (TestDatabase database = open()) {
            database.run("CREATE TABLE t (id BIGINT PRIMARY KEY, a TEXT[])");
            database.run(
                    "INSERT INTO t SELECT g, CASE WHEN g % 3 = 0 THEN NULL ELSE ARRAY['x' || g, NULL] END FROM generate_series(1, 60000) g");
            assertTrue(database.error("INSERT INTO t VALUES (1)").startsWith("23505 "));
        }
        try (TestDatabase again = open()) {
            assertEquals(
                    List.of("60000|1800030000|40000|t"),
                    again.rows("SELECT count(*), sum(id), count(a), bool_and(a IS NULL OR a[1] = 'x' || id) FROM t"));
        }
    }

    @Test
    void countersGoOn() {
        try (TestDatabase database = open()) {
            database.run("CREATE TABLE t (id SERIAL PRIMARY KEY, a INT)");
            database.run("INSERT INTO t (a) VALUES (10), (20); DELETE FROM t WHERE id = 2");
        }
        try (TestDatabase again = open()) {
            assertEquals(List.of("3"), again.rows("INSERT INTO t (a) VALUES (30) RETURNING id"));
        }
    }

    @Test
    void alteredTablesHaveTheirRows() {
        for (int round = 0; round < 2; round++) {
            try (TestDatabase database = open()) {
                if (round == 0) {
                    database.run("CREATE TABLE t (id INT PRIMARY KEY, a INT); INSERT INTO t VALUES (1, 10), (2, 20)");
                    database.run("ALTER TABLE t ADD COLUMN r DOUBLE DEFAULT random()");
                    database.run("INSERT INTO t VALUES (3, 30, 0.5)");
                    database.run("ALTER TABLE t DROP COLUMN a, ADD COLUMN b TEXT DEFAULT 'b'");
                    database.run("CREATE UNIQUE INDEX one ON t (r); DELETE FROM t WHERE id = 2");
                    Path crashed = crashed("altered");
                    List<String> rows = database.rows("SELECT * FROM t");
                    assertEquals(2, rows.size());
                    try (TestDatabase again = new TestDatabase(crashed)) {
                        assertEquals(rows, again.rows("SELECT * FROM t"));
                    }
                } else {
                    assertEquals(List.of("1|b", "3|b"), database.rows("SELECT id, b FROM t"));
                    assertTrue(
                            database.error("INSERT INTO t VALUES (4, 0.5, 'x')").startsWith("23505 "));
                    database.run("DELETE FROM t WHERE id = 3; INSERT INTO t VALUES (4, 0.5, 'x')"); // known once
                }
            }
        }
    }

    @Test
    void rowsOfADroppedTableAreOfNoOther() {
        try (TestDatabase database = open()) {
            database.run("CREATE TABLE t (a INT); INSERT INTO t VALUES (1); DROP TABLE t");
        }
        try (TestDatabase database = open()) {
            database.run("CREATE TABLE t (a INT)");
            assertEquals(List.of(), database.rows("SELECT * FROM t"));
            database.run("INSERT INTO t VALUES (2); DROP TABLE t; CREATE TABLE t (a INT); INSERT INTO t VALUES (3)");
        }
        try (TestDatabase again = open()) {
            assertEquals(List.of("3"), again.rows("SELECT * FROM t"));
        }
    }

    /** A directory of a version that kept definitions only. */
    @Test
    void tablesThatHadNoRowsOnDiskHaveThemFromNowOn() throws IOException {
        Path catalog = folder.resolve("data").resolve("catalog.log");
        Files.createDirectories(catalog.getParent());
        Files.write(
                catalog,
                DurableTablesTest.class.getResourceAsStream("catalog-2.log").readAllBytes());
        try (TestDatabase database = open()) {
            assertEquals(List.of(), database.rows("SELECT * FROM t"));
            database.run("INSERT INTO t VALUES (1, 'x')");
        }
        try (TestDatabase again = open()) {
            assertEquals(List.of("1|x"), again.rows("SELECT * FROM t"));
            assertEquals(List.of("1"), again.rows("SELECT * FROM v"));
        }
    }

    @Test
    void whoDoesNotWaitHasItsRowsInTheEnd() {
        try (TestDatabase database = open()) {
            database.run("SET synchronous_commit = off; CREATE TABLE t (a INT)");
            for (int i = 0; i < 50; i++) {
                database.run("INSERT INTO t VALUES (" + i + ")");
            }
        }
        try (TestDatabase again = open()) {
            assertEquals(List.of("50"), again.rows("SELECT count(*) FROM t"));
        }
    }

    @Test
    void aCheckpointLeavesWhatIsNeeded() throws IOException {
        try (TestDatabase database = open()) {
            database.run(
                    "CREATE TABLE t (id INT PRIMARY KEY, v TEXT); CREATE TABLE still (a SERIAL, b INT); CREATE TABLE none (a INT)");
            database.run(
                    "INSERT INTO still (b) VALUES (1), (1), (2); INSERT INTO t SELECT g, 'x' FROM generate_series(1, 2000) g");
            for (int i = 0; i < 60; i++) {
                database.run("UPDATE t SET v = md5(v || id || " + i + ")");
            }
            long before = bytes();
            database.run("CHECKPOINT");
            assertTrue(bytes() < before * 3 / 4, before + " and then " + bytes());
            database.run("UPDATE t SET v = 'y' WHERE id <= 2; INSERT INTO none VALUES (1)");
            List<String> expected = all(database, "t", "still", "none");
            try (TestDatabase again = new TestDatabase(crashed("crash"))) {
                assertEquals(expected, all(again, "t", "still", "none"));
                assertEquals(List.of("4"), again.rows("INSERT INTO still (b) VALUES (3) RETURNING a"));
            }
            database.run("CREATE ROLE r; SET ROLE r");
            assertTrue(database.error("CHECKPOINT").startsWith("42501 "));
        }
    }

    private long bytes() throws IOException {
        try (Stream<Path> files = Files.walk(folder.resolve("data").resolve("rows"))) {
            long bytes = 0;
            for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
                bytes += Files.size(file);
            }
            return bytes;
        }
    }

    /** Random statements; at random moments the process is gone, and what it leaves has what the database had. */
    @Test
    void atAnyMomentAllThatWasAnsweredIsThere() throws IOException {
        Random random = new Random(SEED);
        int crashes = 0;
        try (TestDatabase database = open()) {
            database.run("CREATE TABLE a (id INT PRIMARY KEY, v INT, t TEXT); CREATE TABLE b (x INT, y INT UNIQUE)");
            database.run(
                    "CREATE MATERIALIZED VIEW m AS SELECT v % 5 AS k, count(*) AS n, sum(v) AS s FROM a GROUP BY v % 5");
            for (int step = 0; step < STEPS; step++) {
                String sql = statement(random);
                try {
                    database.run(sql);
                } catch (RuntimeException e) {
                    database.run("ROLLBACK"); // such as a key that is there
                }
                if (random.nextInt(40) == 0) {
                    database.run("CHECKPOINT");
                }
                if (random.nextInt(25) == 0) {
                    crashes++;
                    Path crashed = crashed("crash" + crashes);
                    List<String> expected = all(database, "a", "b", "m");
                    try (TestDatabase again = new TestDatabase(crashed)) {
                        assertEquals(
                                expected,
                                all(again, "a", "b", "m"),
                                "seed " + SEED + ", after step " + step + ": " + sql);
                        again.run("INSERT INTO a VALUES (-1, 0, 'after')");
                    }
                    try (TestDatabase third = new TestDatabase(crashed)) {
                        assertEquals(List.of("after"), third.rows("SELECT t FROM a WHERE id = -1"));
                    }
                    delete(crashed);
                }
            }
        }
        assertTrue(crashes > 0, "seed " + SEED);
    }

    private static String statement(Random random) {
        int id = random.nextInt(40);
        int value = random.nextInt(1000);
        String insert = "INSERT INTO a VALUES (" + id + ", " + value + ", '" + "x".repeat(random.nextInt(30)) + "')";
        return switch (random.nextInt(11)) {
            case 0, 1, 2 -> insert + " ON CONFLICT (id) DO UPDATE SET v = excluded.v, t = excluded.t";
            case 3 -> insert;
            case 4 -> "UPDATE a SET v = v + 1 WHERE id < " + id;
            case 5 -> "DELETE FROM a WHERE id = " + id;
            case 6 -> "INSERT INTO b VALUES (" + id + ", " + value + ")";
            case 7 ->
                "BEGIN; DELETE FROM b WHERE x = " + id + "; UPDATE a SET v = -v; INSERT INTO b VALUES (1, " + value
                        + "); COMMIT";
            case 8 ->
                "BEGIN; " + insert + "; INSERT INTO b VALUES (2, " + value + "); "
                        + (random.nextBoolean() ? "COMMIT" : "ROLLBACK");
            case 9 -> "DELETE FROM b WHERE y < " + value / 4;
            default ->
                "INSERT INTO a SELECT g, g, repeat('long', 3000) FROM generate_series(100, 110) g"
                        + " ON CONFLICT (id) DO NOTHING; DELETE FROM a WHERE id >= 100";
        };
    }

    /** Several clients at once, and the process gone while they write: what they were told is there, and each transaction is whole. */
    @Test
    void whatClientsWereToldIsThere() throws Exception {
        int clients = 4;
        AtomicLong[] told = Stream.generate(AtomicLong::new).limit(clients).toArray(AtomicLong[]::new);
        AtomicBoolean over = new AtomicBoolean();
        CountDownLatch begun = new CountDownLatch(clients);
        List<Throwable> failures = new ArrayList<>();
        try (TestDatabase database = open()) {
            database.run(
                    "CREATE TABLE a (client INT, n INT, PRIMARY KEY (client, n)); CREATE TABLE b (client INT, n INT)");
            List<Thread> threads = new ArrayList<>();
            for (int client = 0; client < clients; client++) {
                int number = client;
                Thread thread = new Thread(() -> {
                    try (Session session = database.database().session()) {
                        for (int n = 1; !over.get(); n++) {
                            String row = "(" + number + ", " + n + ")";
                            session.execute("BEGIN; INSERT INTO a VALUES " + row + "; INSERT INTO b VALUES " + row
                                            + "; COMMIT")
                                    .drain();
                            told[number].set(n);
                            begun.countDown();
                        }
                    } catch (Throwable e) {
                        synchronized (failures) {
                            failures.add(e);
                        }
                    }
                });
                threads.add(thread);
                thread.start();
            }
            begun.await();
            for (int crash = 0; crash < 6; crash++) {
                if (crash % 2 == 1) {
                    database.run("CHECKPOINT"); // while they write
                }
                long[] atLeast = Stream.of(told).mapToLong(AtomicLong::get).toArray();
                Path crashed = crashed("crash" + crash);
                try (TestDatabase again = new TestDatabase(crashed)) {
                    for (int client = 0; client < clients; client++) {
                        List<String> found = again.rows("SELECT count(*) >= " + atLeast[client]
                                + ", count(*) = coalesce(max(n), 0) FROM a WHERE client = " + client);
                        assertEquals(List.of("t|t"), found);
                    }
                    assertEquals(
                            again.rows("SELECT * FROM a"), again.rows("SELECT * FROM b"), "transactions are whole");
                }
                delete(crashed);
            }
            over.set(true);
            for (Thread thread : threads) {
                thread.join();
            }
        }
        assertEquals(List.of(), failures);
    }
}
