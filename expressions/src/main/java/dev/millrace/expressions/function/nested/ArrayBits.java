package dev.millrace.expressions.function.nested;

import dev.millrace.memory.Memory;
import dev.millrace.nested.Images;
import dev.millrace.type.DataType;
import java.util.function.LongBinaryOperator;

/** The bits of all numbers of a BIGINT array together; NULLs do not count. */
public final class ArrayBits {
    private ArrayBits() {}

    public static long and(long array, int length) {
        return fold(array, -1, (a, b) -> a & b);
    }

    public static long or(long array, int length) {
        return fold(array, 0, (a, b) -> a | b);
    }

    public static long xor(long array, int length) {
        return fold(array, 0, (a, b) -> a ^ b);
    }

    private static long fold(long array, long start, LongBinaryOperator operator) {
        long result = start;
        long element = Images.elements(array);
        for (int i = Images.count(array); i > 0; i--) {
            if (!Images.isNull(element)) {
                result = operator.applyAsLong(result, Memory.getLong(element + 1));
            }
            element = Images.behind(DataType.BIGINT, element);
        }
        return result;
    }
}
