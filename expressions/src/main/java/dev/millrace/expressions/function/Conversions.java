package dev.millrace.expressions.function;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.VectorText;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.ValueParser;
import dev.millrace.text.ValueWriter;
import dev.millrace.type.DataType;

/** Between values and their text. What a parser's own methods cannot hand over is left in it. */
public final class Conversions {
    private Conversions() {}

    private static void check(boolean parsed, ValueParser parser, DataType type, long address, int length) {
        if (!parsed) {
            throw parser.failure(type, address, length);
        }
    }

    public static void numeric(ValueParser parser, long address, int length, int precision, int scale, Int128 out) {
        if (!parser.tryNumeric(address, length, precision, scale)) {
            throw parser.failure(DataType.numeric(precision, scale), address, length);
        }
        out.set(parser.high(), parser.value());
    }

    /** A number of any size. */
    public static void bignum(ValueParser parser, long address, int length, Text out) {
        check(parser.tryBignum(DataType.BIGNUM, address, length), parser, DataType.BIGNUM, address, length);
        TextBuffer buffer = out.begin();
        long target = buffer.room(parser.bignumBytes());
        buffer.end(target + parser.storeBignum(target));
        out.written();
    }

    public static void interval(ValueParser parser, long address, int length) {
        check(parser.tryInterval(address, length), parser, DataType.INTERVAL, address, length);
    }

    public static void uuid(ValueParser parser, long address, int length) {
        check(parser.tryUuid(address, length), parser, DataType.UUID, address, length);
    }

    public static void bytea(ValueParser parser, long address, int length, Text out) {
        TextBuffer buffer = out.begin();
        long target = buffer.room(Math.max(1, length));
        buffer.end(target + parser.bytea(address, length, target));
        out.written();
    }

    /** The word, where PostgreSQL's output function has but a letter. */
    public static void ofBoolean(boolean value, Text out) {
        out.begin().appendAscii(value ? "true" : "false");
        out.written();
    }

    public static void ofInteger(long value, Text out) {
        ValueWriter.integer(out.begin(), value);
        out.written();
    }

    public static void ofReal(float value, Text out) {
        ValueWriter.real(out.begin(), value);
        out.written();
    }

    public static void ofDouble(double value, Text out) {
        ValueWriter.float8(out.begin(), value);
        out.written();
    }

    public static void ofNumeric(long high, long low, int scale, Text out) {
        ValueWriter.numeric(out.begin(), high, low, scale);
        out.written();
    }

    public static void ofBignum(long address, int length, Text out) {
        ValueWriter.bignum(out.begin(), address, length);
        out.written();
    }

    public static void ofBytea(long address, int length, Text out) {
        ValueWriter.bytea(out.begin(), address, length);
        out.written();
    }

    public static void ofDate(int days, Text out) {
        ValueWriter.date(out.begin(), days);
        out.written();
    }

    public static void ofTime(long micros, Text out) {
        ValueWriter.time(out.begin(), micros);
        out.written();
    }

    public static void ofTimestamp(long micros, Text out) {
        ValueWriter.timestamp(out.begin(), micros);
        out.written();
    }

    public static void ofTimestamptz(long micros, Text out) {
        ValueWriter.timestamptz(out.begin(), micros);
        out.written();
    }

    public static void ofInterval(int months, int days, long micros, Text out) {
        ValueWriter.interval(out.begin(), months, days, micros);
        out.written();
    }

    /** An array or row. */
    public static void ofNested(Batch batch, int column, int row, Text out) {
        VectorText.value(out.begin(), batch.schema().type(column), batch.column(column), row);
        out.written();
    }

    public static void ofUuid(long high, long low, Text out) {
        TextBuffer buffer = out.begin();
        long at = buffer.room(64); // for both forms, so that the buffer stays
        Memory.putLong(at, Long.reverseBytes(high));
        Memory.putLong(at + 8, Long.reverseBytes(low));
        buffer.end(at + 16);
        ValueWriter.uuid(buffer, buffer.address());
        out.slice(buffer.address() + 16, (int) buffer.length() - 16);
    }
}
