package dev.millrace.jdbc;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.sql.Timestamp;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Rows in COPY's text form, gathered until they are sent. For one thread at a time. */
final class CopyRows {
    private static final int CHUNK_BYTES = 64 << 10;
    private static final int FIRST_YEAR = 1;
    private static final int LAST_YEAR = 9999;
    private static final char[] HEX = "0123456789abcdef".toCharArray();

    private final List<byte[]> full = new ArrayList<>();
    private byte[] current = new byte[1 << 10];
    private int length;
    private int rowStart;
    private int rows;
    private boolean rowBegun;

    int rows() {
        return rows;
    }

    /** Adds a value to the row; false if it is none whose text is surely what is meant. */
    boolean add(@Nullable Object value) {
        if (rowBegun) {
            put((byte) '\t');
        }
        rowBegun = true;
        return write(value);
    }

    /** Forgets the row that is not at its end. */
    void undoRow() {
        length = rowStart;
        rowBegun = false;
    }

    void endRow() {
        put((byte) '\n');
        rows++;
        rowBegun = false;
        if (length >= CHUNK_BYTES) {
            full.add(Arrays.copyOf(current, length));
            length = 0;
        }
        rowStart = length;
    }

    private boolean write(@Nullable Object value) {
        if (value == null) {
            ascii("\\N");
        } else if (value instanceof String text) {
            escaped(text);
        } else if (value instanceof Integer
                || value instanceof Long
                || value instanceof Short
                || value instanceof Byte) {
            digits(((Number) value).longValue());
        } else if (value instanceof BigDecimal decimal) {
            ascii(decimal.toPlainString());
        } else if (value instanceof Double
                || value instanceof Float
                || value instanceof BigInteger
                || value instanceof UUID
                || value instanceof LocalTime) {
            ascii(value.toString());
        } else if (value instanceof Boolean flag) {
            put((byte) (flag ? 't' : 'f'));
        } else if (value instanceof byte[] bytes) {
            hex(bytes);
        } else {
            return time(value);
        }
        return true;
    }

    private boolean time(Object value) {
        if (value instanceof LocalDate date && isUsual(date.getYear())) {
            ascii(date.toString());
        } else if (value instanceof LocalDateTime time && isUsual(time.getYear())) {
            ascii(time.toString());
        } else if (value instanceof OffsetDateTime time && isUsual(time.getYear())) {
            ascii(time.toLocalDateTime().toString());
            ascii(time.getOffset().getId());
        } else if (value instanceof Timestamp time
                && isUsual(time.toLocalDateTime().getYear())) {
            // As pgjdbc has it: columns with a time zone get the instant, those without the local time.
            ascii(time.toLocalDateTime().toString());
            ZoneOffset offset = ZoneId.systemDefault().getRules().getOffset(time.toInstant());
            ascii(offset.getId());
        } else if (value.getClass() == java.sql.Date.class
                && isUsual(((java.sql.Date) value).toLocalDate().getYear())) {
            ascii(value.toString());
        } else {
            return false;
        }
        return true;
    }

    private static boolean isUsual(int year) {
        return year >= FIRST_YEAR && year <= LAST_YEAR;
    }

    private void escaped(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        ensure(2 * bytes.length);
        for (byte next : bytes) {
            switch (next) {
                case '\\' -> put2('\\');
                case '\n' -> put2('n');
                case '\r' -> put2('r');
                case '\t' -> put2('t');
                default -> current[length++] = next;
            }
        }
    }

    private void put2(char escape) {
        current[length++] = '\\';
        current[length++] = (byte) escape;
    }

    private void digits(long number) {
        if (number < 0) {
            ascii(Long.toString(number));
            return;
        }
        int end = length + 1;
        for (long rest = number / 10; rest > 0; rest /= 10) {
            end++;
        }
        ensure(end - length);
        long rest = number;
        for (int at = end - 1; at >= length; at--) {
            current[at] = (byte) ('0' + rest % 10);
            rest /= 10;
        }
        length = end;
    }

    private void hex(byte[] bytes) {
        ensure(3 + 2 * bytes.length);
        ascii("\\\\x");
        for (byte next : bytes) {
            current[length++] = (byte) HEX[(next >> 4) & 15];
            current[length++] = (byte) HEX[next & 15];
        }
    }

    private void ascii(String text) {
        ensure(text.length());
        for (int i = 0; i < text.length(); i++) {
            current[length++] = (byte) text.charAt(i);
        }
    }

    private void put(byte next) {
        ensure(1);
        current[length++] = next;
    }

    private void ensure(int more) {
        if (length + more > current.length) {
            current = Arrays.copyOf(current, Math.max(length + more, 2 * current.length));
        }
    }

    /** The bytes, in pieces, of which none is empty. */
    List<byte[]> pieces() {
        List<byte[]> all = new ArrayList<>(full);
        if (length > 0) {
            all.add(Arrays.copyOf(current, length));
        }
        return all;
    }

    void clear() {
        full.clear();
        length = 0;
        rowStart = 0;
        rows = 0;
        rowBegun = false;
    }
}
