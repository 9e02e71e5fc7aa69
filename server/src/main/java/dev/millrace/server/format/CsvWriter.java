package dev.millrace.server.format;

import dev.millrace.batch.Batch;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.util.Optional;

/** CSV as COPY TO writes it: RFC 4180 with newlines, quotes only where needed. */
final class CsvWriter implements RowWriter {
    private final Schema schema;
    private final Appendable out;

    CsvWriter(Schema schema, Appendable out) throws IOException {
        this.schema = schema;
        this.out = out;
        for (int column = 0; column < schema.size(); column++) {
            separate(column);
            value(schema.field(column).name());
        }
        out.append('\n');
    }

    @Override
    public void write(Batch batch) throws IOException {
        try (CellText cells = new CellText(batch)) {
            for (int row = 0; row < batch.rowCount(); row++) {
                for (int column = 0; column < schema.size(); column++) {
                    separate(column);
                    Optional<String> text = cells.text(column, row);
                    if (text.isPresent()) {
                        value(text.get());
                    }
                }
                out.append('\n');
            }
        }
    }

    @Override
    public void end() {}

    private void separate(int column) throws IOException {
        if (column > 0) {
            out.append(',');
        }
    }

    private void value(String text) throws IOException {
        if (!needsQuotes(text)) {
            out.append(text);
            return;
        }
        out.append('"').append(text.replace("\"", "\"\"")).append('"');
    }

    private boolean needsQuotes(String text) {
        // A line of its own that reads \. ends the data of COPY; the empty text would otherwise read as NULL.
        if (text.isEmpty() || text.equals("\\.") && schema.size() == 1) {
            return true;
        }
        for (int at = 0; at < text.length(); at++) {
            char c = text.charAt(at);
            if (c == ',' || c == '"' || c == '\n' || c == '\r') {
                return true;
            }
        }
        return false;
    }
}
