package dev.millrace.server.pgwire;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.FastThreadLocalThread;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The threads of a server: event loops that move bytes and never wait, and one more for each client that is being answered.
 * Safe on any thread.
 */
public final class ServerThreads implements AutoCloseable {
    static final WriteBufferWaterMark WATER_MARKS = new WriteBufferWaterMark(128 << 10, 512 << 10);

    /** How often what is under way on a loop is awaited at the end: a closed channel says so in a step of its own. */
    static final int LAST_STEPS = 2;

    private static final long IDLE_SECONDS = 30;
    private static final long STOP_SECONDS = 1;
    private static final long STACK_BYTES = 32 << 20; // of addresses: a statement of a thousand ORs nests as deeply

    private final EventLoopGroup loops;
    private final ExecutorService answering;

    private ServerThreads(EventLoopGroup loops, String answeringName) {
        this.loops = loops;
        this.answering = new ThreadPoolExecutor(
                0,
                Integer.MAX_VALUE, // each serves a connection, whose number is bounded
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new SynchronousQueue<>(),
                new DefaultThreadFactory(answeringName, true) {
                    @Override
                    protected Thread newThread(Runnable work, String name) {
                        return new FastThreadLocalThread(threadGroup, work, name, STACK_BYTES);
                    }
                });
    }

    /** For clients that come over sockets; the names are those of the threads of both kinds. */
    public static ServerThreads ofSockets(int loops, String loopName, String answeringName) {
        return new ServerThreads(
                new MultiThreadIoEventLoopGroup(
                        loops, new DefaultThreadFactory(loopName, true), NioIoHandler.newFactory()),
                answeringName);
    }

    /** For clients in the same program. */
    static ServerThreads ofPipes(String loopName, String answeringName) {
        // not a group of one, whose end Netty tells in a thread of its own that keeps the JVM alive for a second
        return new ServerThreads(new DefaultEventLoop(new DefaultThreadFactory(loopName, true)), answeringName);
    }

    /** What listens with these threads; each client's channel is given to {@code accept}, on its event loop. */
    public ServerBootstrap bootstrap(Consumer<SocketChannel> accept) {
        return new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, WATER_MARKS)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        accept.accept(channel);
                    }
                });
    }

    /** One of the event loops. */
    EventLoop loop() {
        return loops.next();
    }

    void register(Channel channel) {
        loops.register(channel).syncUninterruptibly();
    }

    /**
     * Runs what may wait.
     *
     * @throws java.util.concurrent.RejectedExecutionException when the server is closed
     */
    public void execute(Runnable work) {
        answering.execute(work);
    }

    /**
     * Ends the threads when the connections are closed: what follows the end of one runs on its loop, and hands the last step
     * to another thread, whose last words go by the loop. Another time nothing is left to be done.
     */
    @Override
    public void close() {
        if (loops.isShuttingDown()) {
            return;
        }
        for (int step = 0; step < LAST_STEPS; step++) {
            for (EventExecutor loop : loops) {
                loop.submit(() -> {}).awaitUninterruptibly();
            }
        }
        answering.shutdown();
        try {
            answering.awaitTermination(STOP_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        loops.shutdownGracefully(0, STOP_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
    }
}
