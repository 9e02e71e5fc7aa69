package dev.millrace.connectors.file;

import dev.millrace.batch.Batch;
import dev.millrace.connector.Sink;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;

/** Writes rows as text; a large epoch goes to the file in parts, which its commit keeps or its failure cuts off. */
final class TextFileSink implements Sink {
    private static final long PART_BYTES = 1 << 20;

    private final BufferAllocator allocator = new RootAllocator();
    private final TextBuffer buffer = new TextBuffer(allocator, PART_BYTES + (64 << 10));
    private final CommittedFile file;
    private final RowText text;
    private boolean closed;

    TextFileSink(CommittedFile file, RowText text) {
        this.file = file;
        this.text = text;
        if (file.isEmpty()) {
            text.begin(buffer);
        }
    }

    @Override
    public void write(Batch batch) {
        long weights = batch.weightsAddress();
        for (int row = 0; row < batch.rowCount(); row++) {
            long weight = weights == 0 ? 1 : Memory.getLong(weights + 8L * row);
            for (long times = Math.abs(weight); times > 0; times--) {
                text.row(buffer, batch, row, weight < 0);
            }
            if (buffer.length() >= PART_BYTES) {
                drain();
            }
        }
    }

    @Override
    public void commit(long epoch) {
        drain();
        file.commit();
    }

    private void drain() {
        file.write(buffer.address(), buffer.length());
        buffer.clear();
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            buffer.close();
            allocator.close();
            file.close();
        }
    }
}
