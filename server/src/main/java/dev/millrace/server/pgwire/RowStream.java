package dev.millrace.server.pgwire;

import dev.millrace.batch.Batch;
import dev.millrace.server.pgwire.value.RowEncoder;
import dev.millrace.server.session.StatementResult;
import dev.millrace.text.TextBuffer;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/** Sends the rows of a result as DataRow messages, as many at a time as are asked for. Belongs to the session's thread. */
final class RowStream implements AutoCloseable {
    private static final int ROOM = 16 << 10;
    private static final int ENOUGH = 8 << 10;

    private final ResultBatches batches;
    private final RowEncoder encoder;
    private final TextBuffer text;
    private Optional<Batch> current = Optional.empty();
    private int row;
    private boolean begun;
    private boolean closed;

    /**
     * @param result Rows or Changes, taken over
     * @param binary by column whether it is sent in binary
     */
    RowStream(StatementResult result, boolean[] binary, BufferAllocator allocator) {
        this.batches = new ResultBatches(result, allocator);
        this.encoder = new RowEncoder(batches.schema(), binary);
        this.text = new TextBuffer(allocator, ROOM);
    }

    /**
     * Sends rows until there are no more, or {@code most} were sent. A subscription with a limit gives what is there: at
     * first at once, so that its client learns that it runs, later at least one row.
     *
     * @param most 0 for all
     * @return how many were sent
     */
    long send(Outgoing out, long most) {
        out.setEndless(!batches.isFinite());
        try {
            return sendRows(out, most);
        } finally {
            out.setEndless(false);
        }
    }

    private long sendRows(Outgoing out, long most) {
        long limit = most == 0 ? Long.MAX_VALUE : most;
        long sent = 0;
        boolean first = !begun;
        out.cutIf(batches::isOverrun);
        begun = true;
        while (sent < limit && fill(out, most == 0 || sent == 0 && !first)) {
            Batch batch = current.orElseThrow();
            int end = (int) Math.min(batch.rowCount(), row + (limit - sent));
            sent += end - row;
            for (; row < end; row++) {
                encoder.row(text, batch, row);
                if (text.length() >= ENOUGH) {
                    out.add(text);
                }
            }
            if (row == batch.rowCount()) {
                batch.close();
                current = Optional.empty();
            }
        }
        out.add(text);
        return sent;
    }

    /** Whether there is nothing more to be sent, as far as was seen. */
    boolean isEnded() {
        return batches.isEnded();
    }

    private boolean fill(Outgoing out, boolean wait) {
        if (current.isPresent()) {
            return true;
        }
        if (!batches.isFinite()) {
            current = batches.next(false);
            if (current.isEmpty() && wait && !batches.isEnded()) {
                out.add(text);
                out.flush(); // the client sees what came before it waits for more
                current = batches.next(true);
            }
        } else {
            current = batches.next(true);
        }
        row = 0;
        return current.isPresent();
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            current.ifPresent(Batch::close);
            text.close();
            batches.close();
        }
    }
}
