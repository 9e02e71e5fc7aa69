package dev.millrace.connectors.split;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.connector.Part;
import java.util.HashSet;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SplitTimesTest {
    @Test
    void rowsAreHeldByTheSplitThatIsFurthestBehind() {
        SplitTimes times = new SplitTimes(0);
        SplitTimes.Split one = times.add(Part.UNKNOWN, 0);
        SplitTimes.Split other = times.add(Part.UNKNOWN, 0);
        assertEquals(Part.UNKNOWN, times.part(one, 0).nextMicros(), "nothing is known of the other");
        times.rows(one, OptionalLong.of(50), 1);
        times.rows(other, OptionalLong.of(20), 1);
        assertEquals(new Part(times.part(one, 2).number(), 50, 20), times.part(one, 2));
        assertEquals(50, times.part(other, 2).nextMicros());
        times.rows(other, OptionalLong.of(10), 3); // an older row takes nothing back
        assertEquals(20, times.part(one, 4).nextMicros());
        assertEquals(20, times.idlePart(4).firstMicros(), "who has no rows follows all others");
    }

    @Test
    void aSilentSplitHoldsNobodyAfterItsTime() {
        SplitTimes times = new SplitTimes(10);
        SplitTimes.Split one = times.add(Part.UNKNOWN, 0);
        SplitTimes.Split other = times.add(5, 0);
        times.rows(one, OptionalLong.of(50), 9_000);
        assertEquals(5, times.part(one, 9_999).nextMicros());
        assertEquals(Part.NONE, times.part(one, 10_000).nextMicros());
        times.rows(other, OptionalLong.empty(), 11_000);
        assertEquals(5, times.part(one, 12_000).nextMicros(), "it is back");
    }

    @Test
    void aSplitThatHasNothingHoldsNobody() {
        SplitTimes times = new SplitTimes(0);
        SplitTimes.Split one = times.add(7, 0);
        SplitTimes.Split empty = times.add(Part.UNKNOWN, 0);
        times.readToEnd(empty, true);
        assertEquals(Part.NONE, times.part(one, 0).nextMicros());
        times.readToEnd(empty, false);
        assertEquals(Part.UNKNOWN, times.part(one, 0).nextMicros(), "it has rows that were not read");
        times.rows(empty, OptionalLong.of(3), 0);
        times.readToEnd(empty, true);
        assertEquals(3, times.part(one, 0).nextMicros(), "one that had rows holds as before");
        times.remove(empty);
        assertEquals(Part.NONE, times.part(one, 0).nextMicros());
    }

    @Test
    void waitsGrowToTheirMostAndDiffer() {
        Backoff backoff = new Backoff(100, 10_000, 1);
        long least = 75;
        for (int failure = 0; failure < 100; failure++) {
            long wait = backoff.nextMillis();
            assertTrue(wait >= Math.min(7_500, least) && wait <= 10_000, failure + ": " + wait);
            least = Math.min(7_500, least * 2);
        }
        assertEquals(100, backoff.failures());
        backoff.succeeded();
        assertTrue(backoff.nextMillis() <= 100);
        Set<Long> waits = new HashSet<>();
        for (int seed = 0; seed < 20; seed++) {
            Backoff other = new Backoff(10_000, 10_000, seed);
            waits.add(other.nextMillis());
        }
        assertTrue(waits.size() > 10, "chance keeps them apart: " + waits);
    }
}
