package dev.millrace.connectors.envelope;

import dev.millrace.batch.text.ValueText;
import dev.millrace.connectors.envelope.PartDecoder.Failure;
import dev.millrace.connectors.envelope.PartDecoder.Parts;
import dev.millrace.error.MillraceException;
import dev.millrace.format.DecoderContext;
import dev.millrace.format.EncodedRecords;
import dev.millrace.format.RecordFormat;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.complex.StructVector;
import org.jspecify.annotations.Nullable;

/**
 * Debezium's envelope in a format that has records within records, as Avro: the rows are columns of type ROW. Owned by one thread, but for
 * what it waits for.
 */
final class DebeziumRowReading implements EnvelopeReading {
    private static final int OP = 0;
    private static final int BEFORE = 1;
    private static final int AFTER = 2;
    private static final int STATUS = 3;

    private final PartDecoder decoder;

    /** @param format of the columns of {@link #schema} */
    DebeziumRowReading(RecordFormat format, DecoderContext context) {
        this.decoder = new PartDecoder(format, context);
    }

    /** The columns of an envelope around rows of these. */
    static Schema schema(Schema declared) {
        DataType row = DataType.row(declared.fields());
        return Schema.of(
                new Field("op", DataType.TEXT, true),
                new Field("before", row, true),
                new Field("after", row, true),
                new Field("status", DataType.TEXT, true));
    }

    @Override
    public Optional<DecodedChanges> read(EncodedRecords records) {
        decoder.begin(records);
        for (int record = 0; record < records.count(); record++) {
            if (!records.isNull(record)) {
                decoder.add(record, records.from(record), records.to(record), records.position(record));
            }
        }
        return decoder.decode().map(parts -> changes(records, parts));
    }

    private DecodedChanges changes(EncodedRecords records, Parts parts) {
        List<FieldVector> columns = parts.rows().columns();
        StructVector before = (StructVector) columns.get(BEFORE);
        StructVector after = (StructVector) columns.get(AFTER);
        int[] afterOf = parts.rowOf().clone();
        int[] beforeOf = parts.rowOf().clone();
        DecodedChanges changes = new DecodedChanges(records.count(), List.of(parts));
        changes.add(new DecodedChanges.Place(fields(after), afterOf));
        changes.add(new DecodedChanges.Place(fields(before), beforeOf));
        for (int record = 0; record < records.count(); record++) {
            Optional<Failure> failure = decoder.failure(record);
            int row = parts.rowOf()[record];
            if (failure.isPresent()) {
                changes.failed(record, failure);
                continue;
            }
            try {
                ChangeKind kind = row == Parts.NONE
                        ? ChangeKind.TOMBSTONE
                        : kind(columns, row, !before.isNull(row), !after.isNull(row));
                changes.is(record, kind);
                afterOf[record] = kind == ChangeKind.PUT ? row : Parts.NONE;
                beforeOf[record] = kind == ChangeKind.DELETE ? row : Parts.NONE;
            } catch (MillraceException e) {
                changes.failed(record, new Failure("", e));
            }
        }
        return changes;
    }

    private static ChangeKind kind(List<FieldVector> columns, int row, boolean hasBefore, boolean hasAfter) {
        Optional<String> op = ValueText.format(DataType.TEXT, columns.get(OP), row);
        boolean isOfTransaction = op.isEmpty() && !columns.get(STATUS).isNull(row);
        return isOfTransaction ? ChangeKind.TRANSACTION : DebeziumOperation.kind(op.orElse(""), hasBefore, hasAfter);
    }

    private static @Nullable FieldVector[] fields(StructVector row) {
        List<FieldVector> fields = new ArrayList<>(row.getChildrenFromFields());
        return fields.toArray(FieldVector[]::new);
    }

    @Override
    public Optional<String> waitsFor() {
        return decoder.waitsFor();
    }

    @Override
    public void close() {
        decoder.close();
    }
}
