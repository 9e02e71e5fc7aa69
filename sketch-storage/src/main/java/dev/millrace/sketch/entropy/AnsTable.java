package dev.millrace.sketch.entropy;

/**
 * Tables of one distribution for a tabled asymmetric numeral system with {@code 2^log} states. Immutable; symbols without
 * states of their own cannot be written.
 */
final class AnsTable {
    private static final int LOG_PRECISION = 8; // costs are in 1/256 bits
    private static final int[] LOG2 = log2Table();

    final int log;
    /** Per state: symbol, bits to read (from bit 8), first next state (from bit 12). */
    final int[] decode;

    private final int[] nextState; // per symbol and occurrence
    private final int[] start; // per symbol, into nextState, less its frequency
    private final int[] frequency;
    private final int[] cost; // per symbol, in 1/256 bits

    /** Of frequencies that add up to {@code 2^log}. */
    AnsTable(int[] frequency, int log) {
        this.log = log;
        this.frequency = frequency;
        int size = 1 << log;
        int[] symbols = spread(frequency, size);
        decode = new int[size];
        nextState = new int[size];
        start = new int[frequency.length];
        cost = new int[frequency.length];
        int[] next = frequency.clone();
        int from = 0;
        for (int s = 0; s < frequency.length; s++) {
            start[s] = from - frequency[s];
            from += frequency[s];
            cost[s] = frequency[s] == 0 ? Integer.MAX_VALUE >> 8 : (log << LOG_PRECISION) - LOG2[frequency[s]];
        }
        for (int state = 0; state < size; state++) {
            int s = symbols[state];
            int x = next[s]++;
            nextState[start[s] + x] = state + size;
            int bits = log - (31 - Integer.numberOfLeadingZeros(x));
            decode[state] = s | bits << 8 | (x << bits) - size << 12;
        }
    }

    private static int[] spread(int[] frequency, int size) {
        int[] symbols = new int[size];
        int step = (size >> 1) + (size >> 3) + 3; // odd, so that it visits every state
        int at = 0;
        for (int s = 0; s < frequency.length; s++) {
            for (int i = 0; i < frequency[s]; i++) {
                symbols[at] = s;
                at = at + step & size - 1;
            }
        }
        return symbols;
    }

    private static int[] log2Table() {
        int[] table = new int[(1 << 12) + 1];
        for (int i = 1; i < table.length; i++) {
            table[i] = (int) StrictMath.round(StrictMath.log(i) / StrictMath.log(2) * (1 << LOG_PRECISION));
        }
        return table;
    }

    boolean has(int symbol) {
        return frequency[symbol] > 0;
    }

    /** What a symbol costs, in 1/256 bits. */
    int cost(int symbol) {
        return cost[symbol];
    }

    /** Bits to write before {@code symbol} from encoder state {@code state} (which is at least the table's size). */
    int encodeBits(int state, int symbol) {
        int f = frequency[symbol];
        int bits = Integer.numberOfLeadingZeros(f) - Integer.numberOfLeadingZeros(state);
        return state >>> bits >= 2 * f ? bits + 1 : state >>> bits < f ? bits - 1 : bits;
    }

    int encodeState(int state, int symbol, int bits) {
        return nextState[start[symbol] + (state >>> bits)];
    }

    /** Scales counts to frequencies that add up to {@code 2^log}; what occurs keeps at least one. */
    static int[] normalise(int[] counts, long total, int log) {
        int size = 1 << log;
        int[] frequency = new int[counts.length];
        int sum = 0;
        int largest = 0;
        for (int s = 0; s < counts.length; s++) {
            if (counts[s] > 0) {
                frequency[s] = (int) Math.max(1, (counts[s] * (long) size + total / 2) / total);
                sum += frequency[s];
                if (counts[s] > counts[largest]) {
                    largest = s;
                }
            }
        }
        // What rounding left over goes to, or comes from, the most frequent ones.
        while (sum != size) {
            int change = size - sum;
            if (change > 0 || frequency[largest] + change > frequency[largest] / 2) {
                frequency[largest] += change;
                sum = size;
            } else {
                int taken = frequency[largest] / 2;
                frequency[largest] -= taken;
                sum -= taken;
                for (int s = 0; s < frequency.length; s++) {
                    if (frequency[s] > frequency[largest]) {
                        largest = s;
                    }
                }
            }
        }
        return frequency;
    }
}
