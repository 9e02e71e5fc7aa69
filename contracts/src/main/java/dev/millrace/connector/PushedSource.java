package dev.millrace.connector;

import java.util.List;

/**
 * A source to which others bring records, and which cannot ask for one again: a broker that pushes, a webhook, a socket. Its rows are
 * written down like those of INSERT, and whoever brought them is told when they are. One reader receives them for all queries.
 */
public interface PushedSource extends Source {
    @Override
    default boolean bounded() {
        return false;
    }

    @Override
    default boolean replayable() {
        return false;
    }

    /** It is not read so. */
    @Override
    default List<SourceReader> open(ScanRequest request, SourceContext context) {
        throw new IllegalStateException("a source that is pushed to is received from, and not read by queries");
    }

    /**
     * Begins to receive, all columns of {@link #schema}. Takes what it needs of this machine, such as a port; peers are spoken to from the
     * first {@link PushedReader#poll} on, when all that shares a connection is there.
     *
     * @throws dev.millrace.error.MillraceException with one clear line when that cannot be had
     */
    PushedReader receive(PushedContext context);
}
