package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.result.StatementResults;
import dev.millrace.server.storage.DataPlace;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.simulation.SimulatedDisk;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What has another name goes on with all that it has, also in a process that comes after one that was killed. */
class RenamesTest {
    private static final String OBJECTS = "CREATE SCHEMA s1;"
            + " CREATE TABLE t (id SERIAL PRIMARY KEY, g INT, NOTE TEXT UNIQUE);"
            + " CREATE INDEX t_g ON t (g);"
            + " CREATE TABLE s1.kinds (g INT PRIMARY KEY, kind TEXT);"
            + " CREATE STREAM events (g INT, at TIMESTAMP, WATERMARK FOR at AS at);"
            + " CREATE STREAM kept (g INT) WITH (retention = '1 day');"
            + " CREATE STREAM derived WITH (retention = '1 day') AS SELECT g + 1 AS h FROM kept;"
            + " CREATE MATERIALIZED VIEW of_derived AS SELECT sum(h) AS s FROM derived;"
            + " CREATE VIEW chosen AS SELECT t.id, t.g FROM t WHERE t.g > 0;"
            + " CREATE MATERIALIZED VIEW sums AS SELECT g, count(*) AS n FROM chosen GROUP BY g;"
            + " CREATE MATERIALIZED VIEW joined AS SELECT k.kind, s.n FROM sums s JOIN s1.kinds k ON s.g = k.g;"
            + " CREATE MATERIALIZED VIEW seen AS SELECT g, count(*) AS n FROM events GROUP BY g;"
            + " CREATE MATERIALIZED VIEW all_kept WITH (start = 'earliest') AS SELECT count(*) AS n FROM kept;"
            + " INSERT INTO s1.kinds VALUES (1, 'one'), (2, 'two');"
            + " INSERT INTO t (g, note) VALUES (1, 'a'), (2, 'b'), (1, 'c');"
            + " INSERT INTO events VALUES (1, '2026-01-01 00:00'), (2, '2026-01-01 00:01');"
            + " INSERT INTO kept VALUES (1), (2), (3)";
    private static final String RENAMES = "ALTER TABLE t RENAME TO rows_of; ALTER VIEW chosen RENAME TO few;"
            + " ALTER MATERIALIZED VIEW sums RENAME TO counts; ALTER STREAM events RENAME TO t;"
            + " ALTER STREAM derived RENAME TO made;"
            + " ALTER MATERIALIZED VIEW seen RENAME TO heard; ALTER STREAM kept RENAME TO past;"
            + " ALTER MATERIALIZED VIEW all_kept RENAME TO kept; ALTER SCHEMA s1 RENAME TO s2;"
            + " ALTER TABLE s2.kinds SET SCHEMA public";
    private static final String MORE = "INSERT INTO rows_of (g, note) VALUES (2, 'd');"
            + " INSERT INTO t VALUES (2, '2026-01-01 00:02'); INSERT INTO past VALUES (4);"
            + " INSERT INTO kinds VALUES (3, 'three')";

    @TempDir
    Path folder;

    private static void check(TestDatabase database) {
        assertEquals(List.of("1|1|a", "2|2|b", "3|1|c", "4|2|d"), database.flushedRows("SELECT * FROM rows_of"));
        assertEquals(List.of("1|2", "2|2"), database.rows("SELECT * FROM counts"));
        assertEquals(List.of("one|2", "two|2"), database.rows("SELECT * FROM joined"));
        assertEquals(List.of("1|1", "2|2"), database.rows("SELECT * FROM heard"));
        assertEquals(List.of("4"), database.rows("SELECT * FROM kept"));
        assertEquals(List.of("4"), database.rows("SELECT count(*) FROM past"));
        assertEquals(List.of("4"), database.rows("SELECT count(*) FROM made"));
        assertEquals(List.of("14"), database.rows("SELECT * FROM of_derived"));
        assertTrue(database.error("SELECT * FROM sums").startsWith("42P01"));
        assertTrue(
                database.error("INSERT INTO rows_of (g, note) VALUES (1, 'a')").startsWith("23505"));
        assertTrue(database.error("INSERT INTO rows_of (id, g) VALUES (1, 1)").startsWith("23505"));
    }

    @Test
    void whatACheckpointHasByOldNamesGoesOnByNewOnes() {
        Path image = folder.resolve("image");
        try (TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            database.run(OBJECTS);
            database.flushedRows("SELECT 1");
            database.run("CHECKPOINT");
            database.run(RENAMES);
            database.run(MORE);
            check(database);
            DirectoryImage.copy(folder.resolve("data"), image);
        }
        for (int times = 0; times < 3; times++) {
            try (TestDatabase again = new TestDatabase(image)) {
                check(again);
                assertEquals(
                        List.of(),
                        again.rows("SELECT name, way, reason FROM millrace.recovery WHERE way <> 'checkpoint'"));
                if (times == 1) {
                    again.run("CHECKPOINT");
                }
            }
        }
    }

    @Test
    void withoutACheckpointAllIsMadeAgainByNewNames() {
        Path image = folder.resolve("image");
        try (TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            database.run(OBJECTS);
            database.run(RENAMES);
            database.run(MORE);
            DirectoryImage.copy(folder.resolve("data"), image);
        }
        try (TestDatabase again = new TestDatabase(image)) {
            check(again);
            again.run("CHECKPOINT");
        }
        try (TestDatabase again = new TestDatabase(image)) {
            check(again);
        }
    }

    @Test
    void aCheckpointBehindARenameHasTheNewNames() {
        Path image = folder.resolve("image");
        try (TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            database.run(OBJECTS);
            database.run("CHECKPOINT");
            database.run(RENAMES);
            database.run("CHECKPOINT");
            database.run(MORE);
            database.run("CHECKPOINT");
            DirectoryImage.copy(folder.resolve("data"), image);
            check(database);
        }
        try (TestDatabase again = new TestDatabase(image)) {
            check(again);
            assertEquals(
                    List.of(), again.rows("SELECT name, way, reason FROM millrace.recovery WHERE way <> 'checkpoint'"));
        }
    }

    @Test
    void tablesThatSwapTheirNamesKeepTheirRowsBehindACheckpoint() {
        Path image = folder.resolve("image");
        try (TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            database.run("CREATE TABLE a (x INT PRIMARY KEY); CREATE TABLE b (x INT PRIMARY KEY);"
                    + " CREATE MATERIALIZED VIEW of_a AS SELECT sum(x) AS s FROM a;"
                    + " INSERT INTO a VALUES (1); INSERT INTO b VALUES (10)");
            database.run("CHECKPOINT");
            database.run("ALTER TABLE a SWAP WITH b; INSERT INTO a VALUES (20); INSERT INTO b VALUES (2)");
            database.run("BEGIN; ALTER TABLE a RENAME TO c; ALTER TABLE b RENAME TO a; ALTER TABLE c RENAME TO b;"
                    + " INSERT INTO a VALUES (3); COMMIT");
            database.run("BEGIN; ALTER TABLE a SWAP WITH b; INSERT INTO b VALUES (99); ROLLBACK");
            assertEquals(List.of("1", "2", "3"), database.rows("SELECT * FROM a"));
            DirectoryImage.copy(folder.resolve("data"), image);
        }
        try (TestDatabase again = new TestDatabase(image)) {
            assertEquals(List.of("1", "2", "3"), again.rows("SELECT * FROM a"));
            assertEquals(List.of("10", "20"), again.rows("SELECT * FROM b"));
            assertEquals(List.of("6"), again.flushedRows("SELECT * FROM of_a"));
        }
    }

    private static void run(Session session, String sql) {
        try (StatementResults results = session.execute(sql)) {
            while (results.hasNext()) {
                results.next();
            }
        }
    }

    @Test
    void rowsOfATransactionAreForTheStreamThatHadTheName() {
        Path data = folder.resolve("data");
        try (TestDatabase database = new TestDatabase(data);
                Session other = database.database().session()) {
            database.run("CREATE STREAM a (x INT) WITH (retention = 'forever');"
                    + " CREATE STREAM b (x INT) WITH (retention = 'forever'); CREATE STREAM gone (x INT)");
            run(other, "BEGIN; INSERT INTO a VALUES (1)");
            database.run("ALTER STREAM a SWAP WITH b");
            run(other, "INSERT INTO b VALUES (2); SAVEPOINT s");
            assertEquals(
                    SqlState.SERIALIZATION_FAILURE,
                    assertThrows(MillraceException.class, () -> run(other, "INSERT INTO a VALUES (9)"))
                            .sqlState());
            run(other, "ROLLBACK TO s; COMMIT");
            database.run("INSERT INTO a VALUES (10)");
            assertEquals(List.of("1", "2"), database.rows("SELECT * FROM b"));
            assertEquals(List.of("10"), database.rows("SELECT * FROM a"));
            run(other, "BEGIN; INSERT INTO gone VALUES (1)");
            database.run("DROP STREAM gone; CREATE STREAM gone (x INT);"
                    + " CREATE MATERIALIZED VIEW of_gone AS SELECT * FROM gone");
            assertThrows(MillraceException.class, () -> run(other, "COMMIT"));
            assertEquals(List.of(), database.flushedRows("SELECT * FROM of_gone"));
        }
        try (TestDatabase again = new TestDatabase(data)) {
            assertEquals(List.of("1", "2"), again.rows("SELECT * FROM b"));
            assertEquals(List.of("10"), again.rows("SELECT * FROM a"));
        }
    }

    // ---- killed at every write -------------------------------------------------------------------------------------

    private static TestDatabase open(SimulatedDisk disk) {
        return new TestDatabase(() -> new DataPlace.Taken() {
            @Override
            public Disk disk() {
                return disk;
            }

            @Override
            public void close() {}
        });
    }

    private static SimulatedDisk image(SimulatedDisk disk) {
        SimulatedDisk image = new SimulatedDisk(1);
        copy(disk, image);
        return image;
    }

    private static void copy(SimulatedDisk from, SimulatedDisk to) {
        try {
            for (String file : from.list()) {
                to.put(file, from.bytes(file));
            }
            for (String directory : from.directories()) {
                copy((SimulatedDisk) from.directory(directory), (SimulatedDisk) to.directory(directory));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String nameThatIsThere(SimulatedDisk image) {
        try (TestDatabase again = open(image)) {
            String name = again.rows("SELECT table_name FROM information_schema.tables WHERE table_name IN ('t', 'u')")
                    .get(0);
            assertEquals(List.of("1", "2"), again.rows("SELECT a FROM " + name));
            assertEquals(List.of("2"), again.flushedRows("SELECT n FROM m"));
            again.run("INSERT INTO " + name + " VALUES (3)");
            assertEquals(List.of("3"), again.flushedRows("SELECT n FROM m"));
            return name;
        }
    }

    private static void isOneOfTwo(String rename) {
        SimulatedDisk disk = new SimulatedDisk(1);
        List<SimulatedDisk> images = Collections.synchronizedList(new ArrayList<>());
        try (TestDatabase database = open(disk)) {
            database.run("CREATE TABLE t (a INT); INSERT INTO t VALUES (1);"
                    + " CREATE MATERIALIZED VIEW m AS SELECT count(t.a) AS n FROM t");
            database.run("CHECKPOINT");
            database.run("INSERT INTO t VALUES (2)");
            images.add(image(disk));
            disk.setMeanwhile(file -> images.add(image(disk)));
            database.run(rename);
            disk.setMeanwhile(file -> {});
            images.add(image(disk));
        }
        Set<String> found = new TreeSet<>();
        for (SimulatedDisk image : List.copyOf(images)) {
            found.add(nameThatIsThere(image));
        }
        assertEquals(Set.of("t", "u"), found);
        assertEquals("u", nameThatIsThereAgain(images.get(images.size() - 1)));
    }

    private static String nameThatIsThereAgain(SimulatedDisk image) {
        try (TestDatabase again = open(image)) {
            assertEquals(List.of("3"), again.flushedRows("SELECT n FROM m"));
            return again.rows("SELECT table_name FROM information_schema.tables WHERE table_name IN ('t', 'u')")
                    .get(0);
        }
    }

    @Test
    void aProcessThatEndsAtAnyWriteLeavesOneOfTheNames() {
        isOneOfTwo("ALTER TABLE t RENAME TO u");
        isOneOfTwo("BEGIN; ALTER TABLE t RENAME TO u; COMMIT");
    }
}
