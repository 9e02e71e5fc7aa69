package dev.millrace.edge.mqtt;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Writes a packet of MQTT, field by field. Owned by one thread. */
final class PacketWriter {
    private static final int MOST_VARIABLE = 4; // bytes

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    PacketWriter u8(int value) {
        out.write(value);
        return this;
    }

    PacketWriter u16(int value) {
        return u8(value >> 8).u8(value);
    }

    PacketWriter u32(long value) {
        return u16((int) (value >> 16)).u16((int) value);
    }

    PacketWriter text(String text) {
        return bytes(text.getBytes(StandardCharsets.UTF_8));
    }

    PacketWriter bytes(byte[] bytes) {
        return u16(bytes.length).raw(bytes);
    }

    PacketWriter raw(byte[] bytes) {
        out.writeBytes(bytes);
        return this;
    }

    /** A group of properties, with its length. */
    PacketWriter properties(PacketWriter of) {
        return variable(of.out.size()).raw(of.out.toByteArray());
    }

    private PacketWriter variable(int value) {
        int rest = value;
        while (rest >= 0x80) {
            u8(rest & 0x7F | 0x80);
            rest >>>= 7;
        }
        return u8(rest);
    }

    /** The packet of which this is all behind the head. */
    byte[] packet(int head) {
        PacketWriter whole = new PacketWriter().u8(head);
        return whole.variable(out.size()).raw(out.toByteArray()).out.toByteArray();
    }

    /** A number of 1 to 4 bytes. */
    static int variable(ByteBuffer in) throws MqttException {
        int value = 0;
        for (int i = 0; i < MOST_VARIABLE; i++) {
            int next = in.get();
            value |= (next & 0x7F) << 7 * i;
            if (next >= 0) {
                return value;
            }
        }
        throw new MqttException("the broker sends a length that does not end");
    }

    /** Two bytes length, and those. @throws java.nio.BufferUnderflowException if they are not there */
    static byte[] bytes(ByteBuffer in) {
        byte[] bytes = new byte[in.getShort() & 0xFFFF];
        in.get(bytes);
        return bytes;
    }
}
