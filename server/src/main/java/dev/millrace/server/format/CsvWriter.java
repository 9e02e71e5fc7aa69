package dev.millrace.server.format;

import dev.millrace.batch.Batch;
import dev.millrace.text.CsvRows;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.util.stream.Collectors;

/** CSV as COPY TO writes it, with a header line. */
final class CsvWriter implements RowWriter {
    private final Appendable out;

    CsvWriter(Schema schema, Appendable out) throws IOException {
        this.out = out;
        out.append(schema.names().stream().map(CsvWriter::quoted).collect(Collectors.joining(",", "", "\n")));
    }

    @Override
    public void write(Batch batch) throws IOException {
        LineBuffer.write(batch, out, CsvRows.COMMAS::row);
    }

    @Override
    public void end() {}

    private static String quoted(String name) {
        boolean plain = !name.isEmpty() && name.chars().noneMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r');
        return plain ? name : '"' + name.replace("\"", "\"\"") + '"';
    }
}
