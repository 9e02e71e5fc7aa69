package dev.millrace.connectors.envelope;

import dev.millrace.format.EncodedRecords;
import java.util.Optional;

/** How records of one envelope are read. Called by one thread at a time, but for {@link #waitsFor}. */
interface EnvelopeReading extends AutoCloseable {
    /** What the records say, which the caller closes; empty if something is to be waited for: then the same are given again. */
    Optional<DecodedChanges> read(EncodedRecords records);

    /** What it waits for, for users. */
    Optional<String> waitsFor();

    @Override
    void close();
}
