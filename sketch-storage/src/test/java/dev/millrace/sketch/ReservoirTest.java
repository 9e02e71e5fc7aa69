package dev.millrace.sketch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.sketch.sample.BiasedReservoir;
import dev.millrace.sketch.sample.Reservoir;
import dev.millrace.sketch.sample.UniformReservoir;
import dev.millrace.sketch.sample.VariableRateReservoir;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Each reservoir favours what it says it favours. */
class ReservoirTest {
    private static final int CAPACITY = 500;

    private static double mean(Reservoir reservoir) {
        double[] sample = reservoir.sample();
        assertEquals(CAPACITY, sample.length);
        return Arrays.stream(sample).average().orElseThrow();
    }

    @Test
    void theUniformOneKnowsNoAge() {
        Reservoir reservoir = new UniformReservoir(CAPACITY, 1);
        for (int i = 0; i < 100_000; i++) {
            reservoir.offer(i, i);
        }
        assertEquals(50_000, mean(reservoir), 5_000);
    }

    @Test
    void theBiasedOneForgetsByNumber() {
        Reservoir reservoir = new BiasedReservoir(CAPACITY, 1);
        for (int i = 0; i < 100_000; i++) {
            reservoir.offer(i, i);
        }
        // Ages are exponential with a mean of the capacity.
        assertEquals(CAPACITY, 100_000 - mean(reservoir), 100);
    }

    @Test
    void theVariableRateOneForgetsByTimeWhateverTheRate() {
        long halfLife = 1000;
        Reservoir reservoir = new VariableRateReservoir(CAPACITY, halfLife, 1);
        // A slow stretch, then a burst of 20,000 values within a tenth of the half-life.
        for (int i = 0; i < 4000; i++) {
            reservoir.offer(0, i);
        }
        for (int i = 0; i < 20_000; i++) {
            reservoir.offer(1, 4000 + i / 200);
        }
        double recent = mean(reservoir);
        // Weighed by age alone the slow stretch keeps its share: about 1443 of 21,443.
        assertTrue(recent > .85 && recent < .99, "share of the burst: " + recent);
    }
}
