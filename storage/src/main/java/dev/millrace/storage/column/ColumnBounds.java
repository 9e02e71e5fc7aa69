package dev.millrace.storage.column;

import java.util.Arrays;
import java.util.Optional;

/**
 * What is known of values of a column without reading them. Bounds are {@link SortKey}s, of which no more than the first 32 bytes are kept.
 *
 * @param nulls how many are NULL
 * @param bounded whether there are bounds: not of types that have no keys, and not where all are NULL
 * @param least no value is below it; with {@code bounded}
 * @param greatest no value is above it, cut to as many bytes; with {@code bounded}
 */
public record ColumnBounds(int nulls, boolean bounded, byte[] least, byte[] greatest) {
    /** How many bytes of a key are kept. */
    public static final int MOST_BYTES = 32;

    private static final byte[] NONE = {};

    public static ColumnBounds unbounded(int nulls) {
        return new ColumnBounds(nulls, false, NONE, NONE);
    }

    public static ColumnBounds of(int nulls, byte[] least, byte[] greatest) {
        return new ColumnBounds(nulls, true, cut(least), cut(greatest));
    }

    private static byte[] cut(byte[] key) {
        return key.length <= MOST_BYTES ? key : Arrays.copyOf(key, MOST_BYTES);
    }

    /** Of these values and others of the same column; those without bounds are NULL, or of a type that has none. */
    public ColumnBounds with(ColumnBounds other) {
        if (!bounded || !other.bounded) {
            ColumnBounds one = bounded ? this : other;
            return new ColumnBounds(nulls + other.nulls, one.bounded, one.least, one.greatest);
        }
        return new ColumnBounds(
                nulls + other.nulls,
                true,
                Arrays.compareUnsigned(least, other.least) <= 0 ? least : other.least,
                Arrays.compareUnsigned(greatest, other.greatest) >= 0 ? greatest : other.greatest);
    }

    /** Whether values between two keys, both included, may be among them; NULL is not between any. */
    public boolean mayHave(Optional<byte[]> low, Optional<byte[]> high) {
        return !bounded
                || (low.isEmpty() || Arrays.compareUnsigned(cut(low.get()), greatest) <= 0)
                        && (high.isEmpty() || Arrays.compareUnsigned(least, high.get()) <= 0);
    }
}
