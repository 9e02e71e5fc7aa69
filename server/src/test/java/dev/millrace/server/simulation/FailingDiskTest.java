package dev.millrace.server.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.engine.statistic.QueryState;
import dev.millrace.error.MillraceException;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.Session;
import dev.millrace.storage.simulation.SimulatedDisk;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What histories found: what clients are told while the disk fails, and what is there afterwards. */
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

    @Test
    void whatIsInEffectAndNotOnDiskIsWrittenBeforeWhatComesNext() {
        try (Database database = open();
                Session session = database.session()) {
            session.execute("CREATE TABLE t (k BIGINT); CREATE MATERIALIZED VIEW v AS SELECT k + 1 AS k FROM t")
                    .drain();
            disk.chances().writeErrorOneIn = 1;
            assertEquals("58030", state(session, "PAUSE MATERIALIZED VIEW v"));
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
}
