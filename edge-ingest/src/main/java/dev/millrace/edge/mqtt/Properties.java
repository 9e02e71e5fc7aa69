package dev.millrace.edge.mqtt;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/** The properties of a packet (2.2.2 of the standard): numbers and texts by their identifiers; others are passed over. */
final class Properties {
    static final int SESSION_EXPIRY = 0x11;
    static final int SERVER_KEEP_ALIVE = 0x13;
    static final int REASON = 0x1F;
    static final int RECEIVE_MAXIMUM = 0x21;
    static final int TOPIC_ALIAS_MAXIMUM = 0x22;
    static final int TOPIC_ALIAS = 0x23;
    static final int MAXIMUM_QOS = 0x24;
    static final int MAXIMUM_PACKET = 0x27;

    private final Map<Integer, Long> numbers = new HashMap<>();
    private String reason = "";

    /** Reads those that are next; none at the end of the packet. */
    static Properties read(ByteBuffer in) throws MqttException {
        Properties read = new Properties();
        if (!in.hasRemaining()) {
            return read;
        }
        int length = PacketWriter.variable(in);
        if (length > in.remaining()) {
            throw new MqttException("the broker sends a packet that ends early");
        }
        int end = in.position() + length;
        while (in.position() < end) {
            read.next(in);
        }
        if (in.position() != end) {
            throw new MqttException("the broker sends properties that go on behind their end");
        }
        return read;
    }

    private void next(ByteBuffer in) throws MqttException {
        int id = PacketWriter.variable(in);
        switch (id) {
            case 0x01, 0x17, 0x19, MAXIMUM_QOS, 0x25, 0x28, 0x29, 0x2A -> numbers.put(id, in.get() & 0xFFL);
            case SERVER_KEEP_ALIVE, RECEIVE_MAXIMUM, TOPIC_ALIAS_MAXIMUM, TOPIC_ALIAS ->
                numbers.put(id, in.getShort() & 0xFFFFL);
            case 0x02, SESSION_EXPIRY, 0x18, MAXIMUM_PACKET -> numbers.put(id, in.getInt() & 0xFFFF_FFFFL);
            case 0x0B -> PacketWriter.variable(in);
            case 0x03, 0x08, 0x09, 0x12, 0x15, 0x16, 0x1A, 0x1C -> PacketWriter.bytes(in);
            case REASON -> reason = new String(PacketWriter.bytes(in), StandardCharsets.UTF_8);
            case 0x26 -> {
                PacketWriter.bytes(in);
                PacketWriter.bytes(in);
            }
            default -> throw new MqttException("the broker sends a property that MQTT 5 does not have: " + id);
        }
    }

    long number(int id, long otherwise) {
        return numbers.getOrDefault(id, otherwise);
    }

    String reason() {
        return reason;
    }
}
