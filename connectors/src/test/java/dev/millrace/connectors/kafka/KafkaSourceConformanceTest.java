package dev.millrace.connectors.kafka;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;

import dev.millrace.connector.Options;
import dev.millrace.connector.Source;
import dev.millrace.connectors.Connectors;
import dev.millrace.testing.connector.ConformanceOf;
import dev.millrace.testing.connector.SourceConformance;
import dev.millrace.testing.connector.SourceFault;
import dev.millrace.testing.connector.SourceOutside;
import dev.millrace.testing.kafka.KafkaBroker;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The source over a real broker, which is stopped and begun again, and gets more partitions. */
@ConformanceOf("source kafka")
@Tag("peers")
class KafkaSourceConformanceTest extends SourceConformance {
    private static final AtomicInteger TOPICS = new AtomicInteger();

    @TempDir
    static Path folder;

    private static KafkaBroker broker;
    private static KafkaProducer<byte[], byte[]> producer;

    @BeforeAll
    static void begin() {
        broker = KafkaBroker.start(folder);
        producer = broker.producer(Map.of("metadata.max.age.ms", "500"));
    }

    @AfterAll
    static void end() {
        producer.close();
        broker.close();
    }

    @Override
    protected SourceOutside outside() {
        String topic = "source-" + TOPICS.incrementAndGet();
        broker.topic(topic, 2);
        return new SourceOutside() {
            private int partitions = 2;

            @Override
            public Source source() {
                Map<String, String> options = Map.of(
                        "bootstrap",
                        broker.bootstrap(),
                        "topic",
                        topic,
                        "format",
                        "json",
                        "discovery.interval",
                        "200ms");
                return new KafkaSourceFactory(Connectors.formats()).create(SCHEMA, new Options(options));
            }

            @Override
            public void append(long from, long to) {
                for (long id = from; id < to; id++) {
                    send((int) (id % partitions), "{\"id\": " + id + ", \"name\": \"n" + id + "\"}");
                }
            }

            @Override
            public void poison() {
                send(0, "{\"id\": \"none\"");
            }

            private void send(int partition, String text) {
                ProducerRecord<byte[], byte[]> record =
                        new ProducerRecord<>(topic, partition, null, text.getBytes(StandardCharsets.UTF_8));
                assertDoesNotThrow(() -> producer.send(record).get());
            }

            @Override
            public boolean grows() {
                broker.partitions(topic, ++partitions);
                return true;
            }

            @Override
            public boolean goes() {
                broker.stop();
                return true;
            }

            @Override
            public void comes() {
                broker.begin();
            }
        };
    }

    @ParameterizedTest
    @EnumSource(names = "NONE", mode = EnumSource.Mode.EXCLUDE)
    void faultsAreCaught(SourceFault fault) {
        catches(fault);
    }
}
