package dev.millrace.expressions.function.nested;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.function.Text;
import dev.millrace.memory.Memory;
import dev.millrace.nested.ImageWriter;
import dev.millrace.nested.Images;
import dev.millrace.text.TextBuffer;
import dev.millrace.type.DataType;

/**
 * Arrays with parts of them assigned, as PostgreSQL does it but for arrays that do not begin at 1, which there are none of. Subscripts and
 * elements are passed as they stand in an image, arrays as address 0 where they are NULL.
 */
record ArrayParts(DataType element) {
    private static final int MOST_ELEMENTS = 134_217_727; // as PostgreSQL's

    /**
     * An array with another element at a place, or with more elements up to it: NULLs before the last of them. Nothing at no place of no
     * array is NULL.
     */
    boolean set(long array, long index, long value, int valueLength, Text out) {
        if (array == 0 && Images.isNull(index) && Images.isNull(value)) {
            return false;
        }
        int place = subscript(index);
        int count = array == 0 ? 0 : Images.count(array);
        requirePlace(place, count);
        write(array, count, place, place, value, valueLength, out);
        return true;
    }

    /**
     * An array with the elements {@code from} to {@code to} taken from the first ones of others; with others that are NULL, the array as
     * it is.
     */
    boolean setSlice(long array, int length, long from, long to, long others, Text out) {
        if (others == 0) {
            out.slice(array, length);
            return array != 0;
        }
        int count = array == 0 ? 0 : Images.count(array);
        if (count == 0 && Images.isNull(to)) {
            throw MillraceException.user(
                            SqlState.ARRAY_SUBSCRIPT_ERROR, "array slice subscript must provide both boundaries")
                    .withHint("the array is empty, and has no last element");
        }
        int first = subscript(from);
        int last = subscript(to);
        requirePlace(first, count);
        if (last < first) {
            throw MillraceException.user(SqlState.ARRAY_SUBSCRIPT_ERROR, "upper bound cannot be less than lower bound");
        }
        int wanted = last - first + 1;
        if (Images.count(others) < wanted) {
            throw MillraceException.user(SqlState.ARRAY_SUBSCRIPT_ERROR, "source array too small");
        }
        long start = Images.elements(others);
        long end = start;
        for (int left = wanted; left > 0; left--) {
            end = Images.behind(element, end);
        }
        write(array, count, first, last, start, (int) (end - start), out);
        return true;
    }

    private static int subscript(long image) {
        if (Images.isNull(image)) {
            throw MillraceException.user(
                    SqlState.NULL_VALUE_NOT_ALLOWED, "array subscript in assignment must not be null");
        }
        return Memory.getInt(image + 1);
    }

    /** Arrays begin at 1, and have no more elements than fit. */
    private static void requirePlace(int place, int count) {
        if (place < 1 || count == 0 && place > 1) {
            throw MillraceException.notAvailableYet("an array that does not begin at 1")
                    .withHint("its first element is [1], and is assigned first");
        }
        if (place > MOST_ELEMENTS) {
            throw MillraceException.user(
                    SqlState.PROGRAM_LIMIT_EXCEEDED, "array size exceeds the maximum allowed (" + MOST_ELEMENTS + ")");
        }
    }

    /** An array's elements, with others in the places {@code first} to {@code last}. */
    private void write(long array, int count, int first, int last, long values, int valuesLength, Text out) {
        TextBuffer buffer = out.begin();
        ImageWriter.int32(buffer, Math.max(count, last));
        long start = array == 0 ? 0 : Images.elements(array);
        long at = start;
        for (int i = 1; i <= Math.min(count, first - 1); i++) {
            at = Images.behind(element, at);
        }
        buffer.append(start, (int) (at - start));
        for (int i = count + 1; i < first; i++) {
            ImageWriter.nothing(buffer);
        }
        buffer.append(values, valuesLength);
        for (int i = first; i <= Math.min(count, last); i++) {
            at = Images.behind(element, at);
        }
        start = at;
        for (int i = last + 1; i <= count; i++) {
            at = Images.behind(element, at);
        }
        buffer.append(start, (int) (at - start));
        out.written();
    }
}
