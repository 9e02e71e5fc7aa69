package dev.millrace.connectors.kafka;

import dev.millrace.connector.CheckpointedSink;
import dev.millrace.connector.Options;
import dev.millrace.connector.SinkContext;
import dev.millrace.connectors.Connectors;
import dev.millrace.testing.connector.ConformanceOf;
import dev.millrace.testing.connector.SinkConformance;
import dev.millrace.testing.connector.SinkFault;
import dev.millrace.testing.connector.SinkOutside;
import dev.millrace.testing.kafka.KafkaBroker;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The sink that writes transactions to a real broker, which is stopped and begun again. */
@ConformanceOf("sink kafka")
@Tag("peers")
class KafkaSinkConformanceTest extends SinkConformance {
    private static final AtomicInteger TOPICS = new AtomicInteger();

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

    @Override
    protected SinkOutside outside() {
        String topic = "conformance-" + TOPICS.incrementAndGet();
        broker.topic(topic, 3);
        return new SinkOutside() {
            @Override
            public CheckpointedSink open(SinkContext context) {
                Map<String, String> options = Map.of(
                        "bootstrap", broker.bootstrap(), "topic", topic, "key", "id", "delivery", "exactly_once");
                return (CheckpointedSink)
                        new KafkaSinkFactory(Connectors.formats()).open(SCHEMA, true, new Options(options), context);
            }

            @Override
            public List<Long> seen() {
                return broker.records(topic).stream()
                        .map(record -> Long.valueOf(new String(record.key(), StandardCharsets.UTF_8)))
                        .toList();
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
