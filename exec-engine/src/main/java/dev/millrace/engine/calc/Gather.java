package dev.millrace.engine.calc;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.NestedCopy;
import dev.millrace.batch.Vectors;
import dev.millrace.expressions.function.bytes.Bytes;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.memory.Memory;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BaseFixedWidthVector;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.FieldVector;

/** Copies chosen rows of a column to a new one, over raw addresses. */
public final class Gather {
    private static final int CHECKED_BYTES = 1 << 18; // some tens of microseconds to copy

    private Gather() {}

    /** The rows {@code selected[0..count)} of a column. */
    public static FieldVector column(
            Batch batch, int column, Field field, int[] selected, int count, BufferAllocator allocator) {
        FieldVector from = batch.column(column);
        boolean variable = from instanceof BaseVariableWidthVector;
        long bytes = variable ? bytesOf(batch.offsetsAddress(column), selected, count) : 0;
        FieldVector to = Vectors.allocate(field, count, bytes, allocator);
        try {
            if (variable) {
                texts(batch.offsetsAddress(column), batch.dataAddress(column), selected, count, to);
            } else if (from instanceof BitVector) {
                bits(batch.dataAddress(column), selected, count, to.getDataBufferAddress());
            } else if (from instanceof BaseFixedWidthVector fixed) {
                fixed(fixed.getTypeWidth(), batch.dataAddress(column), selected, count, to.getDataBufferAddress());
            } else {
                Interrupt interrupt = Interrupt.current();
                for (int k = 0; k < count; k++) {
                    interrupt.check(); // each may be long
                    NestedCopy.copy(from, selected[k], to, k);
                }
                to.setValueCount(count);
                return to;
            }
            long validity = batch.validityAddress(column);
            if (validity == 0) {
                Vectors.setAllValid(to, count);
            } else {
                bits(validity, selected, count, to.getValidityBufferAddress());
            }
            Vectors.finish(to, count);
            return to;
        } catch (RuntimeException | Error e) {
            to.close();
            throw e;
        }
    }

    /** A copy of the rows {@code from} to {@code to - 1}, with their weights. */
    public static Batch rows(Batch batch, Schema schema, int from, int to, BufferAllocator allocator) {
        int[] chosen = IntStream.range(from, to).toArray();
        List<AutoCloseable> owned = new ArrayList<>();
        boolean done = false;
        try {
            FieldVector[] vectors = new FieldVector[schema.size()];
            for (int i = 0; i < vectors.length; i++) {
                vectors[i] = column(batch, i, schema.field(i), chosen, chosen.length, allocator);
                owned.add(vectors[i]);
            }
            Optional<BigIntVector> weights =
                    batch.weights().map(all -> weights(batch, chosen, chosen.length, allocator));
            weights.ifPresent(owned::add);
            done = true;
            return Batch.view(schema, vectors, chosen.length, weights, owned);
        } finally {
            if (!done) {
                Closing.all(owned);
            }
        }
    }

    /** The weights of rows of a batch that has them. */
    public static BigIntVector weights(Batch batch, int[] selected, int count, BufferAllocator allocator) {
        BigIntVector weights = Vectors.allocateWeights(count, allocator);
        fixed(Long.BYTES, batch.weightsAddress(), selected, count, weights.getDataBufferAddress());
        Vectors.finish(weights, count);
        return weights;
    }

    private static void fixed(int width, long from, int[] selected, int count, long to) {
        switch (width) {
            case 8 -> {
                for (int k = 0; k < count; k++) {
                    Memory.putLong(to + 8L * k, Memory.getLong(from + 8L * selected[k]));
                }
            }
            case 4 -> {
                for (int k = 0; k < count; k++) {
                    Memory.putInt(to + 4L * k, Memory.getInt(from + 4L * selected[k]));
                }
            }
            case 2 -> {
                for (int k = 0; k < count; k++) {
                    Memory.putShort(to + 2L * k, Memory.getShort(from + 2L * selected[k]));
                }
            }
            case 16 -> {
                for (int k = 0; k < count; k++) {
                    long source = from + 16L * selected[k];
                    Memory.putLong(to + 16L * k, Memory.getLong(source));
                    Memory.putLong(to + 16L * k + 8, Memory.getLong(source + 8));
                }
            }
            default -> throw new IllegalArgumentException("values of " + width + " bytes");
        }
    }

    /** Bits of a bitmap, the last byte filled up with zeros. */
    private static void bits(long from, int[] selected, int count, long to) {
        int word = 0;
        for (int k = 0; k < count; k++) {
            int row = selected[k];
            word |= (Memory.getByte(from + (row >>> 3)) >>> (row & 7) & 1) << (k & 7);
            if ((k & 7) == 7) {
                Memory.putByte(to + (k >>> 3), (byte) word);
                word = 0;
            }
        }
        if ((count & 7) != 0) {
            Memory.putByte(to + (count >>> 3), (byte) word);
        }
    }

    private static long bytesOf(long offsets, int[] selected, int count) {
        long bytes = 0;
        for (int k = 0; k < count; k++) {
            long at = offsets + 4L * selected[k];
            bytes += Memory.getInt(at + 4) - Memory.getInt(at);
        }
        return bytes;
    }

    private static void texts(long offsets, long from, int[] selected, int count, FieldVector vector) {
        long toOffsets = vector.getOffsetBufferAddress();
        long to = vector.getDataBufferAddress();
        int end = 0;
        int checked = 0;
        for (int k = 0; k < count; k++) {
            if (end - checked >= CHECKED_BYTES) {
                checked = end;
                Interrupt.checkCurrent();
            }
            long at = offsets + 4L * selected[k];
            int start = Memory.getInt(at);
            int length = Memory.getInt(at + 4) - start;
            Bytes.copy(from + start, to + end, length);
            end += length;
            Memory.putInt(toOffsets + 4L * k + 4, end);
        }
    }
}
