package dev.millrace.format;

import dev.millrace.error.MillraceException;
import dev.millrace.time.Clock;
import org.apache.arrow.memory.BufferAllocator;

/** What a transport lends to a decoder. */
public interface DecoderContext {
    /** For the columns; no byte may be left in it when decoder and columns are closed. */
    BufferAllocator allocator();

    Clock clock();

    /**
     * A record becomes no row. Within {@link RecordDecoder#decode}, in the order of records, at most once for each; under {@code on_error = 'fail'} this
     * throws.
     *
     * @param record its number in the records that are being decoded
     * @param column that failed; empty if the record as a whole did
     * @param reason one line, without where the record is from
     */
    void reject(int record, String column, MillraceException reason);

    /**
     * Something that users should know of and that is no record's fault, as that records have a member that is no column: logged, and
     * kept with what was rejected. The decoder says it once.
     */
    void note(String text);

    /** What the decoder waited for is there: has it asked again. Any thread. */
    void wakeUp();
}
