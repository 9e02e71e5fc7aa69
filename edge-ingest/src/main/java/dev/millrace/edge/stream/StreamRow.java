package dev.millrace.edge.stream;

import dev.millrace.batch.Batch;
import dev.millrace.edge.config.EdgeConfig.StreamConfig;
import dev.millrace.edge.program.RowValues;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;

/** The rows of a stream as programs ask about them: its columns, and behind them the time of arrival where that is the time. Of one thread. */
public final class StreamRow implements RowValues {
    private final ColumnCopy[] columns;
    private long arrivalMicros;

    StreamRow(ColumnCopy[] columns) {
        this.columns = columns;
    }

    /** The rows of a batch, no longer than it is there; what is read of it is the batch's. */
    public static StreamRow of(Batch batch) {
        ColumnCopy[] columns = new ColumnCopy[batch.schema().size()];
        for (int column = 0; column < columns.length; column++) {
            columns[column] = new ColumnCopy(column, batch.schema().type(column));
            columns[column].of(batch.column(column));
        }
        return new StreamRow(columns);
    }

    static Schema schema(StreamConfig stream) {
        if (stream.time().isPresent()) {
            return stream.columns();
        }
        List<Field> fields = new ArrayList<>(stream.columns().fields());
        fields.add(new Field(SketchSchemas.ARRIVAL, DataType.TIMESTAMPTZ, false));
        return new Schema(fields);
    }

    /** The row that is asked about next arrived then. */
    void arrived(long micros) {
        arrivalMicros = micros;
    }

    @Override
    public boolean isNull(int column, int row) {
        return column < columns.length && columns[column].isNull(row);
    }

    @Override
    public boolean truth(int column, int row) {
        return columns[column].truth(row);
    }

    @Override
    public long whole(int column, int row) {
        return column < columns.length ? columns[column].whole(row) : arrivalMicros;
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
