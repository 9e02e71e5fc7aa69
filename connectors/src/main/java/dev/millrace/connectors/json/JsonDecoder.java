package dev.millrace.connectors.json;

import dev.millrace.connectors.filter.RowFilter;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.format.DecodedRows;
import dev.millrace.format.DecoderContext;
import dev.millrace.format.EncodedRecords;
import dev.millrace.format.RecordDecoder;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.vector.FieldVector;

/** Makes a row of each record that is one JSON object. */
final class JsonDecoder implements RecordDecoder {
    private final JsonColumns columns;
    private final DecoderContext context;
    private final JsonColumns.Rejection rejection = this::reject;
    private int record; // under way

    /** @param filter rows that do not pass it are left out */
    JsonDecoder(List<JsonColumn> declared, List<Integer> requested, RowFilter filter, DecoderContext context) {
        this.columns = new JsonColumns(declared, requested, filter, context.allocator());
        this.context = context;
    }

    private void reject(String column, MillraceException reason) {
        context.reject(record, column, reason);
    }

    @Override
    public Optional<DecodedRows> decode(EncodedRecords records) {
        int count = records.count();
        int[] made = new int[count];
        int rows = 0;
        try {
            columns.begin(count);
            for (record = 0; record < count; record++) {
                if (records.isNull(record)) {
                    reject("", MillraceException.user(SqlState.NULL_VALUE_NOT_ALLOWED, "a record without a value"));
                    continue;
                }
                int from = records.from(record);
                if (columns.read(records.address() + from, records.to(record) - from, rows, rejection)) {
                    made[rows++] = record;
                }
            }
        } catch (RuntimeException | Error e) {
            columns.abandon();
            throw e;
        }
        List<FieldVector> vectors = List.of(columns.finish(rows));
        return Optional.of(
                rows == count
                        ? DecodedRows.ofAll(vectors, rows)
                        : new DecodedRows(vectors, rows, Optional.of(Arrays.copyOf(made, rows)), Optional.empty()));
    }

    @Override
    public void close() {
        columns.close();
    }
}
