package dev.millrace.connectors.mqtt;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * A message as it is kept until it is in the stream: 1 byte, its QoS, plus 4 if it was retained; when it came (8 bytes, microseconds since 1970 UTC); the length of its topic (4 bytes) and the topic
 * in UTF-8; the length of its properties (4 bytes, -1 if there are none) and these as JSON in UTF-8; its payload.
 */
final class ParkedMessage {
    private static final int RETAINED = 4;

    private ParkedMessage() {}

    static byte[] bytes(ArrivedMessage message) {
        byte[] topic = message.topic().getBytes(StandardCharsets.UTF_8);
        byte[] properties = message.properties()
                .map(text -> text.getBytes(StandardCharsets.UTF_8))
                .orElse(new byte[0]);
        return ByteBuffer.allocate(1
                        + Long.BYTES
                        + 2 * Integer.BYTES
                        + topic.length
                        + properties.length
                        + message.payload().length)
                .put((byte) (message.qos() + (message.retained() ? RETAINED : 0)))
                .putLong(message.receivedMicros())
                .putInt(topic.length)
                .put(topic)
                .putInt(message.properties().isPresent() ? properties.length : -1)
                .put(properties)
                .put(message.payload())
                .array();
    }

    static ArrivedMessage read(byte[] bytes) {
        ByteBuffer from = ByteBuffer.wrap(bytes);
        int flags = from.get();
        long receivedMicros = from.getLong();
        String topic = text(from, from.getInt());
        int properties = from.getInt();
        Optional<String> given = properties < 0 ? Optional.empty() : Optional.of(text(from, properties));
        byte[] payload = new byte[from.remaining()];
        from.get(payload);
        return new ArrivedMessage(topic, payload, flags % RETAINED, flags >= RETAINED, 0, given, receivedMicros);
    }

    private static String text(ByteBuffer from, int length) {
        byte[] bytes = new byte[length];
        from.get(bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
