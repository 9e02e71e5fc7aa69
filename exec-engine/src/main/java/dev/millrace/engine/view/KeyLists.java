package dev.millrace.engine.view;

import dev.millrace.batch.Closing;
import dev.millrace.engine.state.Hashing;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.memory.Memory;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Rows by the hash of a key that any number of them may share; those with a NULL in the key are left out, as joins want it.
 *
 * <pre>
 *   nodes: address of the row | next of its key, 4 bytes | previous, 4 bytes     0 for none; free ones are a list by next
 *   heads: 16 bits of the key's hash, 48 of its first node                       open addressing
 *   byRow: node, 4 bytes                                                         by the row's address, open addressing
 * </pre>
 *
 * Adding and removing a row take the same few steps however many have its key.
 */
final class KeyLists implements RowIndex {
    private static final int NODE = 16;
    private static final int NEXT = 8;
    private static final int PREVIOUS = 12;
    private static final long ID = (1L << 48) - 1;
    private static final int FIRST_CAPACITY = 64;

    private final BufferAllocator allocator;
    private final KeyHash key;
    private List<ArrowBuf> buffers = List.of(); // nodes, heads, by row; none before the first row
    private long nodes;
    private long heads;
    private long byRow;
    private long nodeCapacity;
    private long headMask = -1;
    private int headShift;
    private long rowMask = -1;
    private long used = 1; // nodes, from the first on; 0 is none
    private long freeNode;
    private long count; // rows
    private long keys;

    KeyLists(List<Integer> columns, RowCodec codec, BufferAllocator allocator) {
        this.allocator = allocator;
        this.key = new KeyHash(columns, codec);
    }

    // ---- room ------------------------------------------------------------------------------------------------------

    @Override
    public void reserve(long more) {
        long needed = count + more;
        if (needed + 1 > nodeCapacity) {
            growNodes(capacity(nodeCapacity, needed + 1));
        }
        if (2 * (keys + more) > headMask) {
            growHeads(capacity(headMask + 1, 2 * (keys + more) + 1));
        }
        if (2 * needed > rowMask) {
            growByRow(capacity(rowMask + 1, 2 * needed + 1));
        }
    }

    private static long capacity(long before, long needed) {
        long capacity = Math.max(FIRST_CAPACITY, 2 * before);
        while (capacity < needed) {
            capacity *= 2;
        }
        return capacity;
    }

    private long replace(long before, ArrowBuf by) {
        List<ArrowBuf> all = new ArrayList<>(buffers);
        all.removeIf(buffer -> {
            boolean isOld = before != 0 && buffer.memoryAddress() == before;
            if (isOld) {
                buffer.close();
            }
            return isOld;
        });
        all.add(by);
        buffers = List.copyOf(all);
        return by.memoryAddress();
    }

    private void growNodes(long capacity) {
        ArrowBuf larger = allocator.buffer(NODE * capacity);
        if (nodeCapacity > 0) {
            Memory.copy(nodes, larger.memoryAddress(), NODE * used);
        }
        nodes = replace(nodes, larger);
        nodeCapacity = capacity;
    }

    private void growHeads(long capacity) {
        ArrowBuf larger = allocator.buffer(8 * capacity);
        long address = larger.memoryAddress();
        Memory.fill(address, 8 * capacity, (byte) 0);
        int shift = 64 - Long.numberOfTrailingZeros(capacity);
        for (long old = 0; old <= headMask; old++) {
            long word = head(old);
            if (word != 0) {
                long slot = key.hash(row(word & ID)) >>> shift;
                while (Memory.getLong(address + 8 * slot) != 0) {
                    slot = slot + 1 & capacity - 1;
                }
                Memory.putLong(address + 8 * slot, word);
            }
        }
        heads = replace(heads, larger);
        headMask = capacity - 1;
        headShift = shift;
    }

    private void growByRow(long capacity) {
        ArrowBuf larger = allocator.buffer(4 * capacity);
        long address = larger.memoryAddress();
        Memory.fill(address, 4 * capacity, (byte) 0);
        for (long old = 0; old <= rowMask; old++) {
            int node = Memory.getInt(byRow + 4 * old);
            if (node != 0) {
                long slot = home(row(node)) & capacity - 1;
                while (Memory.getInt(address + 4 * slot) != 0) {
                    slot = slot + 1 & capacity - 1;
                }
                Memory.putInt(address + 4 * slot, node);
            }
        }
        byRow = replace(byRow, larger);
        rowMask = capacity - 1;
    }

    // ---- parts -----------------------------------------------------------------------------------------------------

    private long row(long node) {
        return Memory.getLong(nodes + NODE * node);
    }

    private long next(long node) {
        return Memory.getInt(nodes + NODE * node + NEXT) & 0xFFFFFFFFL;
    }

    private void setNext(long node, long next) {
        Memory.putInt(nodes + NODE * node + NEXT, (int) next);
    }

    private long previous(long node) {
        return Memory.getInt(nodes + NODE * node + PREVIOUS) & 0xFFFFFFFFL;
    }

    private void setPrevious(long node, long previous) {
        Memory.putInt(nodes + NODE * node + PREVIOUS, (int) previous);
    }

    private long head(long slot) {
        return Memory.getLong(heads + 8 * slot);
    }

    private static long home(long row) {
        return Hashing.finish(Hashing.step(Hashing.SEED, row)) >>> 16;
    }

    /** The slot of a key's first node, or the free one where it is to be. */
    private long headSlot(long like, long hash) {
        long slot = hash >>> headShift;
        while (true) {
            long word = head(slot);
            if (word == 0 || (word ^ hash << 48) >>> 48 == 0 && key.agree(row(word & ID), like)) {
                return slot;
            }
            slot = slot + 1 & headMask;
        }
    }

    /** The slot of a row's node, or the free one where it is to be. */
    private long rowSlot(long row) {
        long slot = home(row) & rowMask;
        while (true) {
            int node = Memory.getInt(byRow + 4 * slot);
            if (node == 0 || row(node & 0xFFFFFFFFL) == row) {
                return slot;
            }
            slot = slot + 1 & rowMask;
        }
    }

    // ---- rows ------------------------------------------------------------------------------------------------------

    @Override
    public void add(long row) {
        if (key.hasNull(row)) {
            return;
        }
        long rowSlot = rowSlot(row);
        if (Memory.getInt(byRow + 4 * rowSlot) != 0) {
            return;
        }
        long node = freeNode;
        if (node == 0) {
            node = used++;
        } else {
            freeNode = next(node);
        }
        Memory.putLong(nodes + NODE * node, row);
        long hash = key.hash(row);
        long slot = headSlot(row, hash);
        long word = head(slot);
        if (word == 0) {
            setNext(node, 0);
            setPrevious(node, 0);
            Memory.putLong(heads + 8 * slot, hash << 48 | node);
            keys++;
        } else { // behind the first
            long first = word & ID;
            long second = next(first);
            setNext(node, second);
            setPrevious(node, first);
            setNext(first, node);
            if (second != 0) {
                setPrevious(second, node);
            }
        }
        Memory.putInt(byRow + 4 * rowSlot, (int) node);
        count++;
    }

    @Override
    public void remove(long row) {
        if (count == 0 || key.hasNull(row)) {
            return;
        }
        long rowSlot = rowSlot(row);
        long node = Memory.getInt(byRow + 4 * rowSlot) & 0xFFFFFFFFL;
        if (node == 0) {
            return;
        }
        long next = next(node);
        long previous = previous(node);
        if (previous == 0) {
            long hash = key.hash(row);
            long slot = headSlot(row, hash);
            if (next == 0) {
                removeHead(slot);
            } else {
                Memory.putLong(heads + 8 * slot, hash << 48 | next);
            }
        } else {
            setNext(previous, next);
        }
        if (next != 0) {
            setPrevious(next, previous);
        }
        removeByRow(rowSlot);
        Memory.putLong(nodes + NODE * node, 0);
        setNext(node, freeNode);
        freeNode = node;
        count--;
    }

    private void removeHead(long freed) {
        long hole = freed;
        long slot = hole + 1 & headMask;
        for (long word = head(slot); word != 0; word = head(slot)) {
            long home = key.hash(row(word & ID)) >>> headShift;
            if ((slot - home & headMask) >= (slot - hole & headMask)) {
                Memory.putLong(heads + 8 * hole, word);
                hole = slot;
            }
            slot = slot + 1 & headMask;
        }
        Memory.putLong(heads + 8 * hole, 0);
        keys--;
    }

    private void removeByRow(long freed) {
        long hole = freed;
        long slot = hole + 1 & rowMask;
        for (int node = Memory.getInt(byRow + 4 * slot); node != 0; node = Memory.getInt(byRow + 4 * slot)) {
            long home = home(row(node & 0xFFFFFFFFL)) & rowMask;
            if ((slot - home & rowMask) >= (slot - hole & rowMask)) {
                Memory.putInt(byRow + 4 * hole, node);
                hole = slot;
            }
            slot = slot + 1 & rowMask;
        }
        Memory.putInt(byRow + 4 * hole, 0);
    }

    @Override
    public void find(long like, FoundRows found) {
        if (count == 0) {
            return;
        }
        long slot = headSlot(like, key.hash(like));
        for (long node = head(slot) & ID; node != 0; node = next(node)) {
            if (!found.add(row(node))) {
                return;
            }
        }
    }

    @Override
    public long bytes() {
        return NODE * nodeCapacity + 8 * (headMask + 1) + 4 * (rowMask + 1);
    }

    @Override
    public void close() {
        List<ArrowBuf> old = buffers;
        buffers = List.of();
        nodeCapacity = 0;
        headMask = -1;
        rowMask = -1;
        count = 0;
        Closing.all(old);
    }
}
