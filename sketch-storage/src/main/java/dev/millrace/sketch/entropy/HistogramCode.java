package dev.millrace.sketch.entropy;

import dev.millrace.sketch.bits.BitReader;
import dev.millrace.sketch.bits.BitWriter;

/**
 * A sequence of symbols without memory: each costs as many bits as its share of the sequence says. The counts are the
 * model and are known to both sides from elsewhere, so the code has no header.
 *
 * <pre>
 * 12 bits     first state
 * per symbol: bits of the state
 * </pre>
 */
public final class HistogramCode {
    private static final int LOG = 12;
    /** The most symbols there may be. */
    public static final int MOST_SYMBOLS = 255;

    private HistogramCode() {}

    /** Bits of a sequence with these counts. */
    public static long bits(int[] counts, int count) {
        double bits = LOG;
        for (int c : counts) {
            if (c > 0) {
                bits -= c * Math.log(c / (double) count) / Math.log(2);
            }
        }
        return (long) Math.ceil(bits);
    }

    private static AnsTable table(int[] counts, int count) {
        return new AnsTable(AnsTable.normalise(counts, count, LOG), LOG);
    }

    public static void write(long[] symbols, int count, int[] counts, BitWriter out) {
        AnsTable table = table(counts, count);
        int[] emitted = new int[count];
        int state = 1 << LOG;
        for (int i = count - 1; i >= 0; i--) {
            int symbol = (int) symbols[i];
            int width = table.encodeBits(state, symbol);
            emitted[i] = (state & (1 << width) - 1) << 4 | width;
            state = table.encodeState(state, symbol, width);
        }
        out.write(state - (1 << LOG), LOG);
        for (int i = 0; i < count; i++) {
            out.write(emitted[i] >>> 4, emitted[i] & 15);
        }
    }

    public static void read(BitReader in, int count, int[] counts, long[] out) {
        int[] table = table(counts, count).decode;
        int state = in.readInt(LOG);
        for (int i = 0; i < count; i++) {
            int entry = table[state];
            out[i] = entry & 0xff;
            state = (entry >>> 12) + in.readInt(entry >>> 8 & 15);
        }
    }
}
