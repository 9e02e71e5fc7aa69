package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.server.result.StatementResults;
import dev.millrace.server.storage.DataPlace;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.simulation.SimulatedCrash;
import dev.millrace.storage.simulation.SimulatedDisk;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What clients are told while the disk is full or fails, and what is there afterwards. */
class DiskFailureTest {
    private static final String INSERT = "INSERT INTO t SELECT g, " + "md5(g::TEXT || random()) || ".repeat(16)
            + "'x' FROM generate_series(%d, %d) g";

    private SimulatedDisk disk = new SimulatedDisk(1);

    private TestDatabase open() {
        SimulatedDisk files = disk;
        return new TestDatabase(() -> new DataPlace.Taken() {
            @Override
            public Disk disk() {
                return files;
            }

            @Override
            public void close() {}
        });
    }

    private SimulatedDisk rows() {
        try {
            return (SimulatedDisk) disk.directory("rows");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void aFullDiskRefusesWritersAtOnceAndReadersGoOn() {
        TestDatabase database = open();
        int accepted = 100;
        try {
            database.run("CREATE TABLE t (id INT PRIMARY KEY, a TEXT)");
            database.run(INSERT.formatted(1, 100));
            rows().setCapacity(rows().usedBytes());
            String error = "";
            for (int from = 101; from < 20_000 && error.isEmpty(); from += 100) {
                try {
                    database.run(INSERT.formatted(from, from + 99));
                    accepted += 100;
                } catch (MillraceException e) {
                    error = e.sqlState().code();
                }
            }
            assertEquals("53100", error);
            assertTrue(database.error("UPDATE t SET a = repeat('y', 600)").startsWith("53100 "));
            assertTrue(database.error(INSERT.formatted(100_001, 100_100)).startsWith("53100 "));
            assertEquals(List.of(Integer.toString(accepted)), database.rows("SELECT count(*) FROM t"));
            rows().setCapacity(Long.MAX_VALUE);
            database.run(INSERT.formatted(100_001, 100_100));
        } finally {
            disk = disk.crash();
            closeDead(database);
        }
        try (TestDatabase again = open()) {
            assertEquals(List.of((accepted + 100) + "|100100"), again.rows("SELECT count(*), max(id) FROM t"));
        }
    }

    /** Gives its memory back; its disk is not there any more. */
    private static void closeDead(TestDatabase database) {
        try {
            database.close();
        } catch (SimulatedCrash | MillraceException e) {
            return;
        }
    }

    @Test
    void aDiskThatFailsRefusesWritersReadersGoOnAndWritingResumesByItself() throws Exception {
        List<String> told = Collections.synchronizedList(new ArrayList<>());
        try (TestDatabase database = open()) {
            database.run("CREATE TABLE t (id INT PRIMARY KEY, a TEXT)");
            database.run(INSERT.formatted(1, 100));
            rows().chances().forceErrorOneIn = 1;
            Thread writer = new Thread(() -> {
                try (Session session = database.database().session();
                        StatementResults results = session.execute(INSERT.formatted(101, 200))) {
                    results.drain();
                    told.add("acknowledged");
                } catch (MillraceException e) {
                    told.add(e.toString());
                }
            });
            writer.start();
            Eventually.holds(
                    "the disk fails",
                    () -> database.database().instance().journal().failure().isPresent());
            assertTrue(database.error("INSERT INTO t VALUES (1000, 'b')").startsWith("58030 "));
            assertTrue(database.error("DELETE FROM t").startsWith("58030 "));
            assertEquals(List.of("100"), database.rows("SELECT count(*) FROM t"));
            assertEquals(List.of(), told);
            rows().calm();
            writer.join();
            assertEquals(List.of("acknowledged"), told);
            database.run("INSERT INTO t VALUES (1000, 'b')");
            assertEquals(List.of("201"), database.rows("SELECT count(*) FROM t"));
        }
        disk = disk.crash();
        try (TestDatabase again = open()) {
            assertEquals(List.of("201|1000"), again.rows("SELECT count(*), max(id) FROM t"));
        }
    }

    @Test
    void whoWritesToAStreamOfLaterDurabilityIsAnsweredBeforeTheDiskHasTheRows() {
        TestDatabase database = open();
        try {
            database.run("CREATE STREAM quick (a INT) WITH (durability = 'async'); CREATE STREAM sure (a INT)");
            database.run("CREATE MATERIALIZED VIEW q AS SELECT count(*) AS n FROM quick");
            database.run("CREATE MATERIALIZED VIEW s AS SELECT count(*) AS n FROM sure");
            database.run("INSERT INTO sure VALUES (0)"); // there is room in the log from here on
            database.run("SET statement_timeout = '30s'"); // who would wait would do so for ever
            rows().chances().forceErrorOneIn = 1;
            database.run("INSERT INTO quick VALUES (1), (2)");
            rows().calm();
            Eventually.holds(
                    "the disk is found to be well",
                    () -> database.database().instance().journal().failure().isEmpty());
            database.run("INSERT INTO sure VALUES (1)"); // what came before it is on disk with it
        } finally {
            disk = disk.crash();
            closeDead(database);
        }
        try (TestDatabase again = open()) {
            assertEquals(List.of("2"), again.rows("SELECT n FROM q"));
            assertEquals(List.of("2"), again.rows("SELECT n FROM s"));
            assertTrue(
                    again.error("CREATE STREAM d WITH (connector = 'system', durability = 'async')")
                            .startsWith(
                                    "22023 durability is about rows that clients write, and those of \"d\" come from connector"));
            assertTrue(again.error("CREATE STREAM d (a INT) WITH (durability = 'never')")
                    .contains("async"));
        }
    }
}
