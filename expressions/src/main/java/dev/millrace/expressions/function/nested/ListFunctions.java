package dev.millrace.expressions.function.nested;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.function.Text;
import dev.millrace.memory.Memory;
import dev.millrace.nested.ImageWriter;
import dev.millrace.nested.Images;
import dev.millrace.text.TextBuffer;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Functions of arrays of one element type that DuckDB has and PostgreSQL has not. A result is an array in {@code out}. */
public final class ListFunctions {
    private static final int MOST = 1 << 24;

    private final DataType element;

    /** @param array the type of the arrays */
    public ListFunctions(DataType array) {
        this.element = array.element();
    }

    private static void checkCount(long count) {
        if (count > MOST) {
            throw MillraceException.resources(SqlState.PROGRAM_LIMIT_EXCEEDED, "requested array too large");
        }
    }

    /** Elements at places; 0 for a NULL. */
    private void write(List<Long> places, Text out) {
        TextBuffer buffer = out.begin();
        ImageWriter.int32(buffer, places.size());
        for (long place : places) {
            if (place == 0) {
                ImageWriter.nothing(buffer);
            } else {
                buffer.append(place, (int) (Images.behind(element, place) - place));
            }
        }
        out.written();
    }

    /** Each element once, in order, without NULLs. */
    public void distinct(long array, int length, Text out) {
        List<Long> places = Images.places(element, array);
        places.removeIf(Images::isNull);
        places.sort(order());
        List<Long> distinct = new ArrayList<>();
        for (long place : places) {
            if (distinct.isEmpty() || Images.compare(element, distinct.get(distinct.size() - 1), place) != 0) {
                distinct.add(place);
            }
        }
        write(distinct, out);
    }

    private Comparator<Long> order() {
        return (a, b) -> Images.compare(element, a, b);
    }

    /** The elements of the arrays that are elements, one after another; NULLs among them are left out. */
    public void flatten(long array, int length, Text out) {
        TextBuffer buffer = out.begin();
        ImageWriter.int32(buffer, 0);
        int count = 0;
        for (long place : Images.places(element, array)) {
            if (!Images.isNull(place)) {
                long inner = place + 1;
                count = Math.addExact(count, Images.count(inner));
                long from = Images.elements(inner);
                buffer.append(from, (int) (Images.behind(element, place) - from));
            }
        }
        ImageWriter.patchInt32(buffer, 0, count);
        out.written();
    }

    /** So many elements: the first ones, or NULLs behind them. */
    public void resize(long array, int length, int count, Text out) {
        checkCount(count);
        List<Long> places = Images.places(element, array);
        List<Long> resized = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            resized.add(i < places.size() ? places.get(i) : 0);
        }
        write(resized, out);
    }

    /** The elements at places that an {@code integer[]} has, NULL for a place that there is not. */
    public void select(long array, int length, long wanted, int wantedLength, Text out) {
        List<Long> places = Images.places(element, array);
        List<Long> selected = new ArrayList<>();
        long at = Images.elements(wanted);
        for (int left = Images.count(wanted); left > 0; left--) {
            int place = Images.isNull(at) ? 0 : Memory.getInt(at + 1);
            selected.add(place < 1 || place > places.size() ? 0 : places.get(place - 1));
            at = Images.behind(DataType.INTEGER, at);
        }
        write(selected, out);
    }

    /** The elements where a {@code boolean[]} is true. */
    public void where(long array, int length, long conditions, int conditionsLength, Text out) {
        List<Long> selected = new ArrayList<>();
        long at = Images.elements(conditions);
        int left = Images.count(conditions);
        for (long place : Images.places(element, array)) {
            if (left-- > 0) {
                if (!Images.isNull(at) && Memory.getByte(at + 1) != 0) {
                    selected.add(place);
                }
                at = Images.behind(DataType.BOOLEAN, at);
            }
        }
        write(selected, out);
    }

    /** The places of the elements in their order. */
    public void gradeUp(long array, int length, Text out) {
        List<Long> places = Images.places(element, array);
        List<Integer> numbers = new ArrayList<>();
        for (int i = 0; i < places.size(); i++) {
            numbers.add(i);
        }
        numbers.sort((a, b) -> Images.compare(element, places.get(a), places.get(b)));
        TextBuffer buffer = out.begin();
        ImageWriter.int32(buffer, numbers.size());
        for (int number : numbers) {
            ImageWriter.some(buffer);
            ImageWriter.int32(buffer, number + 1);
        }
        out.written();
    }

    /** All elements so many times. */
    public void repeat(long array, int length, int times, Text out) {
        long count = (long) Images.count(array) * Math.max(0, times);
        checkCount(count);
        TextBuffer buffer = out.begin();
        ImageWriter.int32(buffer, (int) count);
        for (int i = 0; i < times && count > 0; i++) {
            buffer.append(array + 4, length - 4);
        }
        out.written();
    }

    /** Each so many elements from one place to another, counted from 1, negative ones from the end. */
    public void stepped(long array, int length, int from, int to, int step, Text out) {
        List<Long> places = Images.places(element, array);
        int first = from < 0 && from > Integer.MIN_VALUE ? places.size() + 1 + from : from;
        int last = Math.min(places.size(), to < 0 ? places.size() + 1 + to : to);
        if (step <= 0) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE, "the step of a slice must be greater than zero");
        }
        List<Long> chosen = new ArrayList<>();
        for (long i = Math.max(1, first); i <= last; i += step) {
            chosen.add(places.get((int) i - 1));
        }
        write(chosen, out);
    }

    /** In order: descending where {@code DESC} is said, NULLs where said, else as PostgreSQL has them. */
    public void sort(long array, int length, boolean descending, boolean nullsFirst, Text out) {
        List<Long> places = Images.places(element, array);
        Comparator<Long> order = descending ? order().reversed() : order();
        places.sort(Comparator.<Long>comparingInt(place -> Images.isNull(place) == nullsFirst ? 0 : 1)
                .thenComparing(order));
        write(places, out);
    }

    /** How evenly the values are spread: the bits that tell one of them, on average; NULLs do not count. */
    public double entropy(long array, int length) {
        List<Long> places = Images.places(element, array);
        places.removeIf(Images::isNull);
        places.sort(order());
        double entropy = 0;
        int run = 0;
        for (int i = 0; i < places.size(); i++) {
            run++;
            boolean ends = i + 1 == places.size() || Images.compare(element, places.get(i), places.get(i + 1)) != 0;
            if (ends) {
                double share = (double) run / places.size();
                entropy -= share * Math.log(share) / Math.log(2);
                run = 0;
            }
        }
        return entropy;
    }
}
