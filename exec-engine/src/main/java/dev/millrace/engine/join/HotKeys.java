package dev.millrace.engine.join;

import dev.millrace.batch.Closing;
import dev.millrace.engine.state.RowTable;
import dev.millrace.memory.Memory;
import java.util.List;
import java.util.function.LongConsumer;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Orders the rows of keys that have many, so that a row meets only those in its ranges and a hot key does not make a join
 * quadratic. A list with a few rows is gone through, and so is one that none ever asks for; it is ordered when a row first
 * has to meet a longer one. Of each list its owner keeps a word here, 0 at first:
 *
 * <pre>
 *   word: number of rows, while they are few or not asked for; else the address of a block with the root of their tree
 * </pre>
 */
final class HotKeys implements AutoCloseable {
    /** Rows that are gone through rather than ordered. */
    static final int FEW = 32;

    private static final long GREATEST_COUNT = 0xFFF; // below any address

    private final RangeCondition ranges;
    private final RangeIndex index;

    HotKeys(RangeCondition ranges, BufferAllocator allocator) {
        this.ranges = ranges;
        this.index = new RangeIndex(allocator);
    }

    /** Whether {@link #find} is worth while. */
    static boolean isHot(long word) {
        return Memory.getLong(word) > FEW;
    }

    private static boolean isOrdered(long word) {
        return Memory.getLong(word) > GREATEST_COUNT;
    }

    /** A row was added to a list. */
    void enter(long word, int side, long row) {
        if (isOrdered(word)) {
            order(Memory.getLong(word), side, row);
        } else {
            count(word, 1);
        }
    }

    /** Some rows are in a list that no word was kept of. */
    void enterAll(long word, long list) {
        for (long row = RowTable.first(list); row != 0; row = RowTable.next(row)) {
            count(word, 1);
        }
    }

    /** A count that is too great to be exact stays; then a list may be ordered that has few rows left. */
    private static void count(long word, int more) {
        long count = Memory.getLong(word);
        if (count < GREATEST_COUNT) {
            Memory.putLong(word, count + more);
        }
    }

    private void order(long block, int side, long row) {
        if (!ranges.meetsNone(side, row)) {
            Memory.putLong(
                    block, index.add(Memory.getLong(block), ranges.word(side, row, 0), ranges.word(side, row, 1), row));
        }
    }

    /** A row is about to be removed from its list. */
    void leave(long word, int side, long row) {
        long block = Memory.getLong(word);
        boolean isLast = RowTable.isAlone(row);
        if (isOrdered(word)) {
            if (!ranges.meetsNone(side, row)) {
                Memory.putLong(block, index.remove(Memory.getLong(block), ranges.word(side, row, 0), row));
            }
            if (isLast) {
                index.memory().free(block, Long.BYTES);
            }
        } else {
            count(word, -1);
        }
        if (isLast) {
            Memory.putLong(word, 0);
        }
    }

    /** Gives the rows of a hot list that a row of the other side may meet. */
    void find(long word, long list, int side, long row, LongConsumer found) {
        if (ranges.meetsNone(1 - side, row)) {
            return;
        }
        if (!isOrdered(word)) {
            long block = index.memory().allocate(Long.BYTES);
            Memory.putLong(block, 0);
            Memory.putLong(word, block);
            for (long each = RowTable.first(list); each != 0; each = RowTable.next(each)) {
                order(block, side, each);
            }
        }
        index.find(
                Memory.getLong(Memory.getLong(word)),
                ranges.bound(1 - side, row, 0),
                ranges.bound(1 - side, row, 1),
                found);
    }

    long bytes() {
        return index.bytes();
    }

    /** Forgets all lists at once. */
    void clear() {
        index.clear();
    }

    @Override
    public void close() {
        Closing.all(List.of(index));
    }
}
