package dev.millrace.server.pgwire.message;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.SqlState;
import dev.millrace.server.heap.HeapShare;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class MessageDecoderTest {
    private static final int LIMIT = 1 << 16;
    private static final HeapShare ROOM = new HeapShare("messages", 1 << 30);

    private static ByteBuf startup() {
        byte[] body = "user\0someone\0database\0d\0\0".getBytes(StandardCharsets.US_ASCII);
        return Unpooled.buffer().writeInt(8 + body.length).writeInt(3 << 16).writeBytes(body);
    }

    private static ByteBuf message(char type, byte[] body) {
        return Unpooled.buffer().writeByte(type).writeInt(4 + body.length).writeBytes(body);
    }

    private static List<ClientMessage> drain(EmbeddedChannel channel) {
        List<ClientMessage> messages = new ArrayList<>();
        for (ClientMessage next = channel.readInbound(); next != null; next = channel.readInbound()) {
            messages.add(next);
        }
        return messages;
    }

    private static EmbeddedChannel begun() {
        return begun(LIMIT, ROOM);
    }

    private static EmbeddedChannel begun(int limit, HeapShare room) {
        MessageDecoder decoder = new MessageDecoder(limit);
        EmbeddedChannel channel = new EmbeddedChannel(decoder);
        decoder.authenticated(room);
        channel.writeInbound(startup());
        assertEquals(1, drain(channel).size());
        return channel;
    }

    @Test
    void messagesMayComeByteByByte() {
        EmbeddedChannel channel = new EmbeddedChannel(new MessageDecoder(LIMIT));
        ByteBuf all = Unpooled.wrappedBuffer(
                startup(), message('Q', "SELECT 1\0".getBytes(StandardCharsets.US_ASCII)), message('S', new byte[0]));
        while (all.isReadable()) {
            channel.writeInbound(all.readBytes(1));
        }
        List<ClientMessage> messages = drain(channel);
        assertEquals(3, messages.size());
        assertEquals(
                "someone",
                ((ClientMessage.Startup) messages.get(0)).parameters().get("user"));
        assertEquals(new ClientMessage.Query("SELECT 1"), messages.get(1));
        assertEquals(new ClientMessage.Sync(), messages.get(2));
        channel.finishAndReleaseAll();
    }

    @Test
    void aLengthBeyondTheLimitIsRefusedBeforeItsBytesCome() {
        EmbeddedChannel channel = begun();
        channel.writeInbound(Unpooled.buffer().writeByte('Q').writeInt(Integer.MAX_VALUE));
        assertInstanceOf(ClientMessage.Malformed.class, drain(channel).get(0));
        channel.finishAndReleaseAll();
    }

    @Test
    void whoIsNotKnownMaySendLittle() {
        EmbeddedChannel channel = new EmbeddedChannel(new MessageDecoder(LIMIT));
        channel.writeInbound(startup());
        drain(channel);
        channel.writeInbound(Unpooled.buffer().writeByte('p').writeInt(MessageDecoder.MOST_STARTUP_BYTES + 1));
        assertInstanceOf(ClientMessage.Malformed.class, drain(channel).get(0));
        channel.finishAndReleaseAll();
    }

    @Test
    void textThatIsNotUtf8IsRefusedAndWhatFollowsIsRead() {
        EmbeddedChannel channel = begun();
        channel.writeInbound(message('Q', new byte[] {(byte) 0xff, (byte) 0xfe, 0}));
        channel.writeInbound(message('S', new byte[0]));
        List<ClientMessage> read = drain(channel);
        assertInstanceOf(ClientMessage.Unreadable.class, read.get(0));
        assertInstanceOf(ClientMessage.Sync.class, read.get(1));
        channel.finishAndReleaseAll();
    }

    /** Together they would take more of the heap than there is; the client hears of it and goes on. */
    @Test
    void aLargeMessageWithoutRoomIsPassedOver() {
        HeapShare room = new HeapShare("messages", 3 << 20);
        EmbeddedChannel first = begun(8 << 20, room);
        EmbeddedChannel second = begun(8 << 20, room);
        byte[] text = "x".repeat(2 << 20).concat("\0").getBytes(StandardCharsets.US_ASCII);
        ByteBuf begun = message('Q', text);
        first.writeInbound(begun.readBytes(1_000));
        assertTrue(room.takenBytes() > 2 << 20, "it is on its way");
        ByteBuf refused = message('Q', text);
        while (refused.isReadable()) {
            second.writeInbound(refused.readBytes(Math.min(100_000, refused.readableBytes())));
        }
        second.writeInbound(message('d', text), message('S', new byte[0]));
        List<ClientMessage> answered = drain(second);
        assertEquals(
                SqlState.OUT_OF_MEMORY,
                assertInstanceOf(ClientMessage.Unreadable.class, answered.get(0))
                        .why()
                        .sqlState());
        assertInstanceOf(ClientMessage.CopyRefused.class, answered.get(1));
        assertInstanceOf(ClientMessage.Sync.class, answered.get(2));
        first.writeInbound(begun);
        ClientMessage.Large large =
                assertInstanceOf(ClientMessage.Large.class, drain(first).get(0));
        assertInstanceOf(ClientMessage.Query.class, large.message());
        assertTrue(room.takenBytes() > 0, "it is not answered");
        large.close();
        assertEquals(0, room.takenBytes());
        second.writeInbound(message('Q', text));
        drain(second).forEach(ClientMessage::close);
        first.writeInbound(message('Q', text).readBytes(1_000));
        first.finishAndReleaseAll(); // half sent
        second.finishAndReleaseAll();
        assertEquals(0, room.takenBytes());
    }

    /** Whatever comes, it is cut into messages or refused, and nothing is kept. */
    @Test
    void anyBytesAreMessagesOrRefused() {
        long seed = Long.getLong("seed", 1);
        System.out.println("message fuzzing, seed " + seed);
        Random random = new Random(seed);
        String types = "QPBDECHSdcfpX?";
        for (int round = 0; round < 20_000; round++) {
            EmbeddedChannel channel =
                    random.nextInt(10) == 0 ? new EmbeddedChannel(new MessageDecoder(LIMIT)) : begun();
            for (int i = 0; i < 5; i++) {
                byte[] body = new byte[random.nextInt(40)];
                random.nextBytes(body);
                for (int at = 0; at < body.length; at++) {
                    if (random.nextInt(3) > 0) {
                        body[at] = (byte) random.nextInt(3); // counts and lengths that nearly fit
                    }
                }
                ByteBuf bytes = message(types.charAt(random.nextInt(types.length())), body);
                if (random.nextInt(8) == 0) {
                    bytes.setInt(1, random.nextInt());
                }
                channel.writeInbound(bytes);
            }
            List<ClientMessage> messages = drain(channel);
            long refusals = messages.stream()
                    .filter(ClientMessage.Malformed.class::isInstance)
                    .count();
            assertTrue(refusals <= 5, "round " + round);
            messages.forEach(ClientMessage::close);
            channel.finishAndReleaseAll();
        }
    }
}
