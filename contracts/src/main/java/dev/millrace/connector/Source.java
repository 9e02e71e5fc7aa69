package dev.millrace.connector;

import dev.millrace.type.Schema;
import java.util.List;

/**
 * A configured source of rows, made once per CREATE STREAM from its options. Safe on any thread; holds no resources of
 * its own: readers do.
 */
public interface Source {
    /** The columns of the relation, which may have been inferred where the user declared none. */
    Schema schema();

    /** Whether the source's rows end by themselves. */
    boolean bounded();

    /**
     * Whether every new reader starts at the first row again. Each standing query and each SELECT then gets readers of
     * its own; else one set of readers is shared by all, from CREATE STREAM on, and SELECT is refused.
     */
    boolean replayable();

    /**
     * Opens readers that together give every row once, each its own in order.
     *
     * @throws dev.millrace.error.MillraceException with one clear line when the source cannot be opened
     */
    List<SourceReader> open(ScanRequest request, SourceContext context);
}
