package dev.millrace.benchmarks.sketch;

import com.github.luben.zstd.Zstd;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.GZIPOutputStream;
import net.jpountz.lz4.LZ4Factory;

/**
 * What others make of a stretch of one feature's values: bytes. Lossless ones keep the values; the others keep them within a
 * bound. The lossy ones are not charged for time.
 */
public final class Baselines {
    private static final int[] LEC_BITS = {2, 3, 3, 3, 3, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
    }; // of the group, JPEG's table

    private Baselines() {}

    public static byte[] raw(double[] values, int from, int to) {
        ByteBuffer buffer = ByteBuffer.allocate(8 * (to - from)).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = from; i < to; i++) {
            buffer.putDouble(values[i]);
        }
        return buffer.array();
    }

    public static byte[] raw(long[] values, int from, int to) {
        ByteBuffer buffer = ByteBuffer.allocate(8 * (to - from)).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = from; i < to; i++) {
            buffer.putLong(values[i]);
        }
        return buffer.array();
    }

    static long gzip(byte[] raw) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
            gzip.write(raw);
        } catch (IOException e) {
            throw new UncheckedIOException(e); // an array takes what it is given
        }
        return out.size();
    }

    static long lz4(byte[] raw) {
        return LZ4Factory.fastestInstance().highCompressor(17).compress(raw).length;
    }

    public static long zstd(byte[] raw) {
        return Zstd.compress(raw, 19).length;
    }

    /** Exclusive or with the value before, as in Gorilla (VLDB 2015). */
    static long gorilla(double[] values, int from, int to) {
        long bits = 64;
        int leading = 65;
        int trailing = 65;
        for (int i = from + 1; i < to; i++) {
            long xor = Double.doubleToRawLongBits(values[i]) ^ Double.doubleToRawLongBits(values[i - 1]);
            if (xor == 0) {
                bits += 1;
            } else if (Long.numberOfLeadingZeros(xor) >= leading && Long.numberOfTrailingZeros(xor) >= trailing) {
                bits += 2 + 64 - leading - trailing;
            } else {
                leading = Math.min(31, Long.numberOfLeadingZeros(xor));
                trailing = Long.numberOfTrailingZeros(xor);
                bits += 2 + 5 + 6 + 64 - leading - trailing;
            }
        }
        return (bits + 7) / 8;
    }

    /** Bins of width twice the bound; NaN is one of its own. */
    static long[] bins(double[] values, double bound) {
        long[] bins = new long[values.length];
        for (int i = 0; i < bins.length; i++) {
            bins[i] = Double.isNaN(values[i]) ? Long.MIN_VALUE : Math.round(values[i] / (2 * bound));
        }
        return bins;
    }

    /** LEC (the paper's [9]) over bins: a Huffman code for the length of the difference, and its bits. */
    static long lec(long[] bins, int from, int to) {
        long bits = 32;
        for (int i = from + 1; i < to; i++) {
            long step = Math.abs(bins[i] - bins[i - 1]);
            int length = 64 - Long.numberOfLeadingZeros(step);
            bits += LEC_BITS[Math.min(length, LEC_BITS.length - 1)] + length;
        }
        return (bits + 7) / 8;
    }

    /** Poor man's compression, midrange: constants of 8 bytes with a length of 2. */
    static long pmc(double[] values, int from, int to, double bound) {
        long pieces = 0;
        double low = Double.NaN;
        double high = Double.NaN;
        for (int i = from; i < to; i++) {
            double value = values[i];
            boolean fits = Math.max(high, value) - Math.min(low, value) <= 2 * bound;
            if (i == from || !fits) {
                pieces++;
                low = value;
                high = value;
            } else {
                low = Math.min(low, value);
                high = Math.max(high, value);
            }
        }
        return pieces * 10;
    }

    /** Swing filter: lines that join, each end 8 bytes and a length of 2. */
    static long swing(double[] values, int from, int to, double bound) {
        long pieces = 0;
        int start = from;
        double origin = values[from];
        double low = Double.NEGATIVE_INFINITY;
        double high = Double.POSITIVE_INFINITY;
        for (int i = from + 1; i < to; i++) {
            double least = (values[i] - bound - origin) / (i - start);
            double most = (values[i] + bound - origin) / (i - start);
            if (!(Math.max(low, least) <= Math.min(high, most))) {
                pieces++;
                double slope = (low + high) / 2;
                origin = Double.isFinite(slope) ? origin + slope * (i - 1 - start) : values[i - 1];
                start = i - 1;
                low = values[i] - bound - origin;
                high = values[i] + bound - origin;
            } else {
                low = Math.max(low, least);
                high = Math.min(high, most);
            }
        }
        return (pieces + 1) * 10 + 8;
    }

    /** AdaM (the paper's [64]): samples less often while the deviation is as expected; a sample is 8 bytes and a length of 1. */
    static long adam(double[] values, int from, int to, double tolerance) {
        long samples = 0;
        double mean = values[from];
        double deviation = 0;
        double before = values[from];
        int interval = 1;
        for (int i = from; i < to; i += interval) {
            samples++;
            double distance = Math.abs(values[i] - before);
            double expected = deviation;
            mean = .7 * mean + .3 * distance;
            deviation = Math.sqrt(Math.max(0, .7 * deviation * deviation + .3 * (distance - mean) * (distance - mean)));
            double confidence = deviation == 0 ? 1 : 1 - Math.abs(expected - deviation) / deviation;
            interval = distance <= tolerance && confidence >= .9 ? Math.min(interval + 1, 64) : 1;
            before = values[i];
        }
        return samples * 9;
    }

    /** The entropy of a bin given the one before, over a whole stream, in bytes per value. */
    static double entropy(long[] bins) {
        Map<Long, Map<Long, Integer>> after = new HashMap<>();
        for (int i = 1; i < bins.length; i++) {
            after.computeIfAbsent(bins[i - 1], k -> new HashMap<>()).merge(bins[i], 1, Integer::sum);
        }
        double bits = 0;
        for (Map<Long, Integer> next : after.values()) {
            double total = next.values().stream().mapToInt(Integer::intValue).sum();
            for (int count : next.values()) {
                bits -= count * Math.log(count / total) / Math.log(2);
            }
        }
        return bits / 8 / bins.length;
    }
}
