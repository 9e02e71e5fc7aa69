package dev.millrace.connectors.kafka;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** What happens to a row, in Debezium's envelope: {@code {"before":..,"after":..,"op":".."}}. */
final class DebeziumChange {
    private static final byte[] NULL = "null".getBytes(StandardCharsets.US_ASCII);

    private DebeziumChange() {}

    /**
     * A record's value.
     *
     * @param before the row as JSON; null if there was none
     * @param after likewise, now
     */
    static byte[] of(byte @Nullable [] before, byte @Nullable [] after) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes("{\"before\":".getBytes(StandardCharsets.US_ASCII));
        out.writeBytes(before == null ? NULL : before);
        out.writeBytes(",\"after\":".getBytes(StandardCharsets.US_ASCII));
        out.writeBytes(after == null ? NULL : after);
        String op = before == null ? "c" : after == null ? "d" : "u";
        out.writeBytes((",\"op\":\"" + op + "\"}").getBytes(StandardCharsets.US_ASCII));
        return out.toByteArray();
    }
}
