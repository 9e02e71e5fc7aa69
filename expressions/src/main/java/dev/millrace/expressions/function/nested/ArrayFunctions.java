package dev.millrace.expressions.function.nested;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.function.Text;
import dev.millrace.memory.Memory;
import dev.millrace.nested.ImageWriter;
import dev.millrace.nested.Images;
import dev.millrace.nested.NestedText;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.ValueWriter;
import dev.millrace.type.DataType;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;

/**
 * Functions of arrays of one element type, as PostgreSQL's. Arrays are of one dimension; those of several are arrays of
 * arrays. Elements are passed as they stand in an image: with their NULL byte.
 */
public final class ArrayFunctions {
    private final DataType element;
    private final ArrayParts parts;

    /** @param array the type of the arrays */
    public ArrayFunctions(DataType array) {
        this.element = array.element();
        this.parts = new ArrayParts(element);
    }

    // ---- shape -----------------------------------------------------------------------------------------------------

    /** All elements of all dimensions. */
    public int cardinality(long array, int length) {
        return cardinality(element, array);
    }

    private static int cardinality(DataType element, long array) {
        if (element.kind() != DataType.Kind.ARRAY) {
            return Images.count(array);
        }
        int sum = 0;
        long at = Images.elements(array);
        for (int left = Images.count(array); left > 0; left--) {
            sum += Images.isNull(at) ? 0 : cardinality(element.element(), at + 1);
            at = Images.behind(element, at);
        }
        return sum;
    }

    /** The length of a dimension, counted from 1, or -1 when there is none or the array is empty. */
    private int dimension(long array, int dimension) {
        DataType type = element;
        long at = array;
        for (int i = 1; i < dimension; i++) {
            if (type.kind() != DataType.Kind.ARRAY || Images.count(at) == 0 || Images.isNull(Images.elements(at))) {
                return -1;
            }
            at = Images.elements(at) + 1;
            type = type.element();
        }
        return dimension < 1 || Images.count(at) == 0 ? -1 : Images.count(at);
    }

    /** The reason for {@link #found}: a number that may be NULL. */
    public int number;

    private boolean found(int value) {
        number = value;
        return value >= 0;
    }

    /** {@code array_length} and {@code array_upper}. */
    public boolean length(long array, int length, int dimension) {
        return found(dimension(array, dimension));
    }

    public boolean lower(long array, int length, int dimension) {
        return found(dimension(array, dimension) < 0 ? -1 : 1);
    }

    public boolean dimensions(long array, int length) {
        int count = 0;
        while (dimension(array, count + 1) >= 0) {
            count++;
        }
        return found(count == 0 ? -1 : count);
    }

    public boolean dims(long array, int length, Text out) {
        TextBuffer buffer = out.begin();
        for (int dimension = 1; dimension(array, dimension) >= 0; dimension++) {
            buffer.appendAscii("[1:");
            ValueWriter.integer(buffer, dimension(array, dimension));
            buffer.append(']');
        }
        out.written();
        return out.length > 0;
    }

    /** {@code generate_subscripts}: 1 to the length of a dimension, as an array. */
    public void subscripts(long array, int length, int dimension, Text out) {
        subscripts(array, length, dimension, false, out);
    }

    /** The same, @param reversed from the last on. */
    public void subscripts(long array, int length, int dimension, boolean reversed, Text out) {
        int count = Math.max(0, dimension(array, dimension));
        TextBuffer buffer = out.begin();
        ImageWriter.int32(buffer, count);
        for (int i = 1; i <= count; i++) {
            ImageWriter.some(buffer);
            ImageWriter.int32(buffer, reversed ? count + 1 - i : i);
        }
        out.written();
    }

    // ---- searching -------------------------------------------------------------------------------------------------

    private boolean same(long a, long aEnd, long b, int bLength) {
        return switch (element.kind()) {
            case REAL, DOUBLE, INTERVAL -> Images.compare(element, a, b) == 0;
            default -> aEnd - a == bLength && Memory.equal(a, b, bLength);
        };
    }

    /** {@code array_position}: NULL elements are found too. */
    public boolean position(long array, int length, long value, int valueLength) {
        return position(array, length, value, valueLength, 1);
    }

    public boolean position(long array, int length, long value, int valueLength, int from) {
        if (array == 0) {
            return false;
        }
        long at = Images.elements(array);
        for (int i = 1; i <= Images.count(array); i++) {
            long end = Images.behind(element, at);
            if (i >= from && same(at, end, value, valueLength)) {
                return found(i);
            }
            at = end;
        }
        return false;
    }

    public boolean positions(long array, int length, long value, int valueLength, Text out) {
        if (array == 0) {
            return false;
        }
        TextBuffer buffer = out.begin();
        ImageWriter.int32(buffer, 0);
        int found = 0;
        long at = Images.elements(array);
        for (int i = 1; i <= Images.count(array); i++) {
            long end = Images.behind(element, at);
            if (same(at, end, value, valueLength)) {
                found++;
                ImageWriter.some(buffer);
                ImageWriter.int32(buffer, i);
            }
            at = end;
        }
        ImageWriter.patchInt32(buffer, 0, found);
        out.written();
        return true;
    }

    /** {@code a @> b}: every element of b is in a; a NULL is in nothing. */
    public boolean contains(long a, int aLength, long b, int bLength) {
        long at = Images.elements(b);
        for (int left = Images.count(b); left > 0; left--) {
            long end = Images.behind(element, at);
            if (Images.isNull(at) || !has(a, at, (int) (end - at))) {
                return false;
            }
            at = end;
        }
        return true;
    }

    /** {@code a && b}: an element is in both. */
    public boolean overlaps(long a, int aLength, long b, int bLength) {
        long at = Images.elements(b);
        for (int left = Images.count(b); left > 0; left--) {
            long end = Images.behind(element, at);
            if (!Images.isNull(at) && has(a, at, (int) (end - at))) {
                return true;
            }
            at = end;
        }
        return false;
    }

    private boolean has(long array, long value, int valueLength) {
        long at = Images.elements(array);
        for (int left = Images.count(array); left > 0; left--) {
            long end = Images.behind(element, at);
            if (same(at, end, value, valueLength)) {
                return true;
            }
            at = end;
        }
        return false;
    }

    // ---- making others ---------------------------------------------------------------------------------------------

    public boolean append(long array, int length, long value, int valueLength, Text out) {
        TextBuffer buffer = out.begin();
        ImageWriter.int32(buffer, array == 0 ? 1 : Images.count(array) + 1);
        if (array != 0) {
            buffer.append(array + 4, length - 4);
        }
        buffer.append(value, valueLength);
        out.written();
        return true;
    }

    public boolean prepend(long value, int valueLength, long array, int length, Text out) {
        TextBuffer buffer = out.begin();
        ImageWriter.int32(buffer, array == 0 ? 1 : Images.count(array) + 1);
        buffer.append(value, valueLength);
        if (array != 0) {
            buffer.append(array + 4, length - 4);
        }
        out.written();
        return true;
    }

    /** A NULL array is as an empty one, but two of them are NULL. */
    public boolean cat(long a, int aLength, long b, int bLength, Text out) {
        if (a == 0 || b == 0) {
            out.slice(a == 0 ? b : a, a == 0 ? bLength : aLength);
            return a != b;
        }
        TextBuffer buffer = out.begin();
        ImageWriter.int32(buffer, Math.addExact(Images.count(a), Images.count(b)));
        buffer.append(a + 4, aLength - 4);
        buffer.append(b + 4, bLength - 4);
        out.written();
        return true;
    }

    public boolean remove(long array, int length, long value, int valueLength, Text out) {
        return replace(array, length, value, valueLength, 0, 0, out);
    }

    /** With no bytes for the new value, {@code array_remove}. */
    public boolean replace(long array, int length, long value, int valueLength, long other, int otherLength, Text out) {
        if (array == 0) {
            return false;
        }
        TextBuffer buffer = out.begin();
        ImageWriter.int32(buffer, 0);
        int count = 0;
        long at = Images.elements(array);
        for (int left = Images.count(array); left > 0; left--) {
            long end = Images.behind(element, at);
            boolean hit = same(at, end, value, valueLength);
            if (!hit) {
                buffer.append(at, (int) (end - at));
            } else {
                buffer.append(other, otherLength);
            }
            count += hit && otherLength == 0 ? 0 : 1;
            at = end;
        }
        ImageWriter.patchInt32(buffer, 0, count);
        out.written();
        return true;
    }

    /** {@code array_set}: the parameters are images. */
    public boolean set(long array, int length, long index, int indexLength, long value, int valueLength, Text out) {
        return parts.set(array, index, value, valueLength, out);
    }

    /** {@code array_set_slice}: likewise. */
    public boolean setSlice(
            long array,
            int length,
            long from,
            int fromLength,
            long to,
            int toLength,
            long others,
            int othersLength,
            Text out) {
        return parts.setSlice(array, length, from, to, others, out);
    }

    /** Elements {@code from} to {@code to}, counted from 1; what is outside is left out. */
    public void slice(long array, int length, int from, int to, Text out) {
        int first = Math.max(1, from);
        int last = Math.min(Images.count(array), to);
        TextBuffer buffer = out.begin();
        ImageWriter.int32(buffer, Math.max(0, last - first + 1));
        long at = Images.elements(array);
        long start = at;
        for (int i = 1; i <= last; i++) {
            if (i == first) {
                start = at;
            }
            at = Images.behind(element, at);
        }
        if (last >= first) {
            buffer.append(start, (int) (at - start));
        }
        out.written();
    }

    public void trim(long array, int length, int count, Text out) {
        if (count < 0 || count > Images.count(array)) {
            throw MillraceException.user(
                    SqlState.ARRAY_SUBSCRIPT_ERROR,
                    "number of elements to trim must be between 0 and " + Images.count(array));
        }
        slice(array, length, 1, Images.count(array) - count, out);
    }

    private void write(List<Long> places, Text out) {
        TextBuffer buffer = out.begin();
        ImageWriter.int32(buffer, places.size());
        for (long place : places) {
            buffer.append(place, (int) (Images.behind(element, place) - place));
        }
        out.written();
    }

    /** Ascending, NULLs last. */
    public void sort(long array, int length, Text out) {
        List<Long> places = Images.places(element, array);
        places.sort((a, b) -> Images.compare(element, a, b));
        write(places, out);
    }

    /** Of a sorted array, in an array: the element that comes most often, of several such the first; of none, none. */
    public void mode(long array, int length, Text out) {
        List<Long> places = Images.places(element, array);
        int best = 0;
        int first = 0;
        int run = 0;
        for (int i = 0; i < places.size(); i++) {
            boolean same = i > 0 && Images.compare(element, places.get(i - 1), places.get(i)) == 0;
            run = same ? run + 1 : 1;
            if (run > best) {
                best = run;
                first = i;
            }
        }
        write(places.isEmpty() ? places : List.of(places.get(first)), out);
    }

    /** Of a sorted array, in an array: the first element up to which there is this share of all; of none, none. */
    public void atFraction(long array, int length, double fraction, Text out) {
        List<Long> places = Images.places(element, array);
        int at = Math.max(0, Math.min(places.size(), (int) Math.ceil(fraction * places.size())) - 1);
        write(places.isEmpty() ? places : List.of(places.get(at)), out);
    }

    /** Of rows, in an array: the one of the least or greatest first field, of several such the least; of none, none. */
    public void extreme(long array, int length, boolean greatest, Text out) {
        List<Long> places = Images.places(element, array);
        boolean rows = element.kind() == DataType.Kind.ROW;
        Comparator<Long> byFirst = (a, b) -> !rows || Images.isNull(a) || Images.isNull(b)
                ? Images.compare(element, a, b)
                : Images.compare(element.fields().get(0).type(), a + 1, b + 1);
        Comparator<Long> order =
                (greatest ? byFirst.reversed() : byFirst).thenComparing((a, b) -> Images.compare(element, a, b));
        write(places.isEmpty() ? places : List.of(Collections.min(places, order)), out);
    }

    public void reverse(long array, int length, Text out) {
        List<Long> places = Images.places(element, array);
        places.sort(Comparator.reverseOrder()); // by address
        write(places, out);
    }

    /** An array of so many copies; {@code sizes} is the image of an {@code integer[]} of one element. */
    public boolean fill(long value, int valueLength, long sizes, int sizesLength, Text out) {
        if (sizes == 0) {
            return false;
        }
        if (Images.count(sizes) != 1 || Images.isNull(Images.elements(sizes))) {
            throw MillraceException.notAvailableYet("array_fill in more than one dimension");
        }
        int count = Math.max(0, Memory.getInt(Images.elements(sizes) + 1));
        TextBuffer buffer = out.begin();
        ImageWriter.int32(buffer, count);
        for (int i = 0; i < count; i++) {
            buffer.append(value, valueLength);
        }
        out.written();
        return true;
    }

    // ---- as text ---------------------------------------------------------------------------------------------------

    public boolean toText(long array, int length, long separator, int separatorLength, Text out) {
        return toText(array, length, separator, separatorLength, 0, 0, out);
    }

    /** {@code array_to_string}: NULLs are left out, or written as {@code nothing} when that is not NULL. */
    public boolean toText(
            long array, int length, long separator, int separatorLength, long nothing, int nothingLength, Text out) {
        if (array == 0 || separator == 0) {
            return false;
        }
        TextBuffer buffer = out.begin();
        join(buffer, element, array, separator, separatorLength, nothing, nothingLength, true);
        out.written();
        return true;
    }

    private static boolean join(
            TextBuffer out,
            DataType element,
            long array,
            long separator,
            int separatorLength,
            long nothing,
            int nothingLength,
            boolean first) {
        boolean isFirst = first;
        long at = Images.elements(array);
        for (int left = Images.count(array); left > 0; left--) {
            boolean isNull = Images.isNull(at);
            if (!isNull && element.kind() == DataType.Kind.ARRAY) {
                isFirst = join(
                        out, element.element(), at + 1, separator, separatorLength, nothing, nothingLength, isFirst);
            } else if (!isNull || nothing != 0) {
                if (!isFirst) {
                    out.append(separator, separatorLength);
                }
                isFirst = false;
                if (isNull) {
                    out.append(nothing, nothingLength);
                } else {
                    NestedText.write(out, element, at + 1);
                }
            }
            at = Images.behind(element, at);
        }
        return isFirst;
    }
}
