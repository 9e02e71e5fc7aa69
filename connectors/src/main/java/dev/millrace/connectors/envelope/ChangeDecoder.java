package dev.millrace.connectors.envelope;

import dev.millrace.batch.ArrowTypes;
import dev.millrace.batch.Closing;
import dev.millrace.connectors.envelope.PartDecoder.Failure;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.format.DecodedRows;
import dev.millrace.format.DecoderContext;
import dev.millrace.format.EncodedRecords;
import dev.millrace.format.RecordDecoder;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.IntVector;

/** Makes a row of each record that says something, of the columns of {@link ChangeFormat}. Owned by one thread. */
final class ChangeDecoder implements RecordDecoder {
    private final ChangeFormat format;
    private final Schema schema;
    private final List<Integer> requested;
    private final DecoderContext context;
    private final EnvelopeReading reading;

    ChangeDecoder(ChangeFormat format, List<Integer> requested, DecoderContext context) {
        this.format = format;
        this.schema = format.schema();
        this.requested = List.copyOf(requested);
        this.context = context;
        this.reading = format.reading().apply(context);
    }

    @Override
    public Optional<DecodedRows> decode(EncodedRecords records) {
        Optional<DecodedChanges> read = reading.read(records);
        if (read.isEmpty()) {
            return Optional.empty();
        }
        try (DecodedChanges changes = read.get()) {
            int[] recordOf = new int[records.count()];
            int rows = 0;
            for (int record = 0; record < records.count(); record++) {
                Optional<Failure> failure = changes.failure(record);
                if (failure.isEmpty()) {
                    failure = missing(changes, record);
                }
                if (failure.isPresent()) {
                    context.reject(record, failure.get().column(), failure.get().reason());
                } else {
                    recordOf[rows++] = record;
                }
            }
            int[] made = Arrays.copyOf(recordOf, rows);
            return Optional.of(new DecodedRows(vectors(changes, made), rows, Optional.of(made), Optional.empty()));
        }
    }

    /** A value that must be there and is not: of a row that is put any NOT NULL column, of one that goes its key. */
    private Optional<Failure> missing(DecodedChanges changes, int record) {
        ChangeKind kind = changes.kind(record);
        if (kind != ChangeKind.PUT && kind != ChangeKind.DELETE) {
            return Optional.empty();
        }
        for (int column = 0; column < format.declared().size(); column++) {
            boolean isOfKey = format.key().contains(column);
            boolean isNeeded = isOfKey
                    || kind == ChangeKind.PUT
                            && !format.declared().field(column).nullable();
            if (isNeeded && changes.cell(record, column).isEmpty()) {
                String name = format.declared().field(column).name();
                String why = isOfKey
                        ? "no value for column \"" + name + "\", which is of the key"
                        : "null value in column \"" + name + "\" violates not-null constraint";
                return Optional.of(new Failure(name, MillraceException.user(SqlState.NOT_NULL_VIOLATION, why)));
            }
        }
        return Optional.empty();
    }

    private List<FieldVector> vectors(DecodedChanges changes, int[] records) {
        List<FieldVector> vectors = new ArrayList<>();
        try {
            for (int column : requested) {
                FieldVector vector = ArrowTypes.arrowField(schema.field(column)).createVector(context.allocator());
                vectors.add(vector);
                vector.setInitialCapacity(Math.max(1, records.length));
                vector.allocateNew();
                if (column == ChangeFormat.KIND) {
                    for (int row = 0; row < records.length; row++) {
                        ((IntVector) vector)
                                .setSafe(row, changes.kind(records[row]).ordinal());
                    }
                } else {
                    fill(vector, changes, column - 1, records);
                }
                vector.setValueCount(records.length);
            }
            return vectors;
        } catch (RuntimeException | Error e) {
            Closing.all(vectors);
            throw e;
        }
    }

    private static void fill(FieldVector vector, DecodedChanges changes, int column, int[] records) {
        for (int row = 0; row < records.length; row++) {
            Optional<DecodedChanges.Cell> cell = changes.cell(records[row], column);
            if (cell.isPresent()) {
                vector.copyFromSafe(cell.get().row(), row, cell.get().vector());
            }
        }
    }

    @Override
    public Optional<String> waitsFor() {
        return reading.waitsFor();
    }

    @Override
    public void close() {
        reading.close();
    }
}
