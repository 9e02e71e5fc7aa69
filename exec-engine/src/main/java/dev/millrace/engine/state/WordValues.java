package dev.millrace.engine.state;

import dev.millrace.memory.Memory;
import dev.millrace.type.DataType;

/** Values of at most eight bytes between entries, where they take a word each, and vectors. */
public final class WordValues {
    private WordValues() {}

    /**
     * Writes the word at {@code offset} of each entry to a vector's data. A REAL's word holds it as a double.
     *
     * @param data address of the vector's data, of {@code count} values
     */
    public static void copyOut(DataType type, long[] entries, int offset, int count, long data) {
        switch (type.kind()) {
            case BIGINT, TIME, TIMESTAMP, TIMESTAMPTZ, DOUBLE -> {
                for (int i = 0; i < count; i++) {
                    Memory.putLong(data + 8L * i, Memory.getLong(entries[i] + offset));
                }
            }
            case INTEGER, DATE -> {
                for (int i = 0; i < count; i++) {
                    Memory.putInt(data + 4L * i, (int) Memory.getLong(entries[i] + offset));
                }
            }
            case SMALLINT -> {
                for (int i = 0; i < count; i++) {
                    Memory.putShort(data + 2L * i, (short) Memory.getLong(entries[i] + offset));
                }
            }
            case REAL -> {
                for (int i = 0; i < count; i++) {
                    Memory.putFloat(data + 4L * i, (float) Memory.getDouble(entries[i] + offset));
                }
            }
            case BOOLEAN -> {
                Memory.fill(data, (count + 7) >>> 3, (byte) 0);
                for (int i = 0; i < count; i++) {
                    if (Memory.getLong(entries[i] + offset) != 0) {
                        Memory.setBit(data, i);
                    }
                }
            }
            case NUMERIC, BIGNUM, INTERVAL, UUID, TEXT, VARCHAR, CHAR, JSONB, BYTEA, ARRAY, ROW, NULL ->
                throw new IllegalArgumentException(type + " does not fit a word");
        }
    }
}
