package dev.millrace.storage.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.storage.simulation.DiskFault;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Acknowledged records are there exactly once and in order, failed ones never, others whole or not at all. */
@Tag("long")
class LogHistoriesTest {
    private static final int HISTORIES = Integer.getInteger("millrace.log.histories", 120);
    private static final long SEED = Long.getLong("millrace.log.seed", 1);

    @Test
    void whateverTheDiskDoesTheLogKeepsWhatItPromised() {
        Map<DiskFault, Integer> faults = new EnumMap<>(DiskFault.class);
        Map<String, Integer> seen = new HashMap<>();
        long checked = 0;
        for (long seed = SEED; seed < SEED + HISTORIES; seed++) {
            LogHistory history;
            try {
                history = new LogHistory(seed);
                history.run(600);
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError("-Dmillrace.log.seed=" + seed + ": " + e, e);
            }
            history.disk().happened().forEach((fault, times) -> faults.merge(fault, times, Integer::sum));
            history.seen().forEach((what, times) -> seen.merge(what, times, Integer::sum));
            checked += history.checked();
        }
        System.out.println("log histories: " + checked + " records, " + faults + ", " + seen);
        if (HISTORIES >= 100) {
            assertEquals(EnumSet.allOf(DiskFault.class), faults.keySet());
            Set<String> wanted = Set.of(
                    "crash",
                    "close",
                    "close failed",
                    "could not open",
                    "failed",
                    "forgot",
                    "refused 53100",
                    "refused 58030",
                    "the log fails",
                    "the log works again",
                    "torn end");
            assertTrue(seen.keySet().containsAll(wanted), seen.toString());
        }
    }
}
