package dev.millrace.connectors.upsert;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * What becomes of each key in an epoch, whose rows come in any order: values that were added and taken back again are not written.
 * Owned by one thread.
 *
 * <pre>
 *   -a +b    b          +a -a    nothing          -a    a tombstone
 * </pre>
 */
public final class UpsertEpoch {
    private static final int ENTRY_BYTES = 200; // of objects, about

    /** Bytes that are equal when they are the same. */
    private record Bytes(byte[] bytes) {
        @Override
        public boolean equals(Object other) {
            return other instanceof Bytes same && Arrays.equals(bytes, same.bytes);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(bytes);
        }

        @Override
        public String toString() {
            return bytes.length + " bytes";
        }
    }

    private final long mostBytes;
    private final Map<Bytes, Map<Bytes, Long>> changes = new LinkedHashMap<>(); // of each key the weights of its values
    private long bytes;

    /** @param mostBytes that an epoch's changes may have, about */
    public UpsertEpoch(long mostBytes) {
        this.mostBytes = mostBytes;
    }

    /**
     * A row was added, or with a negative weight taken back.
     *
     * @throws MillraceException 53200 if the epoch has changed too much
     */
    public void add(byte[] key, byte[] value, long weight) {
        Map<Bytes, Long> ofKey = changes.computeIfAbsent(new Bytes(key), fresh -> {
            bytes += ENTRY_BYTES + key.length;
            return new LinkedHashMap<>(4);
        });
        if (ofKey.merge(new Bytes(value), weight, Long::sum) == weight) { // or it was 0, and is counted twice
            bytes += ENTRY_BYTES / 2 + value.length;
        }
        if (bytes > mostBytes) {
            throw MillraceException.resources(
                            SqlState.OUT_OF_MEMORY,
                            "an epoch changes " + changes.size() + " keys with more than " + mostBytes
                                    + " bytes, which an upsert sink holds until it ends")
                    .withHint(
                            "a view whose first answer is large can be written by mode = 'append' of its stream, or in"
                                    + " parts; or give the server a larger heap");
        }
    }

    /** Is told of a key that changed. */
    @FunctionalInterface
    public interface Change {
        /**
         * @param before its value before the epoch; null if it had none
         * @param after its value now; null if it has none any more
         */
        void accept(byte[] key, byte @Nullable [] before, byte @Nullable [] after);
    }

    /** Gives each key its value, or null where it has none any more, and begins anew. */
    public void drain(BiConsumer<byte[], byte @Nullable []> to) {
        drainChanges((key, before, after) -> to.accept(key, after));
    }

    /** Tells each key's change, and begins anew. */
    public void drainChanges(Change to) {
        changes.forEach((key, ofKey) -> {
            byte[] before = null;
            byte[] after = null;
            for (Map.Entry<Bytes, Long> change : ofKey.entrySet()) {
                after = change.getValue() > 0 ? change.getKey().bytes() : after;
                before = change.getValue() < 0 ? change.getKey().bytes() : before;
            }
            if (before != null || after != null) {
                to.accept(key.bytes(), before, after);
            }
        });
        changes.clear();
        bytes = 0;
    }
}
