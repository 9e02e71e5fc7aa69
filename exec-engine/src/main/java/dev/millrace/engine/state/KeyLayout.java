package dev.millrace.engine.state;

import dev.millrace.batch.NestedCodec;
import dev.millrace.batch.Vectors;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.error.MillraceException;
import dev.millrace.memory.Memory;
import dev.millrace.number.BignumBytes;
import dev.millrace.operator.KeyGroups;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/**
 * Where the key columns lie in an entry of a {@link GroupTable}: if any may be NULL a word with a bit per key (set: NULL),
 * then a slot per key. The slot of a NULL has {@link Hashing#NULL_BITS} in its first word and zero in its second. Behind the
 * slot of a BIGNUM, which holds what its equality depends on, is a word with the scale that the first of them showed, or -1.
 */
public final class KeyLayout {
    /**
     * A key.
     *
     * @param column of the input
     * @param offset of its slot in the entry
     * @param hasScale whether a word with the scale that is shown follows the slot
     */
    public record Key(int column, DataType type, boolean nullable, int offset, int index, boolean hasScale) {
        public SlotKind kind() {
            return SlotKind.of(type);
        }

        /** Where the scale is. */
        public int scaleOffset() {
            return offset + SlotKind.BYTES.bytes();
        }
    }

    private final List<Key> keys = new ArrayList<>();
    private final boolean nullable;
    private final int end;
    private final int[] texts; // offsets of the slots that may point elsewhere, ascending
    private final boolean[] scaled; // which of these a scale follows
    private final NestedCodec nested = new NestedCodec();

    /** The layout of columns of an input; at most 64. */
    public KeyLayout(Schema input, List<Integer> columns) {
        if (columns.size() > 64) {
            throw MillraceException.notAvailableYet("grouping by more than 64 columns");
        }
        this.nullable = columns.stream().anyMatch(column -> input.field(column).nullable());
        int at = GroupTable.BODY + (nullable ? 8 : 0);
        for (int column : columns) {
            Field field = input.field(column);
            boolean hasScale = field.type().kind() == DataType.Kind.BIGNUM;
            keys.add(new Key(column, field.type(), field.nullable(), at, keys.size(), hasScale));
            at += SlotKind.of(field.type()).bytes() + (hasScale ? Long.BYTES : 0);
        }
        this.end = at;
        this.texts = texts(keys);
        this.scaled = scaled(keys);
    }

    /** The layout of a value alone. */
    public static KeyLayout ofValue(DataType type) {
        return new KeyLayout(Schema.of(new Field("value", type, false)), List.of(0));
    }

    private static int[] texts(List<Key> keys) {
        return keys.stream()
                .filter(key -> key.kind() == SlotKind.BYTES)
                .mapToInt(Key::offset)
                .toArray();
    }

    private static boolean[] scaled(List<Key> keys) {
        List<Key> texts =
                keys.stream().filter(key -> key.kind() == SlotKind.BYTES).toList();
        boolean[] scaled = new boolean[texts.size()];
        for (int i = 0; i < scaled.length; i++) {
            scaled[i] = texts.get(i).hasScale();
        }
        return scaled;
    }

    /** The same layout for keys that are other columns of another input; of the same types, none NULL. */
    public KeyLayout over(List<Integer> columns) {
        List<Key> others = new ArrayList<>();
        for (Key key : keys) {
            others.add(new Key(columns.get(key.index()), key.type(), false, key.offset(), key.index(), key.hasScale()));
        }
        return new KeyLayout(others, end);
    }

    private KeyLayout(List<Key> keys, int end) {
        this.keys.addAll(keys);
        this.nullable = false;
        this.end = end;
        this.texts = texts(keys);
        this.scaled = scaled(keys);
    }

    public List<Key> keys() {
        return keys;
    }

    /** Whether entries have a word of NULL bits, at {@link GroupTable#BODY}. */
    public boolean hasNulls() {
        return nullable;
    }

    /** Where what follows the keys begins in an entry. */
    public int end() {
        return end;
    }

    public boolean isNull(long entry, int key) {
        return nullable && (Memory.getLong(entry + GroupTable.BODY) >>> key & 1) != 0;
    }

    /** Whether two entries of this layout have the same keys. */
    public boolean equal(long a, long b) {
        if (texts.length == 0) {
            for (int at = GroupTable.BODY; at < end; at += 8) {
                if (Memory.getLong(a + at) != Memory.getLong(b + at)) {
                    return false;
                }
            }
            return true;
        }
        return equalWithTexts(a, b);
    }

    private boolean equalWithTexts(long a, long b) {
        int next = 0;
        for (int at = GroupTable.BODY; at < end; at += 8) {
            if (next < texts.length && at == texts[next]) {
                if (!ByteSlots.equal(a + at, b + at)) {
                    return false;
                }
                at += scaled[next++] ? 16 : 8;
            } else if (Memory.getLong(a + at) != Memory.getLong(b + at)) {
                return false;
            }
        }
        return true;
    }

    /** Copies the keys of an entry into another table's entry. */
    public void copy(long from, long to, StateMemory toMemory) {
        for (int at = GroupTable.BODY; at < end; at += 8) {
            Memory.putLong(to + at, Memory.getLong(from + at));
        }
        for (int text : texts) { // a short text, and a NULL, is all in its slot
            if (ByteSlots.isLong(from + text)) {
                ByteSlots.store(toMemory, to + text, ByteSlots.address(from + text), ByteSlots.length(from + text));
            }
        }
    }

    /** Frees what the keys of an entry point to. */
    public void free(long entry, StateMemory memory) {
        for (int text : texts) {
            ByteSlots.free(memory, entry + text);
        }
    }

    /** The entry of a table with the same hash and keys as an entry of another; or the empty slot, as -1 - slot. */
    public long find(GroupTable table, long hash, long like) {
        long slot = hash << KeyGroups.BITS >>> table.shift();
        while (true) {
            long word = table.word(slot);
            if (word == 0 && !table.fetch(hash)) {
                return -1 - slot;
            }
            long entry = word & GroupTable.ADDRESS;
            if (word == 0) {
                slot = hash << KeyGroups.BITS >>> table.shift(); // it was elsewhere
            } else if ((word ^ hash << 48) >>> 48 == 0 && equal(entry, like)) {
                return entry;
            } else {
                slot = (slot + 1) & table.mask();
            }
        }
    }

    /** Writes the hash and keys of an entry. */
    public void write(long entry, DataOutput out) throws IOException {
        out.writeLong(Memory.getLong(entry));
        for (int at = GroupTable.BODY; at < end; at += 8) {
            out.writeLong(Memory.getLong(entry + at));
        }
        for (int text : texts) {
            ByteSlots.write(entry + text, out);
        }
    }

    /** Adds an entry that {@link #write} wrote to a table that does not have it. */
    public long read(GroupTable table, DataInput in) throws IOException {
        long entry = readNew(table, in);
        table.put(entry);
        return entry;
    }

    /** The same of an entry that is not found before it was {@link GroupTable#put put} there. */
    public long readNew(GroupTable table, DataInput in) throws IOException {
        long entry = table.newEntry(in.readLong());
        for (int at = GroupTable.BODY; at < end; at += 8) {
            Memory.putLong(entry + at, in.readLong());
        }
        for (int text : texts) {
            ByteSlots.read(table.memory(), entry + text, in);
        }
        return entry;
    }

    /** The values of a key in some entries, as a vector. */
    public FieldVector vector(int index, Field field, long[] entries, int count, BufferAllocator allocator) {
        Key key = keys.get(index);
        FieldVector vector = switch (key.kind()) {
            case WORD -> {
                FieldVector words = Vectors.allocate(field, count, 0, allocator);
                WordValues.copyOut(key.type(), entries, key.offset(), count, words.getDataBufferAddress());
                yield words;
            }
            case WIDE -> wide(key, field, entries, count, allocator);
            case BYTES -> {
                boolean isNested = key.type().isNested();
                yield isNested
                        ? nested(key, field, entries, count, allocator)
                        : text(key, field, entries, count, allocator);
            }
        };
        if (key.type().isNested()) {
            return vector;
        }
        long validity = vector.getValidityBufferAddress();
        Vectors.setBits(validity, count);
        if (key.nullable()) {
            for (int i = 0; i < count; i++) {
                if (isNull(entries[i], index)) {
                    Memory.clearBit(validity, i);
                }
            }
        }
        Vectors.finish(vector, count);
        return vector;
    }

    private static FieldVector wide(Key key, Field field, long[] entries, int count, BufferAllocator allocator) {
        FieldVector vector = Vectors.allocate(field, count, 0, allocator);
        long data = vector.getDataBufferAddress();
        for (int i = 0; i < count; i++) {
            Memory.putLong(data + 16L * i, Memory.getLong(entries[i] + key.offset()));
            Memory.putLong(data + 16L * i + 8, Memory.getLong(entries[i] + key.offset() + 8));
        }
        return vector;
    }

    private static FieldVector text(Key key, Field field, long[] entries, int count, BufferAllocator allocator) {
        long bytes = 0;
        for (int i = 0; i < count; i++) {
            bytes += ByteSlots.length(entries[i] + key.offset()) + (key.hasScale() ? Short.BYTES : 0);
        }
        FieldVector vector = Vectors.allocate(field, count, bytes, allocator);
        long data = vector.getDataBufferAddress();
        long offsets = vector.getOffsetBufferAddress();
        int at = 0;
        for (int i = 0; i < count; i++) {
            long slot = entries[i] + key.offset();
            int length = ByteSlots.length(slot);
            Memory.copy(ByteSlots.address(slot), data + at, length);
            at += length;
            if (key.hasScale()) {
                at += BignumBytes.putShownScale(data + at, (int) Memory.getLong(entries[i] + key.scaleOffset()));
            }
            Memory.putInt(offsets + 4L * i + 4, at);
        }
        return vector;
    }

    private FieldVector nested(Key key, Field field, long[] entries, int count, BufferAllocator allocator) {
        FieldVector vector = Vectors.allocate(field, count, 0, allocator);
        try {
            for (int i = 0; i < count; i++) {
                if (isNull(entries[i], key.index())) {
                    NestedCodec.setNull(vector, i);
                } else {
                    long slot = entries[i] + key.offset();
                    byte[] bytes = new byte[ByteSlots.length(slot)];
                    Memory.copyOut(ByteSlots.address(slot), bytes, 0, bytes.length);
                    nested.decode(ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN), vector, key.type(), i);
                }
            }
            vector.setValueCount(count);
            return vector;
        } catch (RuntimeException | Error e) { // stopped, or out of memory
            vector.close();
            throw e;
        }
    }
}
