package dev.millrace.benchmarks.wire;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

/**
 * A client of PostgreSQL's protocol (version 3, simple queries and COPY, no password) that only counts what comes back. For
 * one thread at a time.
 */
final class WireClient implements AutoCloseable {
    private static final int VERSION = 3 << 16;
    private static final int BUFFER = 1 << 18;
    private static final int HEADER = 5; // a type and a length, which counts itself but not the type

    private final SocketChannel channel;
    private final ByteBuffer in;
    private final ByteBuffer out;
    private ByteBuffer body = ByteBuffer.allocate(0); // of the message read last

    WireClient(int port, String user) throws IOException {
        this(port, user, BUFFER);
    }

    /** Connects to this machine; {@code buffer} bytes are read and written at once. */
    WireClient(int port, String user, int buffer) throws IOException {
        in = ByteBuffer.allocateDirect(buffer).limit(0);
        out = ByteBuffer.allocateDirect(buffer);
        channel = SocketChannel.open(new InetSocketAddress("127.0.0.1", port));
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        out.putInt(0).putInt(VERSION);
        text("user");
        text(user);
        text("database");
        text(user);
        out.put((byte) 0);
        out.putInt(0, out.position());
        send();
        untilReady();
    }

    SocketChannel channel() {
        return channel;
    }

    private void text(String text) {
        out.put(text.getBytes(StandardCharsets.UTF_8)).put((byte) 0);
    }

    private void send() throws IOException {
        out.flip();
        while (out.hasRemaining()) {
            channel.write(out);
        }
        out.clear();
    }

    /** Sends a statement without waiting for its answer. */
    void ask(String sql) throws IOException {
        byte[] bytes = sql.getBytes(StandardCharsets.UTF_8);
        out.put((byte) 'Q').putInt(4 + bytes.length + 1);
        bytes(bytes, bytes.length);
        out.put((byte) 0);
        send();
    }

    /** Prepares a statement with one parameter. */
    void prepare(String name, String sql) throws IOException {
        out.put((byte) 'P').putInt(4 + name.length() + 1 + sql.length() + 1 + 2);
        text(name);
        text(sql);
        out.putShort((short) 0);
        out.put((byte) 'S').putInt(4);
        send();
        untilReady();
    }

    /** Executes a prepared statement, to be sent with {@link #flush} at the latest. */
    void execute(String name, String value) throws IOException {
        if (out.remaining() < 64 + name.length() + value.length()) {
            send();
        }
        out.put((byte) 'B').putInt(4 + 1 + name.length() + 1 + 2 + 2 + 4 + value.length() + 2);
        out.put((byte) 0);
        text(name);
        out.putShort((short) 0).putShort((short) 1).putInt(value.length());
        out.put(value.getBytes(StandardCharsets.UTF_8)).putShort((short) 0);
        out.put((byte) 'E').putInt(4 + 1 + 4).put((byte) 0).putInt(0);
        out.put((byte) 'S').putInt(4);
    }

    /** Sends what was written. */
    void flush() throws IOException {
        send();
    }

    private void bytes(byte[] bytes, int length) throws IOException {
        for (int at = 0; at < length; ) {
            int part = Math.min(length - at, out.remaining());
            out.put(bytes, at, part);
            at += part;
            if (!out.hasRemaining()) {
                send();
            }
        }
    }

    /** Runs a statement; returns how many rows, or pieces of a COPY, came back. */
    long run(String sql) throws IOException {
        ask(sql);
        return untilReady();
    }

    /** Begins a COPY FROM STDIN. */
    void copyIn(String sql) throws IOException {
        ask(sql);
        while (next() != 'G') {
            // notices
        }
    }

    /** Sends a piece of a COPY. */
    void copyData(byte[] bytes, int length) throws IOException {
        if (out.remaining() < HEADER) {
            send();
        }
        out.put((byte) 'd').putInt(4 + length);
        bytes(bytes, length);
    }

    /** Ends a COPY; returns when the server has all of it. */
    void copyDone() throws IOException {
        if (out.remaining() < HEADER) {
            send();
        }
        out.put((byte) 'c').putInt(4);
        send();
        untilReady();
    }

    /** Reads up to ReadyForQuery; counts rows and pieces of a COPY. */
    long untilReady() throws IOException {
        long rows = 0;
        while (true) {
            byte type = next();
            if (type == 'Z') {
                return rows;
            }
            if (type == 'D' || type == 'd') {
                rows++;
            }
        }
    }

    /** Reads up to so many rows; returns when they are there. */
    void rows(long count) throws IOException {
        for (long rows = 0; rows < count; ) {
            byte type = next();
            if (type == 'D' || type == 'd') {
                rows++;
            }
        }
    }

    /** The next message's type; an error of the server is thrown. */
    byte next() throws IOException {
        need(HEADER);
        byte type = in.get();
        int length = in.getInt() - 4;
        need(length);
        body = in.slice(in.position(), length);
        in.position(in.position() + length);
        if (type == 'E') {
            throw new IOException(StandardCharsets.UTF_8.decode(body).toString().replace('\0', ' '));
        }
        return type;
    }

    /** The body of the message read last; good until the next is read. */
    ByteBuffer body() {
        return body;
    }

    /** A column of the row read last, as text. */
    String column(int number) {
        ByteBuffer row = body.duplicate();
        row.getShort();
        for (int i = 0; i < number; i++) {
            row.position(row.position() + 4 + row.getInt(row.position()));
        }
        byte[] bytes = new byte[row.getInt()];
        row.get(bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private void need(int bytes) throws IOException {
        if (in.remaining() >= bytes) {
            return;
        }
        if (bytes > in.capacity()) {
            throw new IOException("a message of " + bytes + " bytes");
        }
        in.compact();
        while (in.position() < bytes) {
            if (channel.read(in) < 0) {
                throw new EOFException("the server closed the connection");
            }
        }
        in.flip();
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
