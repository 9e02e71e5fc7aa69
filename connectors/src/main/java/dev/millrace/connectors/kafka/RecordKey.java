package dev.millrace.connectors.kafka;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.JsonRows;
import dev.millrace.batch.text.VectorText;
import dev.millrace.connector.Options;
import dev.millrace.connectors.upsert.KeyOption;
import dev.millrace.text.TextBuffer;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.vector.FieldVector;
import org.jspecify.annotations.Nullable;

/**
 * The keys of records that are written: of one column its text, of several a JSON object. Immutable.
 *
 * @param columns of the schema; none if records have no key
 */
record RecordKey(Schema schema, List<Integer> columns, JsonRows json) {
    static RecordKey read(Schema schema, Options options) {
        List<Integer> columns = KeyOption.read(schema, options);
        return new RecordKey(schema, columns, new JsonRows(schema.select(columns)));
    }

    /** The key of a row; null for none, and for a NULL in the only column. */
    byte @Nullable [] of(Batch batch, int row, TextBuffer scratch) {
        if (columns.isEmpty()) {
            return null;
        }
        scratch.clear();
        if (columns.size() == 1) {
            int column = columns.get(0);
            if (batch.column(column).isNull(row)) {
                return null;
            }
            VectorText.value(scratch, schema.type(column), batch.column(column), row);
            return scratch.toBytes();
        }
        FieldVector[] vectors = columns.stream().map(batch::column).toArray(FieldVector[]::new);
        try (Batch key = Batch.view(
                schema.select(columns), vectors, batch.rowCount(), Optional.empty(), List.of(batch.retain()))) {
            json.row(scratch, key, row);
        }
        return scratch.toBytes();
    }
}
