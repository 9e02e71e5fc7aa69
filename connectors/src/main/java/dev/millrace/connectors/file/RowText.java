package dev.millrace.connectors.file;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.CsvRows;
import dev.millrace.batch.text.JsonRows;
import dev.millrace.text.TextBuffer;
import dev.millrace.type.Schema;
import java.nio.charset.StandardCharsets;

/** Rows of a query as lines of a format. */
interface RowText {
    /** What a new file begins with. */
    void begin(TextBuffer out);

    /** A row with its line end. */
    void row(TextBuffer out, Batch batch, int row, boolean retracted);

    /** Separated values; {@code operation} names the column for + and -, or is empty. */
    static RowText csv(Schema schema, CsvRows rows, boolean header, String operation) {
        return new RowText() {
            @Override
            public void begin(TextBuffer out) {
                if (header) {
                    rows.header(out, schema, operation);
                }
            }

            @Override
            public void row(TextBuffer out, Batch batch, int row, boolean retracted) {
                if (!operation.isEmpty()) {
                    out.append(retracted ? '-' : '+');
                    out.append(rows.delimiter());
                }
                rows.row(out, batch, row);
            }
        };
    }

    /** One JSON object per line; {@code operation} names the key for + and -, or is empty. */
    static RowText json(Schema schema, String operation) {
        JsonRows rows = new JsonRows(schema);
        byte[] added = ("{\"" + operation + "\":\"+\",").getBytes(StandardCharsets.UTF_8);
        byte[] removed = ("{\"" + operation + "\":\"-\",").getBytes(StandardCharsets.UTF_8);
        return new RowText() {
            @Override
            public void begin(TextBuffer out) {}

            @Override
            public void row(TextBuffer out, Batch batch, int row, boolean retracted) {
                if (!operation.isEmpty()) {
                    out.append(retracted ? removed : added);
                    rows.members(out, batch, row);
                } else {
                    rows.row(out, batch, row);
                }
                out.append('\n');
            }
        };
    }
}
