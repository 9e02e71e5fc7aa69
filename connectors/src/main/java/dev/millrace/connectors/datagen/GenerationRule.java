package dev.millrace.connectors.datagen;

import dev.millrace.batch.Vectors;
import dev.millrace.connectors.random.Draws;
import dev.millrace.connectors.random.NumberedRows;
import dev.millrace.memory.Memory;
import dev.millrace.number.BignumBytes;
import dev.millrace.type.Field;
import java.nio.charset.StandardCharsets;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.FieldVector;

/**
 * How to make the values of a column.
 *
 * @param field the column
 * @param nullSalt of the draws that decide about NULL
 * @param nullFraction how many values are NULL, 0 to 1
 * @param values the values where they are not NULL
 */
record GenerationRule(Field field, long nullSalt, double nullFraction, Values values) implements NumberedRows.Column {
    /** Values by row number. */
    sealed interface Values {}

    /** A value that is held in 64 bits: numbers, days, microseconds, 0 and 1. */
    non-sealed interface Longs extends Values {
        long at(long row);
    }

    /** A floating-point number. */
    non-sealed interface Doubles extends Values {
        double at(long row);
    }

    /** A number of any size, by its value without its point. */
    record Numbers(Longs unscaled, int scale) implements Values {}

    /** A text. */
    non-sealed interface Texts extends Values {
        String at(long row);
    }

    @Override
    public FieldVector generate(long first, int rows, BufferAllocator allocator) {
        FieldVector vector = Vectors.allocate(field, rows, 16L * rows, allocator);
        try {
            if (values instanceof Texts texts) {
                writeTexts((BaseVariableWidthVector) vector, texts, first, rows);
            } else if (values instanceof Numbers numbers) {
                writeNumbers((BaseVariableWidthVector) vector, numbers, first, rows);
            } else {
                writeFixed(vector, first, rows);
            }
            writeValidity(vector, first, rows);
            Vectors.finish(vector, rows);
            return vector;
        } catch (RuntimeException | Error e) {
            vector.close();
            throw e;
        }
    }

    private void writeFixed(FieldVector vector, long first, int rows) {
        long data = vector.getDataBufferAddress();
        for (int row = 0; row < rows; row++) {
            if (values instanceof Doubles doubles) {
                put(data, row, doubles.at(first + row));
            } else if (values instanceof Longs longs) {
                put(data, row, longs.at(first + row));
            }
        }
    }

    private void put(long data, int row, double value) {
        if (field.type().fixedWidth() == Float.BYTES) {
            Memory.putFloat(data + 4L * row, (float) value);
        } else {
            Memory.putDouble(data + 8L * row, value);
        }
    }

    private void put(long data, int row, long value) {
        switch (field.type().fixedWidth()) {
            case 0 -> {
                if (value == 0) {
                    Memory.clearBit(data, row);
                } else {
                    Memory.setBit(data, row);
                }
            }
            case 2 -> Memory.putShort(data + 2L * row, (short) value);
            case 4 -> Memory.putInt(data + 4L * row, (int) value);
            case 8 -> Memory.putLong(data + 8L * row, value);
            default -> { // NUMERIC: 128 bits, little endian
                Memory.putLong(data + 16L * row, value);
                Memory.putLong(data + 16L * row + 8, value >> 63);
            }
        }
    }

    private static void writeTexts(BaseVariableWidthVector vector, Texts texts, long first, int rows) {
        int at = 0;
        for (int row = 0; row < rows; row++) {
            byte[] text = texts.at(first + row).getBytes(StandardCharsets.UTF_8);
            Vectors.growData(vector, at, (long) at + text.length);
            Memory.copyIn(text, 0, vector.getDataBufferAddress() + at, text.length);
            at += text.length;
            Memory.putInt(vector.getOffsetBufferAddress() + 4L * (row + 1), at);
        }
    }

    private static void writeNumbers(BaseVariableWidthVector vector, Numbers numbers, long first, int rows) {
        int at = 0;
        for (int row = 0; row < rows; row++) {
            Vectors.growData(vector, at, (long) at + BignumBytes.MOST_FIXED_BYTES);
            long unscaled = numbers.unscaled.at(first + row);
            at += BignumBytes.write(vector.getDataBufferAddress() + at, unscaled, numbers.scale);
            Memory.putInt(vector.getOffsetBufferAddress() + 4L * (row + 1), at);
        }
    }

    private void writeValidity(FieldVector vector, long first, int rows) {
        Vectors.setAllValid(vector, rows);
        if (nullFraction > 0) {
            long bound = (long) (nullFraction * (1L << 32));
            for (int row = 0; row < rows; row++) {
                if ((Draws.draw(nullSalt, first + row) & 0xFFFF_FFFFL) < bound) {
                    Memory.clearBit(vector.getValidityBufferAddress(), row);
                }
            }
        }
    }
}
