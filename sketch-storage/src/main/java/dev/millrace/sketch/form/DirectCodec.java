package dev.millrace.sketch.form;

import dev.millrace.sketch.bins.Binned;
import dev.millrace.sketch.bins.Scale;
import dev.millrace.sketch.bits.BitReader;
import dev.millrace.sketch.bits.BitWriter;
import dev.millrace.sketch.bits.Damage;
import dev.millrace.sketch.column.NumberSymbols;
import dev.millrace.sketch.entropy.AdaptiveCode;
import dev.millrace.sketch.entropy.StaticCode;
import dev.millrace.sketch.schema.Feature;
import java.util.Arrays;

/** Numbers that are nearly all distinct: their bins' numbers one by one, or, where there are no bins, their bits. */
final class DirectCodec {
    private static final int FRAME = 0;
    private static final int STATIC = 1;
    private static final int BITS = 2;
    private static final int ADAPTIVE = 3;
    private static final int KIND_BITS = 2;
    private static final int LENGTH_ORDER = 12;
    private static final int WIDTH_BITS = 7;

    private DirectCodec() {}

    record Plan(int kind, Binned binned, double[] values, int count, long bits, long base, int width, BitWriter body) {
        void write(BitWriter out, boolean last) {
            out.write(kind, KIND_BITS);
            if (kind == BITS) {
                writeBits(out, values, count);
                return;
            }
            writeExceptions(out, binned, values, count);
            if (kind == FRAME) {
                out.sized(BitWriter.zigzag(base));
                out.write(width, WIDTH_BITS);
                for (int i = 0; i < count; i++) {
                    out.write(binned.bins()[i] - base, width);
                }
            } else if (kind == ADAPTIVE) {
                out.align();
                out.append(body);
            } else {
                if (!last) {
                    out.golomb(body.bitCount(), LENGTH_ORDER);
                }
                out.append(body);
            }
        }
    }

    /** @param measured whether values in bins are as they were measured, so that their bits may stand for them, without an error */
    static Plan plan(Binned binned, double[] values, int count, Keep keep, boolean measured) {
        long[] bins = binned.bins();
        long low = bins[0];
        long high = bins[0];
        int exact = 0;
        for (int i = 0; i < count; i++) {
            low = Math.min(low, bins[i]);
            high = Math.max(high, bins[i]);
            exact += binned.isExact(i) ? 1 : 0;
        }
        BitWriter exceptions = new BitWriter();
        writeExceptions(exceptions, binned, values, count);
        int width = 64 - Long.numberOfLeadingZeros(high - low);
        long best = exceptions.bitCount() + (long) width * count + WIDTH_BITS + 40;
        Plan plan = new Plan(FRAME, binned, values, count, best, low, width, new BitWriter());
        StaticCode code = new StaticCode(bins, count, Integer.MAX_VALUE);
        if (exceptions.bitCount() + code.bits() + LENGTH_ORDER < best) {
            best = exceptions.bitCount() + code.bits() + LENGTH_ORDER;
            BitWriter body = new BitWriter();
            code.write(body);
            plan = new Plan(STATIC, binned, values, count, best, 0, 0, body);
        }
        if (keep == Keep.ARCHIVAL) {
            BitWriter body = new BitWriter();
            AdaptiveCode.write(bins, count, body);
            if (exceptions.bitCount() + body.bitCount() + 8 < best) {
                best = exceptions.bitCount() + body.bitCount() + 8;
                plan = new Plan(ADAPTIVE, binned, values, count, best, 0, 0, body);
            }
        }
        if ((measured || exact == count) && exact > count / 32 && values.length >= count) {
            BitWriter own = new BitWriter();
            writeBits(own, values, count);
            if (own.bitCount() < best) {
                plan = new Plan(BITS, binned, values, count, own.bitCount(), 0, 0, own);
            }
        }
        return plan;
    }

    private static void writeExceptions(BitWriter out, Binned binned, double[] values, int count) {
        out.flag(binned.hasExact());
        if (!binned.hasExact()) {
            return;
        }
        int exact = 0;
        for (int i = 0; i < count; i++) {
            exact += binned.isExact(i) ? 1 : 0;
        }
        out.golomb(exact, 3);
        int order = BitWriter.orderFor(count / (double) Math.max(1, exact));
        out.write(order, 5);
        int from = 0;
        for (int i = 0; i < count; i++) {
            if (binned.isExact(i)) {
                out.golomb(i - from, order);
                out.write(Double.doubleToRawLongBits(values[i]), 64);
                from = i + 1;
            }
        }
    }

    /** Each value's bits, as what differs from the value before: the paper of Gorilla (VLDB 2015), §4.1.2. */
    private static void writeBits(BitWriter out, double[] values, int count) {
        long before = 0;
        int zeros = 65; // leading zeros of the window, none yet
        int length = 0;
        for (int i = 0; i < count; i++) {
            long value = Double.doubleToRawLongBits(values[i]);
            long difference = value ^ before;
            before = value;
            out.flag(difference != 0);
            if (difference == 0) {
                continue;
            }
            int leading = Long.numberOfLeadingZeros(difference);
            int trailing = Long.numberOfTrailingZeros(difference);
            boolean fits = leading >= zeros && trailing >= 64 - zeros - length;
            out.flag(!fits);
            if (!fits) {
                zeros = leading;
                length = 64 - leading - trailing;
                out.write(zeros, 6);
                out.write(length - 1, 6);
            }
            out.write(difference >>> 64 - zeros - length, length);
        }
    }

    private static double[] readBits(BitReader in, int count) {
        double[] values = new double[count];
        long before = 0;
        int zeros = 0;
        int length = 0;
        for (int i = 0; i < count; i++) {
            if (in.flag()) {
                if (in.flag()) {
                    zeros = in.readInt(6);
                    length = in.readInt(6) + 1;
                }
                Damage.check(length > 0 && zeros + length <= 64, "a value has more than 64 bits");
                before ^= in.read(length) << 64 - zeros - length;
            }
            values[i] = Double.longBitsToDouble(before);
        }
        return values;
    }

    static NumberSymbols read(BitReader in, int count, ScaleCodec.Scaled scaled, Feature.Kind kind, boolean last) {
        int layout = in.readInt(KIND_BITS);
        if (layout == BITS) {
            Damage.check(kind == Feature.Kind.NUMBER, "bits of a whole number");
            return new NumberSymbols(scaled.scale(), scaled.error(), new long[0], readBits(in, count));
        }
        int[] places = {};
        double[] exact = {};
        if (in.flag()) {
            Damage.check(kind == Feature.Kind.NUMBER, "a whole number that is none");
            places = new int[in.count(3, count, "the number of exact values")];
            exact = new double[places.length];
            int order = in.readInt(5);
            int from = 0;
            for (int e = 0; e < places.length; e++) {
                places[e] = from + in.count(order, count - 1 - from, "the place of an exact value");
                exact[e] = Double.longBitsToDouble(in.read(64));
                from = places[e] + 1;
                Damage.check(from < count || e == places.length - 1, "an exact value behind the last row");
            }
        }
        long[] bins = new long[count];
        if (layout == FRAME) {
            long base = BitReader.unzigzag(in.sized());
            int width = in.readInt(WIDTH_BITS);
            Damage.check(width <= 64 && (long) width * count <= in.remaining(), "a width of more than there is");
            for (int i = 0; i < count; i++) {
                bins[i] = base + in.read(width);
            }
        } else if (layout == ADAPTIVE) {
            in.align();
            AdaptiveCode.read(in, count, bins);
        } else {
            long length = last ? in.remaining() : in.golomb(LENGTH_ORDER);
            Damage.check(length >= 0 && length <= in.remaining(), "a sequence is longer than the segment");
            long end = in.position() + length;
            StaticCode.read(in, count, bins);
            in.position(end);
        }
        if (places.length == count) {
            // Nothing has a bin: what stands for them means nothing, and a list of values has no bins at all.
            return new NumberSymbols(scaled.scale(), scaled.error(), new long[0], exact);
        }
        NumberColumnCodec.checkTable(scaled.scale(), bins);
        if (places.length == 0) {
            return new NumberSymbols(scaled.scale(), scaled.error(), bins, exact);
        }
        return resolved(scaled, bins, places, exact);
    }

    /** With exceptions among them, values no longer follow one scale: each becomes an exact one, within the error. */
    private static NumberSymbols resolved(ScaleCodec.Scaled scaled, long[] bins, int[] places, double[] exact) {
        double[] values = new double[bins.length];
        Arrays.setAll(values, i -> scaled.scale().value(bins[i]));
        for (int e = 0; e < places.length; e++) {
            values[places[e]] = exact[e];
        }
        long[] rows = new long[bins.length];
        Arrays.setAll(rows, i -> i);
        return new NumberSymbols(new Scale.Values(values), scaled.error(), rows, new double[0]);
    }
}
