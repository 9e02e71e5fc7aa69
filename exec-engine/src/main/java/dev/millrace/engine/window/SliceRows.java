package dev.millrace.engine.window;

import dev.millrace.batch.Batch;
import dev.millrace.engine.state.Rows;
import dev.millrace.engine.state.Scratch;
import dev.millrace.memory.Memory;
import dev.millrace.text.TimeRange;
import java.util.Arrays;

/**
 * Splits the rows of a batch by slice. Rows without a time, or whose time is infinite, and rows all of whose windows are closed, are late; rows that
 * fall between windows belong to nothing.
 */
final class SliceRows {
    private static final int FIRST_SLOTS = 16;
    private static final int FEW = 16;
    private static final int[] NOTHING = {};

    private final Slicing slicing;
    private long[] ends = new long[FIRST_SLOTS];
    private int[][] rows = new int[FIRST_SLOTS][]; // only between a split and its end, as what is late
    private int[][] few = new int[FIRST_SLOTS][]; // short arrays, kept: a batch may have rows in thousands of slices
    private boolean allInOne; // the one slice has all rows of the batch
    private int[] counts = new int[FIRST_SLOTS];
    private int slices;
    private int[] slots = new int[2 * FIRST_SLOTS]; // hash index over ends: slice + 1
    private int[] late = NOTHING;
    private int lateCount;

    SliceRows(Slicing slicing) {
        this.slicing = slicing;
    }

    /**
     * Splits a batch.
     *
     * @param watermark windows that end at or before it are closed
     */
    void split(Batch batch, int timeColumn, long watermark) {
        slices = 0;
        lateCount = 0;
        allInOne = false;
        int count = batch.rowCount();
        if (count == 0) {
            return;
        }
        long times = batch.dataAddress(timeColumn);
        long validity = batch.validityAddress(timeColumn);
        if (validity == 0 && isOneSlice(times, count)) {
            long end = slicing.sliceEnd(Memory.getLong(times));
            long last = slicing.lastWindowEnd(end);
            if (last != Slicing.NONE && last > watermark) {
                addSlice(end);
                counts[0] = count;
                allInOne = true;
                return;
            }
        }
        splitRows(times, validity, count, watermark, slicing.areGiven());
    }

    /** Splits the output of a partial phase, whose times are the ends of slices. */
    void splitBySliceEnd(Batch batch, int endColumn, long watermark) {
        slices = 0;
        lateCount = 0;
        allInOne = false;
        splitRows(batch.dataAddress(endColumn), 0, batch.rowCount(), watermark, true);
    }

    private boolean isOneSlice(long times, int count) {
        long least = Long.MAX_VALUE;
        long greatest = Long.MIN_VALUE;
        for (int row = 0; row < count; row++) {
            long time = Memory.getLong(times + 8L * row);
            least = Math.min(least, time);
            greatest = Math.max(greatest, time);
        }
        return TimeRange.isFinite(least)
                && TimeRange.isFinite(greatest)
                && slicing.sliceEnd(least) == slicing.sliceEnd(greatest);
    }

    private void splitRows(long times, long validity, int count, long watermark, boolean isEnd) {
        Arrays.fill(slots, 0);
        late = Scratch.ints(count);
        long from = Long.MAX_VALUE; // the slice of the row before: from inclusive, to exclusive
        long to = Long.MIN_VALUE;
        int slice = -1; // its number; -1 late, -2 in no window
        for (int row = 0; row < count; row++) {
            long time = Memory.getLong(times + 8L * row);
            if (validity != 0 && !Memory.getBit(validity, row) || !TimeRange.isFinite(time)) {
                late[lateCount++] = row;
                continue;
            }
            if (time < from || time >= to) {
                long end = isEnd ? time : slicing.sliceEnd(time);
                from = isEnd ? time : slicing.sliceStart(end);
                to = isEnd ? time + 1 : end;
                long last = slicing.lastWindowEnd(end);
                slice = last == Slicing.NONE ? -2 : last <= watermark ? -1 : find(end, count);
            }
            if (slice >= 0) {
                int[] positions = rows[slice];
                int at = counts[slice]++;
                if (at == positions.length) {
                    positions = grow(slice, count);
                }
                positions[at] = row;
            } else if (slice == -1) {
                late[lateCount++] = row;
            }
        }
    }

    private int find(long end, int count) {
        int mask = slots.length - 1;
        int slot = (int) (end * 0x9E3779B97F4A7C15L >>> 40) & mask;
        while (slots[slot] != 0) {
            if (ends[slots[slot] - 1] == end) {
                return slots[slot] - 1;
            }
            slot = (slot + 1) & mask;
        }
        addSlice(end);
        int added = slices - 1;
        if (few[added] == null) {
            few[added] = new int[FEW];
        }
        rows[added] = few[added];
        counts[added] = 0;
        if (2 * slices > mask) {
            slots = new int[2 * slots.length];
            for (int i = 0; i < slices; i++) {
                int at = (int) (ends[i] * 0x9E3779B97F4A7C15L >>> 40) & (slots.length - 1);
                while (slots[at] != 0) {
                    at = (at + 1) & (slots.length - 1);
                }
                slots[at] = i + 1;
            }
        } else {
            slots[slot] = slices;
        }
        return added;
    }

    private void addSlice(long end) {
        if (slices == ends.length) {
            ends = Arrays.copyOf(ends, 2 * slices);
            rows = Arrays.copyOf(rows, 2 * slices);
            few = Arrays.copyOf(few, 2 * slices);
            counts = Arrays.copyOf(counts, 2 * slices);
        }
        ends[slices++] = end;
    }

    /** A longer array of a slice's rows: at most of all rows of the batch. */
    private int[] grow(int slice, int count) {
        int[] full = rows[slice];
        int[] larger = Scratch.ints(Math.min(count, 4 * full.length));
        System.arraycopy(full, 0, larger, 0, full.length);
        if (full != few[slice]) {
            Scratch.free(full);
        }
        rows[slice] = larger;
        return larger;
    }

    /** The batch is done with: nothing that was given out of it is looked at any more. */
    void end() {
        for (int slice = 0; slice < slices && !allInOne; slice++) {
            if (rows[slice] != few[slice]) {
                Scratch.free(rows[slice]);
            }
            rows[slice] = NOTHING;
        }
        Scratch.free(late);
        late = NOTHING;
        slices = 0;
        lateCount = 0;
    }

    /** How many slices the batch has rows in. */
    int slices() {
        return slices;
    }

    long end(int slice) {
        return ends[slice];
    }

    int[] rows(int slice) {
        return allInOne ? Rows.all(counts[slice]) : rows[slice];
    }

    int count(int slice) {
        return counts[slice];
    }

    int[] late() {
        return late;
    }

    int lateCount() {
        return lateCount;
    }
}
