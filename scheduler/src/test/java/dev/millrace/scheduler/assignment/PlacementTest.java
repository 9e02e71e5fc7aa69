package dev.millrace.scheduler.assignment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class PlacementTest {
    @Test
    void oneOfTheTwoLeastLoadedIsDrawn() {
        SplittableRandom random = new SplittableRandom(1);
        for (int round = 0; round < 10_000; round++) {
            double[] loads = random.doubles(random.nextInt(1, 8))
                    .map(load -> Math.round(load * 4))
                    .toArray();
            int chosen = Placement.choose(loads, random::nextInt);
            long below =
                    Arrays.stream(loads).filter(load -> load < loads[chosen]).count();
            assertTrue(below < Placement.CHOICES, Arrays.toString(loads) + ": " + chosen);
        }
    }

    @Test
    void theDrawDecidesBetweenThem() {
        double[] loads = {.5, .1, .9, .2};
        assertEquals(1, Placement.choose(loads, bound -> 0));
        assertEquals(3, Placement.choose(loads, bound -> 1));
        assertEquals(0, Placement.choose(new double[] {3}, bound -> 1));
    }

    /** Loads that are known only from time to time: who always takes the least puts a burst on one worker. */
    @Test
    void aBurstIsSpread() {
        SplittableRandom random = new SplittableRandom(3);
        double[] stale = {.1, .1, .3, .3};
        int[] placed = new int[4];
        for (int i = 0; i < 1_000; i++) {
            placed[Placement.choose(stale, random::nextInt)]++;
        }
        assertTrue(placed[0] > 400 && placed[1] > 400 && placed[2] + placed[3] == 0, Arrays.toString(placed));
    }
}
