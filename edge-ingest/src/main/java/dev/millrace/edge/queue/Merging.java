package dev.millrace.edge.queue;

import java.util.List;
import java.util.Optional;

/** Makes one segment of several, to a wider bound. Stateless. */
@FunctionalInterface
public interface Merging {
    /** A queue that knows no coarser segments. */
    Merging NONE = segments -> Optional.empty();

    /**
     * A segment that can be read alone, with all rows of others in their order.
     *
     * @param segments each with the announcement of the version that it needs, if any
     * @return empty if they cannot be merged
     */
    Optional<byte[]> merge(List<Readable> segments);

    /** A segment, and what has to be read before it; empty bytes for nothing. */
    record Readable(byte[] announcement, byte[] segment) {}
}
