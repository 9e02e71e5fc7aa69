package dev.millrace.engine.checkpoint;

import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;

/**
 * A checkpoint to go on from, by section. Safe on any thread; several sections may be read at a time, and one several times.
 */
public interface CheckpointReader {
    /**
     * The bytes of a section as they were written, from the first on; empty if there is none of the name. The caller closes it.
     *
     * @throws IOException also later, from the stream, if the bytes are not those that were written
     */
    Optional<InputStream> open(String section) throws IOException;

    /** The name that a relation, or a query, had when this was written: it may have another since then. */
    default String nameThen(String name) {
        return name;
    }
}
