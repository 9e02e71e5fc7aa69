package dev.millrace.benchmarks.templates;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Events as messages of MQTT 3.1.1, a JSON object each, at QoS 0 through a broker: a client that does nothing but write them, so that what is measured is the broker
 * and who listens.
 */
final class PublishedEvents implements EventFeed {
    private static final int BUFFER_BYTES = 1 << 16;
    private static final int MOST_OF_ONE = 256; // a message and what is before it
    private static final byte[] CONNECT = {
        0x10,
        16,
        0,
        4,
        'M',
        'Q',
        'T',
        'T',
        4,
        2,
        0,
        0,
        0,
        4,
        'f',
        'e',
        'e',
        'd' // clean, never asked whether it is there
    };
    private static final byte[] ACCEPTED = {0x20, 2, 0, 0};
    private static final byte[] DEVICE = bytes("{\"device\":");
    private static final byte[] DUE = bytes(",\"value\":100,\"due\":");

    private final String url;
    private final Socket socket;
    private final OutputStream out;
    private final ByteBuffer packets = ByteBuffer.allocate(BUFFER_BYTES);
    private final byte[] digits = new byte[20];

    /** @param url {@code mqtt://host:port} */
    PublishedEvents(String url) throws IOException {
        this.url = url;
        URI at = URI.create(url);
        this.socket = new Socket(at.getHost(), at.getPort());
        this.out = socket.getOutputStream();
        out.write(CONNECT);
        byte[] answer = new byte[ACCEPTED.length];
        new DataInputStream(socket.getInputStream()).readFully(answer);
        if (!Arrays.equals(answer, ACCEPTED)) {
            throw new IOException("the broker answers " + Arrays.toString(answer));
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public String definition(int application) {
        return "CREATE STREAM events_" + application + " (" + COLUMNS + ") WITH (connector = 'mqtt', url = '" + url
                + "', topic = 'events/" + application + "', qos = 0, overload = 'drop_newest')";
    }

    @Override
    public void send(int application, long[] devices, int count, long due) {
        byte[] topic = bytes("events/" + application);
        for (int event = 0; event < count; event++) {
            if (packets.remaining() < MOST_OF_ONE) {
                flush();
            }
            int length = 2 + topic.length + DEVICE.length + length(devices[event]) + DUE.length + length(due) + 1;
            packets.put((byte) 0x30);
            if (length < 128) {
                packets.put((byte) length);
            } else {
                packets.put((byte) (length & 127 | 128)).put((byte) (length >> 7));
            }
            packets.putShort((short) topic.length).put(topic);
            packets.put(DEVICE);
            number(devices[event]);
            packets.put(DUE);
            number(due);
            packets.put((byte) '}');
        }
    }

    private static int length(long number) {
        int length = 1;
        for (long left = number; left > 9; left /= 10) {
            length++;
        }
        return length;
    }

    /** Of a number that is not negative. */
    private void number(long number) {
        int first = digits.length;
        long left = number;
        do {
            digits[--first] = (byte) ('0' + left % 10);
            left /= 10;
        } while (left > 0);
        packets.put(digits, first, digits.length - first);
    }

    @Override
    public void flush() {
        try {
            out.write(packets.array(), 0, packets.position());
            packets.clear();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
