package dev.millrace.storage.column;

import dev.millrace.memory.Memory;
import java.util.Arrays;

/** Reads integers one group after the other. For one thread. All methods throw {@link EncodingException}. */
final class IntegerCursor {
    private static final long[] NONE = {};
    private static final int MOST_WORD_BITS = 57; // that one load has, wherever in a byte they begin

    private final ByteInput in;
    private final int encoding;
    private final long base;
    private final long factor;
    private long before; // constant: the value; differences: the last value
    private long[] entries = NONE; // of runs and dictionaries
    private long[] lengths = NONE; // of runs
    private int run;
    private final IntegerCursor codes; // this where there are none

    private IntegerCursor(ByteInput section, int count, boolean mayNest) {
        in = section;
        int head = in.getByte();
        encoding = head & ~IntegerEncoding.SCALED;
        boolean scaled = encoding != head;
        base = scaled ? in.getLong() : 0;
        factor = scaled ? in.getLong() : 1;
        boolean nested = encoding == IntegerEncoding.RUNS || encoding == IntegerEncoding.DICTIONARY;
        if (encoding < 0 || encoding > IntegerEncoding.DICTIONARY || nested && !mayNest) {
            throw new EncodingException("there is no encoding " + head + " of integers");
        }
        if (encoding == IntegerEncoding.CONSTANT || encoding == IntegerEncoding.DIFFERENCES) {
            before = base + factor * in.getLong();
        }
        if (nested) {
            int size = in.getCount(IntegerEncoding.MOST_ENTRIES);
            entries = new IntegerCursor(in.section(), size, false).all(size);
            for (int i = 0; i < size && scaled; i++) {
                entries[i] = base + factor * entries[i];
            }
        }
        if (encoding == IntegerEncoding.RUNS) {
            lengths = new IntegerCursor(in.section(), entries.length, false).all(entries.length);
        }
        codes = encoding == IntegerEncoding.DICTIONARY ? new IntegerCursor(in.section(), count, false) : this;
    }

    /** The integers of the next section, of which there are so many. */
    static IntegerCursor open(ByteInput in, int count) {
        return new IntegerCursor(in.section(), count, true);
    }

    /** All of a section at once, so many as are known to be few. */
    static long[] readAll(ByteInput in, int count) {
        return open(in, count).all(count);
    }

    private long[] all(int count) {
        long[] values = new long[count];
        long[] group = new long[Math.min(count, IntegerEncoding.GROUP)];
        for (int from = 0; from < count; from += IntegerEncoding.GROUP) {
            int size = Math.min(IntegerEncoding.GROUP, count - from);
            next(group, size);
            System.arraycopy(group, 0, values, from, size);
        }
        end();
        return values;
    }

    /** Reads the next group, 1,024 values but for the last one, into an array from 0 on. */
    void next(long[] into, int count) {
        switch (encoding) {
            case IntegerEncoding.CONSTANT -> Arrays.fill(into, 0, count, before);
            case IntegerEncoding.PACKED -> unpack(into, count, base, factor);
            case IntegerEncoding.DIFFERENCES -> {
                unpack(into, count, 0, factor);
                long value = before;
                for (int i = 0; i < count; i++) {
                    value += into[i];
                    into[i] = value;
                }
                before = value;
            }
            case IntegerEncoding.RUNS -> nextRuns(into, count);
            default -> {
                codes.next(into, count);
                for (int i = 0; i < count; i++) {
                    long code = into[i];
                    if (code < 0 || code >= entries.length) {
                        throw new EncodingException("there is no distinct value " + code);
                    }
                    into[i] = entries[(int) code];
                }
            }
        }
    }

    /** Whether values are stored as runs, which {@link #runValue} and {@link #takeRun} give one by one. */
    boolean inRuns() {
        return encoding == IntegerEncoding.RUNS;
    }

    /** The value of the run that comes next. */
    long runValue() {
        if (run == entries.length || lengths[run] < 0) {
            throw new EncodingException("its runs end early");
        }
        return entries[run];
    }

    /** Passes by the rest of the run that comes next, at most so many values; returns how many. */
    int takeRun(int most) {
        int length = (int) Math.min(lengths[run], most);
        lengths[run] -= length;
        run += lengths[run] == 0 ? 1 : 0;
        return length;
    }

    /** Says that the section holds nothing else. */
    void end() {
        if (codes != this) {
            codes.end();
        }
        in.end();
    }

    private void nextRuns(long[] into, int count) {
        int at = 0;
        while (at < count) {
            long value = runValue();
            for (int end = at + takeRun(count - at); at < end; at++) { // short ones, mostly
                into[at] = value;
            }
        }
    }

    private void unpack(long[] into, int count, long toAdd, long times) {
        long least = toAdd + times * in.getLong();
        int width = in.getByte();
        if (width < 0 || width > 64) {
            throw new EncodingException("a value has " + width + " bits");
        }
        long address = in.take(ByteOutput.packedBytes(count, width));
        if (width == 0) {
            Arrays.fill(into, 0, count, least);
        } else if (width <= MOST_WORD_BITS) {
            long mask = -1L >>> (64 - width);
            long bit = 0;
            for (int i = 0; i < count; i++) {
                into[i] = least + times * (Memory.getLong(address + (bit >>> 3)) >>> (bit & 7) & mask);
                bit += width;
            }
        } else {
            unpackLong(address, width, into, count, least, times);
        }
    }

    private static void unpackLong(long address, int width, long[] into, int count, long least, long times) {
        long mask = -1L >>> (64 - width);
        long bit = 0;
        for (int i = 0; i < count; i++) {
            long from = address + (bit >>> 3);
            int skipped = (int) (bit & 7);
            long value = Memory.getLong(from) >>> skipped;
            if (skipped + width > 64) {
                value |= (long) Memory.getByte(from + 8) << (64 - skipped);
            }
            into[i] = least + times * (value & mask);
            bit += width;
        }
    }
}
