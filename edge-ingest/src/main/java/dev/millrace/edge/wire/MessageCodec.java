package dev.millrace.edge.wire;

import dev.millrace.edge.queue.RecordKind;
import dev.millrace.edge.queue.Shedding;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;

/** Messages as frames, as the package's description says. Stateless. */
public final class MessageCodec {
    /** Bytes of a frame before its contents. */
    public static final int HEAD_BYTES = 8;
    /** Bytes of a frame's contents at most. */
    public static final int MOST_BYTES = 32 << 20;
    /** Bytes of a frame's contents at most before it is known who sends it. */
    public static final int MOST_HELLO_BYTES = 16 << 10;

    /** Bytes of a frame's contents at most that a server sends: two texts, and numbers. */
    public static final int MOST_TO_DEVICE_BYTES = 160 << 10;

    private static final int MOST_TEXT_BYTES = 64 << 10;
    private static final RecordKind[] KINDS = RecordKind.values();

    private MessageCodec() {}

    /** The frame of a message. */
    public static byte[] frame(Message message) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeLong(0);
            write(message, out);
        } catch (IOException e) {
            throw new UncheckedIOException(e); // nobody's: it is memory
        }
        byte[] frame = bytes.toByteArray();
        ByteBuffer.wrap(frame)
                .putInt(frame.length - HEAD_BYTES)
                .putInt(checksum(frame, HEAD_BYTES, frame.length - HEAD_BYTES));
        return frame;
    }

    private static int checksum(byte[] bytes, int from, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, from, length);
        return (int) crc.getValue();
    }

    private static void write(Message message, DataOutputStream out) throws IOException {
        if (message instanceof Message.Hello hello) {
            out.writeByte(1);
            out.writeInt(hello.version());
            text(hello.agent(), out);
            text(hello.user(), out);
            text(hello.token(), out);
            text(hello.device(), out);
            out.writeLong(hello.identity());
            out.writeLong(hello.micros());
        } else if (message instanceof Message.Welcome welcome) {
            out.writeByte(2);
            out.writeLong(welcome.micros());
        } else if (message instanceof Message.Refused refused) {
            out.writeByte(3);
            text(refused.sqlState(), out);
            text(refused.text(), out);
            out.writeBoolean(refused.again());
        } else if (message instanceof Message.Open open) {
            out.writeByte(4);
            out.writeInt(open.stream());
            text(open.name(), out);
            out.writeLong(open.settings());
            out.writeInt(open.programs());
        } else if (message instanceof Message.Opened opened) {
            out.writeByte(5);
            out.writeInt(opened.stream());
            out.writeLong(opened.acknowledged());
            text(opened.waitsFor(), out);
        } else if (message instanceof Message.Version version) {
            out.writeByte(6);
            out.writeInt(version.stream());
            bytes(version.bytes(), out);
        } else if (message instanceof Message.Rows rows) {
            out.writeByte(7);
            out.writeInt(rows.stream());
            out.writeLong(rows.from());
            out.writeLong(rows.to());
            out.writeByte(rows.kind().ordinal());
            out.writeLong(rows.rows());
            out.writeLong(rows.firstMicros());
            out.writeLong(rows.lastMicros());
            bytes(rows.bytes(), out);
        } else if (message instanceof Message.Acknowledged acknowledged) {
            out.writeByte(8);
            out.writeInt(acknowledged.stream());
            out.writeLong(acknowledged.upTo());
        } else if (message instanceof Message.NeedVersions need) {
            out.writeByte(9);
            out.writeInt(need.stream());
        } else if (message instanceof Message.Set set) {
            out.writeByte(10);
            out.writeInt(set.stream());
            out.writeLong(set.number());
            text(set.text(), out);
        } else if (message instanceof Message.SetDone done) {
            out.writeByte(11);
            out.writeInt(done.stream());
            out.writeLong(done.number());
            text(done.error(), out);
        } else if (message instanceof Message.Ping ping) {
            out.writeByte(12);
            out.writeLong(ping.micros());
            out.writeLong(ping.roundTripMicros());
            out.writeLong(ping.offsetMicros());
        } else if (message instanceof Message.Pong pong) {
            out.writeByte(13);
            out.writeLong(pong.pingMicros());
            out.writeLong(pong.micros());
        } else if (message instanceof Message.Status status) {
            out.writeByte(14);
            out.writeInt(status.stream());
            out.writeLong(status.rows());
            out.writeLong(status.rejected());
            out.writeLong(status.openRows());
            out.writeLong(status.backlogRows());
            out.writeLong(status.backlogRecords());
            out.writeLong(status.backlogBytes());
            out.writeLong(status.shedding().shedRows());
            out.writeLong(status.shedding().shedSegments());
            out.writeLong(status.shedding().coarserRows());
            out.writeLong(status.shedding().coarserSegments());
            out.writeLong(status.shedding().lostSegments());
            text(status.problem(), out);
            out.writeLong(status.unneeded());
        }
    }

    private static void text(String text, DataOutputStream out) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        bytes(bytes.length > MOST_TEXT_BYTES ? java.util.Arrays.copyOf(bytes, MOST_TEXT_BYTES) : bytes, out);
    }

    private static void bytes(byte[] bytes, DataOutputStream out) throws IOException {
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    /**
     * The length of a frame's contents, by its head.
     *
     * @param most how many they may be
     * @throws MillraceException 08P01 if they are more
     */
    public static int length(ByteBuffer head, int most) {
        int length = head.getInt(head.position());
        if (length < 1 || length > most) {
            throw violation("a frame of " + length + " bytes, and not 1 to " + most);
        }
        return length;
    }

    /**
     * Reads a message.
     *
     * @param checksum of the frame's head
     * @throws MillraceException 08P01 if the bytes are damaged, or no message
     */
    public static Message read(int checksum, byte[] contents) {
        if (checksum != checksum(contents, 0, contents.length)) {
            throw violation("a frame whose checksum does not fit");
        }
        ByteBuffer in = ByteBuffer.wrap(contents);
        try {
            Message message = message(in);
            if (in.hasRemaining()) {
                throw violation("a message that goes on behind its end");
            }
            return message;
        } catch (java.nio.BufferUnderflowException | IndexOutOfBoundsException e) {
            throw violation("a message that ends early");
        }
    }

    private static Message message(ByteBuffer in) {
        int kind = in.get();
        return switch (kind) {
            case 1 ->
                new Message.Hello(in.getInt(), text(in), text(in), text(in), text(in), in.getLong(), in.getLong());
            case 2 -> new Message.Welcome(in.getLong());
            case 3 -> new Message.Refused(text(in), text(in), in.get() != 0);
            case 4 ->
                new Message.Open(
                        in.getInt(),
                        text(in),
                        in.getLong(),
                        in.hasRemaining() ? in.getInt() : 1); // of agents that know no windows it ends here
            case 5 -> new Message.Opened(in.getInt(), in.getLong(), text(in));
            case 6 -> new Message.Version(in.getInt(), bytes(in));
            case 7 -> rows(in);
            case 8 -> new Message.Acknowledged(in.getInt(), in.getLong());
            case 9 -> new Message.NeedVersions(in.getInt());
            case 10 -> new Message.Set(in.getInt(), in.getLong(), text(in));
            case 11 -> new Message.SetDone(in.getInt(), in.getLong(), text(in));
            case 12 -> new Message.Ping(in.getLong(), in.getLong(), in.getLong());
            case 13 -> new Message.Pong(in.getLong(), in.getLong());
            case 14 ->
                new Message.Status(
                        in.getInt(),
                        in.getLong(),
                        in.getLong(),
                        in.getLong(),
                        in.getLong(),
                        in.getLong(),
                        in.getLong(),
                        new Shedding(in.getLong(), in.getLong(), in.getLong(), in.getLong(), in.getLong()),
                        text(in),
                        in.hasRemaining() ? in.getLong() : 0); // of agents that send all it ends here
            default -> throw violation("a message of kind " + kind);
        };
    }

    private static Message rows(ByteBuffer in) {
        Message.Rows rows = new Message.Rows(
                in.getInt(),
                in.getLong(),
                in.getLong(),
                KINDS[in.get()],
                in.getLong(),
                in.getLong(),
                in.getLong(),
                bytes(in));
        if (rows.from() < 1 || rows.to() < rows.from() || rows.to() == Long.MAX_VALUE || rows.rows() < 0) {
            throw violation("rows of numbers " + rows.from() + " to " + rows.to());
        }
        return rows;
    }

    private static String text(ByteBuffer in) {
        byte[] bytes = bytes(in);
        if (bytes.length > MOST_TEXT_BYTES) {
            throw violation("a text of " + bytes.length + " bytes");
        }
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private static byte[] bytes(ByteBuffer in) {
        int length = in.getInt();
        if (length < 0 || length > in.remaining()) {
            throw violation("a message that ends early");
        }
        byte[] bytes = new byte[length];
        in.get(bytes);
        return bytes;
    }

    private static MillraceException violation(String what) {
        return MillraceException.user(SqlState.PROTOCOL_VIOLATION, "the peer sent " + what);
    }
}
