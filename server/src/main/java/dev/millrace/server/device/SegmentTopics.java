package dev.millrace.server.device;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connectors.kafka.KafkaTopics;
import dev.millrace.connectors.outbox.Delivery;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/**
 * The two topics of Kafka that have what devices send to a stream (Pebbles dissertation §6.1.2). Immutable.
 *
 * <pre>
 *   topic             key                               value
 *   segments          the device                        a segment, as the device made it
 *   bins              device, incarnation, number       what the segments of that version have in common: an announcement without rows
 * </pre>
 *
 * A key is text; the three parts of that of bins are apart by spaces, the incarnation has 16 hexadecimal digits. What a segment refers
 * to and does not announce itself is written no later than with it, in one transaction, and again whenever the device announces all of it.
 *
 * @param mostBytes that wait to be written
 */
record SegmentTopics(KafkaTopics brokers, String segments, String bins, long mostBytes) {
    /** What is behind the name of the topic of segments in that of their bins, if nobody says another. */
    static final String BINS = "-bins";

    private static final String PREFIX = "kafka.";
    private static final long BUFFER_BYTES = 16 << 20;
    private static final int OF_SEGMENTS = 0; // numbers of the topics
    private static final int OF_BINS = 1;

    /** What {@link #read} reads. */
    static final List<OptionDescription> OPTIONS = List.of(
            new OptionDescription(
                    "kafka.bootstrap",
                    "",
                    "brokers that also get what devices send: host:port, or several between commas"),
            new OptionDescription("kafka.topic", "", "where segments go; it must be there"),
            new OptionDescription(
                    "kafka.bins.topic",
                    "kafka.topic and -bins",
                    "where the bins go that segments refer to; it must be there"),
            new OptionDescription(
                    "kafka.buffer_bytes",
                    "16 MB",
                    "segments that wait for the brokers, beyond which the stream takes nothing and they wait at devices"),
            new OptionDescription("kafka.properties.<name>", "Kafka's", "any property of Kafka's producer"));

    /** Empty where no option speaks of Kafka. */
    static Optional<SegmentTopics> read(Options options) {
        if (options.names().stream().noneMatch(name -> name.startsWith(PREFIX))) {
            return Optional.empty();
        }
        KafkaTopics brokers = KafkaTopics.toWrite(options, PREFIX);
        String segments = KafkaTopics.legal("kafka.topic", options.required("kafka.topic"));
        String bins = KafkaTopics.legal("kafka.bins.topic", options.text("kafka.bins.topic", segments + BINS));
        if (bins.equals(segments)) {
            throw Options.invalid("kafka.bins.topic", bins, "another topic than that of the segments");
        }
        long most = options.integer("kafka.buffer_bytes", BUFFER_BYTES, 1 << 16, 1 << 30);
        return Optional.of(new SegmentTopics(brokers, segments, bins, most));
    }

    void check() {
        brokers.require(List.of(segments, bins));
    }

    /** @param id of the one that writes */
    Delivery delivery(String id) {
        return brokers.delivery(List.of(segments, bins), id);
    }

    static byte[] segment(String device, byte[] bytes) {
        return KafkaTopics.record(OF_SEGMENTS, device.getBytes(StandardCharsets.UTF_8), bytes);
    }

    static byte[] bins(String device, long incarnation, int number, byte[] announcement) {
        String key = device + " " + String.format("%016x", incarnation) + " " + number;
        return KafkaTopics.record(OF_BINS, key.getBytes(StandardCharsets.UTF_8), announcement);
    }

    /** The device that a key of bins names; empty if it is no such key. */
    static Optional<String> deviceOfBins(byte[] key) {
        String text = new String(key, StandardCharsets.UTF_8);
        int last = text.lastIndexOf(' ');
        int end = last < 0 ? -1 : text.lastIndexOf(' ', last - 1);
        return end < 0 ? Optional.empty() : Optional.of(text.substring(0, end));
    }

    /** For users. */
    @Override
    public String toString() {
        return "topic " + segments + " of " + brokers;
    }
}
