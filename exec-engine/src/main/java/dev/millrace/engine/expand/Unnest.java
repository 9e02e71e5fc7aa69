package dev.millrace.engine.expand;

import dev.millrace.batch.Batch;
import dev.millrace.batch.NestedCodec;
import dev.millrace.batch.NestedCopy;
import dev.millrace.engine.rows.RowsFunction;
import dev.millrace.operator.OperatorContext;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;

/** The elements of an array, in their order; those of an array of rows by their fields. NULL has none. */
final class Unnest implements RowsFunction {
    private final int column;

    @SuppressWarnings("NullAway.Init") // by begin
    private FieldVector elements;

    private int from;
    private int to;

    Unnest(int column) {
        this.column = column;
    }

    @Override
    public void open(OperatorContext context) {}

    @Override
    public void begin(Batch batch, int row) {
        ListVector list = (ListVector) batch.column(column);
        elements = list.getDataVector();
        boolean isNull = list.isNull(row);
        from = isNull ? 0 : list.getElementStartIndex(row);
        to = isNull ? 0 : list.getElementEndIndex(row);
    }

    @Override
    public int next(FieldVector[] out, int at, int most) {
        int count = Math.min(most, to - from);
        boolean byField = elements instanceof StructVector;
        for (int i = 0; i < count; i++) {
            if (!byField) {
                NestedCopy.copy(elements, from + i, out[0], at + i);
                continue;
            }
            for (int field = 0; field < out.length; field++) {
                if (elements.isNull(from + i)) {
                    NestedCodec.setNull(out[field], at + i);
                } else {
                    FieldVector child = (FieldVector) ((StructVector) elements).getChildByOrdinal(field);
                    NestedCopy.copy(child, from + i, out[field], at + i);
                }
            }
        }
        from += count;
        return count;
    }

    @Override
    public void close() {}
}
