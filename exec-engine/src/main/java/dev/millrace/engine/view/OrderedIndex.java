package dev.millrace.engine.view;

import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.RowOrder;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Rows in the order of some columns, rows that tie in the order of their addresses: a skip list (Pugh, CACM 1990), which takes a row
 * without moving others, so that what it will need can be set aside before.
 *
 * <pre>
 *   tower: height, 16 bits, address of the row, 48 | first word of the key | previous tower | next tower, of each level
 * </pre>
 */
final class OrderedIndex implements RowIndex {
    private static final int WORD = 8;
    private static final int PREVIOUS = 16;
    private static final int NEXT = 24;
    private static final int MOST_LEVELS = 16; // of each four towers one goes on: enough for 4^16 rows
    private static final long ADDRESS = (1L << 48) - 1;
    private static final int MOST_SPARE = 1 << 16; // kept for later though nobody asked for them

    private final FirstWord words;
    private final RowOrder[] orders; // by the first columns: none, one, ..
    private final RowOrder order;
    private final StateMemory memory;
    private final SplittableRandom random = new SplittableRandom(0x5eed);
    private final long[] path = new long[MOST_LEVELS]; // to the last tower before what was looked for
    private final List<IndexScan> scans = new ArrayList<>();
    private final long head;
    private int levels = 1;
    private long last;
    private long spare; // towers that are set aside, each with its height and the next
    private long spares;
    private long count;
    private boolean dropped;
    private boolean closed;

    OrderedIndex(OrderedColumns columns, RowCodec codec, BufferAllocator allocator) {
        this.words = new FirstWord(columns.keys().get(0), codec);
        this.orders = new RowOrder[columns.keys().size() + 1];
        for (int first = 0; first < orders.length; first++) {
            orders[first] = columns.order(codec, first);
        }
        this.order = orders[orders.length - 1];
        this.memory = new StateMemory(allocator);
        try {
            this.head = memory.allocate(size(MOST_LEVELS));
        } catch (RuntimeException | Error e) {
            memory.close();
            throw e;
        }
        Memory.fill(head, size(MOST_LEVELS), (byte) 0);
    }

    private static int size(int height) {
        return NEXT + 8 * height;
    }

    long count() {
        return count;
    }

    /** The order by the first columns. */
    RowOrder order(int first) {
        return orders[first];
    }

    // ---- to write --------------------------------------------------------------------------------------------------

    @Override
    public void reserve(long more) {
        while (spares < more) {
            int height = 1 + Math.min(MOST_LEVELS - 1, Long.numberOfTrailingZeros(random.nextLong()) / 2);
            setAside(memory.allocate(size(height)), height);
        }
        while (spares > more + MOST_SPARE) { // of rows that were given up
            long tower = spare;
            spare = Memory.getLong(tower + WORD);
            spares--;
            memory.free(tower, size(height(tower)));
        }
    }

    private void setAside(long tower, int height) {
        Memory.putLong(tower, (long) height << 48);
        Memory.putLong(tower + WORD, spare);
        spare = tower;
        spares++;
    }

    @Override
    public void add(long row) {
        long word = words.of(row);
        find(row, word);
        long next = next(path[0], 0);
        if (next != 0 && row(next) == row) {
            return;
        }
        long tower = spare;
        spare = Memory.getLong(tower + WORD);
        spares--;
        int height = height(tower);
        for (; levels < height; levels++) {
            path[levels] = head;
        }
        Memory.putLong(tower, (long) height << 48 | row);
        Memory.putLong(tower + WORD, word);
        Memory.putLong(tower + PREVIOUS, path[0] == head ? 0 : path[0]);
        for (int level = 0; level < height; level++) {
            setNext(tower, level, next(path[level], level));
            setNext(path[level], level, tower);
        }
        if (next == 0) {
            last = tower;
        } else {
            Memory.putLong(next + PREVIOUS, tower);
        }
        count++;
    }

    @Override
    public void remove(long row) {
        find(row, words.of(row));
        long tower = next(path[0], 0);
        if (tower == 0 || row(tower) != row) {
            return;
        }
        long next = next(tower, 0);
        long previous = previous(tower);
        for (int i = 0; i < scans.size(); i++) {
            scans.get(i).leaving(tower, next, previous);
        }
        int height = height(tower);
        for (int level = 0; level < height; level++) {
            setNext(path[level], level, next(tower, level));
        }
        if (next == 0) {
            last = previous;
        } else {
            Memory.putLong(next + PREVIOUS, previous);
        }
        memory.free(tower, size(height));
        count--;
    }

    /** Sets the path to before a row, or where it would be. */
    private void find(long row, long word) {
        long at = head;
        for (int level = levels - 1; level >= 0; level--) {
            for (long next = next(at, level); next != 0 && isBefore(next, row, word); next = next(at, level)) {
                at = next;
            }
            path[level] = at;
        }
    }

    private boolean isBefore(long tower, long row, long word) {
        int byWord = Long.compareUnsigned(Memory.getLong(tower + WORD), word);
        if (byWord != 0) {
            return byWord < 0;
        }
        int byColumns = order.compare(row(tower), row);
        return byColumns != 0 ? byColumns < 0 : row(tower) < row;
    }

    // ---- to read ---------------------------------------------------------------------------------------------------

    /** The first tower, 0 for none. */
    long first() {
        return next(head, 0);
    }

    long last() {
        return last;
    }

    long next(long tower) {
        return next(tower, 0);
    }

    long previous(long tower) {
        return Memory.getLong(tower + PREVIOUS);
    }

    long row(long tower) {
        return Memory.getLong(tower) & ADDRESS;
    }

    /** The first tower whose row does not come before a key, or, with {@code behind}, comes after all rows that tie with it. */
    long seek(long key, int columns, boolean behind) {
        long word = words.of(key);
        RowOrder by = orders[columns];
        int most = behind ? 0 : -1;
        long at = head;
        for (int level = levels - 1; level >= 0; level--) {
            for (long next = next(at, level); next != 0; next = next(at, level)) {
                int compared = Long.compareUnsigned(Memory.getLong(next + WORD), word);
                if (compared == 0) {
                    compared = by.compare(row(next), key);
                }
                if (compared > most) {
                    break;
                }
                at = next;
            }
        }
        return next(at, 0);
    }

    @Override
    public void find(long key, FoundRows found) {
        for (long tower = seek(key, orders.length - 1, false);
                tower != 0 && order.compare(row(tower), key) == 0;
                tower = next(tower)) {
            if (!found.add(row(tower))) {
                return;
            }
        }
    }

    private static long next(long tower, int level) {
        return Memory.getLong(tower + NEXT + 8L * level);
    }

    private static void setNext(long tower, int level, long next) {
        Memory.putLong(tower + NEXT + 8L * level, next);
    }

    private static int height(long tower) {
        return (int) (Memory.getLong(tower) >>> 48);
    }

    // ---- who reads -------------------------------------------------------------------------------------------------

    void open(IndexScan scan) {
        scans.add(scan);
    }

    /** Ends a scan; true if it was the last of an index that was dropped. */
    boolean close(IndexScan scan) {
        scans.remove(scan);
        return isUnused();
    }

    /** Nobody begins to read any more; true if nobody does now. */
    boolean drop() {
        dropped = true;
        return isUnused();
    }

    private boolean isUnused() {
        return dropped && scans.isEmpty();
    }

    @Override
    public long bytes() {
        return memory.bytes();
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            memory.close();
        }
    }
}
