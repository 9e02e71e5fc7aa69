package dev.millrace.server.pgwire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.millrace.testing.time.OwnThread;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.DefaultEventLoopGroup;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.local.LocalAddress;
import io.netty.channel.local.LocalChannel;
import io.netty.channel.local.LocalServerChannel;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Answers that are given together leave together, and in their order. */
@Timeout(60)
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

    /** As the answer to Bind, which is no use without that to Execute. */
    @Test
    void whatNoAnswerEndsWaitsForTheRest() {
        EmbeddedChannel channel = new EmbeddedChannel();
        try (Outgoing out = new Outgoing(channel)) {
            out.buffer().writeInt(1);
            out.passOnWhole();
            channel.flush();
            assertNull(channel.readOutbound());
            out.buffer().writeInt(2);
            out.flush();
            out.buffer().writeInt(3);
            out.passOnWhole();
            channel.flush();
            ByteBuf sent = channel.readOutbound();
            assertEquals(3 * Integer.BYTES, sent.readableBytes());
            sent.release();
            out.buffer().writeInt(4);
            out.passOnWhole();
            channel.flush();
            assertNull(channel.readOutbound());
        }
        channel.finishAndReleaseAll();
    }

    /** Both are given the channel while its event loop is busy: what another thread sent waits in the loop's queue. */
    @Test
    void whatIsAnsweredOnTheEventLoopDoesNotOvertake() throws Exception {
        EventLoopGroup loops = new DefaultEventLoopGroup(1);
        BlockingQueue<Integer> received = new LinkedBlockingQueue<>();
        Channel server = new ServerBootstrap()
                .group(loops)
                .channel(LocalServerChannel.class)
                .childHandler(new Receiver(received))
                .bind(new LocalAddress(OutgoingTest.class))
                .sync()
                .channel();
        Channel channel = new Bootstrap()
                .group(loops)
                .channel(LocalChannel.class)
                .handler(new ChannelInboundHandlerAdapter())
                .connect(server.localAddress())
                .sync()
                .channel();
        try (Outgoing out = new Outgoing(channel)) {
            channel.eventLoop()
                    .submit(() -> {
                        CompletableFuture.runAsync(() -> answerTwice(out), OwnThread.EACH)
                                .join();
                        out.passOn();
                        channel.flush();
                    })
                    .sync();
            out.flush();
            assertEquals(1, received.take());
            assertEquals(2, received.take());
        } finally {
            loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).sync();
        }
    }

    private static void answerTwice(Outgoing out) {
        out.buffer().writeInt(1);
        out.flush();
        out.buffer().writeInt(2);
    }

    /** Notes the numbers that arrive. */
    private static final class Receiver extends ChannelInboundHandlerAdapter {
        private final Queue<Integer> received;

        Receiver(Queue<Integer> received) {
            this.received = received;
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf bytes = (ByteBuf) message;
            while (bytes.isReadable()) {
                received.add(bytes.readInt());
            }
            bytes.release();
        }
    }
}
