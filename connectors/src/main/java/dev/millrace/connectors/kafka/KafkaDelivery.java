package dev.millrace.connectors.kafka;

import dev.millrace.connectors.outbox.Delivery;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsOptions;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.jspecify.annotations.Nullable;

/**
 * Delivers records by one transaction, with their number as an offset of a group of the writer's own: that of partition 0 of the first
 * topic. The transactional id is the writer's own too, so that a process that is thought to be dead is fenced by the next. Used by one thread.
 */
final class KafkaDelivery implements Delivery {
    /** How long a transaction may be open, and brokers may take for a step; milliseconds. */
    private static final int TRANSACTION_MILLIS = 300_000;

    private static final int STEP_MILLIS = 30_000;

    private final KafkaCluster cluster;
    private final List<String> topics;
    private final String id;
    private final Function<ByteBuffer, ProducerRecord<byte[], byte[]>> read;
    private final TopicPartition place;
    private Optional<KafkaProducer<byte[], byte[]>> producer = Optional.empty(); // that has fenced others

    /**
     * @param topics that records go to
     * @param id of transactions and of the group
     * @param read makes a record of its bytes
     */
    KafkaDelivery(
            KafkaCluster cluster,
            List<String> topics,
            String id,
            Function<ByteBuffer, ProducerRecord<byte[], byte[]>> read) {
        this.cluster = cluster;
        this.topics = List.copyOf(topics);
        this.id = id;
        this.read = read;
        this.place = new TopicPartition(topics.get(0), 0);
    }

    @Override
    public void check() {
        cluster.requireTopics(topics);
    }

    @Override
    public long lastDelivered() {
        closeProducer();
        begun(); // ends a transaction that is open still, of this process or of another
        try (Admin admin = cluster.admin()) {
            Map<TopicPartition, OffsetAndMetadata> offsets = admin.listConsumerGroupOffsets(
                            id, new ListConsumerGroupOffsetsOptions().requireStable(true))
                    .partitionsToOffsetAndMetadata()
                    .get(KafkaCluster.QUESTION_MILLIS + 1_000L, TimeUnit.MILLISECONDS);
            OffsetAndMetadata last = offsets.get(place);
            return last == null ? 0 : last.offset();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof GroupIdNotFoundException) {
                return 0;
            }
            throw cluster.failure(e);
        } catch (TimeoutException e) {
            throw cluster.failure(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw KafkaSink.interrupted();
        }
    }

    /** The producer, behind which no other one of this id can write. */
    private KafkaProducer<byte[], byte[]> begun() {
        if (producer.isPresent()) {
            return producer.get();
        }
        Map<String, Object> own = new HashMap<>();
        own.put(ProducerConfig.ACKS_CONFIG, "all");
        own.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, "true");
        own.put(ProducerConfig.TRANSACTIONAL_ID_CONFIG, id);
        own.put(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG, Integer.toString(TRANSACTION_MILLIS));
        own.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, Integer.toString(TRANSACTION_MILLIS));
        own.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, Integer.toString(STEP_MILLIS));
        KafkaProducer<byte[], byte[]> made = cluster.producer(own);
        try {
            made.initTransactions();
        } catch (KafkaException | IllegalStateException e) {
            close(made);
            throw explained(e);
        }
        producer = Optional.of(made);
        return made;
    }

    @Override
    public void deliver(long number, Records records) {
        AtomicReference<@Nullable Exception> failure = new AtomicReference<>();
        try {
            KafkaProducer<byte[], byte[]> to = begun();
            to.beginTransaction();
            records.forEach(bytes -> {
                if (failure.get() == null) { // each of the others would wait as long for brokers that are away
                    to.send(read.apply(bytes), (metadata, error) -> {
                        if (error != null) {
                            failure.compareAndSet(null, error);
                        }
                    });
                }
            });
            Exception first = failure.get();
            if (first != null) {
                throw explained(first);
            }
            to.sendOffsetsToTransaction(
                    Map.of(place, new OffsetAndMetadata(number, "of Millrace")), new ConsumerGroupMetadata(id));
            to.commitTransaction(); // fails if a record does
        } catch (MillraceException e) {
            closeProducer(); // what it has open is ended by the next
            throw e;
        } catch (KafkaException | IllegalStateException e) {
            closeProducer();
            Exception first = failure.get();
            throw explained(first == null ? e : first);
        }
    }

    private MillraceException explained(Exception e) {
        if (e instanceof MillraceException known) {
            return known;
        }
        if (e instanceof InterruptException) {
            return KafkaSink.interrupted();
        }
        if (e instanceof ProducerFencedException || e instanceof InvalidProducerEpochException) {
            return MillraceException.user(
                            SqlState.OBJECT_IN_USE,
                            "another process writes to topic " + topics.get(0) + " at " + cluster + " as " + id)
                    .withHint("a copy of this data directory is open elsewhere: only one may write");
        }
        return cluster.failure(e);
    }

    private void closeProducer() {
        Optional<KafkaProducer<byte[], byte[]>> old = producer;
        producer = Optional.empty();
        old.ifPresent(KafkaDelivery::close);
    }

    private static void close(KafkaProducer<byte[], byte[]> made) {
        try {
            made.close(Duration.ZERO);
        } catch (InterruptException e) {
            // it is closed all the same; the thread's flag is set
        }
    }

    @Override
    public void close() {
        closeProducer();
    }
}
