package dev.millrace.testing.slt;

import java.util.List;
import java.util.Optional;

/** A session as golden files need it. One thread at a time. */
public interface SqlRunner extends AutoCloseable {
    /**
     * Executes one statement and waits for its effects.
     *
     * @return its rows as PostgreSQL's texts, empty for NULL; no rows for a statement that gives none
     * @throws dev.millrace.error.MillraceException as the statement fails
     */
    List<List<Optional<String>>> run(String sql);

    @Override
    void close();
}
