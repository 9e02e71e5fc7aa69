package dev.millrace.connectors.mqtt;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.time.Clock;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.SingleThreadIoEventLoop;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.mqtt.MqttConnAckMessage;
import io.netty.handler.codec.mqtt.MqttDecoder;
import io.netty.handler.codec.mqtt.MqttEncoder;
import io.netty.handler.codec.mqtt.MqttMessageType;
import io.netty.handler.codec.mqtt.MqttProperties;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.timeout.IdleStateHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;

/**
 * A client of one broker, by MQTT 5 or 3.1.1, over Netty's codec and a thread of its own. Answers nothing by itself: PUBACK, PUBREC and PUBCOMP are the
 * listener's to send, each when it has on disk what that says (<a
 * href="https://docs.oasis-open.org/mqtt/mqtt/v5.0/mqtt-v5.0.html#_Toc3901234">4.3 of the standard</a>). Connects once: who loses the connection makes
 * another. Safe on any thread.
 */
final class BrokerClient implements AutoCloseable {
    private static final int ANSWER_MILLIS = 10_000;
    private static final long FAREWELL_MILLIS = 1_000;
    private static final int MOST_FRAME_BYTES = 256 << 20; // what MQTT itself allows
    private static final int MOST_UNDER_WAY = 60_000; // of 65,535 ids
    private static final int PACKET_OVERHEAD_BYTES = 10; // of a PUBLISH, beside topic and payload, at most

    /** Is told what happens, on the client's thread, which must not be held up. */
    interface Listener {
        /** A message; of QoS 1 and 2 it is to be answered. */
        void arrived(ArrivedMessage message);

        /** A message of QoS 2 that was answered by PUBREC will not come again: PUBREL, which is to be answered. */
        void released(int id);

        /** The connection is gone, or there was none. Told once. */
        void lost(String reason);
    }

    /** What the broker takes; all, until it has said so. */
    private record Limits(int underway, int qos, boolean retains, long packetBytes) {}

    private final MqttBroker broker;
    private final BrokerSession session;
    private final Packets packets;
    private final EventLoop loop;
    private final ClientHandler handler;
    private final Queue<Outgoing> outgoing = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean isDraining = new AtomicBoolean();
    private volatile boolean closing; // written by close, read by the thread
    private volatile Optional<Channel> channel = Optional.empty(); // written by connect
    private volatile Limits limits = new Limits(MOST_UNDER_WAY, 2, true, Long.MAX_VALUE); // likewise

    /** Something for the thread to write. */
    @FunctionalInterface
    private interface Outgoing {
        void write(ChannelHandlerContext context);
    }

    BrokerClient(MqttBroker broker, BrokerSession session, Clock clock, Listener listener) {
        this.broker = broker;
        this.session = session;
        this.packets = new Packets(broker.version());
        this.loop = new SingleThreadIoEventLoop(
                null,
                new DefaultThreadFactory("millrace-mqtt-io-" + session.clientId(), true),
                NioIoHandler.newFactory());
        this.handler = new ClientHandler(packets, clock, new Listener() {
            @Override
            public void arrived(ArrivedMessage message) {
                listener.arrived(message);
            }

            @Override
            public void released(int id) {
                listener.released(id);
            }

            @Override
            public void lost(String reason) {
                if (!closing) {
                    listener.lost(reason);
                }
            }
        });
    }

    // ---- the connection
    // --------------------------------------------------------------------------------------------

    /**
     * Connects, and waits for it some seconds at most.
     *
     * @param asks called when the broker is there and is about to be asked for the session, which it makes if there is none
     * @return whether the broker knows a session of this client
     * @throws BrokerException if it cannot
     * @throws MillraceException if what users said of the broker cannot be, or a secret is not there
     */
    boolean connect(Runnable asks) throws BrokerException {
        BrokerAddress address = broker.address();
        Optional<SslHandler> tls = broker.isTls() ? Optional.of(tls(address)) : Optional.empty();
        ChannelFuture opening = new Bootstrap()
                .group(loop)
                .channel(NioSocketChannel.class)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, ANSWER_MILLIS)
                .option(ChannelOption.TCP_NODELAY, true)
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel fresh) {
                        tls.ifPresent(fresh.pipeline()::addLast);
                        fresh.pipeline()
                                .addLast(
                                        new MqttDecoder(
                                                broker.version() == 5 ? broker.mostPacketBytes() : MOST_FRAME_BYTES),
                                        MqttEncoder.INSTANCE,
                                        handler);
                    }
                })
                .connect(address.host(), address.port());
        await(opening);
        Channel open = opening.channel();
        channel = Optional.of(open);
        if (tls.isPresent()) {
            await(tls.get().handshakeFuture());
        }
        asks.run();
        open.writeAndFlush(packets.connect(broker, session));
        MqttConnAckMessage answer = await(handler.connected);
        MqttProperties said = answer.variableHeader().properties();
        limits = new Limits(
                Math.min(MOST_UNDER_WAY, said(said, MqttProperties.RECEIVE_MAXIMUM, MOST_UNDER_WAY)),
                said(said, MqttProperties.MAXIMUM_QOS, 2),
                said(said, MqttProperties.RETAIN_AVAILABLE, 1) == 1,
                Integer.toUnsignedLong(said(said, MqttProperties.MAXIMUM_PACKET_SIZE, -1)));
        int alive = said(said, MqttProperties.SERVER_KEEP_ALIVE, broker.keepAliveSeconds());
        if (alive > 0) {
            long millis = TimeUnit.SECONDS.toMillis(alive);
            open.pipeline().addFirst(new IdleStateHandler(millis / 2, millis * 3 / 4, 0, TimeUnit.MILLISECONDS));
        }
        return answer.variableHeader().isSessionPresent();
    }

    private SslHandler tls(BrokerAddress address) {
        SSLEngine engine = broker.tls().createSSLEngine(address.host(), address.port());
        engine.setUseClientMode(true);
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS"); // that the certificate is the host's
        engine.setSSLParameters(parameters);
        return new SslHandler(engine);
    }

    private static int said(MqttProperties properties, int id, int otherwise) {
        MqttProperties.MqttProperty<?> found = properties.getProperty(id);
        return found != null && found.value() instanceof Integer number ? number : otherwise;
    }

    private static <T> T await(Future<T> answer) throws BrokerException {
        try {
            return answer.get(ANSWER_MILLIS, TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof BrokerException known ? known : new BrokerException(BrokerReason.of(e));
        } catch (TimeoutException e) {
            throw new BrokerException("it does not answer");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BrokerException("the connection is being closed");
        }
    }

    /** Waits for the answer some seconds at most. */
    void subscribe(List<TopicFilter> filters, int qos) throws BrokerException {
        List<Integer> codes = ask(true, filters, qos);
        for (int i = 0; i < codes.size(); i++) {
            if (ClientHandler.isRefused(codes.get(i))) {
                throw new BrokerException("it refuses the subscription to " + filters.get(i) + ": "
                        + BrokerReason.ofSubscription(codes.get(i)));
            }
        }
    }

    /** The same. */
    void unsubscribe(List<TopicFilter> filters) throws BrokerException {
        ask(false, filters, 0);
    }

    private List<Integer> ask(boolean subscribes, List<TopicFilter> filters, int qos) throws BrokerException {
        CompletableFuture<List<Integer>> answer = new CompletableFuture<>();
        send(context -> handler.ask(context, subscribes, filters, qos, answer));
        return await(answer);
    }

    // ---- messages
    // --------------------------------------------------------------------------------------------------

    /** PUBACK: a message of QoS 1 is kept. Does not wait, as none of the following. */
    void acknowledge(int id) {
        answer(MqttMessageType.PUBACK, id);
    }

    /** PUBREC: a message of QoS 2 is kept, and known by its id. */
    void received(int id) {
        answer(MqttMessageType.PUBREC, id);
    }

    /** PUBCOMP: the id is forgotten. */
    void completed(int id) {
        answer(MqttMessageType.PUBCOMP, id);
    }

    /** Called by a listener, or for what it was told: there is a connection, or was one. */
    private void answer(MqttMessageType type, int id) {
        send(context -> context.write(packets.answer(type, id)));
    }

    /**
     * Sends a message.
     *
     * @return false if there is no room for it now: as many are under way as the broker lets be, or the connection does not keep up
     * @throws MillraceException 0A000 or 54000 if this broker takes none such
     */
    boolean publish(Publication message) {
        Limits now = limits;
        if (message.qos() > now.qos()) {
            throw MillraceException.notAvailableYet("qos = " + message.qos() + " at " + broker)
                    .withHint("this broker takes no more than qos = " + now.qos());
        }
        if (message.retain() && !now.retains()) {
            throw MillraceException.notAvailableYet("retain = true at " + broker)
                    .withHint("this broker keeps no messages");
        }
        long bytes = (long) ByteBufUtil.utf8Bytes(message.topic()) + message.payload().length + PACKET_OVERHEAD_BYTES;
        if (bytes > now.packetBytes()) {
            throw MillraceException.external(
                    SqlState.PROGRAM_LIMIT_EXCEEDED,
                    "a message of " + message.payload().length + " bytes is larger than " + broker + " takes: "
                            + now.packetBytes());
        }
        if (channel.isEmpty() || !channel.get().isActive() || !channel.get().isWritable()) {
            return false;
        }
        if (message.qos() > 0) {
            int before = handler.underway.getAndUpdate(count -> count < now.underway() ? count + 1 : count);
            if (before >= now.underway()) {
                return false;
            }
        }
        send(context -> handler.publish(context, message));
        return true;
    }

    /** Bytes of a packet that the broker takes. */
    long mostPacketBytes() {
        return limits.packetBytes();
    }

    /** Has the thread write it, with all that others have it write meanwhile. */
    private void send(Outgoing packet) {
        outgoing.add(packet);
        if (isDraining.compareAndSet(false, true)) {
            try {
                loop.execute(this::drain);
            } catch (RejectedExecutionException e) {
                // it is closed, and whoever waits for something was told
            }
        }
    }

    private void drain() {
        isDraining.set(false);
        ChannelHandlerContext context = handler.context();
        for (Outgoing next = outgoing.poll(); next != null; next = outgoing.poll()) {
            next.write(context);
        }
        context.flush();
    }

    /** Says good-bye where that takes no time; the broker keeps the session if it is one that is kept. */
    @Override
    public void close() {
        closing = true;
        channel.ifPresent(open -> {
            if (open.isActive() && handler.connected.isDone() && !handler.connected.isCompletedExceptionally()) {
                open.writeAndFlush(packets.disconnect());
            }
            open.close().awaitUninterruptibly(FAREWELL_MILLIS);
        });
        loop.shutdownGracefully(0, FAREWELL_MILLIS, TimeUnit.MILLISECONDS);
    }
}
