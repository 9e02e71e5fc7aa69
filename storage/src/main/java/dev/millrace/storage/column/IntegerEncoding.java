package dev.millrace.storage.column;

import java.util.Arrays;

/** Writes integers in the form that is shortest. For one thread. */
final class IntegerEncoding {
    static final int CONSTANT = 0;
    static final int PACKED = 1;
    static final int DIFFERENCES = 2;
    static final int RUNS = 3;
    static final int DICTIONARY = 4;
    static final int SCALED = 16;
    static final int GROUP = 1024;
    static final int MOST_ENTRIES = 1 << 16;

    private static final int GROUP_HEADER = 9;
    private static final int NESTED_HEADER = 40; // about, of two sections and a number
    private static final int NARROW_BITS = 4; // such values gain nothing by a dictionary

    private IntegerEncoding() {}

    /** Writes the first so many values as a section; they stay as they are. */
    static void write(long[] values, int count, ByteOutput out) {
        int section = out.beginSection();
        write(values, count, out, true);
        out.endSection(section);
    }

    private static void write(long[] given, int count, ByteOutput out, boolean mayNest) {
        Shape shape = Shape.of(given, count);
        if (shape.min == shape.max) {
            out.putByte(CONSTANT);
            out.putLong(shape.min);
            return;
        }
        long[] values = given;
        int flags = 0;
        if (shape.factor > 1) {
            flags = SCALED;
            values = new long[count];
            for (int i = 0; i < count; i++) {
                values[i] = (given[i] - shape.min) / shape.factor;
            }
        }
        long range = (shape.max - shape.min) / (flags == 0 ? 1 : shape.factor);
        int width = width(flags == 0 ? shape.max - shape.min : range);
        long packed = packedBytes(values, count, false);
        long differences = packedBytes(values, count, true) + 8;
        long best = Math.min(packed, differences);
        int encoding = differences < packed ? DIFFERENCES : PACKED;
        long[] distinct = {};
        if (mayNest) {
            long runs = (long) shape.runs * (width + width(Math.max(1, count / shape.runs)) + 1) / 8 + NESTED_HEADER;
            if (runs < best && shape.runs <= MOST_ENTRIES) {
                best = runs;
                encoding = RUNS;
            }
            if (best * 8 / count > NARROW_BITS) {
                distinct = DistinctLongs.sortedDistinct(values, count, Math.min(MOST_ENTRIES, count / 2));
                long dictionary =
                        ((long) count * width(distinct.length) + (long) distinct.length * width) / 8 + NESTED_HEADER;
                if (distinct.length > 0 && dictionary < best) {
                    encoding = DICTIONARY;
                }
            }
        }
        out.putByte(encoding | flags);
        if (flags != 0) {
            out.putLong(shape.min);
            out.putLong(shape.factor);
        }
        switch (encoding) {
            case PACKED -> writePacked(values, count, out);
            case DIFFERENCES -> writeDifferences(values, count, out);
            case RUNS -> writeRuns(values, count, shape.runs, out);
            default -> writeDictionary(values, count, distinct, out);
        }
    }

    /**
     * What there is to know before.
     *
     * @param factor of all differences to the least value; 1 also where these are more than 63 bits
     */
    private record Shape(long min, long max, int runs, long factor) {
        static Shape of(long[] values, int count) {
            if (count == 0) {
                return new Shape(0, 0, 0, 1);
            }
            long min = values[0];
            long max = values[0];
            int runs = 1;
            for (int i = 1; i < count; i++) {
                long value = values[i];
                min = Math.min(min, value);
                max = Math.max(max, value);
                runs += value == values[i - 1] ? 0 : 1;
            }
            long factor = 1;
            if (max - min > 1) {
                factor = max - min;
                for (int i = 0; i < count && factor > 1; i++) {
                    long rest = (values[i] - min) % factor;
                    factor = rest == 0 ? factor : commonFactor(factor, rest);
                }
            }
            return new Shape(min, max, runs, factor);
        }

        private static long commonFactor(long a, long b) {
            long larger = a;
            long smaller = b;
            while (smaller != 0) {
                long rest = larger % smaller;
                larger = smaller;
                smaller = rest;
            }
            return larger;
        }
    }

    /** Bits that an unsigned number takes. */
    static int width(long unsigned) {
        return 64 - Long.numberOfLeadingZeros(unsigned);
    }

    private static long packedBytes(long[] values, int count, boolean differences) {
        long bytes = 0;
        for (int from = differences ? 1 : 0; from < count; from += GROUP) {
            int end = Math.min(count, from + GROUP);
            long min = Long.MAX_VALUE;
            long max = Long.MIN_VALUE;
            for (int i = from; i < end; i++) {
                long value = differences ? values[i] - values[i - 1] : values[i];
                min = Math.min(min, value);
                max = Math.max(max, value);
            }
            bytes += GROUP_HEADER + ByteOutput.packedBytes(end - from, width(max - min));
        }
        return bytes;
    }

    private static void writePacked(long[] values, int count, ByteOutput out) {
        for (int from = 0; from < count; from += GROUP) {
            int end = Math.min(count, from + GROUP);
            long min = values[from];
            long max = values[from];
            for (int i = from + 1; i < end; i++) {
                min = Math.min(min, values[i]);
                max = Math.max(max, values[i]);
            }
            int width = width(max - min);
            out.putLong(min);
            out.putByte(width);
            out.putPacked(values, from, end - from, min, width);
        }
    }

    private static void writeDifferences(long[] values, int count, ByteOutput out) {
        long[] differences = new long[count];
        for (int i = 1; i < count; i++) {
            differences[i] = values[i] - values[i - 1];
        }
        differences[0] = differences[1]; // two values at least, as not all are the same
        out.putLong(values[0] - differences[0]);
        writePacked(differences, count, out);
    }

    private static void writeRuns(long[] values, int count, int runs, ByteOutput out) {
        long[] heads = new long[runs];
        long[] lengths = new long[runs];
        int run = -1;
        for (int i = 0; i < count; i++) {
            if (i == 0 || values[i] != values[i - 1]) {
                heads[++run] = values[i];
            }
            lengths[run]++;
        }
        out.putInt(runs);
        writeFlat(heads, runs, out);
        writeFlat(lengths, runs, out);
    }

    private static void writeDictionary(long[] values, int count, long[] distinct, ByteOutput out) {
        long[] codes = new long[count];
        for (int i = 0; i < count; i++) {
            codes[i] = i > 0 && values[i] == values[i - 1] ? codes[i - 1] : Arrays.binarySearch(distinct, values[i]);
        }
        out.putInt(distinct.length);
        writeFlat(distinct, distinct.length, out);
        writeFlat(codes, count, out);
    }

    private static void writeFlat(long[] values, int count, ByteOutput out) {
        int section = out.beginSection();
        write(values, count, out, false);
        out.endSection(section);
    }
}
