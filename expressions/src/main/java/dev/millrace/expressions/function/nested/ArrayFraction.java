package dev.millrace.expressions.function.nested;

import dev.millrace.memory.Memory;
import dev.millrace.nested.Images;
import dev.millrace.type.DataType;

/** What lies at a share of the way through a sorted array of doubles. */
public final class ArrayFraction {
    private ArrayFraction() {}

    /** As {@code percentile_cont}: between two elements in proportion, NULLs left out; NaN of none. */
    public static double between(long array, int length, double fraction) {
        double[] values = new double[Images.count(array)];
        int count = 0;
        long element = Images.elements(array);
        for (int left = values.length; left > 0; left--) {
            if (!Images.isNull(element)) {
                values[count++] = Memory.getDouble(element + 1);
            }
            element = Images.behind(DataType.DOUBLE, element);
        }
        double place = fraction * (count - 1);
        if (count == 0 || !(place >= 0 && place <= count - 1)) {
            return Double.NaN;
        }
        double low = values[(int) Math.floor(place)];
        double high = values[(int) Math.ceil(place)];
        return Math.floor(place) == place ? low : low + (place - Math.floor(place)) * (high - low);
    }
}
