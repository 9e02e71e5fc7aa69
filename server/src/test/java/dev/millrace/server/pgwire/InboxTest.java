package dev.millrace.server.pgwire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.server.heap.HeapShare;
import dev.millrace.server.pgwire.message.ClientMessage;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A client that sends faster than it is answered waits, rather than that its messages fill the memory. */
class InboxTest {
    private static final int LARGE = 5 << 20;

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final Inbox inbox = new Inbox(channel);

    private void pauses(ClientMessage message) {
        assertTrue(inbox.add(List.of(message)));
        assertFalse(channel.config().isAutoRead(), message.getClass().getSimpleName());
        inbox.poll().orElseThrow().close();
        assertTrue(channel.config().isAutoRead(), message.getClass().getSimpleName());
        assertTrue(inbox.poll().isEmpty());
    }

    @Test
    void aLargeMessageOfAnyKindMakesTheClientWait() {
        String text = "x".repeat(LARGE);
        pauses(new ClientMessage.Query(text));
        pauses(new ClientMessage.Parse("s", text, List.of()));
        pauses(new ClientMessage.Parse(text, "SELECT 1", List.of()));
        pauses(new ClientMessage.Bind(
                "",
                "s",
                List.of(Optional.empty(), Optional.of(Unpooled.buffer(LARGE).writeZero(LARGE))),
                List.of(),
                List.of()));
        pauses(new ClientMessage.Describe(true, text));
        pauses(new ClientMessage.Execute(text, 0));
        pauses(new ClientMessage.Close(false, text));
        pauses(new ClientMessage.CopyData(Unpooled.buffer(LARGE).writeZero(LARGE)));
        pauses(new ClientMessage.CopyFail(text));
    }

    /** What a large message takes of the heap is others' when the next one is asked for, or nobody asks any more. */
    @Test
    void aLargeMessageHasItsRoomUntilItIsAnswered() {
        HeapShare room = new HeapShare("messages", 100);
        for (int i = 0; i < 4; i++) {
            inbox.add(List.of(new ClientMessage.Large(
                    new ClientMessage.Query("x"), room.tryTake(20).orElseThrow())));
        }
        assertEquals(80, room.takenBytes());
        assertEquals(new ClientMessage.Query("x"), inbox.poll().orElseThrow());
        assertEquals(80, room.takenBytes());
        assertEquals(new ClientMessage.Query("x"), inbox.take().orElseThrow());
        assertEquals(60, room.takenBytes());
        inbox.close();
        assertEquals(20, room.takenBytes());
        inbox.poll();
        assertEquals(0, room.takenBytes());
    }

    @Test
    void aClientWhoseFewMessagesAreLargeIsReadWhenMostOfThemAreAnswered() {
        for (int i = 0; i < 3; i++) {
            inbox.add(List.of(new ClientMessage.Query("x".repeat(LARGE))));
        }
        inbox.poll();
        inbox.poll();
        assertFalse(channel.config().isAutoRead(), "the last one alone is too large");
        inbox.poll();
        assertTrue(channel.config().isAutoRead());
    }

    @Test
    void smallMessagesAreReadAhead() {
        for (int i = 0; i < 255; i++) {
            inbox.add(List.of(new ClientMessage.Sync()));
        }
        assertTrue(channel.config().isAutoRead());
        inbox.add(List.of(new ClientMessage.Sync()));
        assertFalse(channel.config().isAutoRead());
    }
}
