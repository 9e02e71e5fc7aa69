package dev.millrace.connectors.arrow;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.vector.BaseFixedWidthVector;
import org.apache.arrow.vector.BaseLargeVariableWidthVector;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.BaseVariableWidthViewVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.NullVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;

/**
 * Holds what is in the buffers of a column to their bounds: after this every value of its first rows may be read and copied by
 * its address. Needed once per column that somebody else made, whether its bytes came from a file, over HTTP or from a
 * program.
 */
public final class ArrowContents {
    private static final int VIEW_BYTES = 16;
    private static final int INLINE_BYTES = 12;

    private ArrowContents() {}

    /**
     * Checks the first {@code rows} values.
     *
     * @throws MillraceException 22P04 for a column that contradicts itself, 0A000 for one of a form that is not read
     */
    public static void check(FieldVector vector, int rows) {
        check(vector, rows, vector.getName());
    }

    private static void check(FieldVector vector, int rows, String name) {
        if (vector.getField().getDictionary() != null) {
            throw MillraceException.user(
                            SqlState.FEATURE_NOT_SUPPORTED,
                            "column \"" + name + "\" is in dictionary form, which is not read")
                    .withHint("write it as plain values, in Python by dictionary_decode()");
        }
        hold(vector.getValueCount() >= rows, name, "too few values");
        if (rows == 0 || vector instanceof NullVector) {
            return;
        }
        requireReadable(vector, name);
        hold(hasBits(vector.getValidityBuffer(), rows), name, "too few bits that say what is NULL");
        if (vector instanceof BitVector bits) {
            hold(hasBits(bits.getDataBuffer(), rows), name, "too few bits");
        } else if (vector instanceof BaseFixedWidthVector fixed) {
            hold(fixed.getDataBuffer().capacity() >= (long) rows * fixed.getTypeWidth(), name, "too few bytes");
        } else if (vector instanceof BaseVariableWidthVector variable) {
            offsets(variable.getOffsetBuffer(), rows, variable.getDataBuffer().capacity(), name);
        } else if (vector instanceof BaseLargeVariableWidthVector large) {
            largeOffsets(large.getOffsetBuffer(), rows, large.getDataBuffer().capacity(), name);
        } else if (vector instanceof BaseVariableWidthViewVector views) {
            views(views, rows, name);
        } else if (vector instanceof ListVector list) {
            offsets(list.getOffsetBuffer(), rows, list.getDataVector().getValueCount(), name);
            check(list.getDataVector(), list.getOffsetBuffer().getInt(4L * rows), name);
        } else if (vector instanceof StructVector struct) {
            for (FieldVector child : struct.getChildrenFromFields()) {
                check(child, rows, name);
            }
        }
    }

    private static void requireReadable(FieldVector vector, String name) {
        boolean isReadable = vector instanceof BaseFixedWidthVector
                || vector instanceof BaseVariableWidthVector
                || vector instanceof BaseLargeVariableWidthVector
                || vector instanceof BaseVariableWidthViewVector
                || vector instanceof ListVector
                || vector instanceof StructVector;
        if (!isReadable) {
            throw MillraceException.user(
                    SqlState.FEATURE_NOT_SUPPORTED,
                    "column \"" + name + "\" of Arrow type " + vector.getField().getType() + " cannot be read");
        }
    }

    private static boolean hasBits(ArrowBuf bits, int count) {
        return bits.capacity() >= (count + 7L) / 8;
    }

    /** They begin at 0 or later, never go back, and end where the values do or before. */
    private static void offsets(ArrowBuf offsets, int rows, long most, String name) {
        hold(offsets.capacity() >= 4 * (rows + 1L), name, "too few offsets");
        int before = offsets.getInt(0);
        boolean held = before >= 0;
        for (long row = 1; row <= rows; row++) {
            int next = offsets.getInt(4 * row);
            held &= next >= before;
            before = next;
        }
        hold(held && before <= most, name, "offsets out of order or bounds");
    }

    private static void largeOffsets(ArrowBuf offsets, int rows, long most, String name) {
        hold(offsets.capacity() >= 8 * (rows + 1L), name, "too few offsets");
        long before = offsets.getLong(0);
        boolean held = before >= 0;
        for (long row = 1; row <= rows; row++) {
            long next = offsets.getLong(8 * row);
            held &= next >= before;
            before = next;
        }
        hold(held && before <= most, name, "offsets out of order or bounds");
    }

    /** A view has its length, and its bytes or the buffer and the place where they are. */
    private static void views(BaseVariableWidthViewVector vector, int rows, String name) {
        ArrowBuf views = vector.getDataBuffer();
        hold(views.capacity() >= (long) VIEW_BYTES * rows, name, "too few views");
        for (int row = 0; row < rows; row++) {
            if (vector.isNull(row)) {
                continue;
            }
            long at = (long) VIEW_BYTES * row;
            int length = views.getInt(at);
            hold(length >= 0, name, "a view of a negative length");
            if (length > INLINE_BYTES) {
                int buffer = views.getInt(at + 8);
                int from = views.getInt(at + 12);
                hold(buffer >= 0 && buffer < vector.getDataBuffers().size(), name, "a view out of its buffers");
                long capacity = vector.getDataBuffers().get(buffer).capacity();
                hold(from >= 0 && (long) from + length <= capacity, name, "a view out of its buffer");
            }
        }
    }

    private static void hold(boolean holds, String column, String what) {
        if (!holds) {
            throw damaged(column, what);
        }
    }

    private static MillraceException damaged(String column, String what) {
        return MillraceException.user(
                SqlState.BAD_COPY_FILE_FORMAT, "the Arrow column \"" + column + "\" is damaged: it has " + what);
    }
}
