package dev.millrace.expressions.user;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.kernel.OutputColumn;
import dev.millrace.memory.Memory;
import dev.millrace.text.TimeRange;
import dev.millrace.text.Utf8;
import dev.millrace.type.DataType;
import java.math.BigInteger;
import java.nio.ByteBuffer;

/** Takes a column that a process gave, of which nothing is believed: sizes, offsets, and that values are of their type. */
final class ReturnedColumn {
    private final String key;
    private final DataType type;
    private final BigInteger limit; // of a NUMERIC's unscaled value
    private long used; // bytes of text and bytea so far

    ReturnedColumn(String key, DataType type) {
        this.key = key;
        this.type = type;
        this.limit = type.kind() == DataType.Kind.NUMERIC ? BigInteger.TEN.pow(type.precision()) : BigInteger.ZERO;
    }

    /**
     * Writes rows of an answer behind those before.
     *
     * @param from a multiple of 8
     * @throws MillraceException 38000 if it is no column of so many rows, 22003 or 22021 for a value that is none
     */
    void read(ByteBuffer answer, int from, int rows, OutputColumn out) {
        byte[] content = answer.array();
        int bits = (rows + 7) / 8;
        int width = type.fixedWidth(); // 0 for bits
        boolean isBytes = width < 0;
        long expected = bits + (isBytes ? 4L * (rows + 1) : width == 0 ? bits : (long) rows * width);
        if (isBytes ? content.length < expected : content.length != expected) {
            throw rubbish(content.length + " bytes for " + rows + " rows");
        }
        if ((rows & 7) != 0) {
            content[bits - 1] &= (byte) ((1 << (rows & 7)) - 1);
        }
        Memory.copyIn(content, 0, out.validity() + from / 8, bits);
        if (isBytes) {
            readBytes(answer, bits, from, rows, out);
        } else {
            long at = out.data() + (width == 0 ? from / 8 : (long) from * width);
            Memory.copyIn(content, bits, at, content.length - bits);
        }
        for (int row = from; row < from + rows; row++) {
            if (Memory.getBit(out.validity(), row)) {
                check(out, row);
            }
        }
    }

    private void readBytes(ByteBuffer answer, int bits, int from, int rows, OutputColumn out) {
        if (from == 0) {
            used = 0;
        }
        int data = bits + 4 * (rows + 1);
        int length = answer.capacity() - data;
        if (out.capacity() < used + length) {
            out.grow(used, length);
        }
        int before = 0;
        for (int i = 0; i <= rows; i++) {
            int end = answer.getInt(bits + 4 * i);
            if (end < before || end > length || i == 0 && end != 0 || i == rows && end != length) {
                throw rubbish("places of values that are none");
            }
            Memory.putInt(out.offsets() + 4L * (from + i), (int) used + end);
            before = end;
        }
        Memory.copyIn(answer.array(), data, out.data() + used, length);
        used += length;
    }

    private void check(OutputColumn out, int row) {
        switch (type.kind()) {
            case TEXT, VARCHAR -> {
                int start = Memory.getInt(out.offsets() + 4L * row);
                int bytes = Memory.getInt(out.offsets() + 4L * (row + 1)) - start;
                if (!Utf8.isValid(out.data() + start, bytes) || Utf8.hasNul(out.data() + start, bytes)) {
                    throw MillraceException.user(
                            SqlState.CHARACTER_NOT_IN_REPERTOIRE,
                            "function " + UserCode.name(key) + " gave bytes that are no text");
                }
            }
            case DATE -> require(TimeRange.isDate(Memory.getInt(out.data() + 4L * row)));
            case TIME -> require(TimeRange.isTime(Memory.getLong(out.data() + 8L * row)));
            case TIMESTAMP, TIMESTAMPTZ -> require(TimeRange.isTimestamp(Memory.getLong(out.data() + 8L * row)));
            case NUMERIC -> {
                BigInteger high = BigInteger.valueOf(Memory.getLong(out.data() + 16L * row + 8));
                BigInteger low = new BigInteger(Long.toUnsignedString(Memory.getLong(out.data() + 16L * row)));
                require(high.shiftLeft(64).add(low).abs().compareTo(limit) < 0);
            }
            default -> {}
        }
    }

    private void require(boolean inRange) {
        if (!inRange) {
            throw MillraceException.user(
                    SqlState.NUMERIC_VALUE_OUT_OF_RANGE,
                    "function " + UserCode.name(key) + " gave a value that is out of range for type " + type);
        }
    }

    private MillraceException rubbish(String what) {
        return MillraceException.user(
                SqlState.EXTERNAL_ROUTINE_EXCEPTION,
                "function " + UserCode.name(key) + " failed: its process gave " + what);
    }
}
