package dev.millrace.connectors.kafka;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;

import dev.millrace.connector.Options;
import dev.millrace.connector.TableFeed;
import dev.millrace.connectors.Connectors;
import dev.millrace.testing.connector.ConformanceOf;
import dev.millrace.testing.connector.FeedConformance;
import dev.millrace.testing.connector.FeedFault;
import dev.millrace.testing.connector.FeedOutside;
import dev.millrace.testing.kafka.KafkaBroker;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The table that a topic of changes keeps, of a real broker that is stopped and begun again. */
@ConformanceOf("table kafka")
@Tag("peers")
class KafkaFeedConformanceTest extends FeedConformance {
    private static final AtomicInteger TOPICS = new AtomicInteger();
    private static final Schema SCHEMA =
            Schema.of(new Field("id", DataType.INTEGER, false), new Field("v", DataType.INTEGER, true));

    @TempDir
    static Path folder;

    private static KafkaBroker broker;
    private static KafkaProducer<byte[], byte[]> producer;

    @BeforeAll
    static void begin() {
        broker = KafkaBroker.start(folder);
        producer = broker.producer(Map.of());
    }

    @AfterAll
    static void end() {
        producer.close();
        broker.close();
    }

    @Override
    protected FeedOutside outside() {
        String topic = "fed-" + TOPICS.incrementAndGet();
        broker.topic(topic, 2);
        return new FeedOutside() {
            @Override
            public TableFeed open() {
                Map<String, String> options =
                        Map.of("bootstrap", broker.bootstrap(), "topic", topic, "envelope", "upsert");
                return Connectors.standard(System.out)
                        .feed("kafka")
                        .create("t", SCHEMA, List.of(0), new Options(options));
            }

            @Override
            public void change(Map<Integer, Optional<Integer>> rows) {
                rows.forEach((id, value) -> assertDoesNotThrow(() -> producer.send(new ProducerRecord<>(
                                topic,
                                bytes("" + id),
                                value.map(v -> bytes("{\"v\": " + v + "}")).orElse(null)))
                        .get()));
            }

            private static byte[] bytes(String text) {
                return text.getBytes(StandardCharsets.UTF_8);
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

    /** One that forgets its position reads all again, to the same table. */
    @ParameterizedTest
    @EnumSource(names = {"NONE", "SKIPS_A_COMMIT", "ACKNOWLEDGES_EARLY"})
    void faultsAreCaught(FeedFault fault) {
        catches(fault);
    }
}
