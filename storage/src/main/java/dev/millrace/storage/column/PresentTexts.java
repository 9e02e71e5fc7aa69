package dev.millrace.storage.column;

import dev.millrace.memory.Memory;

/**
 * Hands on the strings of a column that are not NULL, one by one. It is for columns where nearly all are: their lengths lie in runs then, so it takes as long as
 * there are strings and runs, and a look at each word of the bitmap; a vector would take as long as there are rows. Stateless.
 */
public final class PresentTexts {
    /** Takes a string that is there. */
    @FunctionalInterface
    public interface Sink {
        /** @param address where so many bytes are, during the call */
        void take(int row, long address, int length);
    }

    private PresentTexts() {}

    /**
     * Reads a column of strings of bytes.
     *
     * @param in its bytes, all of them
     * @param rows how many values it has, NULL or not
     * @return false if it is of another form, so that a vector is to be made of it ({@link ColumnDecoder}); nothing was handed on then
     * @throws EncodingException if the bytes are no such column; some may have been handed on
     */
    public static boolean read(ByteInput in, int rows, Sink to) {
        int nulls = in.getByte();
        if (nulls == ColumnBuffer.ALL_NULLS) {
            in.end();
            return true;
        }
        if (nulls != ColumnBuffer.SOME_NULLS) {
            return false;
        }
        long bits = in.take(ColumnBuffer.bitBytes(rows));
        if (in.getByte() != TextEncoding.PLAIN) {
            return false;
        }
        IntegerCursor lengths = IntegerCursor.open(in, rows);
        if (!lengths.inRuns()) {
            return false;
        }
        int total = in.getInt();
        long texts = in.take(total);
        in.end();
        handOn(bits, rows, lengths, texts, total, to);
        return true;
    }

    private static void handOn(long bits, int rows, IntegerCursor lengths, long texts, int total, Sink to) {
        long start = 0; // of the run's first string
        int row = present(bits, rows, 0);
        for (int at = 0; at < rows; ) {
            long length = lengths.runValue();
            int behind = at + lengths.takeRun(rows - at);
            if (length < 0 || length > total || start + length * (behind - at) > total) {
                throw new EncodingException("a value of " + length + " bytes is beyond the " + total + " of all");
            }
            for (; row < behind; row = present(bits, rows, row + 1)) {
                to.take(row, texts + start + length * (row - at), (int) length);
            }
            start += length * (behind - at);
            at = behind;
        }
        lengths.end();
        if (start != total) {
            throw new EncodingException("its texts have " + start + " bytes together, not " + total);
        }
    }

    /** The first row from one on that is not NULL; the number of rows if none is. What is behind the bitmap may be read, and does not count. */
    private static int present(long bits, int rows, int from) {
        long ones = -1L << (from & 63);
        for (int word = from >>> 6; word << 6 < rows; word++) {
            ones &= Memory.getLong(bits + 8L * word);
            if (ones != 0) {
                return Math.min(rows, (word << 6) + Long.numberOfTrailingZeros(ones));
            }
            ones = -1L;
        }
        return rows;
    }
}
