package dev.millrace.connectors.filter;

import dev.millrace.batch.Vectors;
import dev.millrace.memory.Memory;
import dev.millrace.type.Field;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BaseFixedWidthVector;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.FieldVector;

/** Which rows of a batch under way are wanted, in their order. Used again for the next batch. Not thread-safe. */
public final class Selection {
    private int[] rows = {};
    private int total;
    private int count;

    /** Selects all of a new batch's rows. */
    public void all(int rowCount) {
        if (rows.length < rowCount) {
            rows = new int[rowCount];
        }
        for (int row = 0; row < rowCount; row++) {
            rows[row] = row;
        }
        total = rowCount;
        count = rowCount;
    }

    /** Takes out the rows whose bit is set. */
    public void remove(long[] marked) {
        int kept = 0;
        for (int i = 0; i < count; i++) {
            int row = rows[i];
            if ((marked[row >>> 6] >>> row & 1) == 0) {
                rows[kept++] = row;
            }
        }
        count = kept;
    }

    /** Takes out the rows that fail a test of their value in {@code column}. */
    void retain(ColumnTest test, FieldVector column) {
        long validity = column.getValidityBufferAddress();
        long data = test.isOfValues() ? column.getDataBufferAddress() : 0;
        long offsets = test.isOfValues() && isVariable(column) ? column.getOffsetBufferAddress() : 0;
        int kept = 0;
        for (int i = 0; i < count; i++) {
            int row = rows[i];
            if (Memory.getBit(validity, row) ? test.matches(data, offsets, row) : test.matchesNull()) {
                rows[kept++] = row;
            }
        }
        count = kept;
    }

    /** How many rows are selected. */
    public int count() {
        return count;
    }

    /** Whether no row was taken out. */
    public boolean isAll() {
        return count == total;
    }

    /** The row that is selected as number {@code i}. */
    public int row(int i) {
        return rows[i];
    }

    /** Closes a column's vector and returns one of the selected rows only, which the caller owns. */
    public FieldVector take(Field field, FieldVector from, BufferAllocator allocator) {
        try (from) {
            FieldVector to = Vectors.allocate(field, count, isVariable(from) ? textBytes(from) : 0, allocator);
            try {
                if (from instanceof BitVector) {
                    takeBits(from.getDataBufferAddress(), to.getDataBufferAddress());
                    takeValidity(from, to);
                } else if (from instanceof BaseFixedWidthVector fixed) {
                    takeFixed(from.getDataBufferAddress(), to.getDataBufferAddress(), fixed.getTypeWidth());
                    takeValidity(from, to);
                } else if (isVariable(from)) {
                    takeVariable(from, to);
                    takeValidity(from, to);
                } else {
                    for (int i = 0; i < count; i++) {
                        to.copyFromSafe(rows[i], i, from);
                    }
                }
                Vectors.finish(to, count);
                return to;
            } catch (RuntimeException | Error e) {
                to.close();
                throw e;
            }
        }
    }

    private static boolean isVariable(FieldVector vector) {
        return vector instanceof BaseVariableWidthVector;
    }

    private long textBytes(FieldVector from) {
        long offsets = from.getOffsetBufferAddress();
        long bytes = 0;
        for (int i = 0; i < count; i++) {
            bytes += Memory.getInt(offsets + 4L * rows[i] + 4) - Memory.getInt(offsets + 4L * rows[i]);
        }
        return bytes;
    }

    private void takeValidity(FieldVector from, FieldVector to) {
        if (from.getNullCount() == 0) {
            Vectors.setAllValid(to, count);
        } else {
            takeBits(from.getValidityBufferAddress(), to.getValidityBufferAddress());
        }
    }

    private void takeBits(long from, long to) {
        for (int i = 0; i < count; i++) {
            if (Memory.getBit(from, rows[i])) {
                Memory.setBit(to, i);
            } else {
                Memory.clearBit(to, i);
            }
        }
    }

    private void takeFixed(long from, long to, int width) {
        switch (width) {
            case 4 -> {
                for (int i = 0; i < count; i++) {
                    Memory.putInt(to + 4L * i, Memory.getInt(from + 4L * rows[i]));
                }
            }
            case 8 -> {
                for (int i = 0; i < count; i++) {
                    Memory.putLong(to + 8L * i, Memory.getLong(from + 8L * rows[i]));
                }
            }
            default -> {
                for (int i = 0; i < count; i++) {
                    Memory.copy(from + (long) width * rows[i], to + (long) width * i, width);
                }
            }
        }
    }

    private void takeVariable(FieldVector from, FieldVector to) {
        long fromOffsets = from.getOffsetBufferAddress();
        long toOffsets = to.getOffsetBufferAddress();
        long data = from.getDataBufferAddress();
        long target = to.getDataBufferAddress();
        int used = 0;
        for (int i = 0; i < count; i++) {
            int start = Memory.getInt(fromOffsets + 4L * rows[i]);
            int length = Memory.getInt(fromOffsets + 4L * rows[i] + 4) - start;
            Memory.copy(data + start, target + used, length);
            used += length;
            Memory.putInt(toOffsets + 4L * i + 4, used);
        }
    }
}
