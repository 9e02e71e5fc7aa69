package dev.millrace.sketch.entropy;

import dev.millrace.sketch.bits.BitReader;
import dev.millrace.sketch.bits.BitWriter;
import dev.millrace.sketch.bits.Damage;

/**
 * A sequence of numbers as steps from what was predicted, each coded by a distribution that depends on the steps before
 * it (or, among few numbers, on the last one). Some 3 ns per number to read.
 *
 * <pre>
 * golomb(4)   zigzag of the first number
 * 3 bits      prediction (centre, 1/4, 1/2, 3/4 of the way to the last, last, last + half a step, + a step, - a quarter)
 * golomb(4)   zigzag of the centre less the first, when the prediction uses it
 * 6 bits      k: low bits of a step that are written as they are
 * 2 bits      contexts: 0 one, 1 four by the last two steps, 2 one for each last number (0 to 7)
 * 3 bits      how many numbers there are, less one (contexts 2 only)
 * 10 bits     the distribution (StepClass) of each context
 * 10 bits     first state
 * per number: bits of the state; for an escape a sign and golomb(2) of the step's size above k; k low bits
 * </pre>
 */
public final class StaticCode {
    private static final int SINGLE = 0;
    private static final int BY_STEPS = 1;
    private static final int BY_VALUE = 2;
    private static final int MOST_VALUES = 8;
    private static final int STATES = 1 << StepClass.LOG;
    private static final int HEADER_BITS = 40;

    private final long[] values;
    private final int count;
    private final long centre;
    private final Prediction prediction;
    private final int lowBits;
    private final long[] high; // per number from the second on: the step above the low bits
    private int contexts = SINGLE;
    private int contextCount = 1;
    private int[] members = new int[MOST_VALUES];
    private long bits;

    /**
     * Prepares the code of the first {@code count} numbers of an array.
     *
     * @param distinct an upper bound: numbers are 0 to {@code distinct - 1}, or {@link Integer#MAX_VALUE}
     */
    public StaticCode(long[] values, int count, int distinct) {
        this.values = values;
        this.count = count;
        this.centre = centre(values, count);
        this.prediction = Prediction.best(values, count, centre);
        this.high = new long[count];
        double size = 0;
        long before = count > 0 ? values[0] : 0;
        long last = before;
        for (int i = 1; i < count; i++) {
            long step = values[i] - prediction.next(centre, last, before);
            high[i] = step;
            size += Math.abs((double) step);
            before = last;
            last = values[i];
        }
        int low = 0;
        double mean = count > 1 ? size / (count - 1) : 0;
        while (mean > 2.6 && low < 62) {
            mean /= 2;
            low++;
        }
        this.lowBits = low;
        if (low > 0) {
            for (int i = 1; i < count; i++) {
                high[i] >>= low;
            }
        }
        chooseContexts(distinct);
    }

    private static long centre(long[] values, int count) {
        double sum = 0;
        int stride = Math.max(1, count / 256);
        int taken = 0;
        for (int i = 0; i < count; i += stride) {
            sum += values[i];
            taken++;
        }
        return taken == 0 ? 0 : (long) (sum / taken);
    }

    private void chooseContexts(int distinct) {
        int[] single = new int[StepClass.SYMBOLS];
        int[] bySteps = new int[4 * StepClass.SYMBOLS];
        boolean few = distinct <= MOST_VALUES && lowBits == 0;
        int[] byValue = new int[few ? distinct * StepClass.SYMBOLS : 0];
        long escaped = 0;
        long before = 0;
        long last = 0;
        long direction = 1;
        for (int i = 1; i < count; i++) {
            long step = high[i];
            single[symbol(step)]++;
            int context = context(last, before);
            int symbol = symbol(direction * step);
            bySteps[context * StepClass.SYMBOLS + symbol]++;
            if (few) {
                byValue[(int) values[i - 1] * StepClass.SYMBOLS + symbol(step)]++;
            }
            if (symbol == StepClass.ESCAPE) {
                escaped += 1 + BitWriter.golombBits(Math.abs(step), 2);
            }
            before = last;
            last = step;
            direction = step > 0 ? 1 : step < 0 ? -1 : direction;
        }
        long plain = HEADER_BITS + escaped + (long) lowBits * (count - 1);
        bits = plain + offer(SINGLE, single, 1, Long.MAX_VALUE);
        bits = plain + Math.min(bits - plain, offer(BY_STEPS, bySteps, 4, bits - plain));
        if (few) {
            bits = plain + Math.min(bits - plain, offer(BY_VALUE, byValue, distinct, bits - plain));
        }
    }

    private long offer(int kind, int[] counts, int kinds, long best) {
        int[] fitted = new int[MOST_VALUES];
        long cost = 0;
        for (int c = 0; c < kinds; c++) {
            fitted[c] = StepClass.fit(counts, c * StepClass.SYMBOLS);
            AnsTable table = StepClass.table(fitted[c]);
            for (int s = 0; s < StepClass.SYMBOLS; s++) {
                int times = counts[c * StepClass.SYMBOLS + s];
                if (times > 0) {
                    // What has no state is escaped: the escape, a sign and a short code.
                    cost += (long) times * (table.has(s) ? table.cost(s) : table.cost(StepClass.ESCAPE) + (6 << 8));
                }
            }
        }
        long total = (cost >> 8) + (long) kinds * StepClass.BITS;
        if (total < best) {
            contexts = kind;
            contextCount = kinds;
            members = fitted;
        }
        return total;
    }

    private static int symbol(long step) {
        return step >= -StepClass.MIDDLE && step <= StepClass.MIDDLE ? (int) step + StepClass.MIDDLE : StepClass.ESCAPE;
    }

    private static int context(long last, long before) {
        return last == 0 ? before == 0 ? 0 : 1 : last == 1 || last == -1 ? 2 : 3;
    }

    /** About how many bits {@link #write} takes. */
    public long bits() {
        return bits;
    }

    public void write(BitWriter out) {
        out.golomb(BitWriter.zigzag(values[0]), 4);
        out.write(prediction.ordinal(), Prediction.BITS);
        if (prediction != Prediction.LAST) {
            out.golomb(BitWriter.zigzag(centre - values[0]), 4);
        }
        out.write(lowBits, 6);
        out.write(contexts, 2);
        if (contexts == BY_VALUE) {
            out.write(contextCount - 1, 3);
        }
        for (int c = 0; c < contextCount; c++) {
            out.write(members[c], StepClass.BITS);
        }
        // The state machine runs backwards; its output is kept and written forwards.
        int[] chosen = new int[count]; // context and symbol of each number
        long before = 0;
        long last = 0;
        long direction = 1;
        for (int i = 1; i < count; i++) {
            long step = high[i];
            int context = contexts == SINGLE ? 0 : contexts == BY_VALUE ? (int) values[i - 1] : context(last, before);
            int symbol = symbol(contexts == BY_STEPS ? direction * step : step);
            if (!StepClass.table(members[context]).has(symbol)) {
                symbol = StepClass.ESCAPE;
            }
            chosen[i] = context << 8 | symbol;
            before = last;
            last = step;
            direction = step > 0 ? 1 : step < 0 ? -1 : direction;
        }
        int[] emitted = new int[count];
        int state = STATES;
        for (int i = count - 1; i > 0; i--) {
            AnsTable table = StepClass.table(members[chosen[i] >> 8]);
            int symbol = chosen[i] & 0xff;
            int width = table.encodeBits(state, symbol);
            emitted[i] = (state & (1 << width) - 1) << 4 | width;
            state = table.encodeState(state, symbol, width);
        }
        out.write(state - STATES, StepClass.LOG);
        for (int i = 1; i < count; i++) {
            out.write(emitted[i] >>> 4, emitted[i] & 15);
            if ((chosen[i] & 0xff) == StepClass.ESCAPE) {
                out.flag(high[i] < 0);
                out.golomb(Math.abs(high[i]), 2);
            }
            if (lowBits > 0) {
                long step = values[i] - prediction.next(centre, values[i - 1], values[Math.max(0, i - 2)]);
                out.write(step, lowBits);
            }
        }
    }

    /** Reads {@code count} numbers, at least one, into {@code out}. */
    public static void read(BitReader in, int count, long[] out) {
        long first = BitReader.unzigzag(in.golomb(4));
        Prediction prediction = Prediction.of(in.readInt(Prediction.BITS));
        long centre = prediction == Prediction.LAST ? 0 : first + BitReader.unzigzag(in.golomb(4));
        int lowBits = in.readInt(6);
        int contexts = in.readInt(2);
        Damage.check(contexts <= BY_VALUE, "an unknown kind of contexts");
        int contextCount = contexts == SINGLE ? 1 : contexts == BY_STEPS ? 4 : in.readInt(3) + 1;
        int[][] tables = new int[contextCount][];
        for (int c = 0; c < contextCount; c++) {
            tables[c] = StepClass.table(in.readInt(StepClass.BITS)).decode;
        }
        int state = in.readInt(StepClass.LOG);
        out[0] = first;
        long valueBefore = first;
        long value = first;
        int before = 0; // steps' sizes, at most 2
        int last = 0;
        int direction = 1;
        int[] table = tables[0];
        for (int i = 1; i < count; i++) {
            if (contexts == BY_STEPS) {
                table = tables[last == 0 ? before == 0 ? 0 : 1 : last + 1];
            } else if (contexts == BY_VALUE) {
                if (value < 0 || value >= contextCount) {
                    throw Damage.damaged("a number is out of its range");
                }
                table = tables[(int) value];
            }
            int entry = table[state];
            int symbol = entry & 0xff;
            state = (entry >>> 12) + in.readInt(entry >>> 8 & 15);
            long step;
            if (symbol == StepClass.ESCAPE) {
                boolean negative = in.flag();
                long size = in.golomb(2);
                step = negative ? -size : size;
                before = last;
                last = size == 0 ? 0 : size == 1 ? 1 : 2;
                direction = size == 0 ? direction : step < 0 ? -1 : 1;
            } else {
                int small = symbol - StepClass.MIDDLE;
                if (contexts == BY_STEPS) {
                    small *= direction;
                }
                before = last;
                last = Math.min(Math.abs(small), 2);
                direction = small == 0 ? direction : small < 0 ? -1 : 1;
                step = small;
            }
            if (lowBits > 0) {
                step = step << lowBits | in.read(lowBits);
            }
            long next = prediction.next(centre, value, valueBefore) + step;
            valueBefore = value;
            value = next;
            out[i] = next;
        }
    }
}
