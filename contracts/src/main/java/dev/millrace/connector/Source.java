package dev.millrace.connector;

import dev.millrace.condense.Condensation;
import dev.millrace.condense.Condensing;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.type.Schema;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A configured source of rows, made once per CREATE STREAM from its options. Safe on any thread; holds no resources of
 * its own: readers do.
 */
public interface Source {
    /**
     * What a source took for granted of how its records are written, as nobody said it. The options become part of the definition, as if
     * they had been given. Immutable.
     *
     * @param options by name, in the order in which to show them
     * @param remarks sentences for whoever makes the source: what was decided without being sure
     */
    record Assumptions(Map<String, String> options, List<String> remarks) {
        public static final Assumptions NONE = new Assumptions(Map.of(), List.of());

        public Assumptions {
            options = Collections.unmodifiableMap(new LinkedHashMap<>(options));
            remarks = List.copyOf(remarks);
        }
    }

    /** The columns of the relation, which may have been inferred where the user declared none. */
    Schema schema();

    /**
     * Whether columns were guessed of what was there when the source was made. They become part of the definition, as if they had been
     * declared, so that the relation is the same after a restart.
     */
    default boolean isInferred() {
        return false;
    }

    /** What was found out about records together with the columns; none where columns were declared. */
    default Assumptions assumptions() {
        return Assumptions.NONE;
    }

    /** Whether the source's rows end by themselves. */
    boolean bounded();

    /**
     * Whether every new reader starts at the first row again. Each standing query and each SELECT then gets readers of
     * its own; else one set of readers is shared by all, from CREATE STREAM on, and SELECT is refused.
     */
    boolean replayable();

    /** Present if its readers give rows that are alike as one where {@link Condensation} says so. */
    default Optional<Condensing> condensing() {
        return Optional.empty();
    }

    /**
     * Looks whether the source can be reached and has what its options say. CREATE calls it, and a restart does not, as a peer may be away
     * then and come back. Waits some seconds at most.
     *
     * @throws MillraceException with one clear line when it cannot
     */
    default void check() {}

    /**
     * Opens readers that together give every row once, each its own in order.
     *
     * @throws dev.millrace.error.MillraceException with one clear line when the source cannot be opened
     */
    List<SourceReader> open(ScanRequest request, SourceContext context);

    /**
     * Opens readers that go on where those of an earlier run were, one for each position, in their order: together they give the
     * rows that were still to come. The request is as it was but for its parallelism, which is of no matter.
     *
     * @param positions of all readers that {@link #open} gave then, which all knew one
     * @throws MillraceException XX001 if a position is not of this source; 58030 or 55000 if it cannot be gone back to,
     *     because a file is gone or is another
     */
    default List<SourceReader> reopen(ScanRequest request, List<SourcePosition> positions, SourceContext context) {
        throw MillraceException.user(SqlState.FEATURE_NOT_SUPPORTED, "this source cannot go on from a position");
    }
}
