package dev.millrace.benchmarks.kafka;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Kafka's own consumer and producer, which pass records on from topic to topic as they are, without a look at them, exactly once: with a transaction a
 * second that has the offsets. What of Millrace's time is theirs and the broker's.
 */
final class BareClients {
    private static final long TRANSACTION_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final Duration PATIENCE = Duration.ofMillis(100);
    private static final long MOST_NANOS = TimeUnit.MINUTES.toNanos(10);

    private final Properties common = new Properties();

    BareClients(String brokers) {
        common.put("bootstrap.servers", brokers);
    }

    /**
     * Passes on so many records.
     *
     * @throws IllegalStateException if they do not come in ten minutes
     */
    void passOn(String from, String to, int partitions, int records) {
        Properties reading = with(Map.of("isolation.level", "read_committed", "enable.auto.commit", "false"));
        Properties writing = with(Map.of("transactional.id", "bare " + to, "batch.size", "200000", "linger.ms", "20"));
        try (KafkaConsumer<byte[], byte[]> consumer =
                        new KafkaConsumer<>(reading, new ByteArrayDeserializer(), new ByteArrayDeserializer());
                KafkaProducer<byte[], byte[]> producer =
                        new KafkaProducer<>(writing, new ByteArraySerializer(), new ByteArraySerializer())) {
            List<TopicPartition> all = IntStream.range(0, partitions)
                    .mapToObj(partition -> new TopicPartition(from, partition))
                    .toList();
            consumer.assign(all);
            consumer.seekToBeginning(all);
            producer.initTransactions();
            long giveUp = System.nanoTime() + MOST_NANOS;
            for (int passed = 0; passed < records; ) {
                if (System.nanoTime() > giveUp) {
                    throw new IllegalStateException(passed + " of " + records + " records of " + from + " came");
                }
                producer.beginTransaction();
                long end = System.nanoTime() + TRANSACTION_NANOS;
                while (passed < records && System.nanoTime() < end) {
                    for (ConsumerRecord<byte[], byte[]> record : consumer.poll(PATIENCE)) {
                        producer.send(new ProducerRecord<>(to, record.partition(), null, record.value()));
                        passed++;
                    }
                }
                Map<TopicPartition, OffsetAndMetadata> offsets = all.stream()
                        .collect(
                                Collectors.toMap(each -> each, each -> new OffsetAndMetadata(consumer.position(each))));
                producer.sendOffsetsToTransaction(offsets, consumer.groupMetadata());
                producer.commitTransaction();
            }
        }
    }

    private Properties with(Map<String, String> more) {
        Properties all = new Properties();
        all.putAll(common);
        all.put("group.id", "bare");
        all.putAll(more);
        return all;
    }
}
