package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.server.storage.DataPlace;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.simulation.SimulatedCrash;
import dev.millrace.storage.simulation.SimulatedDisk;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** A transaction that defines and writes is there as a whole or not at all, whenever the process or the machine ends, and when the disk fails. */
class CommittedDefinitionsTest {
    private static final String BEFORE = "CREATE TABLE version (n INT PRIMARY KEY); INSERT INTO version VALUES (1);"
            + " CREATE TABLE old (a INT); INSERT INTO old VALUES (1), (2); CREATE TABLE x (a INT); INSERT INTO x VALUES (5);"
            + " COMMENT ON TABLE x IS 'said before'; COMMENT ON COLUMN old.a IS 'of old'";
    private static final String CHANGES = "BEGIN; CREATE TABLE made (a INT); INSERT INTO made VALUES (1), (2);"
            + " ALTER TABLE x ADD COLUMN b INT DEFAULT 6; UPDATE x SET a = a + 1; DROP TABLE old;"
            + " UPDATE version SET n = 2; CREATE MATERIALIZED VIEW v AS SELECT count(*) AS n FROM made;"
            + " COMMENT ON TABLE x IS 'said in it'; COMMENT ON COLUMN made.a IS 'of made'";

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

    /** Which of the two it is. */
    private static String state(TestDatabase database) {
        String version = database.rows("SELECT n FROM version").get(0);
        assertEquals(
                version.equals("1") ? List.of("of old", "said before") : List.of("of made", "said in it"),
                database.rows("SELECT description FROM pg_description ORDER BY 1"));
        if (version.equals("1")) {
            assertEquals(List.of("1", "2"), database.rows("SELECT a FROM old"));
            assertEquals(List.of("5"), database.rows("SELECT * FROM x"));
            assertTrue(database.error("SELECT * FROM made").startsWith("42P01"));
            assertTrue(database.error("SELECT * FROM v").startsWith("42P01"));
        } else {
            assertTrue(database.error("SELECT * FROM old").startsWith("42P01"));
            assertEquals(List.of("6|6"), database.rows("SELECT * FROM x"));
            assertEquals(List.of("1", "2"), database.rows("SELECT a FROM made"));
            assertEquals(List.of("2"), database.flushedRows("SELECT n FROM v"));
        }
        return version;
    }

    /** What a process that is killed now leaves to another on the same machine. */
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

    /** What is there can be changed, and is there again. */
    private static String lasting(SimulatedDisk disk) {
        disk.setMeanwhile(file -> {});
        String version;
        try (TestDatabase again = open(disk)) {
            version = state(again);
            again.run("CREATE TABLE later (a INT); INSERT INTO later VALUES (1)");
        }
        try (TestDatabase again = open(disk)) {
            assertEquals(version, state(again));
            assertEquals(List.of("1"), again.rows("SELECT a FROM later"));
        }
        return version;
    }

    private static void closeDead(TestDatabase database) {
        try {
            database.close();
        } catch (SimulatedCrash | MillraceException e) {
            return;
        }
    }

    @Test
    void aProcessThatEndsAtAnyWriteOfCommitLeavesAllOrNothing() {
        SimulatedDisk disk = new SimulatedDisk(1);
        List<SimulatedDisk> images = Collections.synchronizedList(new ArrayList<>());
        try (TestDatabase database = open(disk)) {
            database.run(BEFORE);
            database.run(CHANGES);
            images.add(image(disk));
            disk.setMeanwhile(file -> images.add(image(disk)));
            database.run("COMMIT");
            disk.setMeanwhile(file -> {});
            images.add(image(disk));
            assertEquals("2", state(database));
        }
        Set<String> found = new TreeSet<>();
        List<String> versions = new ArrayList<>();
        for (SimulatedDisk image : List.copyOf(images)) {
            versions.add(lasting(image));
        }
        found.addAll(versions);
        assertEquals(Set.of("1", "2"), found);
        assertEquals("2", versions.get(versions.size() - 1));
        assertTrue(versions.size() > 3, versions.toString()); // the record alone is one of them
    }

    @Test
    void aMachineThatStopsDuringCommitLeavesAllOrNothing() throws Exception {
        Set<String> found = new TreeSet<>();
        for (int seed = 1; seed <= 12; seed++) {
            SimulatedDisk disk = new SimulatedDisk(seed);
            List<SimulatedDisk> after = new ArrayList<>();
            int stop = seed % 6;
            int[] writes = {0};
            TestDatabase database = open(disk);
            try {
                database.run(BEFORE);
                if (seed % 2 == 0) {
                    database.run("CHECKPOINT");
                }
                database.run(CHANGES);
                disk.setMeanwhile(file -> {
                    synchronized (writes) {
                        if (writes[0]++ == stop) {
                            after.add(disk.crash());
                        }
                    }
                });
                Thread commit = new Thread(() -> {
                    try {
                        database.run("COMMIT");
                    } catch (SimulatedCrash | MillraceException e) {
                        return; // whatever it is told
                    }
                });
                commit.setDaemon(true);
                commit.start();
                commit.join(2_000);
                synchronized (writes) {
                    if (after.isEmpty()) {
                        after.add(disk.crash());
                    }
                }
            } finally {
                closeDead(database);
            }
            found.add(lasting(after.get(0)));
        }
        assertEquals(Set.of("1", "2"), found);
    }

    @Test
    void whatADiskDoesNotTakeIsUndone() {
        SimulatedDisk disk = new SimulatedDisk(7);
        try (TestDatabase database = open(disk)) {
            database.run(BEFORE);
            database.run(CHANGES);
            disk.chances().writeErrorOneIn = 1;
            assertTrue(database.error("COMMIT").startsWith("58030 "));
            disk.calm();
            assertEquals("1", state(database));
            database.run(CHANGES + "; COMMIT");
            assertEquals("2", state(database));
        }
        try (TestDatabase again = open(disk.crash())) {
            assertEquals("2", state(again));
        }
    }
}
