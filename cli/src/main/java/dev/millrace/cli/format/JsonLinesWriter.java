package dev.millrace.cli.format;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.JsonRows;
import dev.millrace.text.TimeStyle;
import dev.millrace.type.Schema;
import java.io.IOException;

/** JSON lines. */
final class JsonLinesWriter implements RowWriter {
    private final Appendable out;
    private final JsonRows rows;

    JsonLinesWriter(Schema schema, Appendable out) {
        this.out = out;
        this.rows = new JsonRows(schema);
    }

    @Override
    public void write(Batch batch) throws IOException {
        LineBuffer.write(batch, TimeStyle.PLAIN, out, (buffer, from, row) -> {
            rows.row(buffer, from, row);
            buffer.append('\n');
        });
    }

    @Override
    public void end() {}
}
