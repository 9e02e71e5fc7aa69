package dev.millrace.connectors.avro;

import dev.millrace.json.JsonStrings;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.TimeRange;
import dev.millrace.text.ValueWriter;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;

/**
 * Values of a writer's schema as JSON, for columns that take any: records and maps as objects, bytes as {@code \x} and digits, times and
 * decimals by what they mean, of a union the value alone.
 */
final class AvroJson {
    private static final int MOST_DECIMAL_BYTES = 100;

    private final Schema schema;

    AvroJson(Schema schema) {
        this.schema = schema;
    }

    /** Appends the value that comes next. */
    void write(AvroInput in, TextBuffer out) {
        value(schema, in, out);
    }

    private static void value(Schema of, AvroInput in, TextBuffer out) {
        switch (of.getType()) {
            case NULL -> out.appendAscii("null");
            case BOOLEAN -> out.appendAscii(in.readBoolean() ? "true" : "false");
            case INT -> number(of, in.readInt(), out);
            case LONG -> number(of, in.readLong(), out);
            case FLOAT -> {
                float value = in.readFloat();
                floating(out, Float.isFinite(value), () -> ValueWriter.real(out, value));
            }
            case DOUBLE -> {
                double value = in.readDouble();
                floating(out, Double.isFinite(value), () -> ValueWriter.float8(out, value));
            }
            case STRING -> string(in, out);
            case BYTES -> bytes(of, in, in.readLength(), out);
            case FIXED -> bytes(of, in, of.getFixedSize(), out);
            case ENUM -> {
                int symbol = in.readIndex(of.getEnumSymbols().size());
                quoted(out, of.getEnumSymbols().get(symbol));
            }
            case UNION -> value(of.getTypes().get(in.readIndex(of.getTypes().size())), in, out);
            case RECORD -> record(of, in, out);
            case ARRAY, MAP -> elements(of, in, out);
        }
    }

    private static void record(Schema of, AvroInput in, TextBuffer out) {
        in.enter();
        char before = '{';
        for (Schema.Field field : of.getFields()) {
            out.append(before);
            before = ',';
            quoted(out, field.name());
            out.append(':');
            value(field.schema(), in, out);
        }
        if (before == '{') {
            out.append('{');
        }
        out.append('}');
        in.leave();
    }

    private static void elements(Schema of, AvroInput in, TextBuffer out) {
        boolean isMap = of.getType() == Schema.Type.MAP;
        in.enter();
        out.append(isMap ? '{' : '[');
        boolean first = true;
        for (long count = in.readBlock(); count > 0; count = in.readBlock()) {
            for (long i = 0; i < count; i++) {
                if (!first) {
                    out.append(',');
                }
                first = false;
                if (isMap) {
                    string(in, out);
                    out.append(':');
                }
                value(isMap ? of.getValueType() : of.getElementType(), in, out);
            }
        }
        out.append(isMap ? '}' : ']');
        in.leave();
    }

    private static void floating(TextBuffer out, boolean isFinite, Runnable write) {
        long start = out.length();
        write.run();
        if (!isFinite) {
            JsonStrings.quoteFrom(out, start);
        }
    }

    private static void number(Schema of, long value, TextBuffer out) {
        switch (AvroTypes.meaning(of)) {
            case DATE -> time(out, TimeRange.isDate(value), value, () -> ValueWriter.date(out, (int) value), false);
            case TIME_MILLIS -> ofDay(out, AvroStep.micros(value));
            case TIME_MICROS -> ofDay(out, value);
            case TIMESTAMP_MILLIS -> timestamp(out, AvroStep.micros(value));
            case TIMESTAMP_MICROS -> timestamp(out, value);
            case TIMESTAMP_NANOS -> timestamp(out, Math.floorDiv(value, 1000L));
            default -> ValueWriter.integer(out, value);
        }
    }

    private static void ofDay(TextBuffer out, long micros) {
        time(out, TimeRange.isTime(micros), micros, () -> ValueWriter.time(out, micros), false);
    }

    private static void timestamp(TextBuffer out, long micros) {
        time(out, TimeRange.isTimestamp(micros), micros, () -> ValueWriter.timestamp(out, micros), true);
    }

    /** A time as a string, or the number of what is none. */
    private static void time(TextBuffer out, boolean is, long number, Runnable write, boolean isTimestamp) {
        if (!is) {
            ValueWriter.integer(out, number);
            return;
        }
        long start = out.length();
        write.run();
        if (isTimestamp) {
            JsonStrings.isoFrom(out, start);
        }
        JsonStrings.quoteFrom(out, start);
    }

    private static void string(AvroInput in, TextBuffer out) {
        int length = in.readLength();
        long start = out.length();
        out.append(in.address(), length);
        in.pass(length);
        JsonStrings.quoteFrom(out, start);
    }

    private static void bytes(Schema of, AvroInput in, int length, TextBuffer out) {
        in.pass(length);
        long from = in.address() - length;
        if (of.getLogicalType() instanceof LogicalTypes.Decimal decimal && length > 0 && length <= MOST_DECIMAL_BYTES) {
            byte[] unscaled = new byte[length];
            Memory.copyOut(from, unscaled, 0, length);
            out.appendAscii(new BigDecimal(new BigInteger(unscaled), decimal.getScale()).toPlainString());
            return;
        }
        long start = out.length();
        ValueWriter.bytea(out, from, length);
        JsonStrings.quoteFrom(out, start);
    }

    private static void quoted(TextBuffer out, String text) {
        long start = out.length();
        out.append(text.getBytes(StandardCharsets.UTF_8));
        JsonStrings.quoteFrom(out, start);
    }
}
