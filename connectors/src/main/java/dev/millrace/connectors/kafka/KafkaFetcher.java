package dev.millrace.connectors.kafka;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.SourceContext;
import dev.millrace.connectors.split.Backoff;
import dev.millrace.connectors.split.SplitTimes;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;

/**
 * Fetches the partitions of one scan, by a thread and a consumer of its own, until it is closed. Whatever fails is tried again with a
 * {@link Backoff}, from the records that the readers have not got; meanwhile {@link #lastError} and {@link #waitsFor} say so.
 *
 * <pre>
 *   connect -> find partitions -> where to begin -> [ poll -> hand out; now and then look for new partitions ]*
 *      ^                                                   |
 *      +------------------- wait ------------------------ failed
 * </pre>
 *
 * A partition of which much waits is not fetched until readers have made room. Readers that are opened together share one; who closes
 * the last of them closes it. Closing does not wait for the thread, which holds nothing but memory of the heap and sockets.
 */
final class KafkaFetcher implements Runnable, AutoCloseable {
    private static final System.Logger LOG = System.getLogger(KafkaFetcher.class.getPackageName());
    private static final Duration QUESTION = Duration.ofMillis(KafkaCluster.QUESTION_MILLIS);
    private static final Duration QUIET_POLL = Duration.ofMillis(500);
    private static final Duration PAUSED_POLL = Duration.ofMillis(20);
    private static final long SILENT_NANOS =
            TimeUnit.SECONDS.toNanos(5); // after which brokers are asked whether they are there
    private static final long MOST_WAITING_BYTES = 32 << 20; // of all partitions
    private static final long LEAST_WAITING_BYTES = 128 << 10; // of one

    private final KafkaSource source;
    private final SourceContext context;
    private final SplitTimes times;
    private final Thread thread;
    private final Backoff backoff;
    private final Map<TopicPartition, FetchedPartition> partitions =
            new LinkedHashMap<>(); // the thread's, once it runs
    private final List<KafkaReader> readers = new ArrayList<>();
    private boolean isFound; // the thread's: partitions were found once, and those that come are new
    private boolean isLookDue; // the thread's
    private long lastLookNanos;
    private long lastRecordNanos;

    @GuardedBy("this") private int openReaders;

    @GuardedBy("this") private boolean closed;

    @GuardedBy("this") private @Nullable Consumer<ByteBuffer, ByteBuffer> consumer;

    private volatile boolean foundAll; // written by the thread, read by readers
    private volatile Optional<String> lastError = Optional.empty(); // written by the thread, read by all
    private volatile Optional<String> waitsFor = Optional.empty(); // likewise
    private volatile long retries; // likewise

    KafkaFetcher(KafkaSource source, SourceContext context, SplitTimes times) {
        this.source = source;
        this.context = context;
        this.times = times;
        this.backoff = new Backoff(100, 10_000, System.identityHashCode(this));
        this.thread = new Thread(this, "kafka " + source.topics());
        thread.setDaemon(true);
    }

    /** Readers get partitions by turns; positions that an earlier run kept go where they are due. */
    void start(List<KafkaReader> newReaders, Optional<KafkaPosition> from) {
        readers.addAll(newReaders);
        synchronized (this) {
            openReaders = readers.size();
        }
        from.ifPresent(position -> {
            isFound = position.isFound();
            position.places().forEach(this::add);
            foundAll = isFound;
        });
        thread.start();
    }

    /** Adds a partition, and hands it to the reader that is to have it. */
    private void add(KafkaPosition.Place place) {
        TopicPartition name = place.partition();
        long now = context.clock().nanoTime();
        SplitTimes.Split time = times.add(place.latestMicros(), now);
        FetchedPartition partition = new FetchedPartition(place, time, now);
        partitions.put(name, partition);
        int reader = Math.floorMod(name.topic().hashCode() + name.partition(), readers.size());
        readers.get(reader).add(partition);
    }

    Optional<String> lastError() {
        return lastError;
    }

    Optional<String> waitsFor() {
        return waitsFor;
    }

    long retries() {
        return retries;
    }

    /** Whether a reader is the one that speaks for all. Any thread, once they were opened. */
    boolean isFirst(KafkaReader reader) {
        return !readers.isEmpty() && readers.get(0) == reader;
    }

    /** Whether the partitions are known, so that readers whose own are read to their end have no more. */
    boolean isFound() {
        return foundAll;
    }

    /** A reader read some of a partition: there may be room again. */
    void madeRoomIn(FetchedPartition partition) {
        if (partition.isPaused && partition.waitingBytes() < LEAST_WAITING_BYTES / 2) {
            wakeUp();
        }
    }

    private synchronized void wakeUp() {
        if (consumer != null) {
            consumer.wakeup();
        }
    }

    synchronized void readerClosed() {
        if (--openReaders == 0) {
            close();
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        wakeUp();
        notifyAll();
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    @Override
    public void run() {
        while (!isClosed()) {
            try (Consumer<ByteBuffer, ByteBuffer> fresh =
                    source.cluster().consumer(source.readCommitted(), "millrace")) {
                lend(fresh);
                try {
                    fetch(fresh);
                } finally {
                    lend(null);
                    fresh.close(org.apache.kafka.clients.consumer.CloseOptions.timeout(Duration.ofMillis(500)));
                }
            } catch (InterruptException e) {
                close(); // nobody else interrupts this thread but to end it
            } catch (WakeupException e) {
                // to look whether it is closed
            } catch (RuntimeException e) {
                failed(e);
                pause(backoff.nextMillis());
            }
        }
        partitions.values().forEach(partition -> times.remove(partition.time));
    }

    private synchronized void lend(@Nullable Consumer<ByteBuffer, ByteBuffer> to) {
        consumer = to;
        if (closed && to != null) {
            to.wakeup();
        }
    }

    private void failed(RuntimeException e) {
        String reason = e instanceof KafkaException
                ? source.cluster() + ": " + KafkaFailure.of(e).reason()
                : e instanceof MillraceException ? String.valueOf(e.getMessage()) : e.toString();
        retries = backoff.failures() + 1L;
        if (waitsFor.isEmpty()) {
            LOG.log(System.Logger.Level.WARNING, source.topics() + ": " + reason + "; trying again");
        }
        lastError = Optional.of(reason);
        waitsFor = Optional.of(
                e instanceof MillraceException ? reason : source.cluster().toString());
    }

    private void succeeded() {
        if (waitsFor.isPresent()) {
            LOG.log(System.Logger.Level.INFO, source.topics() + ": " + waitsFor.get() + " is there again");
            waitsFor = Optional.empty();
        }
        retries = 0;
        backoff.succeeded();
    }

    private synchronized void pause(long millis) {
        try {
            if (!closed) {
                wait(Math.max(1, millis));
            }
        } catch (InterruptedException e) {
            closed = true;
        }
    }

    // ---- with a consumer
    // ---------------------------------------------------------------------------------------------

    private void fetch(Consumer<ByteBuffer, ByteBuffer> from) {
        assigned(from);
        lastRecordNanos = context.clock().nanoTime();
        lastLookNanos = lastRecordNanos;
        isLookDue = true;
        while (!isClosed()) {
            try {
                long now = context.clock().nanoTime();
                boolean isSilent = now - lastRecordNanos >= SILENT_NANOS && now - lastLookNanos >= SILENT_NANOS;
                if (isLookDue || isSilent || now - lastLookNanos >= source.lookNanos()) {
                    isLookDue = true; // until it has come to its end
                    look(from);
                    isLookDue = false;
                }
                boolean isHeldBack = holdBack(from);
                if (from.assignment().isEmpty()) {
                    pause(QUIET_POLL.toMillis());
                    continue;
                }
                hand(from, from.poll(isHeldBack ? PAUSED_POLL : QUIET_POLL));
            } catch (WakeupException e) {
                // there is room, or it is closed
            } catch (OffsetOutOfRangeException e) {
                expired(from, e.offsetOutOfRangePartitions());
            }
        }
    }

    /** Which partitions there are, and where in new ones to begin. */
    private void look(Consumer<ByteBuffer, ByteBuffer> from) {
        lastLookNanos = context.clock().nanoTime();
        List<TopicPartition> found = found(from);
        if (found.isEmpty() && source.topics().pattern().isEmpty()) {
            throw MillraceException.external(
                    SqlState.UNDEFINED_OBJECT, source.topics() + " does not exist at " + source.cluster());
        }
        for (TopicPartition name : found) {
            if (!partitions.containsKey(name)) {
                long begin = isFound ? KafkaPosition.AS_FOUND : KafkaPosition.AS_STARTED;
                add(new KafkaPosition.Place(name, begin, KafkaPosition.NO_END, dev.millrace.connector.Part.UNKNOWN));
            }
        }
        resolve(from);
        isFound = true;
        foundAll = true;
        assigned(from);
        succeeded();
        context.wakeUp(); // readers may be at their end, or have partitions now
    }

    private List<TopicPartition> found(Consumer<ByteBuffer, ByteBuffer> from) {
        List<TopicPartition> found = new ArrayList<>();
        if (source.topics().pattern().isPresent()) {
            from.listTopics(QUESTION).forEach((topic, infos) -> {
                if (source.topics().matches(topic) && !topic.startsWith("__")) {
                    add(found, infos);
                }
            });
        } else if (foundAll) { // what the client remembers of a topic is five minutes old at times
            Map<String, List<PartitionInfo>> all = from.listTopics(QUESTION);
            source.topics().names().forEach(topic -> add(found, all.get(topic)));
        } else {
            source.topics().names().forEach(topic -> add(found, from.partitionsFor(topic, QUESTION)));
        }
        return found;
    }

    private static void add(List<TopicPartition> to, @Nullable List<PartitionInfo> infos) {
        if (infos != null) {
            infos.forEach(info -> to.add(new TopicPartition(info.topic(), info.partition())));
        }
    }

    /** Asks for offsets where they are not known: where to begin, and of a source that ends, where to end. */
    private void resolve(Consumer<ByteBuffer, ByteBuffer> from) {
        List<FetchedPartition> beginning =
                partitions.values().stream().filter(each -> each.fetchFrom < 0).toList();
        Map<TopicPartition, Long> earliest = new HashMap<>();
        Map<TopicPartition, Long> others = new HashMap<>();
        Set<TopicPartition> asStarted = new HashSet<>();
        beginning.forEach(each -> {
            if (each.fetchFrom == KafkaPosition.AS_STARTED) {
                asStarted.add(each.partition);
            }
        });
        if (!beginning.isEmpty()) {
            earliest.putAll(from.beginningOffsets(names(beginning), QUESTION));
        }
        if (!asStarted.isEmpty()) {
            others.putAll(started(from, asStarted));
        }
        boolean ends =
                source.bounded() && partitions.values().stream().anyMatch(each -> each.end() == KafkaPosition.NO_END);
        Map<TopicPartition, Long> last = ends ? from.endOffsets(List.copyOf(partitions.keySet()), QUESTION) : Map.of();
        for (FetchedPartition each : beginning) {
            each.begin(Math.max(earliest.getOrDefault(each.partition, 0L), others.getOrDefault(each.partition, -1L)));
        }
        if (ends) {
            for (FetchedPartition each : partitions.values()) {
                if (each.end() == KafkaPosition.NO_END) {
                    each.endAt(last.getOrDefault(each.partition, 0L));
                }
            }
        }
    }

    private Map<TopicPartition, Long> started(Consumer<ByteBuffer, ByteBuffer> from, Set<TopicPartition> asStarted) {
        Map<TopicPartition, Long> found = new HashMap<>();
        switch (source.start().kind()) {
            case EARLIEST -> {}
            case LATEST -> found.putAll(from.endOffsets(asStarted, QUESTION));
            case OFFSETS ->
                asStarted.forEach(name -> found.put(name, source.start().offset(name)));
            case TIMESTAMP -> {
                Map<TopicPartition, Long> asked = new HashMap<>();
                asStarted.forEach(name -> asked.put(name, source.start().millis()));
                Map<TopicPartition, OffsetAndTimestamp> later = from.offsetsForTimes(asked, QUESTION);
                Map<TopicPartition, Long> last = from.endOffsets(asStarted, QUESTION);
                asStarted.forEach(name -> {
                    @Nullable OffsetAndTimestamp at = later.get(name);
                    found.put(name, at == null ? last.getOrDefault(name, 0L) : at.offset());
                });
            }
        }
        return found;
    }

    private static List<TopicPartition> names(Collection<FetchedPartition> of) {
        return of.stream().map(each -> each.partition).toList();
    }

    /** The consumer is to have all partitions that are not read to their end, from where they were fetched to. */
    private void assigned(Consumer<ByteBuffer, ByteBuffer> to) {
        List<FetchedPartition> wanted = partitions.values().stream()
                .filter(each -> each.fetchFrom >= 0 && !each.isFetched())
                .toList();
        Set<TopicPartition> before = Set.copyOf(to.assignment());
        if (before.equals(Set.copyOf(names(wanted)))) {
            return;
        }
        to.assign(names(wanted));
        for (FetchedPartition each : wanted) {
            if (!before.contains(each.partition)) {
                to.seek(each.partition, each.fetchFrom);
                each.isPaused = false;
            }
        }
    }

    /** Leaves out partitions of which much waits; returns whether there are any. */
    private boolean holdBack(Consumer<ByteBuffer, ByteBuffer> of) {
        long most = Math.max(LEAST_WAITING_BYTES, MOST_WAITING_BYTES / Math.max(1, partitions.size()));
        boolean any = false;
        for (TopicPartition name : of.assignment()) {
            FetchedPartition each = partitions.get(name);
            if (each == null) {
                continue;
            }
            long waiting = each.waitingBytes();
            if (each.isPaused ? waiting < most / 2 : waiting >= most) {
                each.isPaused = !each.isPaused;
                if (each.isPaused) {
                    of.pause(List.of(name));
                } else {
                    of.resume(List.of(name));
                }
            }
            any |= each.isPaused;
        }
        return any;
    }

    /** Hands out what was fetched. */
    private void hand(Consumer<ByteBuffer, ByteBuffer> from, ConsumerRecords<ByteBuffer, ByteBuffer> fetched) {
        boolean ended = false;
        for (TopicPartition name : fetched.partitions()) {
            FetchedPartition each = partitions.get(name);
            if (each == null) {
                continue;
            }
            List<ConsumerRecord<ByteBuffer, ByteBuffer>> records = fetched.records(name);
            long end = source.bounded() ? each.end() : Long.MAX_VALUE;
            int count = records.size();
            while (count > 0 && records.get(count - 1).offset() >= end) {
                count--;
            }
            long bytes = 0;
            for (int i = 0; i < count; i++) {
                ConsumerRecord<ByteBuffer, ByteBuffer> record = records.get(i);
                bytes += 64L + Math.max(0, record.serializedKeySize()) + Math.max(0, record.serializedValueSize());
            }
            if (count > 0) {
                each.add(new FetchedPartition.Fetched(records.subList(0, count), bytes));
                each.fetchFrom = records.get(count - 1).offset() + 1;
            }
        }
        for (TopicPartition name : from.assignment()) {
            FetchedPartition each = partitions.get(name);
            if (each == null) {
                continue;
            }
            from.currentLag(name).ifPresent(each::lag);
            times.readToEnd(each.time, each.isAtEnd());
            if (source.bounded() && !each.isPaused && from.position(name, QUESTION) >= each.end()) {
                each.fetched();
                ended = true;
            }
        }
        if (!fetched.isEmpty() || ended) {
            lastRecordNanos = context.clock().nanoTime();
            succeeded();
            context.wakeUp();
        }
        if (ended) {
            assigned(from);
        }
    }

    /** Offsets that were to be read next are not there: removed by the brokers, or the topic is another one. */
    private void expired(Consumer<ByteBuffer, ByteBuffer> from, Map<TopicPartition, Long> asked) {
        Map<TopicPartition, Long> earliest = from.beginningOffsets(asked.keySet(), QUESTION);
        Map<TopicPartition, Long> last = from.endOffsets(asked.keySet(), QUESTION);
        asked.forEach((name, offset) -> {
            FetchedPartition each = partitions.get(name);
            if (each == null) {
                return;
            }
            long first = earliest.getOrDefault(name, 0L);
            String there = "has offsets " + first + " to " + last.getOrDefault(name, 0L);
            String what = offset < first
                    ? "records " + offset + " to " + (first - 1) + " have expired before they were read"
                    : "offset " + offset + " is behind its end: it was made anew, or cut off";
            switch (source.expired()) {
                case WAIT ->
                    throw MillraceException.external(
                            SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                            "partition " + name.topic() + "/" + name.partition() + " " + there + "; " + what
                                    + ", and expired = 'wait' waits for them");
                case EARLIEST -> each.fetchFrom = first;
                case LATEST -> each.fetchFrom = last.getOrDefault(name, first);
            }
            context.report(new RejectedRecord(
                    name.topic() + "/" + name.partition(),
                    offset,
                    "",
                    what + "; reading goes on at " + each.fetchFrom,
                    SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                    ""));
            lastError = Optional.of(what);
            from.seek(name, each.fetchFrom);
        });
    }
}
