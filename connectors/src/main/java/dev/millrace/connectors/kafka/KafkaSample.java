package dev.millrace.connectors.kafka;

import dev.millrace.connector.Options;
import dev.millrace.connectors.record.RecordMemory;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.format.RecordFormatFactory;
import dev.millrace.type.Schema;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;

/**
 * Guesses columns from the first records of topics, where none are declared: {@link #MOST_RECORDS} and {@link #MOST_BYTES} at most, for
 * {@link #MOST_MILLIS}.
 */
final class KafkaSample {
    private static final int MOST_RECORDS = 1_000;
    private static final int MOST_BYTES = 1 << 20;
    private static final int MOST_MILLIS = 5_000;

    private KafkaSample() {}

    /**
     * The columns of a format, by what it knows from elsewhere or by the first records.
     *
     * @throws MillraceException 42P16 if they cannot be told; 08006 if the brokers do not answer
     */
    static Schema columns(
            KafkaCluster cluster,
            TopicChoice topics,
            boolean readCommitted,
            RecordFormatFactory format,
            Options options) {
        try {
            return format.infer(Optional.empty(), options);
        } catch (MillraceException e) {
            if (e.sqlState() != SqlState.INVALID_TABLE_DEFINITION) {
                throw e;
            }
        }
        try (BufferAllocator allocator = new RootAllocator();
                RecordMemory memory = new RecordMemory(allocator);
                KafkaConsumer<ByteBuffer, ByteBuffer> consumer = cluster.consumer(readCommitted, "millrace-sample")) {
            read(consumer, topics, memory);
            memory.finish();
            return format.infer(Optional.of(memory.records()), options);
        } catch (InterruptException e) {
            throw MillraceException.user(SqlState.QUERY_CANCELED, "canceling statement due to user request");
        } catch (KafkaException e) {
            throw cluster.failure(e);
        }
    }

    private static void read(KafkaConsumer<ByteBuffer, ByteBuffer> consumer, TopicChoice topics, RecordMemory memory) {
        List<TopicPartition> partitions = new ArrayList<>();
        consumer.listTopics(Duration.ofMillis(KafkaCluster.QUESTION_MILLIS)).forEach((topic, of) -> {
            if (topics.matches(topic)) {
                for (PartitionInfo partition : of) {
                    partitions.add(new TopicPartition(topic, partition.partition()));
                }
            }
        });
        consumer.assign(partitions);
        consumer.seekToBeginning(partitions);
        Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
        long begun = System.nanoTime();
        while (System.nanoTime() - begun < TimeUnit.MILLISECONDS.toNanos(MOST_MILLIS)) {
            for (ConsumerRecord<ByteBuffer, ByteBuffer> record : consumer.poll(Duration.ofMillis(100))) {
                if (memory.records().count() >= MOST_RECORDS || memory.bytes() >= MOST_BYTES) {
                    return;
                }
                memory.add(record.key(), record.value(), record.offset());
            }
            if (ends.entrySet().stream().allMatch(end -> consumer.position(end.getKey()) >= end.getValue())) {
                return;
            }
        }
    }
}
