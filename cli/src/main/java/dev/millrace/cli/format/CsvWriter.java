package dev.millrace.cli.format;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.CsvRows;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.TimeStyle;
import dev.millrace.type.Schema;
import java.io.IOException;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;

/** CSV as COPY TO writes it, with a header line. */
final class CsvWriter implements RowWriter {
    private static final int HEADER_BYTES = 256;

    private final Appendable out;
    private final TimeStyle style;

    CsvWriter(Schema schema, TimeStyle style, Appendable out) throws IOException {
        this.out = out;
        this.style = style;
        try (BufferAllocator allocator = new RootAllocator();
                TextBuffer header = new TextBuffer(allocator, HEADER_BYTES)) {
            CsvRows.COMMAS.header(header, schema, "");
            out.append(header.toString());
        }
    }

    @Override
    public void write(Batch batch) throws IOException {
        LineBuffer.write(batch, style, out, CsvRows.COMMAS::row);
    }

    @Override
    public void end() {}
}
