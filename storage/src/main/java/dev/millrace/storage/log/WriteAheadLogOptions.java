package dev.millrace.storage.log;

import dev.millrace.time.Clock;
import java.security.SecureRandom;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * How a log is kept.
 *
 * @param segmentBytes length of a segment; the first ones of each run are shorter, from 1 MB doubling
 * @param bufferBytes how much is held in memory that is not durable; then appends wait
 * @param deferredMillis how long records that nobody waits for may stay in memory
 * @param retryMillis how long after a failure the disk is tried again, at first; doubles up to a hundred times as much
 * @param clock for these
 * @param identities a random number for each log that is made
 * @param events told when the log begins to fail and when it works again, one line each; on the log's thread
 * @param ownThread whether a thread of the log writes; without, {@link WriteAheadLog#work} does on its caller's
 */
public record WriteAheadLogOptions(
        long segmentBytes,
        long bufferBytes,
        long deferredMillis,
        long retryMillis,
        Clock clock,
        LongSupplier identities,
        Consumer<String> events,
        boolean ownThread) {
    private static final long LEAST_SEGMENT = 8L << 10;
    private static final long MOST_SEGMENT = 1L << 30;

    public WriteAheadLogOptions {
        if (segmentBytes < LEAST_SEGMENT || segmentBytes > MOST_SEGMENT || segmentBytes % 4096 != 0) {
            throw new IllegalArgumentException(
                    "a segment has 8 KB to 1 GB, in steps of 4 KB, not " + segmentBytes + " bytes");
        }
        if (bufferBytes < 1) {
            throw new IllegalArgumentException("a buffer of " + bufferBytes + " bytes holds nothing");
        }
    }

    /** 64 MB segments, 32 MB in memory, 200 ms, 100 ms. */
    public static WriteAheadLogOptions standard() {
        return new WriteAheadLogOptions(
                64L << 20, 32L << 20, 200, 100, Clock.system(), new SecureRandom()::nextLong, event -> {}, true);
    }

    /** The same with other lengths, in bytes. */
    public WriteAheadLogOptions withSizes(long newSegmentBytes, long newBufferBytes) {
        return new WriteAheadLogOptions(
                newSegmentBytes, newBufferBytes, deferredMillis, retryMillis, clock, identities, events, ownThread);
    }

    /** The same with somebody who is told. */
    public WriteAheadLogOptions withEvents(Consumer<String> newEvents) {
        return new WriteAheadLogOptions(
                segmentBytes, bufferBytes, deferredMillis, retryMillis, clock, identities, newEvents, ownThread);
    }

    /** The same driven by {@link WriteAheadLog#work}, with the time and the identities of a simulation. */
    public WriteAheadLogOptions simulated(Clock newClock, LongSupplier newIdentities) {
        return new WriteAheadLogOptions(
                segmentBytes, bufferBytes, deferredMillis, retryMillis, newClock, newIdentities, events, false);
    }
}
