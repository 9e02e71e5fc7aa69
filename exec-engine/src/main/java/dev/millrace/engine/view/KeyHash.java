package dev.millrace.engine.view;

import dev.millrace.engine.state.ByteSlots;
import dev.millrace.engine.state.Hashing;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.SlotKind;
import dev.millrace.memory.Memory;
import dev.millrace.type.DataType;
import java.util.List;

/** The hash of some columns of encoded rows as {@link Hashing} defines it, so that exchanges agree with it; and whether two agree in them. */
final class KeyHash {
    private final int[] columns;
    private final SlotKind[] kinds;
    private final DataType[] types;
    private final int[] places;

    KeyHash(List<Integer> key, RowCodec codec) {
        this.columns = key.stream().mapToInt(column -> column).toArray();
        this.kinds = key.stream().map(column -> SlotKind.of(codec.type(column))).toArray(SlotKind[]::new);
        this.types = key.stream().map(codec::type).toArray(DataType[]::new);
        this.places = key.stream().mapToInt(codec::slot).toArray();
    }

    boolean hasNull(long row) {
        for (int column : columns) {
            if (RowCodec.isNull(row, column)) {
                return true;
            }
        }
        return false;
    }

    /** Of a row without NULLs in these columns. */
    long hash(long row) {
        long hash = Hashing.SEED;
        for (int i = 0; i < kinds.length; i++) {
            long slot = row + places[i];
            if (kinds[i] == SlotKind.BYTES) {
                long address = row + Memory.getInt(slot);
                int length = SlotKind.keyLength(types[i], Memory.getInt(slot + 4));
                hash = Hashing.step(hash, ByteSlots.low(address, length));
                hash = Hashing.step(hash, ByteSlots.high(address, length));
            } else {
                hash = Hashing.step(hash, Memory.getLong(slot));
                if (kinds[i] == SlotKind.WIDE) {
                    hash = Hashing.step(hash, Memory.getLong(slot + 8));
                }
            }
        }
        return Hashing.finish(hash);
    }

    /** Of rows without NULLs in these columns. */
    boolean agree(long a, long b) {
        for (int i = 0; i < kinds.length; i++) {
            long ours = a + places[i];
            long theirs = b + places[i];
            if (kinds[i] == SlotKind.BYTES) {
                int length = SlotKind.keyLength(types[i], Memory.getInt(ours + 4));
                if (length != SlotKind.keyLength(types[i], Memory.getInt(theirs + 4))
                        || !Memory.equal(a + Memory.getInt(ours), b + Memory.getInt(theirs), length)) {
                    return false;
                }
            } else if (Memory.getLong(ours) != Memory.getLong(theirs)
                    || kinds[i] == SlotKind.WIDE && Memory.getLong(ours + 8) != Memory.getLong(theirs + 8)) {
                return false;
            }
        }
        return true;
    }
}
