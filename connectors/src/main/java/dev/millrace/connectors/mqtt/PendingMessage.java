package dev.millrace.connectors.mqtt;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Optional;

/**
 * A message of QoS 2 as it is kept until it is in the stream: 1 byte, whether it was retained; the length of its topic (4 bytes) and the topic
 * in UTF-8; the length of its properties (4 bytes, -1 if there are none) and these as JSON in UTF-8; its payload.
 */
final class PendingMessage {
    private static final int PRINT_BYTES = 16;

    private PendingMessage() {}

    static byte[] bytes(ArrivedMessage message) {
        byte[] topic = message.topic().getBytes(StandardCharsets.UTF_8);
        byte[] properties = message.properties()
                .map(text -> text.getBytes(StandardCharsets.UTF_8))
                .orElse(new byte[0]);
        return ByteBuffer.allocate(1 + 2 * Integer.BYTES + topic.length + properties.length + message.payload().length)
                .put((byte) (message.retained() ? 1 : 0))
                .putInt(topic.length)
                .put(topic)
                .putInt(message.properties().isPresent() ? properties.length : -1)
                .put(properties)
                .put(message.payload())
                .array();
    }

    /** @param receivedMicros as good as any: it came before, nobody knows when */
    static ArrivedMessage read(byte[] bytes, long receivedMicros) {
        ByteBuffer from = ByteBuffer.wrap(bytes);
        boolean retained = from.get() == 1;
        String topic = text(from, from.getInt());
        int properties = from.getInt();
        Optional<String> given = properties < 0 ? Optional.empty() : Optional.of(text(from, properties));
        byte[] payload = new byte[from.remaining()];
        from.get(payload);
        return new ArrivedMessage(topic, payload, 2, retained, 0, given, receivedMicros);
    }

    private static String text(ByteBuffer from, int length) {
        byte[] bytes = new byte[length];
        from.get(bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /** By which a message is known when it comes again. */
    static byte[] print(ArrivedMessage message) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(message.topic().getBytes(StandardCharsets.UTF_8));
            digest.update((byte) 0);
            digest.update(message.payload());
            return Arrays.copyOf(digest.digest(), PRINT_BYTES);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
