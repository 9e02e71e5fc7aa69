package dev.millrace.sketch.sample;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Favours recent values by their time, at whatever rate they come (J. Arfa, "VIRBs and sampling events from streams",
 * 2016): a value's chance to be in the sample fades exponentially with its age, halving each {@code halfLifeTicks}. Each gets
 * a key drawn at its arrival, on a scale that rises with time, and the highest keys stay; so a burst does not wash out what
 * came before it, as it does where age is counted in values.
 */
public final class VariableRateReservoir implements Reservoir {
    private static final double LOG_2 = Math.log(2);

    private final double[] values;
    private final double[] keys; // a heap, the lowest first
    private final SplittableRandom random;
    private final double perTick;
    private int used;
    private long origin;
    private boolean begun;

    public VariableRateReservoir(int capacity, long halfLifeTicks, long seed) {
        values = new double[capacity];
        keys = new double[capacity];
        random = new SplittableRandom(seed);
        perTick = LOG_2 / halfLifeTicks;
    }

    @Override
    public void offer(double value, long ticks) {
        if (!begun) {
            begun = true;
            origin = ticks;
        }
        // Weighted sampling by keys u^(1/w) with w = e^(age), in logarithms: log w - log(-log u).
        double key = (ticks - origin) * perTick - Math.log(-Math.log(1 - random.nextDouble()));
        if (used < values.length) {
            int at = used++;
            while (at > 0 && keys[at - 1 >> 1] > key) {
                keys[at] = keys[at - 1 >> 1];
                values[at] = values[at - 1 >> 1];
                at = at - 1 >> 1;
            }
            keys[at] = key;
            values[at] = value;
        } else if (key > keys[0]) {
            replaceLowest(key, value);
        }
    }

    private void replaceLowest(double key, double value) {
        int at = 0;
        while (2 * at + 1 < used) {
            int child = 2 * at + 1;
            if (child + 1 < used && keys[child + 1] < keys[child]) {
                child++;
            }
            if (keys[child] >= key) {
                break;
            }
            keys[at] = keys[child];
            values[at] = values[child];
            at = child;
        }
        keys[at] = key;
        values[at] = value;
    }

    @Override
    public double[] sample() {
        return Arrays.copyOf(values, used);
    }
}
