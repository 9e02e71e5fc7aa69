package dev.millrace.connectors.kafka;

import dev.millrace.connector.CheckpointedSink;
import dev.millrace.connector.Options;
import dev.millrace.connector.Sink;
import dev.millrace.connector.SinkContext;
import dev.millrace.connectors.Connectors;
import dev.millrace.testing.connector.AtLeastOnceConformance;
import dev.millrace.testing.connector.AtLeastOnceFault;
import dev.millrace.testing.connector.AtLeastOnceOutside;
import dev.millrace.testing.connector.ConformanceOf;
import dev.millrace.testing.connector.SinkConformance;
import dev.millrace.testing.connector.SinkFault;
import dev.millrace.testing.connector.SinkOutside;
import dev.millrace.testing.kafka.KafkaBroker;
import dev.millrace.type.Schema;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The sink over a real broker, which is stopped and begun again: by transactions, and by records that are sent again. */
@ConformanceOf("sink kafka")
@Tag("peers")
class KafkaSinkConformanceTest {
    private static final AtomicInteger TOPICS = new AtomicInteger();
    private static final String TOO_LARGE = "x".repeat(2 << 20); // for a producer as it is installed

    @TempDir
    static Path folder;

    private static KafkaBroker broker;

    @BeforeAll
    static void begin() {
        broker = KafkaBroker.start(folder);
    }

    @AfterAll
    static void end() {
        broker.close();
    }

    private static String newTopic(int partitions) {
        String topic = "sunk-" + TOPICS.incrementAndGet();
        broker.topic(topic, partitions);
        return topic;
    }

    private static Sink open(String topic, String delivery, Schema schema, SinkContext context) {
        Map<String, String> options =
                Map.of("bootstrap", broker.bootstrap(), "topic", topic, "key", "id", "delivery", delivery);
        return new KafkaSinkFactory(Connectors.formats()).open(schema, true, new Options(options), context);
    }

    private static List<Long> ids(String topic) {
        return broker.records(topic).stream()
                .map(record -> Long.valueOf(new String(record.key(), StandardCharsets.UTF_8)))
                .toList();
    }

    @Nested
    class ExactlyOnce extends SinkConformance {
        @Override
        protected SinkOutside outside() {
            String topic = newTopic(3);
            return new SinkOutside() {
                @Override
                public CheckpointedSink open(SinkContext context) {
                    return (CheckpointedSink) KafkaSinkConformanceTest.open(topic, "exactly_once", SCHEMA, context);
                }

                @Override
                public List<Long> seen() {
                    return ids(topic);
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
        @EnumSource(names = {"SKIPS_A_COMMIT", "ACKNOWLEDGES_EARLY"})
        void faultsAreCaught(SinkFault fault) {
            catches(fault);
        }
    }

    /** Of a topic of one partition, which has all in their order. */
    @Nested
    class AtLeastOnce extends AtLeastOnceConformance {
        @Override
        protected AtLeastOnceOutside outside() {
            String topic = newTopic(1);
            return new AtLeastOnceOutside() {
                @Override
                public Sink open(SinkContext context) {
                    return KafkaSinkConformanceTest.open(topic, "at_least_once", SCHEMA, context);
                }

                @Override
                public List<Long> came() {
                    return ids(topic);
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

                @Override
                public Optional<String> refused() {
                    return Optional.of(TOO_LARGE);
                }
            };
        }

        @ParameterizedTest
        @EnumSource(names = {"SKIPS_COMMITS", "FORGETS_A_BATCH_AT_A_RESTART", "DROPS_WHAT_IS_REFUSED"})
        void faultsAreCaught(AtLeastOnceFault fault) {
            catches(fault);
        }
    }
}
