package dev.millrace.connectors.mqtt;

import dev.millrace.connectors.push.MetaColumn;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A message as a broker sent it.
 *
 * @param id of the packet, which the broker knows it by until it is acknowledged; 0 at QoS 0
 * @param properties what its sender added (MQTT 5): a JSON object
 * @param receivedMicros since 1970 UTC
 */
record ArrivedMessage(
        String topic,
        byte[] payload,
        int qos,
        boolean retained,
        int id,
        Optional<String> properties,
        long receivedMicros) {
    /** Levels of a topic that can be columns. */
    static final int MOST_LEVELS = 16;

    /** What of a message can be columns. */
    static List<MetaColumn.Kind> columns() {
        List<MetaColumn.Kind> kinds = new ArrayList<>(List.of(
                new MetaColumn.Kind(
                        "topic",
                        DataType.TEXT,
                        false,
                        about -> Optional.of(of(about).topic())),
                new MetaColumn.Kind(
                        "qos",
                        DataType.INTEGER,
                        false,
                        about -> Optional.of(of(about).qos())),
                new MetaColumn.Kind(
                        "retained",
                        DataType.BOOLEAN,
                        false,
                        about -> Optional.of(of(about).retained())),
                new MetaColumn.Kind(
                        "received",
                        DataType.TIMESTAMPTZ,
                        false,
                        about -> Optional.of(of(about).receivedMicros())),
                new MetaColumn.Kind(
                        "properties", DataType.JSONB, true, about -> of(about).properties())));
        for (int level = 1; level <= MOST_LEVELS; level++) {
            int number = level;
            kinds.add(new MetaColumn.Kind(
                    "level" + level, DataType.TEXT, true, about -> of(about).level(number)));
        }
        return kinds;
    }

    private static ArrivedMessage of(Object about) {
        return (ArrivedMessage) about;
    }

    /** A level of the topic, from 1. */
    Optional<String> level(int number) {
        int from = 0;
        for (int level = 1; level < number; level++) {
            int slash = topic.indexOf('/', from);
            if (slash < 0) {
                return Optional.empty();
            }
            from = slash + 1;
        }
        int to = topic.indexOf('/', from);
        return Optional.of(to < 0 ? topic.substring(from) : topic.substring(from, to));
    }
}
