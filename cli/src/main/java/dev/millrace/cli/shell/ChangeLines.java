package dev.millrace.cli.shell;

import dev.millrace.batch.Batch;
import dev.millrace.cli.format.ResultFormat;
import dev.millrace.cli.format.RowWriter;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.rows.ChangeRows;
import dev.millrace.text.TimeStyle;
import java.io.IOException;
import java.io.Writer;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/** Writes a subscription as lines: what happened ('+' or '-'), when the epoch was committed, the row. */
final class ChangeLines {
    private static final long POLL_MICROS = 1_000_000;

    private final StatementResult.Changes changes;
    private final BufferAllocator allocator;
    private final Writer out;
    private final RowWriter rows;

    /** @param style in which dates and times are written */
    ChangeLines(
            StatementResult.Changes changes,
            ResultFormat format,
            TimeStyle style,
            BufferAllocator allocator,
            Writer out)
            throws IOException {
        this.changes = changes;
        this.allocator = allocator;
        this.out = out;
        this.rows = format.open(ChangeRows.PREFIX.concat(changes.schema()), style, out);
    }

    /** Writes until the query ends or the statement is cancelled. */
    void run() throws IOException {
        while (!changes.isFinished()) {
            Optional<EpochChanges> next = changes.next(POLL_MICROS);
            if (next.isPresent()) {
                try (EpochChanges epoch = next.get()) {
                    write(epoch);
                }
                rows.flush();
                out.flush();
            }
        }
        rows.end();
    }

    private void write(EpochChanges epoch) throws IOException {
        for (Batch batch : epoch.batches()) {
            try (Batch lines = ChangeRows.of(batch, epoch.epochMicros(), allocator)) {
                rows.write(lines);
            }
        }
    }
}
