package dev.millrace.engine.statistic;

import dev.millrace.batch.Batch;
import dev.millrace.memory.Memory;
import dev.millrace.number.Bignum;
import dev.millrace.text.TimeRange;
import dev.millrace.type.DataType;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;

/** A row as people read it in a list of late rows: {@code (1,"two words",)}. Not fast, and not for data that is used on. */
final class LateRowText {
    private static final DateTimeFormatter TIME = new DateTimeFormatterBuilder()
            .appendPattern("HH:mm:ss")
            .appendFraction(ChronoField.MICRO_OF_SECOND, 0, 6, true)
            .toFormatter();
    private static final DateTimeFormatter TIMESTAMP = new DateTimeFormatterBuilder()
            .appendPattern("yyyy-MM-dd ")
            .append(TIME)
            .toFormatter();

    private LateRowText() {}

    static String of(Batch batch, int row) {
        StringBuilder text = new StringBuilder("(");
        for (int column = 0; column < batch.columnCount(); column++) {
            if (column > 0) {
                text.append(',');
            }
            if (!batch.column(column).isNull(row)) {
                append(text, value(batch, column, row));
            }
        }
        return text.append(')').toString();
    }

    private static void append(StringBuilder text, String value) {
        boolean plain = !value.isEmpty();
        for (int i = 0; plain && i < value.length(); i++) {
            plain = "(),\"\\ \t\n\r".indexOf(value.charAt(i)) < 0;
        }
        text.append(plain ? value : '"' + value.replace("\\", "\\\\").replace("\"", "\"\"") + '"');
    }

    private static String value(Batch batch, int column, int row) {
        DataType type = batch.schema().type(column);
        return switch (type.kind()) {
            case BOOLEAN -> Memory.getBit(batch.dataAddress(column), row) ? "t" : "f";
            case SMALLINT -> String.valueOf(Memory.getShort(batch.dataAddress(column) + 2L * row));
            case INTEGER -> String.valueOf(Memory.getInt(batch.dataAddress(column) + 4L * row));
            case BIGINT -> String.valueOf(word(batch, column, row));
            case REAL -> trimmed(String.valueOf(Memory.getFloat(batch.dataAddress(column) + 4L * row)));
            case DOUBLE -> trimmed(String.valueOf(Memory.getDouble(batch.dataAddress(column) + 8L * row)));
            case DATE -> date(Memory.getInt(batch.dataAddress(column) + 4L * row));
            case TIME -> {
                long micros = word(batch, column, row);
                yield micros == 86_400_000_000L
                        ? "24:00:00"
                        : LocalTime.ofNanoOfDay(1_000 * micros).format(TIME);
            }
            case TIMESTAMP -> timestamp(word(batch, column, row));
            case TIMESTAMPTZ -> {
                long micros = word(batch, column, row);
                yield timestamp(micros) + (TimeRange.isFinite(micros) ? "+00" : "");
            }
            case TEXT, VARCHAR, CHAR, JSONB -> text(batch, column, row);
            case BIGNUM -> number(batch, column, row);
            case NUMERIC, BYTEA, INTERVAL, UUID, ARRAY, ROW, NULL ->
                String.valueOf(batch.column(column).getObject(row));
        };
    }

    private static long word(Batch batch, int column, int row) {
        return Memory.getLong(batch.dataAddress(column) + 8L * row);
    }

    private static String trimmed(String number) {
        return number.endsWith(".0") ? number.substring(0, number.length() - 2) : number;
    }

    private static String date(int day) {
        return TimeRange.isDay(day) ? LocalDate.ofEpochDay(day).toString() : infinity(day > 0);
    }

    private static String infinity(boolean isGreatest) {
        return isGreatest ? "infinity" : "-infinity";
    }

    private static String timestamp(long micros) {
        if (!TimeRange.isFinite(micros)) {
            return infinity(micros > 0);
        }
        long seconds = Math.floorDiv(micros, 1_000_000L);
        int nanos = (int) (1_000 * Math.floorMod(micros, 1_000_000L));
        return LocalDateTime.ofEpochSecond(seconds, nanos, ZoneOffset.UTC).format(TIMESTAMP);
    }

    private static String number(Batch batch, int column, int row) {
        long offsets = batch.offsetsAddress(column) + 4L * row;
        int start = Memory.getInt(offsets);
        return Bignum.at(batch.dataAddress(column) + start, Memory.getInt(offsets + 4) - start)
                .toString();
    }

    private static String text(Batch batch, int column, int row) {
        long offsets = batch.offsetsAddress(column) + 4L * row;
        int start = Memory.getInt(offsets);
        byte[] bytes = new byte[Memory.getInt(offsets + 4) - start];
        Memory.copyOut(batch.dataAddress(column) + start, bytes, 0, bytes.length);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
