package dev.millrace.engine.checkpoint;

import dev.millrace.connector.PreparedRows;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Optional;

/**
 * What a checkpoint has of a query's sink that goes by checkpoints.
 *
 * <p>Section {@code sink QUERY}: part {@code prepared}: number of the checkpoint that it was prepared for, 8 bytes; length of the sink's token, 4
 * bytes, and the token.
 */
public record SavedSink(String query, PreparedRows rows) implements Barrier.Later {
    private static final String PREPARED = "prepared";

    private static String section(String query) {
        return "sink " + query;
    }

    /** Writes it now, by any thread. */
    public void write(Barrier barrier) throws IOException {
        try (SectionOutput output = barrier.section(section(query))) {
            DataOutput out = output.part(PREPARED);
            byte[] token = rows.token();
            out.writeLong(rows.checkpoint());
            out.writeInt(token.length);
            out.write(token);
            output.finish();
        }
    }

    @Override
    public void write(Barrier barrier, Runnable sometimes) throws IOException {
        write(barrier);
    }

    /** @throws MillraceException XX001 if it is damaged */
    public static Optional<PreparedRows> read(SavedSections saved, String query) {
        PreparedRows[] found = new PreparedRows[1];
        saved.read(section(query), PREPARED, part -> found[0] = read(part.part(), query));
        return Optional.ofNullable(found[0]);
    }

    private static PreparedRows read(DataInput in, String query) throws IOException {
        long checkpoint = in.readLong();
        int length = in.readInt();
        if (length < 0 || length > PreparedRows.MOST_TOKEN_BYTES) {
            throw MillraceException.external(
                    SqlState.DATA_CORRUPTED,
                    "what a checkpoint says of the sink \"" + query + "\" cannot be: a token of " + length + " bytes");
        }
        byte[] token = new byte[length];
        in.readFully(token);
        return new PreparedRows(checkpoint, token);
    }

    @Override
    public Optional<SectionContents> contents() {
        return Optional.empty(); // it is short
    }

    @Override
    public void close() {
        // nothing is held
    }
}
