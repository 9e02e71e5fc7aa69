package dev.millrace.connectors.kafka;

import dev.millrace.connector.Options;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;

/**
 * Where in a partition reading begins, for a query that begins: the option {@code start}. Immutable.
 *
 * @param millis since 1970, of {@link Kind#TIMESTAMP}
 * @param offsets of {@link Kind#OFFSETS}; by topic and partition, and by partition where a topic is not said
 */
record StartingPoint(Kind kind, long millis, Map<TopicPartition, Long> offsets) {
    /** What decides. */
    enum Kind {
        EARLIEST,
        LATEST,
        TIMESTAMP,
        OFFSETS
    }

    private static final String FORM =
            "earliest, latest, a time such as 2026-01-31 12:00:00 (UTC), or offsets such as 0=42,1=17 or orders/0=42";

    static final StartingPoint EARLIEST = new StartingPoint(Kind.EARLIEST, 0, Map.of());

    static StartingPoint read(Options options) {
        String text = options.text("start", "earliest").strip();
        if (text.equalsIgnoreCase("earliest")) {
            return EARLIEST;
        }
        if (text.equalsIgnoreCase("latest")) {
            return new StartingPoint(Kind.LATEST, 0, Map.of());
        }
        if (text.contains("=")) {
            return new StartingPoint(Kind.OFFSETS, 0, offsets(text));
        }
        return new StartingPoint(Kind.TIMESTAMP, instant(text).toEpochMilli(), Map.of());
    }

    private static Instant instant(String text) {
        String iso = text.replace(' ', 'T');
        try {
            return OffsetDateTime.parse(iso).toInstant();
        } catch (DateTimeException withoutZone) {
            try {
                return LocalDateTime.parse(iso.contains("T") ? iso : iso + "T00:00")
                        .toInstant(ZoneOffset.UTC);
            } catch (DateTimeException e) {
                throw Options.invalid("start", text, FORM);
            }
        }
    }

    private static Map<TopicPartition, Long> offsets(String text) {
        Map<TopicPartition, Long> offsets = new HashMap<>();
        for (String one : text.split(",")) {
            int equals = one.indexOf('=');
            int slash = one.lastIndexOf('/', Math.max(equals, 0));
            try {
                String topic = slash < 0 ? "" : one.substring(0, slash).strip();
                int partition =
                        Integer.parseInt(one.substring(slash + 1, equals).strip());
                long offset = Long.parseLong(one.substring(equals + 1).strip());
                if (partition < 0 || offset < 0) {
                    throw Options.invalid("start", text, FORM);
                }
                offsets.put(new TopicPartition(topic, partition), offset);
            } catch (NumberFormatException | StringIndexOutOfBoundsException e) {
                throw Options.invalid("start", text, FORM);
            }
        }
        return Map.copyOf(offsets);
    }

    /** Of {@link Kind#OFFSETS}: that of a partition; the earliest, -1, where none is said. */
    long offset(TopicPartition partition) {
        Long named = offsets.get(partition);
        return named != null ? named : offsets.getOrDefault(new TopicPartition("", partition.partition()), -1L);
    }
}
