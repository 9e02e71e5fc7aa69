package dev.millrace.engine.join;

import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;
import java.util.function.LongConsumer;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Trees of rows with two words each that find those whose first word is at most so much and whose second word is at least so
 * much: treaps (Seidel and Aragon, Algorithmica 1996) ordered by the first word, in whose nodes the greatest second word
 * below says where not to look. Of n rows, k that are found take O(log n + k) steps if the words are of one value, and never
 * more than O(k log n). A tree is the address of its root, 0 when empty; an operation that changes it returns the new root.
 *
 * <pre>
 *   node: left | right | row | first word | second word | greatest second word below | priority
 * </pre>
 */
final class RangeIndex implements AutoCloseable {
    private static final int RIGHT = 8;
    private static final int ROW = 16;
    private static final int FIRST = 24;
    private static final int SECOND = 32;
    private static final int GREATEST = 40;
    private static final int PRIORITY = 48;
    private static final int NODE_BYTES = 56;

    private final StateMemory memory;
    private long made; // nodes so far, from which priorities come
    private long below; // what a split gives
    private long above;

    RangeIndex(BufferAllocator allocator) {
        this.memory = new StateMemory(allocator);
    }

    /** Where what belongs to trees may be kept, too; freed with them. */
    StateMemory memory() {
        return memory;
    }

    /** Adds a row that is not in the tree. */
    long add(long root, long first, long second, long row) {
        long node = memory.allocate(NODE_BYTES);
        Memory.putLong(node, 0);
        Memory.putLong(node + RIGHT, 0);
        Memory.putLong(node + ROW, row);
        Memory.putLong(node + FIRST, first);
        Memory.putLong(node + SECOND, second);
        Memory.putLong(node + GREATEST, second);
        Memory.putLong(node + PRIORITY, priority(++made));
        return insert(root, node);
    }

    /** SplitMix64, so that trees are balanced whatever the order of rows is. */
    private static long priority(long number) {
        long mixed = number * 0x9E3779B97F4A7C15L;
        mixed = (mixed ^ mixed >>> 30) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ mixed >>> 27) * 0x94D049BB133111EBL;
        return mixed ^ mixed >>> 31;
    }

    private long insert(long root, long node) {
        if (root == 0) {
            return node;
        }
        if (Memory.getLong(root + PRIORITY) < Memory.getLong(node + PRIORITY)) {
            split(root, node);
            Memory.putLong(node, below);
            Memory.putLong(node + RIGHT, above);
            measure(node);
            return node;
        }
        long side = isBefore(node, root) ? root : root + RIGHT;
        Memory.putLong(side, insert(Memory.getLong(side), node));
        Memory.putLong(root + GREATEST, Math.max(Memory.getLong(root + GREATEST), Memory.getLong(node + SECOND)));
        return root;
    }

    private static boolean isBefore(long a, long b) {
        return isBefore(Memory.getLong(a + FIRST), Memory.getLong(a + ROW), b);
    }

    private static boolean isBefore(long first, long row, long node) {
        long other = Memory.getLong(node + FIRST);
        return first < other || first == other && row < Memory.getLong(node + ROW);
    }

    /** Splits a tree into {@link #below} and {@link #above} a node. */
    private void split(long root, long node) {
        if (root == 0) {
            below = 0;
            above = 0;
        } else if (isBefore(root, node)) {
            split(Memory.getLong(root + RIGHT), node);
            Memory.putLong(root + RIGHT, below);
            measure(root);
            below = root;
        } else {
            split(Memory.getLong(root), node);
            Memory.putLong(root, above);
            measure(root);
            above = root;
        }
    }

    private static void measure(long node) {
        long greatest = Memory.getLong(node + SECOND);
        long left = Memory.getLong(node);
        long right = Memory.getLong(node + RIGHT);
        greatest = left == 0 ? greatest : Math.max(greatest, Memory.getLong(left + GREATEST));
        greatest = right == 0 ? greatest : Math.max(greatest, Memory.getLong(right + GREATEST));
        Memory.putLong(node + GREATEST, greatest);
    }

    /** Removes a row that is in the tree with this first word. */
    long remove(long root, long first, long row) {
        assert root != 0 : "the row is not in the tree";
        if (Memory.getLong(root + ROW) == row) {
            long joined = join(Memory.getLong(root), Memory.getLong(root + RIGHT));
            memory.free(root, NODE_BYTES);
            return joined;
        }
        long side = isBefore(first, row, root) ? root : root + RIGHT;
        Memory.putLong(side, remove(Memory.getLong(side), first, row));
        measure(root);
        return root;
    }

    private static long join(long low, long high) {
        if (low == 0 || high == 0) {
            return low + high;
        }
        if (Memory.getLong(low + PRIORITY) > Memory.getLong(high + PRIORITY)) {
            Memory.putLong(low + RIGHT, join(Memory.getLong(low + RIGHT), high));
            measure(low);
            return low;
        }
        Memory.putLong(high, join(low, Memory.getLong(high)));
        measure(high);
        return high;
    }

    /** Gives the rows with a first word of at most {@code first} and a second word of at least {@code second}. */
    void find(long root, long first, long second, LongConsumer found) {
        for (long node = root; node != 0 && Memory.getLong(node + GREATEST) >= second; ) {
            boolean isWithin = Memory.getLong(node + FIRST) <= first;
            if (isWithin) {
                if (Memory.getLong(node + SECOND) >= second) {
                    found.accept(Memory.getLong(node + ROW));
                }
                find(Memory.getLong(node + RIGHT), first, second, found);
            }
            node = Memory.getLong(node);
        }
    }

    long bytes() {
        return memory.bytes();
    }

    /** Forgets all trees at once. */
    void clear() {
        memory.reset();
    }

    @Override
    public void close() {
        memory.close();
    }
}
