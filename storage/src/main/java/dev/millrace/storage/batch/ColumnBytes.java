package dev.millrace.storage.batch;

import dev.millrace.batch.Batch;
import dev.millrace.memory.Memory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.apache.arrow.vector.BaseFixedWidthVector;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.BitVectorHelper;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.NullVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;

/** The columns of one batch as bytes: first how many, then the bytes. For one thread. */
final class ColumnBytes {
    static final byte NO_NULLS = 0;
    static final byte SOME_NULLS = 1;
    static final byte ALL_NULLS = 2;

    private final Batch batch;
    private final int first;
    private final int rows;
    private byte[] bytes = new byte[0];
    private int at;

    /** Of so many rows from one on. */
    ColumnBytes(Batch batch, int first, int rows) {
        this.batch = batch;
        this.first = first;
        this.rows = rows;
    }

    static int bitBytes(int values) {
        return (values >>> 3) + ((values & 7) == 0 ? 0 : 1);
    }

    // ---- how many --------------------------------------------------------------------------------------------------

    long length() {
        long length = batch.weights().isPresent() ? 8L * rows : 0;
        for (int column = 0; column < batch.columnCount(); column++) {
            length += length(batch.column(column), first, rows);
        }
        return length;
    }

    private static long length(FieldVector vector, int from, int values) {
        int nulls = nulls(vector, from, values);
        if (nulls == values) {
            return 1;
        }
        long length = 1L + (nulls > 0 ? bitBytes(values) : 0);
        if (vector instanceof BitVector) {
            return length + bitBytes(values);
        } else if (vector instanceof BaseFixedWidthVector fixed) {
            return length + (long) values * fixed.getTypeWidth();
        } else if (vector instanceof BaseVariableWidthVector) {
            return length + 4L * values + (end(vector, from + values) - end(vector, from));
        } else if (vector instanceof ListVector list) {
            int first = end(vector, from);
            return length + 4L * values + length(list.getDataVector(), first, end(vector, from + values) - first);
        }
        for (FieldVector child : ((StructVector) vector).getChildrenFromFields()) {
            length += length(child, from, values);
        }
        return length;
    }

    private static int nulls(FieldVector vector, int from, int values) {
        if (vector instanceof NullVector) {
            return values;
        }
        if (from == 0) {
            return BitVectorHelper.getNullCount(vector.getValidityBuffer(), values);
        }
        long validity = vector.getValidityBufferAddress();
        int nulls = 0;
        for (int value = from; value < from + values; value++) {
            nulls += Memory.getBit(validity, value) ? 0 : 1;
        }
        return nulls;
    }

    /** Where the value before a place ends, in the data of a vector of variable width or in the elements of a list. */
    private static int end(FieldVector vector, int place) {
        return place == 0 && vector.getOffsetBuffer().capacity() == 0
                ? 0
                : Memory.getInt(vector.getOffsetBuffer().memoryAddress() + 4L * place);
    }

    // ---- the bytes -------------------------------------------------------------------------------------------------

    /** Writes them from a place on. */
    void write(byte[] to, int place) {
        bytes = to;
        at = place;
        if (batch.weights().isPresent()) {
            copy(batch.weightsAddress() + 8L * first, 8 * rows);
        }
        for (int column = 0; column < batch.columnCount(); column++) {
            write(batch.column(column), first, rows);
        }
        assert at <= to.length;
    }

    private void write(FieldVector vector, int from, int values) {
        int nulls = nulls(vector, from, values);
        bytes[at++] = nulls == values ? ALL_NULLS : nulls == 0 ? NO_NULLS : SOME_NULLS;
        if (nulls == values) {
            return;
        }
        if (nulls > 0) {
            bits(vector.getValidityBufferAddress(), from, values);
        }
        if (vector instanceof BitVector) {
            bits(vector.getDataBufferAddress(), from, values);
        } else if (vector instanceof BaseFixedWidthVector fixed) {
            int width = fixed.getTypeWidth();
            copy(vector.getDataBufferAddress() + (long) from * width, values * width);
        } else if (vector instanceof BaseVariableWidthVector) {
            int first = end(vector, from);
            ends(vector, from, values);
            copy(vector.getDataBufferAddress() + first, end(vector, from + values) - first);
        } else if (vector instanceof ListVector list) {
            int first = end(vector, from);
            ends(vector, from, values);
            write(list.getDataVector(), first, end(vector, from + values) - first);
        } else {
            for (FieldVector child : ((StructVector) vector).getChildrenFromFields()) {
                write(child, from, values);
            }
        }
    }

    private void copy(long address, int length) {
        if (length > 0) {
            Memory.copyOut(address, bytes, at, length);
        }
        at += length;
    }

    private void bits(long address, int from, int values) {
        int length = bitBytes(values);
        if ((from & 7) == 0) {
            Memory.copyOut(address + (from >>> 3), bytes, at, length);
        } else {
            for (int value = 0; value < values; value++) {
                if (Memory.getBit(address, from + value)) {
                    bytes[at + (value >>> 3)] |= (byte) (1 << (value & 7));
                }
            }
        }
        if ((values & 7) != 0) {
            bytes[at + length - 1] &= (byte) ((1 << (values & 7)) - 1); // the same rows are the same bytes
        }
        at += length;
    }

    private void ends(FieldVector vector, int from, int values) {
        ByteBuffer to = ByteBuffer.wrap(bytes, at, 4 * values).order(ByteOrder.LITTLE_ENDIAN);
        int first = end(vector, from);
        for (int value = 1; value <= values; value++) {
            to.putInt(end(vector, from + value) - first);
        }
        at += 4 * values;
    }
}
