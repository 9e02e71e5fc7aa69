package dev.millrace.edge.stream;

import dev.millrace.batch.Batch;
import dev.millrace.edge.program.RowValues;

/** The rows of a batch as programs ask about them. Of one thread, and no longer than the batch. */
public final class BatchRow implements RowValues {
    private final ColumnCopy[] columns;

    public BatchRow(Batch batch) {
        columns = new ColumnCopy[batch.schema().size()];
        for (int column = 0; column < columns.length; column++) {
            columns[column] = new ColumnCopy(column, batch.schema().type(column));
            columns[column].of(batch.column(column));
        }
    }

    @Override
    public boolean isNull(int column, int row) {
        return columns[column].isNull(row);
    }

    @Override
    public boolean truth(int column, int row) {
        return columns[column].truth(row);
    }

    @Override
    public long whole(int column, int row) {
        return columns[column].whole(row);
    }

    @Override
    public double number(int column, int row) {
        return columns[column].number(row);
    }

    @Override
    public String text(int column, int row) {
        return columns[column].text(row);
    }
}
