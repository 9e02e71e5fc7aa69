package dev.millrace.engine.aggregate;

import dev.millrace.batch.Closing;
import dev.millrace.engine.aggregate.number.Extremes;
import dev.millrace.engine.state.ByteSlots;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.frozen.ChangedEntries;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/** The groups that changed in an epoch, each with its states as they were before. */
public final class ChangeLog implements AutoCloseable {
    private static final int PIECE_BITS = 7;
    private static final int IN_PIECE = (1 << PIECE_BITS) - 1;
    private static final long[] NOTHING = {};

    private final StateMemory memory;
    private final int stateOffset;
    private final int stateEnd;
    private final int[] byteSlots; // offsets of states whose values lie elsewhere
    private final StateMemory places; // of the entries, in the order of their first changes, in pieces
    private long[] pieces = NOTHING;
    private int count;
    private Optional<ChangedEntries> changes = Optional.empty(); // is told of entries before they change

    public ChangeLog(AggregateLayout layout, BufferAllocator allocator) {
        this.memory = new StateMemory(allocator);
        this.places = new StateMemory(allocator);
        this.stateOffset = layout.stateOffset();
        this.stateEnd = layout.stateEnd();
        this.byteSlots = layout.states().stream()
                .filter(AggregateLayout.StateSlot::isBytes)
                .mapToInt(AggregateLayout.StateSlot::offset)
                .toArray();
    }

    /** Copies the states of an entry whose link is 0 and links the entry to the copy. */
    public void touch(long entry) {
        if (changes.isPresent()) {
            changes.get().beforeChange(entry);
        }
        long image = memory.allocate(stateEnd - stateOffset) - stateOffset;
        for (int at = stateOffset; at < stateEnd; at += 8) {
            Memory.putLong(image + at, Memory.getLong(entry + at));
        }
        for (int slot : byteSlots) { // the group frees its own when it finds another
            if (!Extremes.isAbsent(entry + slot)) {
                ByteSlots.store(memory, image + slot, ByteSlots.address(entry + slot), ByteSlots.length(entry + slot));
            }
        }
        Memory.putLong(entry + GroupTable.LINK, image);
        int piece = count >>> PIECE_BITS;
        if (piece == pieces.length) {
            pieces = Arrays.copyOf(pieces, Math.max(4, 2 * piece));
        }
        if ((count & IN_PIECE) == 0) {
            pieces[piece] = places.allocate(Long.BYTES << PIECE_BITS);
        }
        Memory.putLong(pieces[piece] + Long.BYTES * (count & IN_PIECE), entry);
        count++;
    }

    /** Touches an entry whose group nobody above knows yet. */
    void touchAsNew(long entry, int rowsOffset) {
        touch(entry);
        Memory.putLong(Memory.getLong(entry + GroupTable.LINK) + rowsOffset, 0);
    }

    /** A group is about to be removed that changed in this epoch. */
    void gone(long entry) {
        if (changes.isPresent()) {
            changes.get().gone(entry);
        }
    }

    /** Has this be told from now on of entries before they change. */
    void tell(ChangedEntries whom) {
        changes = Optional.of(whom);
    }

    int count() {
        return count;
    }

    long entry(int i) {
        return Memory.getLong(pieces[i >>> PIECE_BITS] + Long.BYTES * (i & IN_PIECE));
    }

    /** Where an entry would have begun for its former states to lie where they do. */
    long before(int i) {
        return Memory.getLong(entry(i) + GroupTable.LINK);
    }

    long bytes() {
        return memory.bytes() + places.bytes();
    }

    void clear() {
        count = 0;
        memory.reset();
        places.reset();
    }

    @Override
    public void close() {
        count = 0;
        Closing.all(List.of(memory, places));
    }
}
