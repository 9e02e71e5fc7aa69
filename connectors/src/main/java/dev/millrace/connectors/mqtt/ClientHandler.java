package dev.millrace.connectors.mqtt;

import dev.millrace.time.Clock;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.mqtt.MqttConnAckMessage;
import io.netty.handler.codec.mqtt.MqttMessage;
import io.netty.handler.codec.mqtt.MqttMessageIdVariableHeader;
import io.netty.handler.codec.mqtt.MqttMessageType;
import io.netty.handler.codec.mqtt.MqttProperties;
import io.netty.handler.codec.mqtt.MqttPubReplyMessageVariableHeader;
import io.netty.handler.codec.mqtt.MqttPublishMessage;
import io.netty.handler.codec.mqtt.MqttReasonCodeAndPropertiesVariableHeader;
import io.netty.handler.codec.mqtt.MqttSubAckMessage;
import io.netty.handler.timeout.IdleState;
import io.netty.handler.timeout.IdleStateEvent;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What a client does with packets. Of the event loop's thread alone, but for what says otherwise.
 *
 * <pre>
 *   of messages that come    PUBLISH -> arrived; PUBREL -> released; their answers are the listener's
 *   of messages that we send QoS 1: PUBACK -> taken     QoS 2: PUBREC -> PUBREL is sent; PUBCOMP -> taken
 * </pre>
 */
final class ClientHandler extends SimpleChannelInboundHandler<MqttMessage> {
    private static final int FIRST_FAILURE =
            0x80; // of reason codes, and what 3.1.1 says of a subscription that is refused
    private static final int QUOTA_EXCEEDED = 0x97;
    private static final int MOST_IDS = 65_535;

    private final Packets packets;
    private final Clock clock;
    private final BrokerClient.Listener listener;

    /** CONNACK, which was not a refusal. */
    final CompletableFuture<MqttConnAckMessage> connected = new CompletableFuture<>();

    /** Messages of QoS 1 and 2 that are not answered, and those that wait to be written. Any thread. */
    final AtomicInteger underway = new AtomicInteger();

    private final Map<Integer, Sent> sent = new HashMap<>(); // messages that are not answered, by packet id
    private final Map<Integer, CompletableFuture<List<Integer>>> asked = new HashMap<>(); // subscriptions, likewise
    private Optional<ChannelHandlerContext> context = Optional.empty(); // from the beginning on
    private Optional<String> over = Optional.empty(); // why there is no connection any more
    private int lastId;
    private boolean isAsleep; // nothing came since a PINGREQ

    private static final class Sent {
        final Publication message;
        boolean isReceived; // PUBREC came

        Sent(Publication message) {
            this.message = message;
        }
    }

    ClientHandler(Packets packets, Clock clock, BrokerClient.Listener listener) {
        this.packets = packets;
        this.clock = clock;
        this.listener = listener;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
        context = Optional.of(added);
    }

    /** Where it writes to, also when that is closed. */
    ChannelHandlerContext context() {
        return context.orElseThrow();
    }

    // ---- what is sent
    // ----------------------------------------------------------------------------------------------

    /** The next id that nothing under way has; there are more than may be under way. */
    private int nextId() {
        do {
            lastId = lastId == MOST_IDS ? 1 : lastId + 1;
        } while (sent.containsKey(lastId) || asked.containsKey(lastId));
        return lastId;
    }

    /** Writes a message, and flushes nothing. */
    void publish(ChannelHandlerContext to, Publication message) {
        if (over.isPresent()) {
            underway.addAndGet(message.qos() > 0 ? -1 : 0);
            message.answer().failed(over.get());
        } else if (message.qos() == 0) {
            to.write(packets.publish(message, 0)).addListener(written -> {
                if (written.isSuccess()) {
                    message.answer().taken();
                } else {
                    message.answer().failed(BrokerReason.of(written.cause()));
                }
            });
        } else {
            int id = nextId();
            sent.put(id, new Sent(message));
            to.write(packets.publish(message, id));
        }
    }

    /** Subscribes, or unsubscribes; completes the answer with reason codes, of 3.1.1 none for the latter. */
    void ask(
            ChannelHandlerContext context,
            boolean subscribes,
            List<TopicFilter> filters,
            int qos,
            CompletableFuture<List<Integer>> answer) {
        if (over.isPresent()) {
            answer.completeExceptionally(new BrokerException(over.get()));
            return;
        }
        int id = nextId();
        asked.put(id, answer);
        context.writeAndFlush(subscribes ? packets.subscribe(id, filters, qos) : packets.unsubscribe(id, filters));
    }

    // ---- what comes
    // ------------------------------------------------------------------------------------------------

    @Override
    protected void channelRead0(ChannelHandlerContext context, MqttMessage packet) {
        isAsleep = false;
        if (packet.decoderResult().isFailure()) {
            end(
                    context,
                    "a packet of it cannot be read: "
                            + BrokerReason.of(packet.decoderResult().cause()));
            return;
        }
        switch (packet.fixedHeader().messageType()) {
            case PUBLISH -> listener.arrived(Packets.arrived((MqttPublishMessage) packet, clock));
            case PUBREL -> listener.released(id(packet));
            case PUBACK, PUBCOMP -> answered(packet);
            case PUBREC -> received(context, packet);
            case SUBACK -> told(packet, ((MqttSubAckMessage) packet).payload().reasonCodes());
            case UNSUBACK -> told(packet, List.of());
            case CONNACK -> connected(context, (MqttConnAckMessage) packet);
            case DISCONNECT -> end(context, farewell(packet));
            case PINGRESP -> {}
            default ->
                end(
                        context,
                        "it sent " + packet.fixedHeader().messageType() + ", which only a client or nobody asked for");
        }
    }

    private static int id(MqttMessage packet) {
        return ((MqttMessageIdVariableHeader) packet.variableHeader()).messageId();
    }

    private void connected(ChannelHandlerContext context, MqttConnAckMessage packet) {
        var about = packet.variableHeader();
        if (about.connectReturnCode().byteValue() == 0) {
            connected.complete(packet);
        } else {
            end(context, BrokerReason.of(about.connectReturnCode(), about.properties()));
        }
    }

    private void answered(MqttMessage packet) {
        Sent known = sent.remove(id(packet));
        if (known == null) {
            return; // of a message that was not wanted
        }
        underway.decrementAndGet();
        Optional<MqttPubReplyMessageVariableHeader> refusal = refusal(packet);
        if (refusal.isEmpty() || known.isReceived) {
            known.message.answer().taken();
        } else {
            refused(known.message, refusal.get());
        }
    }

    private static void refused(Publication message, MqttPubReplyMessageVariableHeader about) {
        String reason = BrokerReason.ofAnswer(about.reasonCode(), about.properties());
        if ((about.reasonCode() & 0xFF) == QUOTA_EXCEEDED) {
            message.answer().failed(reason);
        } else {
            message.answer().refused(reason);
        }
    }

    private static Optional<MqttPubReplyMessageVariableHeader> refusal(MqttMessage packet) {
        return packet.variableHeader() instanceof MqttPubReplyMessageVariableHeader about
                        && (about.reasonCode() & 0xFF) >= FIRST_FAILURE
                ? Optional.of(about)
                : Optional.empty();
    }

    private void received(ChannelHandlerContext context, MqttMessage packet) {
        int id = id(packet);
        Sent known = sent.get(id);
        if (known != null && refusal(packet).isPresent()) {
            answered(packet);
        } else if (known != null) {
            known.isReceived = true;
            context.writeAndFlush(packets.answer(MqttMessageType.PUBREL, id));
        } else {
            context.writeAndFlush(packets.releaseUnknown(id));
        }
    }

    private void told(MqttMessage packet, List<Integer> codes) {
        CompletableFuture<List<Integer>> answer = asked.remove(id(packet));
        if (answer != null) {
            answer.complete(codes);
        }
    }

    private static String farewell(MqttMessage packet) {
        return packet.variableHeader() instanceof MqttReasonCodeAndPropertiesVariableHeader about
                ? BrokerReason.ofEnd(about.reasonCode(), about.properties())
                : BrokerReason.ofEnd((byte) 0, MqttProperties.NO_PROPERTIES);
    }

    static boolean isRefused(int code) {
        return code >= FIRST_FAILURE;
    }

    // ---- the connection
    // --------------------------------------------------------------------------------------------

    /** Nothing was written or nothing came for a while. */
    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof IdleStateEvent idle) {
            if (idle.state() == IdleState.READER_IDLE && isAsleep) {
                end(context, "it has not answered a PINGREQ");
                return;
            }
            isAsleep |= idle.state() == IdleState.READER_IDLE;
            context.writeAndFlush(MqttMessage.PINGREQ);
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        end(context, BrokerReason.of(cause));
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        end(context, "it closed the connection");
    }

    /** There is no connection any more; tells all that wait for something of it. The first reason counts. */
    private void end(ChannelHandlerContext context, String reason) {
        if (over.isEmpty()) {
            over = Optional.of(reason);
            context.close();
            BrokerException why = new BrokerException(reason);
            connected.completeExceptionally(why);
            List<CompletableFuture<List<Integer>>> asking = new ArrayList<>(asked.values());
            asked.clear();
            asking.forEach(each -> each.completeExceptionally(why));
            List<Sent> lost = new ArrayList<>(sent.values());
            sent.clear();
            lost.forEach(each -> each.message.answer().failed(reason));
            listener.lost(reason);
        }
    }
}
