package dev.millrace.connectors.parquet;

import dev.millrace.interrupt.Interrupt;
import dev.millrace.memory.Memory;

/**
 * Whole numbers as differences, which are packed in blocks (DELTA_BINARY_PACKED). Eight bytes behind the end can be read. Not thread-safe.
 *
 * <pre>
 *   block size, blocks within it, count, first number   ( least difference, a width for each block within, packed differences )*
 * </pre>
 */
final class DeltaDecoder {
    private static final long LARGEST_BLOCK = 1 << 20;
    private static final int MOST_BITS = 64;

    private final long end;
    private final int miniblocks;
    private final int valuesOfMiniblock;
    private final long count;
    private long at;
    private long read;
    private long value;
    private long least;
    private long widths; // where they are, of the block under way
    private int miniblock;
    private int inMiniblock;
    private int width;

    /** @param mostValues that there may be */
    DeltaDecoder(long from, long to, long mostValues) throws ParquetDamage {
        at = from;
        end = to;
        long blockSize = varint();
        long minis = varint();
        count = varint();
        value = zigzag();
        boolean isBlock = blockSize > 0 && blockSize <= LARGEST_BLOCK && minis > 0 && minis <= blockSize;
        ParquetDamage.check(
                isBlock && blockSize % minis == 0 && blockSize / minis % 8 == 0, "a block of differences of no size");
        ParquetDamage.check(count >= 0 && count <= mostValues, "more differences than the page has values");
        miniblocks = (int) minis;
        valuesOfMiniblock = (int) (blockSize / minis);
        miniblock = miniblocks; // the first block begins with the second number
        inMiniblock = valuesOfMiniblock;
    }

    /** The next number. */
    long next() throws ParquetDamage {
        ParquetDamage.check(read < count, "a page has fewer numbers than it says");
        if (read++ == 0) {
            return value;
        }
        if (inMiniblock == valuesOfMiniblock) {
            beginMiniblock();
        }
        value += least + difference();
        inMiniblock++;
        return value;
    }

    private void beginMiniblock() throws ParquetDamage {
        if (read > 2) {
            at += (long) valuesOfMiniblock * width >>> 3; // of the one before, whose bytes are there
        }
        if (miniblock == miniblocks) {
            least = zigzag();
            widths = at;
            ParquetDamage.check(miniblocks <= end - at, "a page ends in the midst of a block");
            at += miniblocks;
            miniblock = 0;
        }
        width = Memory.getByte(widths + miniblock++) & 0xff;
        ParquetDamage.check(width <= MOST_BITS, "differences of " + width + " bits");
        ParquetDamage.check((long) valuesOfMiniblock * width >>> 3 <= end - at, "a page ends in the midst of a block");
        inMiniblock = 0;
    }

    private long difference() {
        if (width == 0) {
            return 0;
        }
        long bit = (long) inMiniblock * width;
        long from = at + (bit >>> 3);
        int shift = (int) (bit & 7);
        long low = Memory.getLong(from) >>> shift;
        if (shift + width > 64) {
            low |= (long) Memory.getByte(from + 8) << 64 - shift;
        }
        return width == 64 ? low : low & (1L << width) - 1;
    }

    /** Reads all, and says where the bytes behind them begin. */
    long readToEnd() throws ParquetDamage {
        while (read < count) {
            Interrupt.checkSometimes((int) read);
            next();
        }
        return count < 2 ? at : at + ((long) valuesOfMiniblock * width >>> 3);
    }

    private long varint() throws ParquetDamage {
        long result = 0;
        for (int shift = 0; shift < 70; shift += 7) {
            ParquetDamage.check(at < end, "a page ends in the midst of a number");
            int b = Memory.getByte(at++);
            result |= (long) (b & 0x7f) << shift;
            if (b >= 0) {
                return result;
            }
        }
        throw new ParquetDamage("a number of more than ten bytes");
    }

    private long zigzag() throws ParquetDamage {
        long bits = varint();
        return bits >>> 1 ^ -(bits & 1);
    }
}
