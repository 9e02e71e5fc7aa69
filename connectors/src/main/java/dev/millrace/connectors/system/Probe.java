package dev.millrace.connectors.system;

import dev.millrace.type.Schema;
import java.util.List;

/** Reads the rows of one table. Keeps what it read last, for rates; not thread-safe. */
interface Probe {
    /** The table's columns, the first being {@code ts}. */
    Schema schema();

    /**
     * Reads the machine now: rows without {@code ts}, each value a Double, Long or String as its column says, or
     * {@link #UNKNOWN}. Boxed on purpose: it is a handful of values.
     *
     * @param nanoTime now, for rates per second
     */
    List<Object[]> read(long nanoTime);

    /** A value that the machine does not tell: NULL. */
    Object UNKNOWN = new Object();
}
