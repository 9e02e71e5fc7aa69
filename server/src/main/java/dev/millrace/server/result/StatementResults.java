package dev.millrace.server.result;

import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.Supplier;

/**
 * The results of the statements of one text, each executed when it is asked for; asking for the next closes the one
 * before. After an error there are no more.
 */
public final class StatementResults implements Iterator<StatementResult>, AutoCloseable {
    private final Iterator<Supplier<StatementResult>> statements;
    private StatementResult current = StatementResult.Command.of("");
    private boolean ended;

    private final Runnable onEnd;

    /** @param onEnd called when a result is closed */
    public StatementResults(Iterator<Supplier<StatementResult>> statements, Runnable onEnd) {
        this.onEnd = onEnd;
        this.statements = statements;
    }

    @Override
    public boolean hasNext() {
        return !ended && statements.hasNext();
    }

    /**
     * Executes the next statement.
     *
     * @throws dev.millrace.error.MillraceException if it fails
     */
    @Override
    public StatementResult next() {
        if (!hasNext()) {
            throw new NoSuchElementException();
        }
        current.close();
        ended = true;
        current = statements.next().get();
        ended = false;
        return current;
    }

    /** Executes what is left and reads all rows to their end; for scripts whose answers do not matter. */
    public void drain() {
        while (hasNext()) {
            if (next() instanceof StatementResult.Rows rows) {
                for (var batch = rows.next(); batch.isPresent(); batch = rows.next()) {
                    batch.get().close();
                }
            }
        }
        close();
    }

    @Override
    public void close() {
        ended = true;
        current.close();
        onEnd.run();
    }
}
