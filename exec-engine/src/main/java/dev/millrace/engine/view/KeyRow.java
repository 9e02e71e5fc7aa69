package dev.millrace.engine.view;

import dev.millrace.engine.state.RowCodec;
import dev.millrace.memory.Memory;
import dev.millrace.number.Bignum;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.IntervalValue;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;

/** A row as a {@link RowCodec} has it, of which only some columns are set: what to look for. For one thread at a time. */
final class KeyRow implements AutoCloseable {
    private static final int FIRST_BYTES = 1024;

    private final BufferAllocator allocator;

    @SuppressWarnings("NullAway.Init")
    private RowCodec codec; // since begin

    private ArrowBuf buffer;
    private int end;

    KeyRow(BufferAllocator allocator) {
        this.allocator = allocator;
        this.buffer = allocator.buffer(FIRST_BYTES);
    }

    long address() {
        return buffer.memoryAddress();
    }

    /** Bytes of the row so far. */
    int length() {
        return end;
    }

    /** Begins a row of NULLs of a codec. */
    void begin(RowCodec newCodec) {
        codec = newCodec;
        end = 0;
        reserve(codec.fixedBytes());
        codec.writeNulls(address());
        end = codec.fixedBytes();
    }

    private void reserve(int bytes) {
        if (buffer.capacity() < (long) end + bytes) {
            ArrowBuf larger = allocator.buffer(2L * (end + (long) bytes));
            Memory.copy(address(), larger.memoryAddress(), end);
            buffer.close();
            buffer = larger;
        }
    }

    /** Sets a column to a value of the column's type. */
    void set(int column, Literal literal) {
        if (literal.value() instanceof String text) {
            setBytes(column, text.getBytes(StandardCharsets.UTF_8));
        } else if (literal.value() instanceof Bignum number) {
            setBytes(column, number.toBytes());
        } else if (literal.value() instanceof List<?> list) {
            byte[] bytes = new byte[list.size()];
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] = (Byte) list.get(i);
            }
            setBytes(column, bytes);
        } else if (literal.value() instanceof BigDecimal decimal) {
            BigInteger unscaled = decimal.unscaledValue();
            setWords(column, unscaled.longValue(), unscaled.shiftRight(64).longValue());
        } else if (literal.value() instanceof UUID uuid) {
            setWords(
                    column,
                    Long.reverseBytes(uuid.getMostSignificantBits()),
                    Long.reverseBytes(uuid.getLeastSignificantBits()));
        } else if (literal.value() instanceof Double number) {
            setWord(column, Double.doubleToRawLongBits(number));
        } else if (literal.value() instanceof IntervalValue interval) {
            long daysAndMonths = (long) interval.days() << 32 | interval.months() & 0xffff_ffffL;
            setWords(column, daysAndMonths, 1_000 * interval.micros());
        } else if (literal.value() instanceof Boolean truth) {
            setWord(column, truth ? 1 : 0);
        } else {
            setWord(column, (Long) literal.value());
        }
    }

    private void setWord(int column, long word) {
        notNull(column);
        Memory.putLong(address() + codec.slot(column), word);
    }

    private void setWords(int column, long low, long high) {
        setWord(column, low);
        Memory.putLong(address() + codec.slot(column) + 8, high);
    }

    private void setBytes(int column, byte[] bytes) {
        reserve(bytes.length);
        Memory.copyIn(bytes, 0, address() + end, bytes.length);
        notNull(column);
        Memory.putInt(address() + codec.slot(column), end);
        Memory.putInt(address() + codec.slot(column) + 4, bytes.length);
        end += bytes.length;
    }

    private void notNull(int column) {
        long word = address() + 8L * (column >>> 6);
        Memory.putLong(word, Memory.getLong(word) & ~(1L << column));
    }

    @Override
    public void close() {
        buffer.close();
    }
}
