package dev.millrace.connectors.arrow;

import dev.millrace.batch.ArrowTypes;
import dev.millrace.batch.text.VectorText;
import dev.millrace.error.MillraceException;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.ValueParser;
import dev.millrace.text.ValueWriter;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BaseIntVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.LargeVarCharVector;
import org.apache.arrow.vector.VarBinaryVector;

/** Numbers of any size, which Arrow has none of, from columns of whole numbers, decimals and texts. */
final class ArrowNumbers {
    private static final int TEXT_BYTES = 64;

    private ArrowNumbers() {}

    /** Whether they are had from a column that is of this type to us. */
    static boolean canRead(DataType found) {
        return found.isInteger() || found.kind() == DataType.Kind.NUMERIC || found.kind() == DataType.Kind.TEXT;
    }

    /**
     * The values as a vector of our own, which the caller owns.
     *
     * @param found what {@code from} is of to us, as {@link #canRead} has it
     */
    static FieldVector take(Field field, DataType found, FieldVector from, int rows, BufferAllocator allocator) {
        VarBinaryVector target = (VarBinaryVector) ArrowTypes.arrowField(field).createVector(allocator);
        try (TextBuffer text = new TextBuffer(allocator, TEXT_BYTES);
                TextBuffer number = new TextBuffer(allocator, TEXT_BYTES)) {
            ValueParser parser = new ValueParser();
            target.allocateNew(rows);
            for (int row = 0; row < rows; row++) {
                if (from.isNull(row)) {
                    target.setNull(row);
                    continue;
                }
                text.clear();
                write(text, found, from, row);
                int length = (int) text.length();
                if (!parser.tryBignum(field.type(), text.address(), length)) {
                    MillraceException why = parser.failure(field.type(), text.address(), length);
                    throw why.in("row " + (row + 1) + ", column " + field.name());
                }
                number.clear();
                long at = number.room(parser.bignumBytes());
                number.end(at + parser.storeBignum(at));
                target.setSafe(row, number.toBytes());
            }
            target.setValueCount(rows);
            return target;
        } catch (RuntimeException | Error e) {
            target.close();
            throw e;
        }
    }

    private static void write(TextBuffer text, DataType found, FieldVector from, int row) {
        if (from instanceof BaseIntVector integers) {
            ValueWriter.integer(text, integers.getValueAsLong(row));
        } else if (from instanceof LargeVarCharVector large) {
            text.append(large.get(row));
        } else {
            VectorText.value(text, found, from, row);
        }
    }
}
