package dev.millrace.expressions.function.nested;

import dev.millrace.nested.Images;
import dev.millrace.type.DataType;

/** Finds an element of an array or a field of a row; what was found is at {@link #at}. */
public final class NestedReader {
    /** Where the value is that was found. */
    public long at;

    private final DataType type;

    /** @param type of the arrays or rows */
    public NestedReader(DataType type) {
        this.type = type;
    }

    /** Element {@code index}, counted from 1; false when there is none or it is NULL. */
    public boolean element(long array, int length, int index) {
        if (index < 1 || index > Images.count(array)) {
            return false;
        }
        DataType element = type.element();
        long place = Images.elements(array);
        int width = element.fixedWidth();
        for (int i = 1; i < index; i++) {
            place = width > 0 && !Images.isNull(place) ? place + 1 + width : Images.behind(element, place);
        }
        return found(place);
    }

    /** Field {@code index}, counted from 0; false when it is NULL. */
    public boolean field(long row, int length, int index) {
        return found(Images.field(type, row, index));
    }

    private boolean found(long place) {
        at = place + 1;
        return !Images.isNull(place);
    }

    /** Bytes of an array or row that was found. */
    public int length(DataType found) {
        return (int) (Images.end(found, at) - at);
    }
}
