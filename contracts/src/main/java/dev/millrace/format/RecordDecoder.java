package dev.millrace.format;

import java.util.Optional;

/**
 * Makes rows of records. Called by one thread at a time; never waits: what has to be fetched from elsewhere, as a schema, is fetched by
 * others meanwhile.
 */
public interface RecordDecoder extends AutoCloseable {
    /**
     * Makes rows of all the records, but for those that are rejected. The work takes time by their bytes: some megabytes are given at
     * most.
     *
     * @return empty if something is to be waited for: then nothing was rejected, and the same records are given again, after {@link
     *     DecoderContext#wakeUp} or after some time
     * @throws dev.millrace.error.MillraceException if no record of this source can be decoded any more, or what {@link DecoderContext#reject}
     *     throws; no column is left open then
     */
    Optional<DecodedRows> decode(EncodedRecords records);

    /** What it waits for, for users: "schema 17 of registry ..". Any thread. */
    default Optional<String> waitsFor() {
        return Optional.empty();
    }

    @Override
    void close();
}
