package dev.millrace.connectors.kafka;

import dev.millrace.connector.Options;
import dev.millrace.connector.Sink;
import dev.millrace.connector.SinkContext;
import dev.millrace.connectors.Connectors;
import dev.millrace.testing.connector.AtLeastOnceConformance;
import dev.millrace.testing.connector.AtLeastOnceFault;
import dev.millrace.testing.connector.AtLeastOnceOutside;
import dev.millrace.testing.connector.ConformanceOf;
import dev.millrace.testing.kafka.KafkaBroker;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The sink that writes each record to a real broker, which is stopped and begun again. */
@ConformanceOf("sink kafka")
@Tag("peers")
class KafkaAtLeastOnceTest extends AtLeastOnceConformance {
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

    @Override
    protected AtLeastOnceOutside outside() {
        String topic = "written-" + TOPICS.incrementAndGet();
        broker.topic(topic, 1);
        return new AtLeastOnceOutside() {
            @Override
            public Sink open(SinkContext context) {
                Map<String, String> options = Map.of("bootstrap", broker.bootstrap(), "topic", topic, "key", "id");
                return new KafkaSinkFactory(Connectors.formats()).open(SCHEMA, true, new Options(options), context);
            }

            @Override
            public List<Long> came() {
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

            @Override
            public Optional<String> refused() {
                return Optional.of(TOO_LARGE);
            }
        };
    }

    @ParameterizedTest
    @EnumSource
    void faultsAreCaught(AtLeastOnceFault fault) {
        catches(fault);
    }
}
