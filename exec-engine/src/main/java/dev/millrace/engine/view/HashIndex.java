package dev.millrace.engine.view;

import dev.millrace.engine.state.Hashing;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.RowOrder;
import dev.millrace.engine.state.SlotKind;
import dev.millrace.memory.Memory;
import dev.millrace.type.DataType;
import java.util.List;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;

/** Rows by the hash of a key that few of them share. Rows are found without the view's lock, too, within {@link Lookups}. */
final class HashIndex implements RowIndex {
    private final int[] columns;
    private final SlotKind[] kinds;
    private final DataType[] types;
    private final int[] places;
    private final RowOrder order;
    private final AddressTable rows;
    private long touched; // what comes of words that were loaded ahead, which keeps the JIT from dropping the loads

    HashIndex(KeyColumns key, RowCodec codec, BufferAllocator allocator) {
        this.columns = key.columns().stream().mapToInt(column -> column).toArray();
        this.kinds = key.columns().stream()
                .map(column -> SlotKind.of(codec.type(column)))
                .toArray(SlotKind[]::new);
        this.types = key.columns().stream().map(codec::type).toArray(DataType[]::new);
        this.places = key.columns().stream().mapToInt(codec::slot).toArray();
        this.order = key.order(codec);
        this.rows = new AddressTable(allocator, this::hash, 2);
    }

    private long hash(long row) {
        long hash = Hashing.SEED;
        for (int i = 0; i < columns.length; i++) {
            long slot = row + places[i];
            if (RowCodec.isNull(row, columns[i])) {
                hash = Hashing.step(hash, Hashing.NULL_BITS);
            } else if (kinds[i] == SlotKind.BYTES) {
                int length = SlotKind.keyLength(types[i], Memory.getInt(slot + 4));
                hash = Hashing.step(hash, Hashing.bytes(row + Memory.getInt(slot), length));
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
        rows.reserve(more);
    }

    @Override
    public void add(long row) {
        rows.add(row, hash(row));
    }

    @Override
    public void addAll(long[] added, int count) {
        long[] hashes = new long[count];
        long words = 0;
        for (int i = 0; i < count; i++) {
            hashes[i] = hash(added[i]);
            words += rows.firstWord(hashes[i]); // a loop of its own: these wait for memory together
        }
        touched = words;
        for (int i = 0; i < count; i++) {
            rows.add(added[i], hashes[i]);
        }
    }

    @Override
    public boolean prepare(long many) {
        return rows.prepare(many);
    }

    @Override
    public void remove(long row) {
        rows.remove(row, hash(row));
    }

    /** Within {@link Lookups} without the lock; finds all rows of the lookup's version. */
    @Override
    public void find(long key, FoundRows found) {
        AddressTable.Words words = rows.words();
        if (words.isEmpty()) {
            return;
        }
        long hash = hash(key);
        long slot = words.first(hash);
        for (long word = words.word(slot); word != AddressTable.FREE; word = words.word(slot)) {
            if (AddressTable.Words.mayBe(word, hash)
                    && order.compare(word & AddressTable.ADDRESS, key) == 0
                    && !found.add(word & AddressTable.ADDRESS)) {
                return;
            }
            slot = words.next(slot);
        }
    }

    /** Memory in which nobody finds rows any more who begins to look now; the caller closes it when nobody looks there. */
    List<ArrowBuf> takeReplaced() {
        return rows.takeReplaced();
    }

    @Override
    public long bytes() {
        return rows.bytes();
    }

    @Override
    public void close() {
        rows.close();
    }
}
