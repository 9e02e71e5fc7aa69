package dev.millrace.connectors.parquet;

import dev.millrace.memory.Memory;

/**
 * Small numbers of so many bits each, as runs of one number or packed by eights: levels, places in dictionaries, booleans. Eight bytes behind the
 * end can be read. Not thread-safe.
 */
final class RunDecoder {
    private static final int MOST_BITS = 32;

    private long at;
    private long end;
    private int bits;
    private long left; // of the run under way
    private boolean isPacked;
    private int value; // of a run of one number
    private long packedFrom;
    private long packedRead;

    /** Begins with other bytes. */
    void begin(long from, long to, int bitWidth) throws ParquetDamage {
        ParquetDamage.check(bitWidth >= 0 && bitWidth <= MOST_BITS, "numbers of " + bitWidth + " bits");
        ParquetDamage.check(from <= to, "a page ends before its values begin");
        at = from;
        end = to;
        bits = bitWidth;
        left = 0;
    }

    /** The next number. */
    int next() throws ParquetDamage {
        while (left == 0) {
            run();
        }
        left--;
        if (!isPacked) {
            return value;
        }
        long bit = packedRead * bits;
        ParquetDamage.check(packedFrom + (bit + bits + 7 >>> 3) <= end, "a page ends in the midst of packed numbers");
        packedRead++;
        return bits == 0 ? 0 : (int) (Memory.getLong(packedFrom + (bit >>> 3)) >>> (bit & 7) & (1L << bits) - 1);
    }

    private void run() throws ParquetDamage {
        long header = 0;
        for (int shift = 0; ; shift += 7) {
            ParquetDamage.check(at < end && shift < 35, "a page has fewer numbers than it says");
            int b = Memory.getByte(at++);
            header |= (long) (b & 0x7f) << shift;
            if (b >= 0) {
                break;
            }
        }
        isPacked = (header & 1) != 0;
        if (isPacked) {
            left = (header >>> 1) * 8;
            packedFrom = at;
            packedRead = 0;
            at = Math.min(end, at + (header >>> 1) * bits);
        } else {
            left = header >>> 1;
            int bytes = bits + 7 >>> 3;
            ParquetDamage.check(bytes <= end - at, "a page ends in the midst of a run");
            value = 0;
            for (int i = 0; i < bytes; i++) {
                value |= (Memory.getByte(at++) & 0xff) << 8 * i;
            }
        }
    }
}
