package dev.millrace.storage.log;

import java.nio.ByteBuffer;

/** Is given the records of a log in their order. */
@FunctionalInterface
public interface RecordConsumer {
    /**
     * Takes a record.
     *
     * @param number its number
     * @param bytes all of it, from position to limit; the buffer is reused after the call
     */
    void accept(long number, ByteBuffer bytes);

    /** The same with the place where the record begins, for {@link WriteAheadLog#read}. */
    default void accept(long number, LogPlace place, ByteBuffer bytes) {
        accept(number, bytes);
    }
}
