package dev.millrace.server.pgwire;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** One end of a connection to a server of this machine, message by message: it may say what no driver would. */
final class RawClient implements AutoCloseable {
    private static final int PATIENCE_MILLIS = 30_000;

    /** What the server sent. */
    record Message(char type, byte[] body) {
        /** A field of an error or notice, {@code 'C'} for its code; empty if there is none. */
        String field(char code) {
            int at = 0;
            while (at < body.length && body[at] != 0) {
                int end = at + 1;
                while (body[end] != 0) {
                    end++;
                }
                if (body[at] == code) {
                    return new String(body, at + 1, end - at - 1, StandardCharsets.UTF_8);
                }
                at = end + 1;
            }
            return "";
        }

        /** The first column of a row of texts. */
        String column() {
            if (body.length < 6 || body[2] < 0) {
                return ""; // none, or NULL
            }
            int length = (body[2] & 0xff) << 24 | (body[3] & 0xff) << 16 | (body[4] & 0xff) << 8 | body[5] & 0xff;
            return new String(body, 6, Math.min(length, body.length - 6), StandardCharsets.UTF_8);
        }
    }

    /** Writes the body of a message. */
    interface Body {
        void write(DataOutputStream out) throws IOException;
    }

    private final Socket socket;
    private final DataInputStream in;

    RawClient(int port) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(PATIENCE_MILLIS);
        in = new DataInputStream(new BufferedInputStream(socket.getInputStream(), 1 << 14));
    }

    Socket socket() {
        return socket;
    }

    void send(byte[]... messages) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] message : messages) {
            all.write(message);
        }
        socket.getOutputStream().write(all.toByteArray());
    }

    /** The next byte, which is no message: an answer to SSLRequest; -1 at the end. */
    int nextByte() throws IOException {
        return in.read();
    }

    /** The next message; waits for it, at most half a minute. Throws EOFException at the end. */
    Message next() throws IOException {
        char type = (char) in.readUnsignedByte();
        return new Message(type, body());
    }

    /** The rest of a message whose type was read by {@link #nextByte}. */
    byte[] body() throws IOException {
        byte[] body = new byte[in.readInt() - 4];
        in.readFully(body);
        return body;
    }

    Message next(char type) throws IOException {
        Message next = next();
        while (next.type() != type) {
            next = next();
        }
        return next;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }

    // ---- messages --------------------------------------------------------------------------------------------------

    static byte[] bytes(Body body) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            body.write(new DataOutputStream(bytes));
        } catch (IOException e) {
            throw new UncheckedIOException(e); // there is none in memory
        }
        return bytes.toByteArray();
    }

    static byte[] message(char type, Body body) {
        byte[] content = bytes(body);
        return bytes(out -> {
            out.writeByte(type);
            out.writeInt(4 + content.length);
            out.write(content);
        });
    }

    static void text(DataOutputStream out, String text) throws IOException {
        out.write(text.getBytes(StandardCharsets.UTF_8));
        out.writeByte(0);
    }

    /** @param settings names and values in turn */
    static byte[] startup(String... settings) {
        byte[] content = bytes(out -> {
            out.writeInt(3 << 16);
            for (String word : settings) {
                text(out, word);
            }
            out.writeByte(0);
        });
        return bytes(out -> {
            out.writeInt(4 + content.length);
            out.write(content);
        });
    }

    static byte[] query(String sql) {
        return message('Q', out -> text(out, sql));
    }

    static byte[] parse(String statement, String sql) {
        return message('P', out -> {
            text(out, statement);
            text(out, sql);
            out.writeShort(0);
        });
    }

    /** Binds values as text, and asks for text. */
    static byte[] bind(String portal, String statement, String... values) {
        return message('B', out -> {
            text(out, portal);
            text(out, statement);
            out.writeShort(0);
            out.writeShort(values.length);
            for (String value : values) {
                byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
                out.writeInt(bytes.length);
                out.write(bytes);
            }
            out.writeShort(0);
        });
    }

    static byte[] describe(char kind, String name) {
        return message('D', out -> {
            out.writeByte(kind);
            text(out, name);
        });
    }

    static byte[] execute(String portal, int mostRows) {
        return message('E', out -> {
            text(out, portal);
            out.writeInt(mostRows);
        });
    }

    static byte[] sync() {
        return message('S', out -> {});
    }
}
