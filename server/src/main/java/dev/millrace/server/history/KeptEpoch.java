package dev.millrace.server.history;

import java.nio.ByteBuffer;
import java.util.List;

/**
 * What an epoch changed, as it is in the log.
 *
 * @param number the engine's; 0 of one that an earlier process made
 * @param micros its time
 * @param batches as bytes; nobody changes them
 * @param bytes of those
 * @param rows in them
 * @param firstRecord in the log
 */
record KeptEpoch(long number, long micros, List<ByteBuffer> batches, long bytes, long rows, long firstRecord) {
    KeptEpoch {
        batches = List.copyOf(batches);
    }
}
