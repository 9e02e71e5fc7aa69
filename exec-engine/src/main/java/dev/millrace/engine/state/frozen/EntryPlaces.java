package dev.millrace.engine.state.frozen;

import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;
import java.util.Arrays;
import org.apache.arrow.memory.BufferAllocator;

/** Where the entries of a table are whose links are ids, from 0 on: eight bytes each, off the heap, since somebody first asked. One thread. */
public final class EntryPlaces implements AutoCloseable {
    private static final int PIECE_BITS = 10;
    private static final int IN_PIECE = (1 << PIECE_BITS) - 1;

    private final StateMemory memory;
    private long[] pieces = {}; // 0 for none yet
    private EntryScan left; // what was there before that is not known yet

    public EntryPlaces(GroupTable table, BufferAllocator allocator) {
        this.memory = new StateMemory(allocator);
        this.left = new EntryScan(table);
    }

    /** Looks for some more of the entries that were there before; returns whether all are known. */
    public boolean find() {
        if (!left.isDone()) {
            int count = left.advance(EntryScan.SLOTS);
            for (int i = 0; i < count; i++) {
                put(left.entries()[i]);
            }
        }
        return left.isDone();
    }

    /** An entry has its id. */
    public void put(long entry) {
        int id = (int) Memory.getLong(entry + GroupTable.LINK);
        int piece = id >>> PIECE_BITS;
        if (piece >= pieces.length) {
            pieces = Arrays.copyOf(pieces, Math.max(piece + 1, 2 * pieces.length));
        }
        if (pieces[piece] == 0) {
            pieces[piece] = memory.allocate(Long.BYTES << PIECE_BITS);
        }
        Memory.putLong(pieces[piece] + Long.BYTES * (long) (id & IN_PIECE), entry);
    }

    /** The entry of an id, once all are known. */
    public long get(int id) {
        return Memory.getLong(pieces[id >>> PIECE_BITS] + Long.BYTES * (long) (id & IN_PIECE));
    }

    /** Entries have other ids, each of which is put. */
    public void clear(GroupTable table) {
        Arrays.fill(pieces, 0);
        memory.reset();
        left = new EntryScan(table);
    }

    public long bytes() {
        return memory.bytes();
    }

    @Override
    public void close() {
        memory.close();
    }
}
