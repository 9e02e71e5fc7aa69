package dev.millrace.sketch.entropy;

import dev.millrace.sketch.bits.BitReader;
import dev.millrace.sketch.bits.BitWriter;
import dev.millrace.sketch.bits.Damage;

/**
 * A sequence of numbers as steps from the last one, each a few binary decisions coded with what was learnt from the steps
 * and the numbers before: order-1 and order-2 contexts, mixed. Smaller than {@link StaticCode} and some 20 times slower.
 *
 * <pre>
 * golomb(4)  zigzag of the first number
 * 4 bits     share of steps that are none, in sixteenths
 * golomb(7)  bytes of the coder's output, then those bytes from a byte's beginning on
 * per step   is it none? upward? how many bits has its size (unary)? the bits below the first
 * </pre>
 */
public final class AdaptiveCode {
    private static final int NODES = 160;
    private static final int LEVELS = 64;
    private static final int NEAR = 7;
    private static final int SIGN = 1;
    private static final int LENGTH = 2; // to 66
    private static final int MANTISSA = 68; // 15 nodes for each of six lengths
    private static final int MODELLED_BITS = 3;
    private static final int MOST_SHARES = 16;
    private static final int MOST_BYTES = 1 << 26;

    private final BinaryCoder coder;
    private final Mixture mixture =
            new Mixture(new int[] {NODES, NODES * NEAR, NODES * NEAR * NEAR, NODES * LEVELS, NODES * 64}, NODES);
    private long last; // steps
    private long before;
    private int still; // how long there was no step
    private int level;

    private AdaptiveCode(BinaryCoder coder, int share) {
        this.coder = coder;
        mixture.expect(0, 0, Math.max(1, Math.min(4095, share * 256 + 64)), 6);
    }

    /** Writes the first {@code count} numbers, at least one. */
    public static void write(long[] values, int count, BitWriter out) {
        int none = 0;
        for (int i = 1; i < count; i++) {
            none += values[i] == values[i - 1] ? 1 : 0;
        }
        int share = count < 2 ? 0 : Math.min(MOST_SHARES - 1, (int) ((long) none * MOST_SHARES / (count - 1)));
        BinaryCoder coder = new BinaryCoder();
        AdaptiveCode code = new AdaptiveCode(coder, share);
        for (int i = 1; i < count; i++) {
            code.step(values[i - 1], values[i] - values[i - 1]);
        }
        byte[] bytes = coder.finish();
        out.golomb(BitWriter.zigzag(values[0]), 4);
        out.write(share, 4);
        out.golomb(bytes.length, 7);
        out.bytes(bytes, 0, bytes.length);
    }

    /** Reads {@code count} numbers, at least one, into {@code out}. */
    public static void read(BitReader in, int count, long[] out) {
        out[0] = BitReader.unzigzag(in.golomb(4));
        int share = in.readInt(4);
        byte[] bytes = in.bytes(in.count(7, MOST_BYTES, "the length of a sequence"));
        AdaptiveCode code = new AdaptiveCode(new BinaryCoder(bytes), share);
        for (int i = 1; i < count; i++) {
            out[i] = out[i - 1] + code.step(out[i - 1], 0);
        }
    }

    /** Goes behind a sequence without decoding it. */
    public static void skip(BitReader in) {
        in.golomb(4);
        in.readInt(4);
        in.bytes(in.count(7, MOST_BYTES, "the length of a sequence"));
    }

    private static int near(long step) {
        return (int) Math.max(-3, Math.min(3, step)) + 3;
    }

    /** Writes a step, or reads one and returns it. */
    private long step(long value, long step) {
        level = (int) (value & LEVELS - 1);
        long result = 0;
        if (bit(0, step == 0) == 0) {
            boolean up = bit(SIGN, step > 0) != 0;
            long size = step > 0 ? step : -step;
            int bits = 64 - Long.numberOfLeadingZeros(size);
            int length = 1;
            while (bit(LENGTH + length - 1, bits > length) != 0) {
                length++;
                Damage.check(length <= 64, "a step has more than 64 bits");
            }
            long read = 1;
            int node = 1;
            for (int at = length - 2; at >= 0; at--) {
                int mine = (int) (size >>> at & 1);
                int modelled = length - 2 - at;
                int found;
                if (modelled < MODELLED_BITS) {
                    found = bit(MANTISSA + Math.min(length - 2, 5) * 15 + node, mine != 0);
                    node = 2 * node + found;
                } else {
                    found = coder.code(mine, 1 << 15);
                }
                read = read << 1 | found;
            }
            result = up ? read : -read;
        }
        still = result == 0 ? still + 1 : 0;
        before = last;
        last = result;
        return result;
    }

    private int bit(int node, boolean value) {
        mixture.opinion(0, node);
        mixture.opinion(1, node * NEAR + near(last));
        mixture.opinion(2, (node * NEAR + near(last)) * NEAR + near(before));
        mixture.opinion(3, node * LEVELS + level);
        int quiet = Math.min(15, still < 4 ? still : 4 + (31 - Integer.numberOfLeadingZeros(still >> 2)) * 2);
        mixture.opinion(4, node * 64 + quiet * 4 + (last > 0 ? 1 : last < 0 ? 2 : 0));
        int found = coder.code(value ? 1 : 0, mixture.predict(node));
        mixture.learn(found);
        return found;
    }
}
