package dev.millrace.connectors.kafka;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.connector.SplitStatus;
import dev.millrace.connectors.split.RecentRate;
import dev.millrace.connectors.split.SplitTimes;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;

/**
 * One partition between the thread that fetches it and the reader that decodes it: records that wait, and how far each of the two is.
 * Safe for these two, and for any that ask how it is.
 */
final class FetchedPartition {
    /** Records that were fetched at once, in their order. */
    record Fetched(List<ConsumerRecord<ByteBuffer, ByteBuffer>> records, long bytes) {}

    final TopicPartition partition;
    final SplitTimes.Split time;

    /** The fetcher's own: the offset from which to fetch, or one of the marks of {@link KafkaPosition}. */
    long fetchFrom;

    /** Whether the consumer has been told to leave it out for now; written by the fetcher, read by the reader. */
    volatile boolean isPaused;

    @GuardedBy("this") private final Deque<Fetched> waiting = new ArrayDeque<>();

    @GuardedBy("this") private long waitingBytes;

    @GuardedBy("this") private long next; // offset, of the reader; or a mark

    @GuardedBy("this") private long end;

    @GuardedBy("this") private boolean isFetched; // up to the end

    @GuardedBy("this") private long records;

    @GuardedBy("this") private final RecentRate rate;

    @GuardedBy("this") private long lastRecordMillis;

    @GuardedBy("this") private long fetchLag = -1; // behind what was fetched

    @GuardedBy("this") private int waitingRecords;

    FetchedPartition(KafkaPosition.Place place, SplitTimes.Split time, long nowNanos) {
        this.rate = new RecentRate(nowNanos);
        this.partition = place.partition();
        this.time = time;
        this.fetchFrom = place.next();
        this.next = place.next();
        this.end = place.end();
    }

    // ---- the fetcher's
    // -----------------------------------------------------------------------------------------------

    /** The place at which reading begins is known. */
    synchronized void begin(long offset) {
        fetchFrom = offset;
        if (next < 0) {
            next = offset;
        }
    }

    synchronized void endAt(long offset) {
        end = offset;
        isFetched = fetchFrom >= offset;
    }

    synchronized long end() {
        return end;
    }

    synchronized void add(Fetched fetched) {
        waiting.add(fetched);
        waitingBytes += fetched.bytes();
        waitingRecords += fetched.records().size();
    }

    /** How many records there are behind what was fetched; -1 if that is not known. */
    synchronized void lag(long behind) {
        fetchLag = behind;
    }

    synchronized long waitingBytes() {
        return waitingBytes;
    }

    /** Nothing more is fetched. */
    synchronized void fetched() {
        isFetched = true;
    }

    synchronized boolean isFetched() {
        return isFetched;
    }

    // ---- the reader's
    // ------------------------------------------------------------------------------------------------

    /** What is to be decoded next; it waits until it {@linkplain #taken was}. */
    synchronized Optional<Fetched> peek() {
        return Optional.ofNullable(waiting.peek());
    }

    /** Rows were made of some records. */
    synchronized void read(long nextOffset, int count, long recordMillis, long nowNanos) {
        rate.add(count, nowNanos);
        next = nextOffset;
        records += count;
        waitingRecords -= count;
        lastRecordMillis = recordMillis;
    }

    /** The first that waited was read whole. */
    synchronized void taken() {
        waitingBytes -= waiting.remove().bytes();
    }

    /** Whether all up to the end was read. */
    synchronized boolean isRead() {
        return isFetched && waiting.isEmpty();
    }

    /** Whether nothing is known to be there that was not read. */
    synchronized boolean isAtEnd() {
        return waiting.isEmpty() && (isFetched || fetchLag == 0);
    }

    synchronized KafkaPosition.Place place(long latestMicros) {
        return new KafkaPosition.Place(
                partition, isFetched && waiting.isEmpty() ? Math.max(next, end) : next, end, latestMicros);
    }

    synchronized SplitStatus status(
            long nowMicros, long nowNanos, long retries, Optional<String> lastError, Optional<String> waitsFor) {
        OptionalLong lag = isFetched
                ? OptionalLong.of(waitingRecords)
                : fetchLag < 0 ? OptionalLong.empty() : OptionalLong.of(fetchLag + waitingRecords);
        OptionalLong lagMicros = lag.isPresent() && lag.getAsLong() == 0
                ? OptionalLong.of(0)
                : records == 0
                        ? OptionalLong.empty()
                        : OptionalLong.of(Math.max(0, nowMicros - 1_000 * lastRecordMillis));
        return new SplitStatus(
                partition.topic() + "/" + partition.partition(),
                next < 0 ? "" : Long.toString(next),
                lag,
                lagMicros,
                records,
                rate.perSecond(nowNanos),
                retries,
                lastError,
                waitsFor);
    }
}
