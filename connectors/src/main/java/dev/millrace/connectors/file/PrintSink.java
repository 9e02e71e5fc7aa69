package dev.millrace.connectors.file;

import dev.millrace.batch.Batch;
import dev.millrace.connector.Sink;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;

/** Writes lines, whole epochs at a time. */
final class PrintSink implements Sink {
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
                lines.append(prefix.getBytes(StandardCharsets.UTF_8));
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
