package dev.millrace.batch;

import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;

/**
 * Copies single values from vector to vector, whatever is nested in them. Arrow's own copy of lists and structs knows no values
 * of a fixed number of bytes, which UUIDs are.
 */
public final class NestedCopy {
    private NestedCopy() {}

    /**
     * Copies a value; the vector grows as it must. Values of a list are written in order, each once.
     *
     * @param to of the same type, by Arrow's own allocation
     */
    public static void copy(FieldVector from, int row, FieldVector to, int toRow) {
        if (from.isNull(row)) {
            setNull(to, toRow);
        } else if (from instanceof ListVector lists) {
            copyList(lists, row, (ListVector) to, toRow);
        } else if (from instanceof StructVector structs) {
            StructVector target = (StructVector) to;
            target.setIndexDefined(toRow);
            for (int field = 0; field < structs.size(); field++) {
                copy(child(structs, field), row, child(target, field), toRow);
            }
        } else {
            to.copyFromSafe(row, toRow, from);
        }
    }

    private static void copyList(ListVector from, int row, ListVector to, int toRow) {
        int first = from.getElementStartIndex(row);
        int count = from.getElementEndIndex(row) - first;
        int at = to.startNewValue(toRow);
        for (int i = 0; i < count; i++) {
            copy(from.getDataVector(), first + i, to.getDataVector(), at + i);
        }
        to.endValue(toRow, count);
    }

    private static void setNull(FieldVector vector, int row) {
        vector.setNull(row);
        if (vector instanceof StructVector structs) {
            for (int field = 0; field < structs.size(); field++) {
                setNull(child(structs, field), row);
            }
        }
    }

    private static FieldVector child(StructVector structs, int field) {
        return (FieldVector) structs.getChildByOrdinal(field);
    }
}
