package dev.millrace.benchmarks.suite;

import dev.millrace.batch.Batch;
import dev.millrace.connector.Sink;
import dev.millrace.memory.Memory;
import java.util.concurrent.atomic.LongAdder;

/**
 * A blackhole that counts, and adds up what falls into it: per column the sum of its values as 64-bit words (of a text
 * the first eight bytes and the length), times the rows' weights, times a factor of the column's own. The sum does not
 * depend on order or batches, a retraction undoes its row, and it costs about a nanosecond per value. Written by any
 * number of threads; read after the query ended.
 */
final class ChecksumSink implements Sink {
    private static final long FACTOR = 0x9E3779B97F4A7C15L;

    /** By number of bytes, what keeps so many of a word. */
    private static final long[] FIRST_BYTES = {
        0, 0xFFL, 0xFFFFL, 0xFF_FFFFL, 0xFFFF_FFFFL, 0xFF_FFFF_FFFFL, 0xFFFF_FFFF_FFFFL, 0xFF_FFFF_FFFF_FFFFL, -1
    };

    private final LongAdder rows = new LongAdder();
    private final LongAdder checksum = new LongAdder();

    long rows() {
        return rows.sum();
    }

    long checksum() {
        return checksum.sum();
    }

    @Override
    public boolean isConcurrent() {
        return true;
    }

    @Override
    public boolean isImmediate() {
        return true;
    }

    @Override
    public void write(Batch batch) {
        rows.add(batch.rowCount());
        long sum = 0;
        for (int column = 0; column < batch.columnCount(); column++) {
            sum += sum(batch, column) * (2L * column + 1) * FACTOR;
        }
        checksum.add(sum);
    }

    private static long sum(Batch batch, int column) {
        int width = batch.schema().type(column).fixedWidth();
        return switch (width) {
            case 4 -> ints(batch, column);
            case 8 -> longs(batch, column, 1);
            case 16 -> longs(batch, column, 2);
            default -> width < 0 && batch.schema().type(column).isText() ? texts(batch, column) : 0;
        };
    }

    private static boolean counts(long validity, int row) {
        return validity == 0 || Memory.getBit(validity, row);
    }

    private static long weight(long weights, int row) {
        return weights == 0 ? 1 : Memory.getLong(weights + 8L * row);
    }

    private static long longs(Batch batch, int column, int words) {
        long data = batch.dataAddress(column);
        long validity = batch.validityAddress(column);
        long weights = batch.weightsAddress();
        long sum = 0;
        for (int row = 0; row < batch.rowCount(); row++) {
            if (counts(validity, row)) {
                sum += Memory.getLong(data + 8L * words * row) * weight(weights, row);
            }
        }
        return sum;
    }

    private static long ints(Batch batch, int column) {
        long data = batch.dataAddress(column);
        long validity = batch.validityAddress(column);
        long weights = batch.weightsAddress();
        long sum = 0;
        for (int row = 0; row < batch.rowCount(); row++) {
            if (counts(validity, row)) {
                sum += Memory.getInt(data + 4L * row) * weight(weights, row);
            }
        }
        return sum;
    }

    private static long texts(Batch batch, int column) {
        long data = batch.dataAddress(column);
        long lastWord = batch.column(column).getDataBuffer().capacity() - Long.BYTES;
        long offsets = batch.offsetsAddress(column);
        long validity = batch.validityAddress(column);
        long weights = batch.weightsAddress();
        long sum = 0;
        for (int row = 0; row < batch.rowCount(); row++) {
            if (counts(validity, row)) {
                int from = Memory.getInt(offsets + 4L * row);
                int bytes = Memory.getInt(offsets + 4L * row + 4) - from;
                // A word may reach beyond the text, but not beyond the buffer.
                long word = from <= lastWord
                        ? Memory.getLong(data + from) & FIRST_BYTES[Math.min(bytes, Long.BYTES)]
                        : byByte(data + from, Math.min(bytes, Long.BYTES));
                sum += (word + bytes) * weight(weights, row);
            }
        }
        return sum;
    }

    private static long byByte(long address, int bytes) {
        long word = 0;
        for (int i = 0; i < bytes; i++) {
            word |= (Memory.getByte(address + i) & 0xFFL) << 8 * i;
        }
        return word;
    }

    @Override
    public void commit(long epoch) {}

    @Override
    public void close() {}
}
