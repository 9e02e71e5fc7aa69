package dev.millrace.cli.format;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.CsvRows;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.ZoneClock;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;

/** CSV as COPY TO writes it, with a header line. */
final class CsvWriter implements RowWriter {
    private static final int HEADER_BYTES = 256;

    private final Appendable out;
    private final Optional<ZoneClock> clock;

    CsvWriter(Schema schema, Optional<ZoneClock> clock, Appendable out) throws IOException {
        this.out = out;
        this.clock = clock;
        try (BufferAllocator allocator = new RootAllocator();
                TextBuffer header = new TextBuffer(allocator, HEADER_BYTES)) {
            CsvRows.COMMAS.header(header, schema, "");
            out.append(header.toString());
        }
    }

    @Override
    public void write(Batch batch) throws IOException {
        LineBuffer.write(batch, clock, out, CsvRows.COMMAS::row);
    }

    @Override
    public void end() {}
}
