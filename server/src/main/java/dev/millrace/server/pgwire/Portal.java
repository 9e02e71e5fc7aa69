package dev.millrace.server.pgwire;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.session.Session;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;

/** A prepared statement with its values, and its result once it runs. Belongs to the session's thread. */
final class Portal implements AutoCloseable {
    private final PreparedStatement prepared;
    private final Parameters parameters;
    private final List<Boolean> binaryResults;
    private final long epochMicros;
    private final long bytes;
    private Optional<RowStream> rows = Optional.empty();
    private boolean finished;

    /**
     * @param binaryResults none (all text), one for all columns, or one per column
     * @param bytes that its values take on the Java heap, about
     */
    Portal(
            PreparedStatement prepared,
            Parameters parameters,
            List<Boolean> binaryResults,
            long epochMicros,
            long bytes) {
        this.epochMicros = epochMicros;
        this.bytes = bytes;
        this.prepared = prepared;
        this.parameters = parameters;
        this.binaryResults = binaryResults;
    }

    PreparedStatement prepared() {
        return prepared;
    }

    /** When the portal was made. */
    long epochMicros() {
        return epochMicros;
    }

    long bytes() {
        return bytes;
    }

    boolean isBinary() {
        return binaryResults.contains(true);
    }

    /** By column, whether it is sent in binary. */
    boolean[] binaryColumns(Schema schema) {
        if (binaryResults.size() > 1 && binaryResults.size() != schema.size()) {
            throw MillraceException.user(
                    SqlState.PROTOCOL_VIOLATION,
                    "bind message has " + binaryResults.size() + " result formats but query has " + schema.size()
                            + " columns");
        }
        boolean[] binary = new boolean[schema.size()];
        for (int column = 0; column < binary.length && !binaryResults.isEmpty(); column++) {
            binary[column] = binaryResults.get(binaryResults.size() == 1 ? 0 : column);
        }
        return binary;
    }

    Parameters parameters() {
        return parameters;
    }

    /** Starts the statement. */
    StatementResult run(Session session) {
        return session.execute(prepared.statement().orElseThrow(), parameters);
    }

    /** The rows that are being fetched; empty before the first Execute, and for what has no rows. */
    Optional<RowStream> rows() {
        return rows;
    }

    boolean hasResult() {
        return rows.isPresent();
    }

    void opened(RowStream stream) {
        rows = Optional.of(stream);
    }

    /** Whether the portal's statement ran to its end. */
    boolean isFinished() {
        return finished;
    }

    void finish() {
        finished = true;
        close();
    }

    @Override
    public void close() {
        rows.ifPresent(RowStream::close);
        rows = Optional.empty();
    }
}
