package dev.millrace.server.pgwire.message;

import dev.millrace.error.MillraceException;
import dev.millrace.server.heap.HeapShare;
import dev.millrace.server.pgwire.message.ClientMessage.Malformed;
import dev.millrace.text.Utf8Text;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Cuts a connection's bytes into messages. The first ones have no type byte, up to the one that begins the session. On the
 * channel's event loop.
 *
 * <p>A message longer than the limit, or with a length or count that its bytes do not bear out, becomes a
 * {@link Malformed}, after which nothing is decoded any more. Before a client has said who it is the limit is
 * {@link #MOST_STARTUP_BYTES}.
 */
public final class MessageDecoder extends ByteToMessageDecoder {
    /** What PostgreSQL allows for the messages before a session. */
    public static final int MOST_STARTUP_BYTES = 10_000;

    private static final int SSL_REQUEST = 80877103;
    private static final int GSS_REQUEST = 80877104;
    private static final int CANCEL_REQUEST = 80877102;
    private static final int HEADER_BYTES = 5;

    /** Longer messages need room on the Java heap, which all connections share. */
    static final int LARGE_BYTES = 1 << 20;

    private final int mostBytes;
    private Optional<HeapShare> room = Optional.empty(); // once messages may be long
    private int limit = MOST_STARTUP_BYTES;
    private Optional<HeapShare.Held> held = Optional.empty(); // of the large message under way
    private int unwanted; // bytes to come of one for which there was no room
    private Optional<ClientMessage> refusal = Optional.empty(); // of that
    private boolean begun;
    private boolean broken;

    /** @param mostBytes of one message */
    public MessageDecoder(int mostBytes) {
        this.mostBytes = mostBytes;
    }

    /**
     * The client is known now: messages may be long. On the event loop, or before anything was received.
     *
     * @param messages room on the Java heap for large messages that are under way or wait to be answered
     */
    public void authenticated(HeapShare messages) {
        limit = mostBytes;
        room = Optional.of(messages);
    }

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) {
        if (broken) {
            in.skipBytes(in.readableBytes());
            return;
        }
        try {
            if (unwanted > 0) {
                passOver(in, out);
            } else if (begun) {
                decodeTyped(in, out);
            } else {
                decodeStartup(in, out);
            }
        } catch (IndexOutOfBoundsException | MillraceException e) {
            fail(in, out, "invalid message format");
        }
    }

    private void fail(ByteBuf in, List<Object> out, String reason) {
        broken = true;
        giveBack();
        in.skipBytes(in.readableBytes());
        out.add(new Malformed(reason));
    }

    private void decodeStartup(ByteBuf in, List<Object> out) {
        if (in.readableBytes() < 8) {
            return;
        }
        int length = in.getInt(in.readerIndex());
        if (length < 8 || length > MOST_STARTUP_BYTES) {
            fail(in, out, "invalid length of startup packet");
            return;
        }
        if (in.readableBytes() < length) {
            return;
        }
        ByteBuf body = in.readSlice(length).skipBytes(4);
        int code = body.readInt();
        switch (code) {
            case SSL_REQUEST -> {
                if (in.isReadable()) { // it would be taken for what comes encrypted, but anyone may have sent it
                    fail(in, out, "received unencrypted data after SSL request");
                } else {
                    out.add(new ClientMessage.SslRequest());
                }
            }
            case GSS_REQUEST -> out.add(new ClientMessage.GssRequest());
            case CANCEL_REQUEST -> out.add(new ClientMessage.CancelRequest(body.readInt(), body.readInt()));
            default -> {
                begun = true;
                Map<String, String> parameters = new LinkedHashMap<>();
                for (String name = text(body); !name.isEmpty(); name = text(body)) {
                    parameters.put(name, text(body));
                }
                out.add(new ClientMessage.Startup(code >>> 16, code & 0xffff, parameters));
            }
        }
    }

    private void decodeTyped(ByteBuf in, List<Object> out) {
        if (in.readableBytes() < HEADER_BYTES) {
            return;
        }
        byte type = in.getByte(in.readerIndex());
        int length = in.getInt(in.readerIndex() + 1);
        if (length < 4 || length > limit) {
            fail(
                    in,
                    out,
                    length < 4
                            ? "invalid message length"
                            : "message of " + length + " bytes exceeds the limit of " + limit);
            return;
        }
        if (length >= LARGE_BYTES && held.isEmpty()) {
            HeapShare messages = room.orElseThrow();
            held = messages.tryTake(length);
            if (held.isEmpty()) {
                refusal = Optional.of(
                        type == 'd'
                                ? new ClientMessage.CopyRefused(messages.noRoom(length))
                                : new ClientMessage.Unreadable(type == 'Q', messages.noRoom(length)));
                unwanted = length + 1;
                passOver(in, out);
                return;
            }
        }
        if (in.readableBytes() < length + 1) {
            return;
        }
        ByteBuf body = in.readSlice(length + 1).skipBytes(HEADER_BYTES);
        ClientMessage message;
        try {
            message = message(type, body);
        } catch (MillraceException e) { // a text of it is no UTF-8: its end is known, so what follows can be understood
            giveBack();
            out.add(new ClientMessage.Unreadable(type == 'Q', e));
            return;
        }
        if (body.isReadable()) {
            message.close();
            fail(in, out, "invalid message format");
            return;
        }
        if (held.isPresent()) {
            out.add(new ClientMessage.Large(message, held.get()));
            held = Optional.empty();
        } else {
            out.add(message);
        }
    }

    private void passOver(ByteBuf in, List<Object> out) {
        int bytes = Math.min(unwanted, in.readableBytes());
        in.skipBytes(bytes);
        unwanted -= bytes;
        if (unwanted == 0) {
            refusal.ifPresent(out::add);
            refusal = Optional.empty();
        }
    }

    private void giveBack() {
        held.ifPresent(HeapShare.Held::close);
        held = Optional.empty();
    }

    @Override
    protected void handlerRemoved0(ChannelHandlerContext context) {
        giveBack();
    }

    private static ClientMessage message(byte type, ByteBuf in) {
        return switch (type) {
            case 'Q' -> new ClientMessage.Query(text(in));
            case 'P' -> parse(in);
            case 'B' -> bind(in);
            case 'D' -> new ClientMessage.Describe(isPortal(in), text(in));
            case 'E' -> new ClientMessage.Execute(text(in), in.readInt());
            case 'C' -> new ClientMessage.Close(isPortal(in), text(in));
            case 'H' -> new ClientMessage.Flush();
            case 'S' -> new ClientMessage.Sync();
            case 'd' -> new ClientMessage.CopyData(in.readRetainedSlice(in.readableBytes()));
            case 'c' -> new ClientMessage.CopyDone();
            case 'f' -> new ClientMessage.CopyFail(text(in));
            case 'p' -> {
                byte[] bytes = new byte[in.readableBytes()];
                in.readBytes(bytes);
                yield new ClientMessage.Credentials(bytes);
            }
            case 'X' -> new ClientMessage.Terminate();
            default -> new Malformed("invalid frontend message type " + (type & 0xff));
        };
    }

    private static boolean isPortal(ByteBuf in) {
        byte kind = in.readByte();
        if (kind != 'P' && kind != 'S') {
            throw new IndexOutOfBoundsException("neither portal nor statement");
        }
        return kind == 'P';
    }

    private static ClientMessage parse(ByteBuf in) {
        String name = text(in);
        String sql = text(in);
        int count = in.readUnsignedShort();
        List<Integer> types = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            types.add(in.readInt());
        }
        return new ClientMessage.Parse(name, sql, types);
    }

    private static ClientMessage bind(ByteBuf in) {
        String portal = text(in);
        String statement = text(in);
        List<Boolean> binaryParameters = formats(in);
        int count = in.readUnsignedShort();
        List<Optional<ByteBuf>> values = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                int length = in.readInt();
                values.add(length < 0 ? Optional.empty() : Optional.of(in.readRetainedSlice(length)));
            }
            return new ClientMessage.Bind(portal, statement, values, binaryParameters, formats(in));
        } catch (IndexOutOfBoundsException e) { // no text follows the values
            values.forEach(value -> value.ifPresent(ByteBuf::release));
            throw e;
        }
    }

    private static List<Boolean> formats(ByteBuf in) {
        int count = in.readUnsignedShort();
        List<Boolean> binary = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            binary.add(in.readShort() != 0);
        }
        return binary;
    }

    /** UTF-8 up to a NUL byte. */
    private static String text(ByteBuf in) {
        int length = in.bytesBefore((byte) 0);
        if (length < 0) {
            throw new IndexOutOfBoundsException("text without an end");
        }
        ByteBuffer bytes = in.nioBuffer(in.readerIndex(), length);
        String text = Utf8Text.decode(bytes);
        in.skipBytes(length + 1);
        return text;
    }
}
