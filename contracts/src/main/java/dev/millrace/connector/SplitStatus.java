package dev.millrace.connector;

import java.util.Optional;
import java.util.OptionalLong;

/**
 * How a reader is with one split of its source: a partition, a file, a subscription.
 *
 * @param split its name, for users
 * @param position what is read next, for users
 * @param lagRecords that are there and were not read, if that is known
 * @param lagMicros how long ago the last record that was read was written, while there are more; 0 if there are none
 * @param records read since the reader was opened
 * @param recordsPerSecond of the last seconds
 * @param retries since the last success; 0 if all is well
 * @param lastError of all that failed since the reader was opened, without secrets
 * @param waitsFor what it cannot go on without: a broker, a topic, a schema
 * @param shed records that were thrown away since the reader was opened, as more came than could wait and their sender would not
 */
public record SplitStatus(
        String split,
        String position,
        OptionalLong lagRecords,
        OptionalLong lagMicros,
        long records,
        double recordsPerSecond,
        long retries,
        Optional<String> lastError,
        Optional<String> waitsFor,
        long shed) {
    /** One that sheds nothing. */
    public SplitStatus(
            String split,
            String position,
            OptionalLong lagRecords,
            OptionalLong lagMicros,
            long records,
            double recordsPerSecond,
            long retries,
            Optional<String> lastError,
            Optional<String> waitsFor) {
        this(split, position, lagRecords, lagMicros, records, recordsPerSecond, retries, lastError, waitsFor, 0);
    }

    /** The same, which waits for something, unless it says itself for what. */
    public SplitStatus waitingFor(String what) {
        return new SplitStatus(
                split,
                position,
                lagRecords,
                lagMicros,
                records,
                recordsPerSecond,
                retries,
                lastError,
                waitsFor.or(() -> Optional.of(what)),
                shed);
    }
}
