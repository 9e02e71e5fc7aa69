package dev.millrace.nested;

import dev.millrace.memory.Memory;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;

/** Walks through images at addresses; see the package for their form. */
public final class Images {
    private static final long DAY_NANOS = 86_400_000_000_000L;

    private Images() {}

    /** How many elements an array has. */
    public static int count(long array) {
        return Memory.getInt(array);
    }

    /** Where the first element of an array is: its NULL byte. */
    public static long elements(long array) {
        return array + 4;
    }

    /** Whether the element or field here is NULL. */
    public static boolean isNull(long element) {
        return Memory.getByte(element) == 0;
    }

    /** The addresses of an array's elements, which are of a type. */
    public static List<Long> places(DataType element, long array) {
        List<Long> places = new ArrayList<>();
        long at = elements(array);
        for (int left = count(array); left > 0; left--) {
            places.add(at);
            at = behind(element, at);
        }
        return places;
    }

    /** Behind an element or field. */
    public static long behind(DataType type, long element) {
        return isNull(element) ? element + 1 : end(type, element + 1);
    }

    /** Behind a value. */
    public static long end(DataType type, long value) {
        switch (type.kind()) {
            case BOOLEAN -> {
                return value + 1;
            }
            case ARRAY -> {
                DataType element = type.element();
                long at = elements(value);
                for (int left = count(value); left > 0; left--) {
                    at = behind(element, at);
                }
                return at;
            }
            case ROW -> {
                long at = value;
                for (int i = 0; i < type.fields().size(); i++) {
                    at = behind(type.fields().get(i).type(), at);
                }
                return at;
            }
            case NULL -> {
                return value;
            }
            default -> {
                int width = type.fixedWidth();
                return width > 0 ? value + width : value + 4 + Memory.getInt(value);
            }
        }
    }

    /** Field {@code index} of a row: its NULL byte. */
    public static long field(DataType row, long value, int index) {
        long at = value;
        for (int i = 0; i < index; i++) {
            at = behind(row.fields().get(i).type(), at);
        }
        return at;
    }

    /** Where the bytes of a value begin, behind the length of a text. */
    public static long bytes(DataType type, long value) {
        return isVariable(type) ? value + 4 : value;
    }

    /** Whether values have a length in front. */
    public static boolean isVariable(DataType type) {
        return type.isBytes();
    }

    /**
     * The order of two elements as PostgreSQL sorts them: a NULL is greater than anything and equal to itself; arrays and
     * rows by their first difference, then by length; texts by bytes.
     */
    public static int compare(DataType type, long a, long b) {
        if (isNull(a) || isNull(b)) {
            return Boolean.compare(isNull(a), isNull(b));
        }
        return compareValues(type, a + 1, b + 1);
    }

    /** The order of two values. */
    public static int compareValues(DataType type, long a, long b) {
        return switch (type.kind()) {
            case BOOLEAN -> Byte.compare(Memory.getByte(a), Memory.getByte(b));
            case SMALLINT -> Short.compare(Memory.getShort(a), Memory.getShort(b));
            case INTEGER, DATE -> Integer.compare(Memory.getInt(a), Memory.getInt(b));
            case BIGINT, TIME, TIMESTAMP, TIMESTAMPTZ -> Long.compare(Memory.getLong(a), Memory.getLong(b));
            case REAL -> compareDoubles(Memory.getFloat(a), Memory.getFloat(b));
            case DOUBLE -> compareDoubles(Memory.getDouble(a), Memory.getDouble(b));
            case NUMERIC -> {
                int high = Long.compare(Memory.getLong(a + 8), Memory.getLong(b + 8));
                yield high != 0 ? high : Long.compareUnsigned(Memory.getLong(a), Memory.getLong(b));
            }
            case INTERVAL -> compareIntervals(a, b);
            case UUID -> Memory.compare(a, 16, b, 16);
            case BIGNUM, TEXT, VARCHAR, CHAR, JSONB, BYTEA -> // a number's key alone
                Memory.compare(a + 4, Memory.getInt(a), b + 4, Memory.getInt(b));
            case ARRAY -> compareArrays(type.element(), a, b);
            case ROW -> {
                long x = a;
                long y = b;
                for (int i = 0; i < type.fields().size(); i++) {
                    DataType field = type.fields().get(i).type();
                    int order = compare(field, x, y);
                    if (order != 0) {
                        yield order;
                    }
                    x = behind(field, x);
                    y = behind(field, y);
                }
                yield 0;
            }
            case NULL -> 0;
        };
    }

    private static int compareArrays(DataType element, long a, long b) {
        int common = Math.min(count(a), count(b));
        long x = elements(a);
        long y = elements(b);
        for (int i = 0; i < common; i++) {
            int order = compare(element, x, y);
            if (order != 0) {
                return order;
            }
            x = behind(element, x);
            y = behind(element, y);
        }
        return Integer.compare(count(a), count(b));
    }

    /** Orders doubles with NaN greatest and equal to itself, and zeros equal. */
    public static int compareDoubles(double a, double b) {
        return a < b ? -1 : a > b ? 1 : a == b ? 0 : Boolean.compare(Double.isNaN(a), Double.isNaN(b));
    }

    /** Orders intervals at addresses: months and days of 4 bytes, nanoseconds; as if a month had 30 days. */
    public static int compareIntervals(long a, long b) {
        long aNanos = Memory.getLong(a + 8);
        long bNanos = Memory.getLong(b + 8);
        long aDays = 30L * Memory.getInt(a) + Memory.getInt(a + 4) + Math.floorDiv(aNanos, DAY_NANOS);
        long bDays = 30L * Memory.getInt(b) + Memory.getInt(b + 4) + Math.floorDiv(bNanos, DAY_NANOS);
        return aDays != bDays
                ? Long.compare(aDays, bDays)
                : Long.compare(Math.floorMod(aNanos, DAY_NANOS), Math.floorMod(bNanos, DAY_NANOS));
    }
}
