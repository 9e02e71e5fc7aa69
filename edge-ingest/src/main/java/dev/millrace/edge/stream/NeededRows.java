package dev.millrace.edge.stream;

import dev.millrace.edge.config.EdgeConfig.StreamConfig;
import dev.millrace.edge.config.SketchSettings;
import dev.millrace.edge.program.RowNeeds;
import dev.millrace.edge.program.RowValues;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Which rows of a stream leave the device, and which of their columns. Of one thread.
 *
 * <p>Where only what queries need is sent, one row goes all the same when none has for as long as a segment is, by event time: with it time goes on at the
 * server, and windows close there.
 */
final class NeededRows implements RowValues {
    private final ColumnCopy[] columns;
    private final Optional<RowNeeds> needs; // of all, if none
    private final boolean[] sent; // of rows that go, by column
    private final long mostSilentMicros;
    private long lastMicros = Long.MIN_VALUE; // the latest event time that went
    private long arrivalMicros;

    /** @throws dev.millrace.error.MillraceException 42804 if a query has a column otherwise than the device has */
    NeededRows(StreamConfig stream, SketchSettings settings, ColumnCopy[] columns) {
        this.columns = columns;
        this.mostSilentMicros = settings.segmentMicros();
        this.needs = needs(stream, settings);
        this.sent = new boolean[columns.length];
        for (int column = 0; column < sent.length; column++) {
            sent[column] =
                    needs.isEmpty() || needs.get().reads(column) || stream.key().equals(Optional.of(column));
        }
    }

    /** Holds settings to what a stream has, as the constructor does. */
    static void require(StreamConfig stream, SketchSettings settings) {
        needs(stream, settings);
    }

    private static Optional<RowNeeds> needs(StreamConfig stream, SketchSettings settings) {
        return settings.rows().onlyNeeded()
                ? Optional.of(new RowNeeds(settings.rows().queries().values(), schema(stream)))
                : Optional.empty();
    }

    /** The stream's columns, and behind them the time of arrival where that is the time. */
    private static Schema schema(StreamConfig stream) {
        if (stream.time().isPresent()) {
            return stream.columns();
        }
        List<Field> fields = new ArrayList<>(stream.columns().fields());
        fields.add(new Field(SketchSchemas.ARRIVAL, DataType.TIMESTAMPTZ, false));
        return new Schema(fields);
    }

    /** Whether a row goes, of this time. */
    boolean goes(int row, long timeMicros) {
        if (needs.isEmpty()) {
            return true;
        }
        arrivalMicros = timeMicros;
        boolean silent = lastMicros == Long.MIN_VALUE || timeMicros - mostSilentMicros >= lastMicros;
        if (silent || needs.get().needs(this, row)) {
            lastMicros = Math.max(lastMicros, timeMicros);
            return true;
        }
        return false;
    }

    /** Whether a column of rows that go does. */
    boolean goes(int column) {
        return sent[column];
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
