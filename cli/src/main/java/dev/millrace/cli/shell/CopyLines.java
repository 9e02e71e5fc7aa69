package dev.millrace.cli.shell;

import dev.millrace.batch.Batch;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.copy.CopyOptions;
import dev.millrace.server.copy.CopyOutput;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.rows.ChangeRows;
import dev.millrace.server.session.Session;
import dev.millrace.text.TextBuffer;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.OptionalLong;
import org.apache.arrow.memory.BufferAllocator;

/** COPY from the lines of a script and to standard output, in the forms that are lines. For the shell's thread. */
final class CopyLines {
    private static final int FULL_BYTES = 1 << 16;
    private static final long POLL_MICROS = 1_000_000;
    private static final String END = "\\.";

    private CopyLines() {}

    /** Where lines come from: without what ends them, and empty when there are no more. */
    interface Source {
        Optional<String> next() throws IOException;
    }

    /**
     * Copies lines until one is {@code \.} or there are no more. After an error the rest of the lines is read over, so that
     * nobody takes them for statements. What it returns is told when the rows are as safe as the session asks for.
     *
     * @param lines empty where nobody gives any: that is refused
     */
    static StatementResult.Command in(Session session, StatementResult.CopyIn copy, Optional<Source> lines)
            throws IOException {
        try (copy) {
            Source source = lines.orElseThrow(() -> notHere("COPY FROM STDIN at a prompt")
                    .withHint("scripts and standard input have rows behind it, ended by a line \\."
                            + "; a stream WITH (connector = 'file', path = ...) reads files"));
            if (copy.binary()) {
                throw notHere("COPY FROM STDIN in binary form").withHint("FORMAT csv and FORMAT text are lines");
            }
            boolean atEnd = false;
            try (TextBuffer text = new TextBuffer(session.allocator(), FULL_BYTES)) {
                while (!atEnd) {
                    atEnd = !read(source, text);
                    copy.write(text.address(), Math.toIntExact(text.length()));
                    text.clear();
                }
                return command(session.goOn(copy::finish));
            } finally {
                while (!atEnd) {
                    atEnd = isEnd(source.next());
                }
            }
        }
    }

    /** Reads lines until the buffer has enough; false at the end of the rows. */
    private static boolean read(Source source, TextBuffer text) throws IOException {
        while (text.length() < FULL_BYTES) {
            Optional<String> line = source.next();
            if (isEnd(line)) {
                return false;
            }
            text.append(line.get().getBytes(StandardCharsets.UTF_8));
            text.append('\n');
        }
        return true;
    }

    private static boolean isEnd(Optional<String> line) {
        return line.isEmpty() || line.get().equals(END);
    }

    /** Writes the rows, or what happens to them for as long as it is wanted; that it is cancelled is how that ends. */
    static StatementResult.Command out(StatementResult.CopyOut copy, Session session, Writer out) throws IOException {
        BufferAllocator allocator = session.allocator();
        try (copy;
                TextBuffer text = new TextBuffer(allocator, FULL_BYTES)) {
            if (copy.options().form() == CopyOptions.Form.BINARY) {
                throw notHere("COPY TO STDOUT in binary form").withHint("FORMAT csv and FORMAT text are lines");
            }
            text.inStyle(session.settings().timeStyle());
            Output output = new Output(new CopyOutput(copy.options()), text, out);
            long rows = copy.source() instanceof StatementResult.Changes changes
                    ? output.follow(changes, allocator)
                    : output.all((StatementResult.Rows) copy.source());
            return command(rows);
        }
    }

    private record Output(CopyOutput form, TextBuffer text, Writer out) {
        long all(StatementResult.Rows rows) throws IOException {
            form.begin(text, rows.schema());
            long count = 0;
            for (Optional<Batch> next = rows.next(); next.isPresent(); next = rows.next()) {
                try (Batch batch = next.get()) {
                    write(batch);
                    count += batch.rowCount();
                }
            }
            handOver();
            return count;
        }

        long follow(StatementResult.Changes changes, BufferAllocator allocator) throws IOException {
            form.begin(text, ChangeRows.PREFIX.concat(changes.schema()));
            long count = 0;
            try {
                while (!changes.isFinished()) {
                    Optional<EpochChanges> next = changes.next(POLL_MICROS);
                    if (next.isPresent()) {
                        try (EpochChanges epoch = next.get()) {
                            count += write(epoch, allocator);
                        }
                        handOver();
                        out.flush();
                    }
                }
            } catch (MillraceException e) {
                if (e.sqlState() != SqlState.QUERY_CANCELED) {
                    throw e;
                }
            }
            handOver();
            return count;
        }

        private long write(EpochChanges epoch, BufferAllocator allocator) throws IOException {
            long count = 0;
            for (Batch batch : epoch.batches()) {
                try (Batch lines = ChangeRows.of(batch, epoch.epochMicros(), allocator)) {
                    write(lines);
                    count += lines.rowCount();
                }
            }
            return count;
        }

        private void write(Batch batch) throws IOException {
            for (int row = 0; row < batch.rowCount(); row++) {
                form.row(text, batch, row);
                if (text.length() >= FULL_BYTES) {
                    handOver();
                }
            }
        }

        private void handOver() throws IOException {
            out.append(text.toString());
            text.clear();
        }
    }

    private static StatementResult.Command command(long rows) {
        return new StatementResult.Command("COPY", OptionalLong.of(rows));
    }

    private static MillraceException notHere(String what) {
        return MillraceException.user(SqlState.FEATURE_NOT_SUPPORTED, what + " does not work in this shell");
    }
}
