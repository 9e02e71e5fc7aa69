package dev.millrace.server.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.connector.Options;
import dev.millrace.connectors.kafka.KafkaTopics;
import dev.millrace.sketch.bins.BinSet;
import dev.millrace.sketch.schema.Binning;
import dev.millrace.sketch.schema.Bound;
import dev.millrace.sketch.schema.Feature;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.segment.SketchHeader;
import dev.millrace.sketch.segment.SketchHeader.Announcement;
import dev.millrace.sketch.segment.StreamVersion;
import dev.millrace.sketch.segment.VersionCodec;
import dev.millrace.sketch.time.TimeCodec;
import dev.millrace.testing.kafka.KafkaBroker;
import dev.millrace.testing.time.Eventually;
import dev.millrace.type.DataType;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What is known of a topic of bins, against a real broker. */
@Tag("peers")
@Timeout(120)
class KnownBinsTest {
    private static final String TOPIC = "bins";
    private static final int VERSIONS = 6_000;
    private static final long MOST_BYTES = 1 << 20;

    @TempDir
    Path folder;

    private static StreamVersion version(long incarnation, int number) {
        Feature feature = new Feature("temp", DataType.DOUBLE, Bound.absolute(.5), Binning.values()[0]);
        SketchSchema schema = new SketchSchema("ts", SketchSchema.MICROS_PER_SECOND, 0, List.of(feature));
        return new StreamVersion(
                incarnation,
                number,
                1,
                schema,
                List.of(new BinSet(.5, 1, List.of())),
                new TimeCodec.Clockwork(0, 1, 0),
                100);
    }

    private static long known(KnownBins bins, StreamVersion version) {
        int tag = (int) version.incarnation() & 0xffff;
        SketchHeader segment = new SketchHeader(2, Announcement.REFERENCE, false, tag, 0, version.number(), 0);
        return bins.of("pump", segment).find(version.incarnation(), version.number()).stream()
                .filter(version::equals)
                .count();
    }

    private static void send(KafkaProducer<byte[], byte[]> producer, String key, byte[] value) {
        producer.send(new ProducerRecord<>(TOPIC, key.getBytes(StandardCharsets.UTF_8), value));
    }

    private static void send(KafkaProducer<byte[], byte[]> producer, StreamVersion version) {
        send(producer, "pump 0 " + version.number(), VersionCodec.encode(version));
    }

    @Test
    void thoseAreKnownThatWereAnnouncedLastAndNoMoreThanThereMayBe() {
        try (KafkaBroker broker = KafkaBroker.start(folder)) {
            broker.topic(TOPIC, 1);
            StreamVersion first = version(1L << 32 | 7, 1);
            StreamVersion again = version(2L << 32 | 7, 1); // whose last bits are the same
            StreamVersion last = version(3L << 32 | 7, 1 + VERSIONS);
            try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
                send(producer, first);
                send(producer, again);
                for (int i = 0; i < VERSIONS; i++) {
                    send(producer, version(5, 2 + i));
                }
                send(producer, last);
                send(producer, "pump 0 1", new byte[] {1, 2, 3});
                send(producer, "pump", VersionCodec.encode(last));
            }
            KafkaTopics topics = KafkaTopics.toRead(new Options(Map.of("bootstrap", broker.bootstrap())));
            KnownBins bins = new KnownBins(topics, TOPIC, MOST_BYTES, 0);
            Runnable decoder = () -> {};
            bins.open(decoder);
            long asked = bins.ask();
            Eventually.holds("the topic is read", () -> bins.hasReached(asked));
            assertEquals(1, known(bins, last));
            assertEquals(1, known(bins, version(5, VERSIONS)));
            assertEquals(0, known(bins, first), "it was announced first, and there is no room for all");
            long kept = VERSIONS + 3 - bins.forgotten();
            assertTrue(kept > 1_000 && kept * VersionCodec.encode(last).length < MOST_BYTES, kept + " are kept");
            assertEquals(2, bins.problems().size());
            try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
                send(producer, first);
                send(producer, again);
                send(producer, first);
            }
            long askedAgain = bins.ask();
            Eventually.holds("what is new is read", () -> bins.hasReached(askedAgain));
            assertEquals(1, known(bins, first));
            assertEquals(1, known(bins, again), "both end in the same bits");
            bins.close(decoder);
            assertEquals(0, known(bins, last), "nobody needs them");
        }
    }
}
