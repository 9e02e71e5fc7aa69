package dev.millrace.connectors.kafka;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.connectors.split.Backoff;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;

/**
 * Reads a topic from its first record on, and what comes, by a thread and a consumer of its own: for what readers of another topic look up. Records of
 * transactions that are not committed are read, too, so that nobody waits for a commit that comes to two topics at two moments: what is looked up has
 * to be true by itself. Whatever fails is tried again. Closing does not wait for the thread.
 *
 * <pre>
 *   ask() -> n       all that was in the topic then has been given to the records when hasReached(n)
 * </pre>
 */
public final class TopicFollower implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(TopicFollower.class.getPackageName());
    private static final Duration QUESTION = Duration.ofMillis(KafkaCluster.QUESTION_MILLIS);
    private static final Duration POLL = Duration.ofMillis(500);

    /** Who takes what is there. Called by the follower's thread. */
    public interface Records {
        /**
         * A record; the arrays are the taker's.
         *
         * @param value empty for a tombstone
         */
        void take(byte[] key, Optional<byte[]> value);

        /** There is an answer to what was asked, or it is another one what is waited for. */
        void news();
    }

    private final KafkaCluster cluster;
    private final String topic;
    private final Records to;
    private final Thread thread;
    private final Backoff backoff = new Backoff(100, 10_000, System.identityHashCode(this));
    private final Map<TopicPartition, Long> next = new HashMap<>(); // the thread's: offsets

    @GuardedBy("this") private long asked;

    @GuardedBy("this") private long reached;

    @GuardedBy("this") private boolean closed;

    @GuardedBy("this") private @Nullable Consumer<ByteBuffer, ByteBuffer> consumer;

    private volatile Optional<String> waitsFor = Optional.empty(); // written by the thread, read by all

    TopicFollower(KafkaCluster cluster, String topic, Records to) {
        this.cluster = cluster;
        this.topic = topic;
        this.to = to;
        this.thread = new Thread(this::run, "kafka " + topic);
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    /** Asks for all that is in the topic by now. Any thread. */
    public synchronized long ask() {
        asked++;
        wakeUp();
        return asked;
    }

    /** Whether all that was in the topic when {@link #ask} gave this number has been read. Any thread. */
    public synchronized boolean hasReached(long number) {
        return reached >= number;
    }

    /** What it cannot go on without: the brokers, or the topic. Any thread. */
    public Optional<String> waitsFor() {
        return waitsFor;
    }

    @GuardedBy("this") private void wakeUp() {
        if (consumer != null) {
            consumer.wakeup();
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

    private void run() {
        while (!isClosed()) {
            try (Consumer<ByteBuffer, ByteBuffer> fresh = cluster.consumer(false, "millrace")) {
                lend(fresh);
                try {
                    follow(fresh);
                } finally {
                    lend(null);
                    fresh.close(CloseOptions.timeout(POLL));
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
    }

    private synchronized void lend(@Nullable Consumer<ByteBuffer, ByteBuffer> fresh) {
        consumer = fresh;
        if (closed) {
            wakeUp();
        }
    }

    private void failed(RuntimeException e) {
        String reason = e instanceof KafkaException
                ? cluster + ": " + KafkaFailure.of(e).reason()
                : e instanceof MillraceException ? String.valueOf(e.getMessage()) : e.toString();
        if (waitsFor.isEmpty()) {
            LOG.log(System.Logger.Level.WARNING, "topic " + topic + ": " + reason + "; trying again");
        }
        waitsFor = Optional.of(reason);
        to.news();
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

    private void follow(Consumer<ByteBuffer, ByteBuffer> from) {
        look(from);
        while (!isClosed()) {
            try {
                answer(from);
                take(from.poll(POLL));
            } catch (WakeupException e) {
                // something is asked, or it is closed
            } catch (OffsetOutOfRangeException e) { // brokers removed some, or the topic is another one
                from.seekToBeginning(e.offsetOutOfRangePartitions().keySet());
            }
        }
    }

    /** Reads up to where the topic ends now, if somebody waits for that. */
    private void answer(Consumer<ByteBuffer, ByteBuffer> from) {
        long number;
        synchronized (this) {
            if (asked == reached) {
                return;
            }
            number = asked;
        }
        look(from); // a partition may have come
        Map<TopicPartition, Long> ends = from.endOffsets(from.assignment(), QUESTION);
        while (!isClosed() && !hasRead(from, ends)) {
            take(from.poll(POLL));
        }
        synchronized (this) {
            reached = number;
        }
        to.news();
    }

    private static boolean hasRead(Consumer<ByteBuffer, ByteBuffer> reader, Map<TopicPartition, Long> ends) {
        return ends.entrySet().stream().allMatch(end -> reader.position(end.getKey(), QUESTION) >= end.getValue());
    }

    /** Has the consumer have all partitions, each from where it was read to. */
    private void look(Consumer<ByteBuffer, ByteBuffer> from) {
        List<PartitionInfo> infos = from.listTopics(QUESTION).get(topic);
        if (infos == null || infos.isEmpty()) {
            throw MillraceException.external(
                    SqlState.UNDEFINED_OBJECT, "topic " + topic + " does not exist at " + cluster);
        }
        List<TopicPartition> all = new ArrayList<>();
        infos.forEach(info -> all.add(new TopicPartition(topic, info.partition())));
        if (all.size() != from.assignment().size()) {
            from.assign(all);
            for (TopicPartition each : all) {
                Long known = next.get(each);
                if (known == null) {
                    from.seekToBeginning(List.of(each));
                } else {
                    from.seek(each, known);
                }
            }
        }
        if (waitsFor.isPresent()) {
            LOG.log(System.Logger.Level.INFO, "topic " + topic + " is there again");
            waitsFor = Optional.empty();
            to.news();
        }
        backoff.succeeded();
    }

    private void take(ConsumerRecords<ByteBuffer, ByteBuffer> fetched) {
        for (ConsumerRecord<ByteBuffer, ByteBuffer> record : fetched) {
            to.take(bytes(record.key()).orElse(new byte[0]), bytes(record.value()));
            next.put(new TopicPartition(record.topic(), record.partition()), record.offset() + 1);
        }
    }

    private static Optional<byte[]> bytes(@Nullable ByteBuffer of) {
        if (of == null) {
            return Optional.empty();
        }
        byte[] bytes = new byte[of.remaining()];
        of.duplicate().get(bytes);
        return Optional.of(bytes);
    }
}
