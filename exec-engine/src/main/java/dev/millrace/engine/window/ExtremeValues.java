package dev.millrace.engine.window;

import dev.millrace.batch.Batch;
import dev.millrace.engine.aggregate.number.Doubles;
import dev.millrace.memory.Memory;
import dev.millrace.type.DataType;

/**
 * The values of a column as integers of which the greatest is wanted: the value itself, of doubles their ordered form, for
 * a minimum the complement. NULL, and what is no number or time, is the least integer.
 */
final class ExtremeValues {
    private final DataType type;
    private final long complement; // -1 for a minimum: x ^ -1 orders the other way round
    private long[] values = new long[0];

    ExtremeValues(DataType type, boolean maximum) {
        this.type = type;
        this.complement = maximum ? 0 : -1;
    }

    /** Whether values of a type can be ordered as integers; others are compared as rows. */
    static boolean fits(DataType type) {
        return switch (type.kind()) {
            case BOOLEAN, SMALLINT, INTEGER, BIGINT, REAL, DOUBLE, DATE, TIME, TIMESTAMP, TIMESTAMPTZ -> true;
            case NUMERIC, BIGNUM, TEXT, VARCHAR, CHAR, BYTEA, INTERVAL, UUID, JSONB, ARRAY, ROW, NULL -> false;
        };
    }

    /** Loads a column; the array is valid until the next call. */
    long[] load(Batch batch, int column) {
        int count = batch.rowCount();
        if (values.length < count) {
            values = new long[count];
        }
        long data = batch.dataAddress(column);
        switch (type.kind()) {
            case BIGINT, TIME, TIMESTAMP, TIMESTAMPTZ -> {
                for (int row = 0; row < count; row++) {
                    values[row] = Memory.getLong(data + 8L * row) ^ complement;
                }
            }
            case INTEGER, DATE -> {
                for (int row = 0; row < count; row++) {
                    values[row] = Memory.getInt(data + 4L * row) ^ complement;
                }
            }
            case SMALLINT -> {
                for (int row = 0; row < count; row++) {
                    values[row] = Memory.getShort(data + 2L * row) ^ complement;
                }
            }
            case DOUBLE -> {
                for (int row = 0; row < count; row++) {
                    values[row] = Doubles.ordered(Memory.getDouble(data + 8L * row)) ^ complement;
                }
            }
            case REAL -> {
                for (int row = 0; row < count; row++) {
                    values[row] = Doubles.ordered(Memory.getFloat(data + 4L * row)) ^ complement;
                }
            }
            case BOOLEAN -> {
                for (int row = 0; row < count; row++) {
                    values[row] = (Memory.getBit(data, row) ? 1 : 0) ^ complement;
                }
            }
            default -> {
                for (int row = 0; row < count; row++) {
                    values[row] = 0; // rows decide
                }
            }
        }
        return values;
    }
}
