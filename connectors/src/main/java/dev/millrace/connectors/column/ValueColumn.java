package dev.millrace.connectors.column;

import dev.millrace.batch.NestedCodec;
import dev.millrace.batch.Vectors;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.TimestampFormat;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.FieldVector;

/** The values of one column of a batch under way, row after row. Values that nobody asked for are put into one place and forgotten. */
public final class ValueColumn extends ValueTarget {
    private static final int FIXED_BYTES = 16;

    private final Field field;
    private final boolean kept;
    private final boolean isVariable;
    private final int width;
    private final BufferAllocator allocator;
    private final Optional<NestedTarget> nested; // images, until the batch is finished
    private final TextBuffer bytes; // the data of a column of variable width

    @SuppressWarnings("NullAway.Init") // by begin, if the values are kept
    private FieldVector vector;

    private boolean open;
    private int row;
    private boolean present; // whether the row under way has a value
    private long rowStart; // where the row under way begins in `bytes`

    ValueColumn(Field field, Optional<TimestampFormat> format, boolean kept, BufferAllocator allocator) {
        super(field.type(), format, allocator);
        this.field = field;
        this.kept = kept;
        this.allocator = allocator;
        this.width = field.type().fixedWidth();
        this.isVariable = width < 0;
        this.nested =
                field.type().isNested() ? Optional.of(new NestedTarget(field.type(), allocator)) : Optional.empty();
        this.bytes = new TextBuffer(allocator, kept && isVariable ? 4096 : 64);
    }

    String name() {
        return field.name();
    }

    /** Starts a batch of up to so many rows. */
    void begin(int rows) {
        abandon();
        bytes.clear();
        rowStart = 0;
        row = 0;
        present = false;
        if (kept) {
            Field stored = nested.isPresent() ? new Field(field.name(), DataType.BYTEA, field.nullable()) : field;
            vector = Vectors.allocate(stored, rows, 0, allocator);
            open = true;
        }
    }

    @Override
    long place() {
        return kept ? vector.getDataBufferAddress() + (long) row * width : bytes.room(FIXED_BYTES);
    }

    @Override
    void placed() {
        present = true;
    }

    @Override
    void placeBoolean(boolean value) {
        if (kept && value) {
            Memory.setBit(vector.getDataBufferAddress(), row);
        } else if (kept) {
            Memory.clearBit(vector.getDataBufferAddress(), row);
        }
        present = true;
    }

    @Override
    TextBuffer writing() {
        bytes.truncate(rowStart);
        return bytes;
    }

    @Override
    void written() {
        present = true;
    }

    @Override
    public void putNull() {
        present = false;
        nested.ifPresent(NestedTarget::putNull);
    }

    @Override
    public NestedTarget nested() {
        return nested.orElseThrow(() -> mismatch("a nested value"));
    }

    /** Whether the row under way lacks a value that it must have. */
    boolean isMissing() {
        return !field.nullable() && !hasValue();
    }

    private boolean hasValue() {
        return nested.isPresent() ? nested.get().isPresent() : present;
    }

    MillraceException missing() {
        return refused(
                SqlState.NOT_NULL_VIOLATION, "null value in column \"" + name() + "\" violates not-null constraint");
    }

    /** The row under way is good: the next begins. */
    void keep() {
        if (kept) {
            if (nested.isPresent() && nested.get().isPresent()) {
                bytes.append(nested.get().image().address(), (int)
                        nested.get().image().length());
            } else if (isVariable && !present) {
                bytes.truncate(rowStart);
            }
            if (hasValue()) {
                Memory.setBit(vector.getValidityBufferAddress(), row);
            } else {
                Memory.clearBit(vector.getValidityBufferAddress(), row);
            }
            rowStart = bytes.length();
            if (isVariable) {
                Memory.putInt(vector.getOffsetBufferAddress() + 4L * row + 4, Math.toIntExact(rowStart));
            }
            row++;
        } else {
            bytes.clear();
        }
        putNull();
    }

    /** The row under way is bad: nothing of it stays. */
    void drop() {
        bytes.truncate(kept ? rowStart : 0);
        putNull();
        forgetFailure();
    }

    /** Only the first rows stay of those that were kept. */
    void truncate(int rows) {
        if (kept && rows < row) {
            row = rows;
            rowStart = isVariable ? Memory.getInt(vector.getOffsetBufferAddress() + 4L * rows) : 0;
            bytes.truncate(rowStart);
        }
    }

    /** The finished vector, which the caller owns. */
    FieldVector finish(int rows) {
        if (isVariable) {
            BaseVariableWidthVector variable = (BaseVariableWidthVector) vector;
            Vectors.growData(variable, 0, rowStart + 8);
            Memory.copy(bytes.address(), variable.getDataBufferAddress(), rowStart);
        }
        Vectors.finish(vector, rows);
        if (nested.isEmpty()) {
            open = false;
            return vector;
        }
        FieldVector values = NestedCodec.values((BaseVariableWidthVector) vector, field, rows, allocator);
        abandon();
        return values;
    }

    /** Gives back the vector of a batch that came to nothing. */
    void abandon() {
        if (open) {
            vector.close();
            open = false;
        }
    }

    @Override
    boolean failed() {
        return super.failed() || nested.isPresent() && nested.get().failed();
    }

    @Override
    void forgetFailure() {
        super.forgetFailure();
        nested.ifPresent(NestedTarget::forgetFailure);
    }

    @Override
    public void close() {
        abandon();
        nested.ifPresent(NestedTarget::close);
        bytes.close();
        super.close();
    }
}
