package dev.millrace.server.pgwire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.netty.buffer.ByteBuf;
import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.Test;

/** Answers that are given together leave together. */
class OutgoingTest {
    @Test
    void whatIsAnsweredOnTheEventLoopLeavesInOnePiece() {
        EmbeddedChannel channel = new EmbeddedChannel();
        try (Outgoing out = new Outgoing(channel)) {
            for (int answer = 0; answer < 16; answer++) {
                out.buffer().writeInt(answer);
                out.flush(); // as each Sync has it
            }
            channel.flush();
            assertNull(channel.readOutbound());
            out.passOn();
            channel.flush();
            ByteBuf sent = channel.readOutbound();
            assertEquals(16 * Integer.BYTES, sent.readableBytes());
            sent.release();
            assertNull(channel.readOutbound());
        }
        channel.finishAndReleaseAll();
    }
}
