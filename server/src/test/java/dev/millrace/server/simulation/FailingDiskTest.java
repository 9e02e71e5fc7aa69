package dev.millrace.server.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.engine.runtime.SteppedEngine;
import dev.millrace.error.MillraceException;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.Session;
import dev.millrace.storage.simulation.SimulatedDisk;
import org.junit.jupiter.api.Test;

/** What clients are told while the disk fails; each of these was found by a history. */
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
            session.execute("SET synchronous_commit = off; INSERT INTO t VALUES (1)")
                    .drain();
            for (int i = 0; i < 50; i++) {
                ((SteppedEngine) database.engine()).step(); // the log notices
            }
            session.execute("BEGIN; INSERT INTO s VALUES (1); INSERT INTO t VALUES (2)")
                    .drain();
            assertEquals("58030", state(session, "COMMIT"));
            disk.calm();
        }
    }
}
