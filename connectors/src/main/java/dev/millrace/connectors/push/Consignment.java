package dev.millrace.connectors.push;

import dev.millrace.connector.MemoryChange;
import java.util.List;

/**
 * Records that came together: they are kept together, and whoever brought them is told once.
 *
 * @param values of the records
 * @param about what came with them, as {@link MetaColumn}s read it
 * @param origin where they are from, for messages about those that become no rows
 * @param remembered what is to be remembered with them
 * @param receipt who is told
 */
public record Consignment(List<byte[]> values, Object about, String origin, MemoryChange remembered, Receipt receipt) {
    private static final int OVERHEAD_BYTES = 64; // of a record, about

    /** Told when records are kept: on disk where there is one. */
    @FunctionalInterface
    public interface Receipt {
        /** For peers that want to hear nothing. */
        Receipt NONE = rejected -> {};

        /**
         * They are kept. On the stream's thread, which must not be held up.
         *
         * @param rejected how many became no rows
         */
        void kept(int rejected);

        /** The stream was dropped before they were kept: nobody waits for them any more. On any thread, which must not be held up. */
        default void dropped() {
            kept(0);
        }
    }

    public Consignment {
        values = List.copyOf(values);
    }

    /** Nothing is remembered. */
    public Consignment(List<byte[]> values, Object about, String origin, Receipt receipt) {
        this(values, about, origin, MemoryChange.NONE, receipt);
    }

    /** About how much of the heap it takes. */
    public long bytes() {
        long bytes = OVERHEAD_BYTES;
        for (byte[] value : values) {
            bytes += OVERHEAD_BYTES + value.length;
        }
        return bytes;
    }
}
