package dev.millrace.storage.retention;

import java.util.Optional;

/**
 * How a stream is kept.
 *
 * @param eventTime the column, a TIMESTAMP or TIMESTAMPTZ, that is the stream's event time
 * @param policy how long
 * @param mergedBytes how large segments may become by merging
 */
public record RetentionOptions(Optional<Integer> eventTime, RetentionPolicy policy, long mergedBytes) {
    private static final long MERGED_BYTES = 256L << 20;

    public RetentionOptions {
        if (mergedBytes <= 0) {
            throw new IllegalArgumentException("segments have more than " + mergedBytes + " bytes");
        }
    }

    /** Segments of up to 256 MB. */
    public static RetentionOptions of(Optional<Integer> eventTime, RetentionPolicy policy) {
        return new RetentionOptions(eventTime, policy, MERGED_BYTES);
    }
}
