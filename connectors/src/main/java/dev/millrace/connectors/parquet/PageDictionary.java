package dev.millrace.connectors.parquet;

import dev.millrace.memory.Memory;

/** The different values of a column chunk. The memory is its owner's. */
final class PageDictionary {
    private final int size;
    private final boolean isNumber;
    private final int width;
    private final long from;
    private final int[] ends; // of bytes, counted from the first; none where all have one width

    private PageDictionary(int size, boolean isNumber, int width, long from, int[] ends) {
        this.size = size;
        this.isNumber = isNumber;
        this.width = width;
        this.from = from;
        this.ends = ends;
    }

    /** Numbers, or bytes of one width. */
    static PageDictionary fixed(long from, long end, int size, int width, boolean isNumber) throws ParquetDamage {
        ParquetDamage.check((long) size * width <= end - from, "a dictionary has fewer values than it says");
        return new PageDictionary(size, isNumber, width, from, new int[0]);
    }

    /** Bytes, each value behind its length. */
    static PageDictionary bytes(long from, long end, int size) throws ParquetDamage {
        ParquetDamage.check(4L * size <= end - from, "a dictionary has fewer values than it says");
        int[] ends = new int[size];
        PageValues values = PageValues.bytes(from, end);
        for (int i = 0; i < size; i++) {
            values.next();
            ends[i] = (int) (values.address() + values.length() - from);
        }
        return new PageDictionary(size, false, 0, from, ends);
    }

    int size() {
        return size;
    }

    long number(int place) {
        if (!isNumber) {
            return 0;
        }
        return width == 4 ? Memory.getInt(from + 4L * place) : Memory.getLong(from + 8L * place);
    }

    long address(int place) {
        return width > 0 ? from + (long) width * place : from + (place == 0 ? 0 : ends[place - 1]) + 4;
    }

    int length(int place) {
        return width > 0 ? width : (int) (from + ends[place] - address(place));
    }
}
