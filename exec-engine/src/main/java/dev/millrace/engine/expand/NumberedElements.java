package dev.millrace.engine.expand;

import dev.millrace.batch.Batch;
import dev.millrace.engine.rows.RowsFunction;
import dev.millrace.operator.OperatorContext;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.IntVector;

/** The elements of an array and their numbers from 1, as {@code information_schema._pg_expandarray} gives them. */
final class NumberedElements implements RowsFunction {
    private final Unnest elements;
    private int given;

    NumberedElements(int column) {
        this.elements = new Unnest(column);
    }

    @Override
    public void open(OperatorContext context) {
        elements.open(context);
    }

    @Override
    public void begin(Batch batch, int row) {
        elements.begin(batch, row);
        given = 0;
    }

    @Override
    public int next(FieldVector[] out, int at, int most) {
        int count = elements.next(new FieldVector[] {out[0]}, at, most);
        for (int i = 0; i < count; i++) {
            ((IntVector) out[1]).setSafe(at + i, ++given);
        }
        return count;
    }

    @Override
    public void close() {
        elements.close();
    }
}
