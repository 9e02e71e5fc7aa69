package dev.millrace.expressions.function.nested;

import dev.millrace.memory.Memory;
import dev.millrace.nested.Images;
import dev.millrace.type.DataType;

/** {@code x op ANY (array)} and {@code x op ALL (array)}, for comparisons. */
public final class Quantifier {
    private final DataType element;
    private final String operator;
    private final boolean some;

    /** @param operator the canonical name of a comparison */
    public Quantifier(DataType element, String operator, boolean some) {
        this.element = element;
        this.operator = operator;
        this.some = some;
    }

    /** 1 for true, 0 for false, -1 for NULL; {@code value} is an element, {@code array} 0 for NULL. */
    public int test(long value, int valueLength, long array, int arrayLength) {
        if (array == 0) {
            return -1;
        }
        boolean unknown = false;
        long at = Images.elements(array);
        for (int left = Images.count(array); left > 0; left--) {
            long end = Images.behind(element, at);
            if (Images.isNull(value) || Images.isNull(at)) {
                unknown = true;
            } else if (holds(value, valueLength, at, (int) (end - at)) == some) {
                return some ? 1 : 0;
            }
            at = end;
        }
        return unknown ? -1 : some ? 0 : 1;
    }

    private boolean holds(long a, int aLength, long b, int bLength) {
        return switch (operator) {
            case "eq" -> equal(a, aLength, b, bLength);
            case "ne" -> !equal(a, aLength, b, bLength);
            case "lt" -> Images.compare(element, a, b) < 0;
            case "le" -> Images.compare(element, a, b) <= 0;
            case "gt" -> Images.compare(element, a, b) > 0;
            case "ge" -> Images.compare(element, a, b) >= 0;
            default -> throw new IllegalArgumentException(operator);
        };
    }

    private boolean equal(long a, int aLength, long b, int bLength) {
        return switch (element.kind()) {
            case REAL, DOUBLE, INTERVAL -> Images.compare(element, a, b) == 0; // of several bytes for one value
            default -> aLength == bLength && Memory.equal(a, b, aLength);
        };
    }
}
