package dev.millrace.server.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.server.host.Host;
import dev.millrace.storage.log.WriteAheadLog;
import dev.millrace.storage.log.WriteAheadLogOptions;
import dev.millrace.storage.simulation.SimulatedDisk;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class HistoryLogTest {
    private static final int RECORDS = 60;

    /** A history whose disk does not let go of what is old has lost nothing, and goes on. */
    @Test
    void whatTheDiskDoesNotLetGoOfGoesTheNextTime() {
        SimulatedDisk disk = new SimulatedDisk(1);
        WriteAheadLog log =
                WriteAheadLog.open(disk, WriteAheadLogOptions.standard().withSizes(1 << 16, 1 << 20));
        try (HistoryLog history = new HistoryLog(Optional.of(log), Host.PROCESS)) {
            history.isBegun();
            long last = 0;
            for (int i = 0; i < RECORDS; i++) {
                last = history.baseRows(List.of(ByteBuffer.allocate(10_000)));
            }
            history.await();
            int before = log.statistics().segments();
            assertTrue(before > 5, before + " segments");
            disk.chances().writeErrorOneIn = 1;
            disk.chances().forceErrorOneIn = 1;
            history.forgetBefore(last);
            assertEquals(before, log.statistics().segments());
            disk.calm();
            history.forgetBefore(last);
            assertTrue(log.statistics().segments() < 3, log.statistics()::toString);
        }
    }
}
