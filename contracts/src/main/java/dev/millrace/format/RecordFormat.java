package dev.millrace.format;

import dev.millrace.type.Schema;
import java.util.List;

/** A format with its options and the columns of one relation, as sources read it. Immutable, safe on any thread. */
public interface RecordFormat {
    /** The columns that it can give: those declared, or those that it knows or inferred. */
    Schema schema();

    /**
     * A decoder of some of the columns. Which records are rejected does not depend on which.
     *
     * @param columns of {@link #schema}, in the order in which rows are to have them; may be none
     */
    RecordDecoder decoder(List<Integer> columns, DecoderContext context);

    /**
     * How many records a decoder is given at once at most: few where a small record may be very many rows. A transport that cannot hold to
     * it refuses the format.
     */
    default int mostRecords() {
        return Integer.MAX_VALUE;
    }
}
