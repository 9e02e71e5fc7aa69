package dev.millrace.connectors.kafka;

import dev.millrace.connector.Options;
import dev.millrace.connectors.outbox.Delivery;
import java.nio.ByteBuffer;
import java.util.List;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * Topics for those who are neither a source nor a sink of rows: records as they are, written exactly once or followed from the first on, by the
 * same options as sources and sinks have. Immutable, safe on any thread.
 */
public final class KafkaTopics {
    private static final int HEADER_BYTES = 1 + Integer.BYTES;

    private final KafkaCluster cluster;

    private KafkaTopics(KafkaCluster cluster) {
        this.cluster = cluster;
    }

    /** Of options {@code bootstrap} and {@code properties.*} of a producer, whose names begin with a prefix. */
    public static KafkaTopics toWrite(Options options, String prefix) {
        return new KafkaTopics(KafkaCluster.read(options, prefix, KafkaCluster.producerProperties()));
    }

    /** Of options {@code bootstrap} and {@code properties.*} of a consumer. */
    public static KafkaTopics toRead(Options options) {
        return new KafkaTopics(KafkaCluster.read(options, KafkaCluster.consumerProperties()));
    }

    /** @throws dev.millrace.error.MillraceException 22023 if an option has something that cannot be a topic's name */
    public static String legal(String option, String topic) {
        return TopicChoice.legal(option, topic);
    }

    /**
     * Looks whether topics are there. Waits some seconds at most.
     *
     * @throws dev.millrace.error.MillraceException 42704 if one is not; 08006 if no broker answers
     */
    public void require(List<String> topics) {
        cluster.requireTopics(topics);
    }

    /**
     * Delivers what {@link #record} made, a parcel by one transaction.
     *
     * @param topics by the numbers that records have
     * @param id of transactions and of the group that keeps numbers: of one writer alone
     */
    public Delivery delivery(List<String> topics, String id) {
        List<String> names = List.copyOf(topics);
        return new KafkaDelivery(cluster, names, id, bytes -> {
            String topic = names.get(bytes.get());
            byte[] key = new byte[bytes.getInt()];
            bytes.get(key);
            byte[] value = new byte[bytes.remaining()];
            bytes.get(value);
            return new ProducerRecord<>(topic, key, value);
        });
    }

    /**
     * A record as bytes: the topic's number, length of the key (4 bytes), key, value.
     *
     * @param topic its number, below 128
     */
    public static byte[] record(int topic, byte[] key, byte[] value) {
        return ByteBuffer.allocate(HEADER_BYTES + key.length + value.length)
                .put((byte) topic)
                .putInt(key.length)
                .put(key)
                .put(value)
                .array();
    }

    /** Reads all of a topic, and what comes, by a thread that begins now; the caller closes it. */
    public TopicFollower follow(String topic, TopicFollower.Records to) {
        TopicFollower follower = new TopicFollower(cluster, topic, to);
        follower.start();
        return follower;
    }

    /** For users; without secrets. */
    @Override
    public String toString() {
        return cluster.toString();
    }
}
