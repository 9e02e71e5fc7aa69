package dev.millrace.connectors.kafka;

import dev.millrace.batch.Batch;
import dev.millrace.connector.Sink;
import dev.millrace.connector.SinkStatus;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.jspecify.annotations.Nullable;

/**
 * Writes a record for each row, or for each key that an epoch changed. An epoch is committed when the brokers have all its records; the
 * producer tries again by itself and keeps the order of each partition, for {@link #DELIVERY_MILLIS} at most. Written by one thread; the producer
 * has one of its own.
 */
final class KafkaSink implements Sink {
    private static final int DELIVERY_MILLIS = 300_000;
    private static final long SILENT_NANOS =
            TimeUnit.SECONDS.toNanos(5); // after which brokers are said to be waited for

    private final KafkaCluster cluster;
    private final String topic;
    private final RecordMaker maker;
    private final KafkaProducer<byte[], byte[]> producer;
    private final AtomicReference<@Nullable Exception> failure = new AtomicReference<>(); // the first
    private final AtomicLong sent = new AtomicLong();
    private final AtomicLong acknowledged = new AtomicLong();
    private volatile long progressNanos =
            System.nanoTime(); // of the last record that was acknowledged, or sent when none waited
    private boolean closed;

    /** @param maker is closed with this, but not if this cannot be made */
    KafkaSink(KafkaCluster cluster, String topic, RecordMaker maker) {
        this.cluster = cluster;
        this.topic = topic;
        this.maker = maker;
        this.producer = cluster.producer(Map.of(
                ProducerConfig.ACKS_CONFIG,
                "all",
                ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG,
                "true",
                ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG,
                Integer.toString(DELIVERY_MILLIS),
                ProducerConfig.MAX_BLOCK_MS_CONFIG,
                Integer.toString(DELIVERY_MILLIS)));
    }

    @Override
    public void check() {
        cluster.requireTopics(List.of(topic));
    }

    @Override
    public void write(Batch batch) {
        maker.write(batch, this::send);
        requireNoFailure();
    }

    private void send(byte @Nullable [] keyBytes, byte @Nullable [] value) {
        if (sent.getAndIncrement() == acknowledged.get()) {
            progressNanos = System.nanoTime();
        }
        try {
            producer.send(new ProducerRecord<>(topic, keyBytes, value), (metadata, error) -> {
                if (error != null) {
                    failure.compareAndSet(null, error);
                } else {
                    acknowledged.incrementAndGet();
                    progressNanos = System.nanoTime();
                }
            });
        } catch (InterruptException e) {
            throw interrupted();
        } catch (KafkaException | IllegalStateException e) {
            throw cluster.failure(e);
        }
    }

    @Override
    public void commit(long number) {
        maker.endEpoch(this::send);
        try {
            producer.flush();
        } catch (InterruptException e) {
            throw interrupted();
        }
        requireNoFailure();
    }

    private void requireNoFailure() {
        Exception first = failure.get();
        if (first != null) {
            throw cluster.failure(first);
        }
    }

    static MillraceException interrupted() {
        return MillraceException.user(SqlState.QUERY_CANCELED, "the sink is closed while it writes");
    }

    @Override
    public Optional<SinkStatus> status() {
        long waiting = sent.get() - acknowledged.get();
        long silentNanos = waiting > 0 ? System.nanoTime() - progressNanos : 0;
        Optional<String> error = Optional.ofNullable(failure.get())
                .map(why -> KafkaFailure.of(why).reason());
        return Optional.of(new SinkStatus(
                "topic " + topic,
                acknowledged.get(),
                waiting,
                TimeUnit.NANOSECONDS.toMicros(silentNanos),
                error,
                silentNanos > SILENT_NANOS ? Optional.of(cluster.toString()) : Optional.empty()));
    }

    /** What is not committed may be lost: nobody waits for brokers. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            try (maker) {
                producer.close(Duration.ZERO);
            } catch (InterruptException e) {
                // it is closed all the same; who interrupted sees it by the thread's flag
            }
        }
    }
}
