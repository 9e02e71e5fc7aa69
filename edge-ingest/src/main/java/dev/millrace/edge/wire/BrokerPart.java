package dev.millrace.edge.wire;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.nio.ByteBuffer;

/**
 * A message of a broker: some of the bytes of a connection's frames. 8 bytes connection, 4 bytes number, and those.
 *
 * @param connection by which each side knows what is of another, earlier one
 * @param number from 0, by which what is missing or comes twice is seen; {@link #END} of the last, which has no bytes
 */
public record BrokerPart(long connection, int number, byte[] bytes) {
    /** The connection has ended. */
    public static final int END = -1;
    /** Bytes beside those of frames. */
    public static final int HEAD_BYTES = 12;
    /** Bytes of one at most, that many brokers take. */
    public static final int MOST_BYTES = 128 << 10;

    private static final byte[] NONE = {};

    public static BrokerPart end(long connection) {
        return new BrokerPart(connection, END, NONE);
    }

    public byte[] encoded() {
        return ByteBuffer.allocate(HEAD_BYTES + bytes.length)
                .putLong(connection)
                .putInt(number)
                .put(bytes)
                .array();
    }

    /** @throws MillraceException 08P01 if it is none */
    public static BrokerPart read(byte[] encoded) {
        if (encoded.length < HEAD_BYTES) {
            throw MillraceException.user(
                    SqlState.PROTOCOL_VIOLATION, "a message of a broker that is no part of any connection");
        }
        ByteBuffer in = ByteBuffer.wrap(encoded);
        long connection = in.getLong();
        int number = in.getInt();
        byte[] bytes = new byte[in.remaining()];
        in.get(bytes);
        return new BrokerPart(connection, number, bytes);
    }
}
