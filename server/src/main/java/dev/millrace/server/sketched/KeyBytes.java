package dev.millrace.server.sketched;

import dev.millrace.batch.Batch;
import dev.millrace.memory.Memory;
import dev.millrace.type.DataType;
import java.util.Arrays;
import java.util.List;

/** The values of a row's key as bytes; the same bytes are the same key. Reused for many rows until it is {@link #kept}. */
final class KeyBytes {
    private byte[] bytes = new byte[64];
    private int length;

    /** Takes the key of a row. */
    void set(Batch batch, List<Integer> columns, int row) {
        length = 0;
        for (int column : columns) {
            boolean isNull = batch.hasNulls(column) && !Memory.getBit(batch.validityAddress(column), row);
            put(isNull ? 1 : 0);
            if (!isNull) {
                put(batch, column, row);
            }
        }
    }

    private void put(Batch batch, int column, int row) {
        DataType type = batch.schema().type(column);
        if (type.kind() == DataType.Kind.BOOLEAN) {
            put(Memory.getBit(batch.dataAddress(column), row) ? 1 : 0);
        } else if (type.fixedWidth() > 0) {
            put(batch.dataAddress(column) + (long) type.fixedWidth() * row, type.fixedWidth());
        } else {
            int from = Memory.getInt(batch.offsetsAddress(column) + 4L * row);
            int size = Memory.getInt(batch.offsetsAddress(column) + 4L * (row + 1)) - from;
            for (int shift = 0; shift < 32; shift += 8) {
                put(size >>> shift);
            }
            put(batch.dataAddress(column) + from, size);
        }
    }

    private void put(int value) {
        reserve(1);
        bytes[length++] = (byte) value;
    }

    private void put(long address, int size) {
        reserve(size);
        Memory.copyOut(address, bytes, length, size);
        length += size;
    }

    private void reserve(int more) {
        if (length + more > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(length + more, 2 * bytes.length));
        }
    }

    /** The same key for good. */
    KeyBytes kept() {
        KeyBytes kept = new KeyBytes();
        kept.bytes = Arrays.copyOf(bytes, length);
        kept.length = length;
        return kept;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof KeyBytes that && Arrays.equals(bytes, 0, length, that.bytes, 0, that.length);
    }

    @Override
    public int hashCode() {
        int hash = 1;
        for (int i = 0; i < length; i++) {
            hash = 31 * hash + bytes[i];
        }
        return hash;
    }
}
