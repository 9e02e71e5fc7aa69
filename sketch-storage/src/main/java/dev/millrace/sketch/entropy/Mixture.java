package dev.millrace.sketch.entropy;

import java.util.Arrays;

/**
 * How likely the next bit is a one, from several adaptive opinions weighed by how right they were: integer logistic
 * mixing as in M. Mahoney's lpaq. For each bit: {@link #opinion} for each context, {@link #predict}, {@link #learn}.
 */
final class Mixture {
    private static final int PROBABILITY_BITS = 12;
    private static final int ONE = 1 << PROBABILITY_BITS;
    private static final int[] SQUASH = {
        1, 2, 3, 6, 10, 16, 27, 45, 73, 120, 194, 310, 488, 747, 1101, 1546, 2047, 2549, 2994, 3348, 3607, 3785, 3901,
        3975, 4022, 4050, 4068, 4079, 4085, 4089, 4092, 4093, 4094
    };
    private static final int[] STRETCH = stretchTable();
    private static final int COUNT_LIMIT = 250;
    private static final int[] RATE = rateTable();
    private static final int LEARNING = 10;

    private final int[][] states; // per input and context: probability in 22 bits, then how often seen in 10
    private final int[] weights; // per selector and input, 1/65536
    private final int inputs;
    private final int[] chosen;
    private final int[] stretched;
    private int weightsFrom;
    private int predicted;

    /**
     * Of as many inputs as there are sizes.
     *
     * @param sizes how many contexts each input has
     * @param selectors how many sets of weights
     */
    Mixture(int[] sizes, int selectors) {
        inputs = sizes.length;
        states = new int[inputs][];
        for (int i = 0; i < inputs; i++) {
            states[i] = new int[sizes[i]];
            Arrays.fill(states[i], 1 << 31);
        }
        weights = new int[selectors * inputs];
        Arrays.fill(weights, (1 << 16) * 3 / 8);
        chosen = new int[inputs];
        stretched = new int[inputs];
    }

    private static int squash(int x) {
        if (x > 2047) {
            return ONE - 1;
        }
        if (x < -2047) {
            return 1;
        }
        int weight = x & 127;
        int index = (x >> 7) + 16;
        return SQUASH[index] * (128 - weight) + SQUASH[index + 1] * weight + 64 >> 7;
    }

    private static int[] stretchTable() {
        int[] table = new int[ONE];
        int from = 0;
        for (int x = -2047; x <= 2047; x++) {
            int p = squash(x);
            for (int i = from; i <= p; i++) {
                table[i] = x;
            }
            from = Math.max(from, p + 1);
        }
        Arrays.fill(table, from, ONE, 2047);
        return table;
    }

    private static int[] rateTable() {
        int[] table = new int[1024];
        for (int n = 0; n < table.length; n++) {
            table[n] = (int) (65536 / (Math.min(n, COUNT_LIMIT) + 1.6));
        }
        return table;
    }

    /** Starts a context off at an expectation, as if it had been seen {@code seen} times. */
    void expect(int input, int context, int probability, int seen) {
        states[input][context] = probability << 20 | seen;
    }

    void opinion(int input, int context) {
        chosen[input] = context;
        stretched[input] = STRETCH[states[input][context] >>> 20];
    }

    /** How likely a 1 is, in 1/65536. */
    int predict(int selector) {
        weightsFrom = selector * inputs;
        long sum = 0;
        for (int i = 0; i < inputs; i++) {
            sum += (long) weights[weightsFrom + i] * stretched[i];
        }
        predicted = squash((int) Math.max(-3000, Math.min(3000, sum >> 16)));
        return Math.max(1, Math.min(65535, predicted << 4));
    }

    void learn(int bit) {
        int error = ((bit << PROBABILITY_BITS) - predicted) * LEARNING;
        for (int i = 0; i < inputs; i++) {
            weights[weightsFrom + i] += stretched[i] * error + 0x2000 >> 14;
            int state = states[i][chosen[i]];
            int seen = state & 1023;
            int probability = state >>> 10; // 22 bits
            int goal = bit << 22;
            probability += (int) ((long) (goal - probability) * RATE[seen] >> 16);
            probability = Math.max(512, Math.min((1 << 22) - 512, probability));
            states[i][chosen[i]] = probability << 10 | Math.min(seen + 1, 1023);
        }
    }
}
