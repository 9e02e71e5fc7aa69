package dev.millrace.engine.view;

import dev.millrace.batch.Closing;
import dev.millrace.batch.Memory;
import dev.millrace.engine.state.Hashing;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.RowOrder;
import dev.millrace.engine.state.SlotKind;
import java.util.List;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;

/** Rows by the hash of a key that few of them share: open addressing, a word of 16 bits of the hash and the address each. */
final class HashIndex implements RowIndex {
    private static final long ADDRESS = (1L << 48) - 1;
    private static final int FIRST_CAPACITY = 64;

    private final BufferAllocator allocator;
    private final int[] columns;
    private final SlotKind[] kinds;
    private final int[] places;
    private final RowOrder order;
    private List<ArrowBuf> slots = List.of();
    private long address;
    private long mask;
    private int shift;
    private long count;

    HashIndex(KeyColumns key, RowCodec codec, BufferAllocator allocator) {
        this.allocator = allocator;
        this.columns = key.columns().stream().mapToInt(column -> column).toArray();
        this.kinds = key.columns().stream()
                .map(column -> SlotKind.of(codec.type(column)))
                .toArray(SlotKind[]::new);
        this.places = key.columns().stream().mapToInt(codec::slot).toArray();
        this.order = key.order(codec);
    }

    private long hash(long row) {
        long hash = Hashing.SEED;
        for (int i = 0; i < columns.length; i++) {
            long slot = row + places[i];
            if (RowCodec.isNull(row, columns[i])) {
                hash = Hashing.step(hash, Hashing.NULL_BITS);
            } else if (kinds[i] == SlotKind.BYTES) {
                hash = Hashing.step(hash, Hashing.bytes(row + Memory.getInt(slot), Memory.getInt(slot + 4)));
            } else {
                hash = Hashing.step(hash, Memory.getLong(slot));
                if (kinds[i] == SlotKind.WIDE) {
                    hash = Hashing.step(hash, Memory.getLong(slot + 8));
                }
            }
        }
        return Hashing.finish(hash);
    }

    @Override
    public void reserve(long more) {
        long needed = 2 * (count + more);
        if (slots.isEmpty() || needed > mask) {
            long capacity = slots.isEmpty() ? FIRST_CAPACITY : 2 * (mask + 1);
            while (needed >= capacity) {
                capacity *= 2;
            }
            grow(capacity);
        }
    }

    private void grow(long capacity) {
        List<ArrowBuf> oldSlots = slots;
        long oldAddress = address;
        long oldCapacity = oldSlots.isEmpty() ? 0 : mask + 1;
        ArrowBuf buffer = allocator.buffer(8 * capacity);
        slots = List.of(buffer);
        address = buffer.memoryAddress();
        mask = capacity - 1;
        shift = 64 - Long.numberOfTrailingZeros(capacity);
        Memory.fill(address, 8 * capacity, (byte) 0);
        for (long slot = 0; slot < oldCapacity; slot++) {
            long word = Memory.getLong(oldAddress + (slot << 3));
            if (word != 0) {
                put(word, hash(word & ADDRESS));
            }
        }
        Closing.all(oldSlots);
    }

    /** Whether the word was not there. */
    private boolean put(long word, long hash) {
        long slot = hash >>> shift;
        for (long there = word(slot); there != 0; there = word(slot)) {
            if (there == word) {
                return false;
            }
            slot = (slot + 1) & mask;
        }
        Memory.putLong(address + (slot << 3), word);
        return true;
    }

    private long word(long slot) {
        return Memory.getLong(address + (slot << 3));
    }

    @Override
    public void add(long row) {
        long hash = hash(row);
        if (put(hash << 48 | row, hash)) {
            count++;
        }
    }

    @Override
    public void remove(long row) {
        if (slots.isEmpty()) {
            return;
        }
        long hole = hash(row) >>> shift;
        while ((word(hole) & ADDRESS) != row) {
            if (word(hole) == 0) {
                return;
            }
            hole = (hole + 1) & mask;
        }
        long slot = hole;
        while (true) {
            slot = (slot + 1) & mask;
            long word = word(slot);
            if (word == 0) {
                break;
            }
            long home = hash(word & ADDRESS) >>> shift;
            if (((slot - home) & mask) >= ((slot - hole) & mask)) {
                Memory.putLong(address + (hole << 3), word);
                hole = slot;
            }
        }
        Memory.putLong(address + (hole << 3), 0);
        count--;
    }

    @Override
    public void find(long key, FoundRows found) {
        if (count == 0) {
            return;
        }
        long hash = hash(key);
        for (long slot = hash >>> shift; word(slot) != 0; slot = (slot + 1) & mask) {
            long word = word(slot);
            if ((word ^ hash << 48) >>> 48 == 0
                    && order.compare(word & ADDRESS, key) == 0
                    && !found.add(word & ADDRESS)) {
                return;
            }
        }
    }

    @Override
    public long bytes() {
        return slots.isEmpty() ? 0 : 8 * (mask + 1);
    }

    @Override
    public void close() {
        List<ArrowBuf> old = slots;
        slots = List.of();
        count = 0;
        Closing.all(old);
    }
}
