package dev.millrace.connectors.file;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.CsvRows;
import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connector.Sink;
import dev.millrace.connector.SinkContext;
import dev.millrace.connector.SinkFactory;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import dev.millrace.type.Schema;
import java.io.PrintStream;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;

/** The sink {@code print}: rows as CSV lines, whole epochs at a time, behind + or - where rows can be retracted. */
public final class PrintSinkFactory implements SinkFactory {
    private final PrintStream out;

    /** Rows go to {@code out}, which is flushed but never closed. */
    public PrintSinkFactory(PrintStream out) {
        this.out = out;
    }

    @Override
    public String name() {
        return "print";
    }

    @Override
    public Sink open(Schema schema, boolean appendOnly, Options options, SinkContext context) {
        String prefix = options.text("prefix", "");
        options.rejectUnread();
        return new PrintSink(out, prefix, RowText.csv(schema, CsvRows.COMMAS, false, appendOnly ? "" : "op"));
    }

    @Override
    public List<OptionDescription> options() {
        return List.of(new OptionDescription("prefix", "", "what each line begins with"));
    }

    private static final class PrintSink implements Sink {
        private final BufferAllocator allocator = new RootAllocator();
        private final TextBuffer lines = new TextBuffer(allocator, 4096);
        private final PrintStream out;
        private final String prefix;
        private final RowText text;
        private boolean closed;

        PrintSink(PrintStream out, String prefix, RowText text) {
            this.out = out;
            this.prefix = prefix;
            this.text = text;
        }

        @Override
        public void write(Batch batch) {
            long weights = batch.weightsAddress();
            for (int row = 0; row < batch.rowCount(); row++) {
                long weight = weights == 0 ? 1 : Memory.getLong(weights + 8L * row);
                for (long times = Math.abs(weight); times > 0; times--) {
                    lines.append(prefix.getBytes(java.nio.charset.StandardCharsets.UTF_8));
                    text.row(lines, batch, row, weight < 0);
                }
            }
        }

        @Override
        public void commit(long epoch) {
            byte[] bytes = lines.toBytes();
            out.write(bytes, 0, bytes.length);
            out.flush();
            lines.clear();
        }

        @Override
        public void close() {
            if (!closed) {
                closed = true;
                lines.close();
                allocator.close();
            }
        }
    }
}
