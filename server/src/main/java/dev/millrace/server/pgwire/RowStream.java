package dev.millrace.server.pgwire;

import dev.millrace.batch.Batch;
import dev.millrace.server.pgwire.value.RowEncoder;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.rows.RowCopier;
import dev.millrace.server.session.Session;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.TimeStyle;
import dev.millrace.type.Schema;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;

/** Sends the rows of a result as DataRow messages, as many at a time as are asked for. Belongs to the session's thread. */
final class RowStream implements AutoCloseable {
    private static final int ENOUGH = 8 << 10;

    private final ResultBatches batches;
    private final RowEncoder encoder;
    private final BufferAllocator allocator;
    private final TimeStyle style; // of the session
    private Optional<Batch> current = Optional.empty();
    private int row;
    private boolean beginsAtOnce;
    private boolean closed;

    /**
     * @param result Rows or Changes, taken over
     * @param binary by column whether it is sent in binary
     * @param session whose client the rows are for
     */
    RowStream(StatementResult result, boolean[] binary, Session session) {
        this.allocator = session.allocator();
        this.style = session.settings().timeStyle();
        this.batches = new ResultBatches(result, allocator);
        this.encoder = new RowEncoder(batches.schema(), binary);
    }

    /** Has the next {@link #send} with a limit give what is there, be it nothing. */
    RowStream beginningAtOnce() {
        beginsAtOnce = true;
        return this;
    }

    /**
     * Sends rows until there are no more, or {@code most} were sent. A subscription with a limit gives what is there, but
     * waits for at least one row unless it {@link #beginningAtOnce begins at once}.
     *
     * @param most 0 for all
     * @return how many were sent
     */
    long send(Outgoing out, long most) {
        out.setEndless(!batches.isFinite());
        try {
            TextBuffer text = out.rows(allocator);
            text.inStyle(style);
            return sendRows(out, text, most);
        } finally {
            out.rowsSent();
            out.setEndless(false);
        }
    }

    private long sendRows(Outgoing out, TextBuffer text, long most) {
        long limit = most == 0 ? Long.MAX_VALUE : most;
        long sent = 0;
        boolean waits = !beginsAtOnce;
        beginsAtOnce = false;
        out.cutIf(batches::isOverrun);
        while (sent < limit && fill(out, text, most == 0 || waits && sent == 0)) {
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

    /** The next rows for somebody else, at most so many; a subscription's as {@link #send} has them. Does not close this. */
    StatementResult.Rows take(long count, BufferAllocator allocator) {
        return new Taken(count, allocator);
    }

    private final class Taken implements StatementResult.Rows {
        private final BufferAllocator allocator;
        private long left;
        private boolean any;

        Taken(long count, BufferAllocator allocator) {
            this.left = count;
            this.allocator = allocator;
        }

        @Override
        public Schema schema() {
            return batches.schema();
        }

        @Override
        public Optional<Batch> next() {
            if (left == 0) {
                return Optional.empty();
            }
            if (current.isEmpty()) {
                current = batches.next(batches.isFinite() || !any);
                row = 0;
            }
            if (current.isEmpty()) {
                return Optional.empty();
            }
            any = true;
            Batch batch = current.get();
            int end = row + (int) Math.min(batch.rowCount() - row, left);
            int[] places = IntStream.range(0, batch.columnCount()).toArray();
            try (RowCopier copier = new RowCopier(batch.schema(), allocator)) {
                left -= end - row;
                for (; row < end; row++) {
                    copier.copy(batch, places, row, 1);
                }
                if (row == batch.rowCount()) {
                    batch.close();
                    current = Optional.empty();
                }
                return Optional.of(copier.build());
            }
        }

        @Override
        public void close() {}
    }

    /** Whether there is nothing more to be sent, as far as was seen. */
    boolean isEnded() {
        return batches.isEnded();
    }

    private boolean fill(Outgoing out, TextBuffer text, boolean wait) {
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
            batches.close();
        }
    }
}
