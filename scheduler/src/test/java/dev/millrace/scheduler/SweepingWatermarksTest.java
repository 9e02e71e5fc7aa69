package dev.millrace.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.Test;

/** When the next window's input is complete, as far as the past can tell. */
final class SweepingWatermarksTest {
    private static final long SECOND = 1_000_000_000;
    private static final long MILLI = 1_000_000;

    private static SweepingWatermarks after(int epochs, LongUnaryOperator delayOfEpoch) {
        SweepingWatermarks input = new SweepingWatermarks(3 * SECOND);
        for (int i = 0; i < epochs; i++) {
            input.swept(i * 3 * SECOND, i * 3 * SECOND + delayOfEpoch.applyAsLong(i));
            input.through();
        }
        return input;
    }

    @Test
    void theNextComesAsLateAsThePastDidInTheMean() {
        SweepingWatermarks input = after(10, epoch -> epoch % 2 == 0 ? 100 * MILLI : 300 * MILLI);
        assertEquals(30 * SECOND, input.deadlineNanos());
        assertEquals(30 * SECOND + 200 * MILLI, input.expectedNanos(), 1);
    }

    @Test
    void fourHundredEpochsAreRemembered() {
        SweepingWatermarks input = after(1_000, epoch -> epoch < 600 ? 50 * SECOND : 2 * SECOND);
        assertEquals(3_000 * SECOND + 2 * SECOND, input.expectedNanos(), 1);
    }

    @Test
    void delaysOfYearsLoseNoPrecision() {
        long years = 13L * 365 * 86_400 * SECOND;
        SweepingWatermarks input = after(5_000, epoch -> years + (epoch % 2) * 10 * MILLI);
        assertEquals(15_000 * SECOND + years + 5 * MILLI, input.expectedNanos(), 1_000);
        assertEquals(input.estimates(), input.hits());
    }

    @Test
    void theSlackIsTheSumOfThePaperWithinHalfACycle() {
        SplittableRandom random = new SplittableRandom(4);
        double[] delays = random.doubles(400, 0, 2 * SECOND).toArray();
        SweepingWatermarks input = after(400, epoch -> (long) delays[(int) epoch]);
        double expected = input.expectedNanos();
        double mean = 0;
        double squares = 0;
        for (double delay : delays) {
            mean += delay / 400;
            squares += delay * delay / 400;
        }
        double sigma = Math.sqrt(squares - mean * mean);
        for (double fromExpected :
                new double[] {-5 * SECOND, -1.5 * SECOND, -.7 * SECOND, 0, .4 * SECOND, .9 * SECOND}) {
            long now = (long) (expected + fromExpected);
            double work = .25 * SECOND;
            double sum = 0;
            double r = 1e-2
                    * SweepingWatermarks.CYCLE_NANOS; // the integral is what a fine sum comes to, but for half a cycle
            double toCome = 1 - Normal.below((now - expected) / sigma);
            for (double x = Math.max(now, expected - 2 * sigma); x < expected + 2 * sigma; x += r) {
                double within = Normal.below((x + r - expected) / sigma) - Normal.below((x - expected) / sigma);
                sum += within / toCome * (x + r - now - work);
            }
            assertEquals(sum, input.slackNanos(now, work), SweepingWatermarks.CYCLE_NANOS, "at " + fromExpected);
        }
    }

    @Test
    void oneThatIsOverdueLosesSlackFurther() {
        SweepingWatermarks input = after(10, epoch -> 100 * MILLI);
        double due = input.expectedNanos();
        assertEquals(-SECOND, input.slackNanos((long) due + SECOND, 0), 1);
        assertEquals(-3 * SECOND, input.slackNanos((long) due + SECOND, 2 * SECOND), 1);
    }

    @Test
    void estimatesOfUniformAndZipfDelaysAreRightInNinetyFivePercent() {
        double[] weights = new double[1_000];
        double total = 0;
        for (int i = 0; i < weights.length; i++) {
            total += Math.pow(i + 1, -.99);
            weights[i] = total;
        }
        double all = total;
        SplittableRandom random = new SplittableRandom(11);
        SweepingWatermarks uniform = after(5_000, epoch -> random.nextLong(SECOND));
        SweepingWatermarks zipf = after(5_000, epoch -> {
            double drawn = random.nextDouble() * all;
            int rank = Arrays.binarySearch(weights, drawn);
            return MILLI * (rank < 0 ? -rank : rank + 1);
        });
        assertEquals(4_998, uniform.estimates());
        assertTrue(uniform.hits() >= .98 * uniform.estimates(), uniform.hits() + " of " + uniform.estimates());
        assertTrue(zipf.hits() >= .945 * zipf.estimates(), zipf.hits() + " of " + zipf.estimates());
        assertTrue(zipf.hits() < zipf.estimates()); // a watermark that is out of all proportion is not foreseen
    }

    @Test
    void oneThatCameAndIsNotThroughIsDueSinceItCame() {
        SweepingWatermarks input = after(10, epoch -> 100 * MILLI);
        input.swept(30 * SECOND, 30 * SECOND + 100 * MILLI);
        input.swept(33 * SECOND, 33 * SECOND + 100 * MILLI);
        assertEquals(-4 * SECOND - 900 * MILLI, input.slackNanos(35 * SECOND, 0));
        input.through();
        assertEquals(-SECOND - 900 * MILLI, input.slackNanos(35 * SECOND, 0));
        input.through();
        assertEquals(SECOND + 100 * MILLI, input.slackNanos(35 * SECOND, 0), SweepingWatermarks.CYCLE_NANOS);
    }

    @Test
    void ofAJoinTheInputWithTheLeastSlackCounts() {
        SweepingWatermarks soon = after(10, epoch -> 100 * MILLI);
        SweepingWatermarks late = after(10, epoch -> 2 * SECOND);
        SweepingWatermarks unknown = new SweepingWatermarks(SECOND);
        WindowProgress join = new WindowProgress(List.of(unknown, late, soon));
        assertTrue(join.isKnown());
        assertEquals(soon.slackNanos(29 * SECOND, 5), join.slackNanos(29 * SECOND, 5));
        assertFalse(new WindowProgress(List.of(unknown)).isKnown());
    }
}
