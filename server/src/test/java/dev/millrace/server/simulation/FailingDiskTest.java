package dev.millrace.server.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.statistic.QueryState;
import dev.millrace.error.MillraceException;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.Session;
import dev.millrace.storage.simulation.SimulatedCrash;
import dev.millrace.storage.simulation.SimulatedDisk;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What histories found: what clients are told while the disk fails, and what is there afterwards. */
@Tag("long")
class FailingDiskTest {
    private final SimulatedDisk disk = new SimulatedDisk(1);
    private final SimulatedClock clock = new SimulatedClock(() -> {});

    private static String state(Session session, String sql) {
        return assertThrows(MillraceException.class, () -> session.execute(sql).drain())
                .sqlState()
                .code();
    }

    @Test
    void aTransactionOverAStreamAndATableIsRefusedAsOthersAre() {
        try (Database database = SimulatedHost.open(new SimulatedPlace(disk), clock, 1);
                Session session = database.session()) {
            session.execute("CREATE TABLE t (k BIGINT); CREATE STREAM s (k BIGINT)")
                    .drain();
            disk.chances().writeErrorOneIn = 1;
            assertEquals("58030", state(session, "INSERT INTO t VALUES (1)"));
            session.execute("BEGIN; INSERT INTO s VALUES (1); INSERT INTO t VALUES (2)")
                    .drain();
            assertEquals("58030", state(session, "COMMIT"));
            disk.calm();
        }
    }

    private Database open() {
        return SimulatedHost.open(new SimulatedPlace(disk), clock, 1);
    }

    private static void run(Database database, String sql) {
        try (Session session = database.session()) {
            session.execute(sql).drain();
        }
    }

    @Test
    void whatCouldNotBeMadeIsNotThereHoweverOften() {
        try (Database database = open();
                Session session = database.session()) {
            disk.chances().writeErrorOneIn = 1;
            assertEquals("58030", state(session, "CREATE STREAM a (k BIGINT)"));
            assertEquals("58030", state(session, "CREATE STREAM b (k BIGINT)"));
            disk.calm();
            session.execute("CREATE STREAM b (k BIGINT); CREATE STREAM a (k BIGINT)")
                    .drain();
        }
    }

    /** Of two records that say the same each is written. */
    @ParameterizedTest
    @ValueSource(strings = {"PAUSE", "PAUSE RESUME PAUSE"})
    void whatIsInEffectAndNotOnDiskIsWrittenBeforeWhatComesNext(String verbs) {
        try (Database database = open();
                Session session = database.session()) {
            session.execute("CREATE TABLE t (k BIGINT); CREATE MATERIALIZED VIEW v AS SELECT k + 1 AS k FROM t")
                    .drain();
            disk.chances().writeErrorOneIn = 1;
            for (String verb : verbs.split(" ")) {
                assertEquals("58030", state(session, verb + " MATERIALIZED VIEW v"));
            }
            assertEquals(Optional.of(QueryState.PAUSED), database.state("v"));
            disk.calm();
            session.execute("CREATE STREAM s (k BIGINT)").drain();
        }
        try (Database again = open()) {
            assertEquals(Optional.of(QueryState.PAUSED), again.state("v"));
        }
    }

    @Test
    void aQueryThatStoodStillInACheckpointGoesOnIfItDidBeforeTheEnd() {
        try (Database database = open()) {
            run(database, "CREATE TABLE t (k BIGINT); CREATE MATERIALIZED VIEW v AS SELECT k + 1 AS k FROM t");
            run(database, "PAUSE MATERIALIZED VIEW v; CHECKPOINT; RESUME MATERIALIZED VIEW v");
        }
        try (Database again = open()) {
            assertEquals(Optional.of(QueryState.RUNNING), again.state("v"));
        }
    }

    private static List<String> rows(Database database, String sql) {
        try (Session session = database.session()) {
            return History.rows(session, sql);
        }
    }

    @Test
    void aTableThatWasAlteredHasItsRowsThoughTheDiskTookNoCheckpoint() {
        for (int roomBytes = 0; roomBytes < 3000; roomBytes += 100) {
            SimulatedDisk small = new SimulatedDisk(1);
            try (Database database = SimulatedHost.open(new SimulatedPlace(small), clock, 1);
                    Session session = database.session()) {
                run(database, "CREATE TABLE t (k BIGINT PRIMARY KEY); INSERT INTO t VALUES (1), (2)");
                small.setCapacity(small.usedBytes() + roomBytes);
                boolean isAltered = isDone(session, "ALTER TABLE t ADD COLUMN v BIGINT DEFAULT 7");
                boolean isInserted = isDone(session, "INSERT INTO t (k) VALUES (3)");
                small.setCapacity(Long.MAX_VALUE);
                SimulatedDisk after = small.crash();
                small.revive();
                try (Database again = SimulatedHost.open(new SimulatedPlace(after), clock, 1)) {
                    String room = roomBytes + " bytes of room";
                    List<String> keys = rows(again, "SELECT k FROM t");
                    assertTrue(keys.containsAll(List.of("1", "2")), room);
                    assertTrue(!isInserted || keys.contains("3"), room);
                    assertTrue(!isAltered || rows(again, "SELECT v FROM t").contains("7"), room);
                }
            }
        }
    }

    private static boolean isDone(Session session, String sql) {
        try {
            session.execute(sql).drain();
            return true;
        } catch (MillraceException e) {
            assertEquals("53100", e.sqlState().code(), e::getMessage);
            return false;
        }
    }

    @Test
    void whatWaitsForAPausedQueryIsKeptAgainAfterItsTableGotAColumn() {
        try (Database database = open()) {
            run(database, "CREATE TABLE t (k BIGINT); CREATE MATERIALIZED VIEW v AS SELECT k + 1 AS k FROM t");
            run(database, "PAUSE MATERIALIZED VIEW v; INSERT INTO t VALUES (1); ALTER TABLE t ADD COLUMN c BIGINT");
        }
        try (Database again = open()) {
            run(again, "INSERT INTO t VALUES (2, 3); CHECKPOINT");
        }
        try (Database third = open();
                Session session = third.session()) {
            run(third, "RESUME MATERIALIZED VIEW v");
            session.flush();
            assertEquals(List.of("2", "3"), rows(third, "SELECT k FROM v"));
        }
    }

    @Test
    void aCheckpointIsOfNoRowThatTheLogHasNot() {
        try (Database database = open();
                Session session = database.session()) {
            session.execute("CREATE STREAM s (k BIGINT); SET synchronous_commit = off; INSERT INTO s VALUES (1)")
                    .drain();
            session.execute("CHECKPOINT").drain();
            disk.kill();
        } catch (SimulatedCrash dead) {
            disk.revive();
        }
        try (Database again = SimulatedHost.open(new SimulatedPlace(disk.crash()), clock, 1)) {
            assertEquals(List.of(), rows(again, "SELECT name FROM millrace.not_restored"));
        }
    }

    @Test
    void aPausedQueryStandsStillThoughItIsMadeLaterThanItWas() {
        try (Database database = open();
                Session session = database.session()) {
            run(database, "CREATE TABLE t (k BIGINT); CREATE MATERIALIZED VIEW v AS SELECT k + 1 AS k FROM t");
            run(database, "PAUSE MATERIALIZED VIEW v; INSERT INTO t VALUES (1)");
            disk.setCapacity(disk.usedBytes() + 300); // no checkpoint
            session.execute("ALTER TABLE t ADD COLUMN c BIGINT").drain();
            disk.setCapacity(Long.MAX_VALUE);
            disk.kill();
        } catch (SimulatedCrash dead) {
            disk.revive();
        }
        try (Database again = open()) {
            assertEquals(Optional.of(QueryState.PAUSED), again.state("v"));
        }
    }

    @Test
    void whereACheckpointCannotBeReadNothingIsLeftOfWhatBegan() {
        try (Database database = open()) {
            run(database, "CREATE TABLE t (k BIGINT); INSERT INTO t VALUES (1), (2)");
            run(database, "CREATE MATERIALIZED VIEW v AS SELECT k, 1 / k AS i FROM t ORDER BY k LIMIT 3");
            run(database, "CREATE MATERIALIZED VIEW w AS SELECT k, count(*) AS n FROM v GROUP BY k");
            run(database, "CREATE MATERIALIZED VIEW p AS SELECT a.k FROM v a JOIN t b ON a.k = b.k");
            run(database, "PAUSE MATERIALIZED VIEW p; INSERT INTO t VALUES (3), (4); CHECKPOINT");
        }
        int failed = 0;
        for (int seed = 0; seed < 60; seed++) {
            disk.chances().readErrorOneIn = 1 + seed;
            try (Database again = SimulatedHost.open(new SimulatedPlace(disk), clock, seed)) {
                disk.calm();
                assertEquals(List.of(), rows(again, "SELECT name FROM millrace.not_restored"));
            } catch (MillraceException e) {
                assertEquals("58030", e.sqlState().code(), e::getMessage);
                failed++;
            }
        }
        assertTrue(failed > 10, failed + " failed");
    }

    @Test
    void aTableThatWasMadeBehindRowsThatACrashTookHasThoseThatCameLater() {
        try (Database database = open();
                Session session = database.session()) {
            session.execute("CREATE STREAM s (k BIGINT); SET synchronous_commit = off")
                    .drain();
            session.execute("INSERT INTO s VALUES (1); INSERT INTO s VALUES (2); INSERT INTO s VALUES (3)")
                    .drain();
            session.execute("CREATE TABLE t (k BIGINT); CREATE MATERIALIZED VIEW v AS SELECT k FROM t; "
                            + "PAUSE MATERIALIZED VIEW v")
                    .drain();
            disk.kill();
        } catch (SimulatedCrash dead) {
            disk.revive();
        }
        SimulatedDisk after = disk.crash();
        try (Database again = SimulatedHost.open(new SimulatedPlace(after), clock, 1)) {
            run(again, "INSERT INTO t VALUES (1); RESUME MATERIALIZED VIEW v");
        }
        try (Database third = SimulatedHost.open(new SimulatedPlace(after), clock, 1);
                Session session = third.session()) {
            assertEquals(List.of("1"), rows(third, "SELECT k FROM t"));
            session.flush();
            assertEquals(List.of("1"), rows(third, "SELECT k FROM v"));
        }
    }

    @Test
    void aRecordThatFailedIsNotFoundInThePlaceOfOneThatACheckpointCountsOn() {
        for (int seed = 0; seed < 8; seed++) {
            for (int calls = 0; calls < 40; calls++) {
                SimulatedDisk small = new SimulatedDisk(seed);
                try (Database database = SimulatedHost.open(new SimulatedPlace(small), clock, 1);
                        Session session = database.session()) {
                    run(database, "CREATE TABLE t (k BIGINT PRIMARY KEY); INSERT INTO t VALUES (1), (2)");
                    small.chances().forceErrorOneIn = 1;
                    assertEquals("58030", state(session, "CREATE STREAM s (k BIGINT)"));
                    small.calm();
                    small.killIn(calls);
                    run(database, "ALTER TABLE t ADD COLUMN v BIGINT DEFAULT 7");
                    small.kill();
                } catch (SimulatedCrash dead) {
                    small.revive();
                }
                try (Database again = SimulatedHost.open(new SimulatedPlace(small.crash()), clock, 1)) {
                    assertEquals(List.of("1", "2"), rows(again, "SELECT k FROM t"), "seed " + seed + ", " + calls);
                }
            }
        }
    }

    @Test
    void anAlteredTableThatAViewReadsWaitsForItsCheckpoint() {
        SimulatedClock patient = new SimulatedClock(() -> disk.setCapacity(Long.MAX_VALUE));
        try (Database database = SimulatedHost.open(new SimulatedPlace(disk), patient, 1);
                Session session = database.session()) {
            run(database, "CREATE TABLE t (k BIGINT); CREATE STREAM s (k BIGINT)");
            run(database, "CREATE MATERIALIZED VIEW v AS SELECT k FROM s UNION ALL SELECT k FROM t");
            run(database, "INSERT INTO s VALUES (1); INSERT INTO t VALUES (2)");
            disk.setCapacity(disk.usedBytes() + 300); // no checkpoint
            patient.alarmIn(5_000);
            session.execute("ALTER TABLE t ADD COLUMN c BIGINT").drain();
            disk.kill();
        } catch (SimulatedCrash dead) {
            disk.revive();
        }
        try (Database again = open();
                Session session = again.session()) {
            session.flush();
            assertEquals(List.of("1", "2"), rows(again, "SELECT k FROM v"));
        }
    }

    @Test
    void aRowThatIsLeftOutStaysSoThoughTheDiskWasOwedSomethingElse() {
        SimulatedClock patient = new SimulatedClock(disk::calm);
        try (Database database = SimulatedHost.open(new SimulatedPlace(disk), patient, 1);
                Session session = database.session()) {
            run(database, "CREATE STREAM s (k BIGINT, v BIGINT)");
            run(database, "CREATE MATERIALIZED VIEW v AS SELECT k, 100 / v AS v FROM s");
            run(database, "INSERT INTO s VALUES (1, 0), (2, 2)");
            session.flush();
            assertEquals(Optional.of(QueryState.FAILED), database.state("v"));
            disk.chances().writeErrorOneIn = 1;
            assertEquals("58030", state(session, "ALTER SYSTEM SET spill_limit = '64MB'"));
            patient.alarmIn(5_000);
            session.execute("ALTER MATERIALIZED VIEW v RESUME SKIP ROW").drain();
            disk.kill();
        } catch (SimulatedCrash dead) {
            disk.revive();
        }
        try (Database again = open();
                Session session = again.session()) {
            session.flush();
            assertEquals(List.of("2"), rows(again, "SELECT k FROM v"));
        }
    }

    @Test
    void aDirectoryOfWhichTheNamesCouldNotBeForcedOpensAfterACrash() {
        for (int seed = 0; seed < 60; seed++) {
            SimulatedDisk fresh = new SimulatedDisk(seed);
            fresh.chances().forceErrorOneIn = 3;
            for (boolean isOpen = false; !isOpen; ) {
                try (Database database = SimulatedHost.open(new SimulatedPlace(fresh), clock, seed)) {
                    isOpen = true;
                    fresh.calm();
                    run(database, "CREATE TABLE t (k BIGINT)");
                    fresh.kill();
                } catch (MillraceException e) {
                    assertEquals("58030", e.sqlState().code(), e::getMessage);
                } catch (SimulatedCrash dead) {
                    fresh.revive();
                }
            }
            try (Database again = SimulatedHost.open(new SimulatedPlace(fresh.crash()), clock, seed)) {
                assertEquals(List.of(), rows(again, "SELECT * FROM t"));
            }
        }
    }

    @Test
    void aViewThatIsDroppedWithItsSubscriptionsIsGoneWithThemOrThereWithThem() {
        int dropped = 0;
        int there = 0;
        for (int calls = 0; calls < 12; calls++) {
            SimulatedDisk small = new SimulatedDisk(calls);
            try (Database database = SimulatedHost.open(new SimulatedPlace(small), clock, 1)) {
                run(database, "CREATE TABLE t (k BIGINT); CREATE MATERIALIZED VIEW v AS SELECT k FROM t");
                run(database, "CREATE SUBSCRIPTION d FROM v; INSERT INTO t VALUES (1)");
                small.killIn(calls);
                run(database, "DROP TABLE t CASCADE");
                small.kill();
            } catch (SimulatedCrash dead) {
                small.revive();
            }
            try (Database again = SimulatedHost.open(new SimulatedPlace(small.crash()), clock, 1)) {
                boolean isThere = again.catalog().object("v").isPresent();
                assertEquals(
                        isThere ? List.of("d|v|active") : List.of(),
                        rows(again, "SELECT name, query, state FROM millrace.subscriptions"),
                        calls + " calls");
                there += isThere ? 1 : 0;
                dropped += isThere ? 0 : 1;
            }
        }
        assertTrue(dropped > 0 && there > 0, dropped + " dropped, " + there + " there");
    }
}
