package dev.millrace.connectors.mqtt;

import com.fasterxml.jackson.core.JsonFactory;
import dev.millrace.time.Clock;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.mqtt.MqttConnectMessage;
import io.netty.handler.codec.mqtt.MqttFixedHeader;
import io.netty.handler.codec.mqtt.MqttMessage;
import io.netty.handler.codec.mqtt.MqttMessageBuilders;
import io.netty.handler.codec.mqtt.MqttMessageIdAndPropertiesVariableHeader;
import io.netty.handler.codec.mqtt.MqttMessageIdVariableHeader;
import io.netty.handler.codec.mqtt.MqttMessageType;
import io.netty.handler.codec.mqtt.MqttProperties;
import io.netty.handler.codec.mqtt.MqttProperties.IntegerProperty;
import io.netty.handler.codec.mqtt.MqttPubReplyMessageVariableHeader;
import io.netty.handler.codec.mqtt.MqttPublishMessage;
import io.netty.handler.codec.mqtt.MqttPublishVariableHeader;
import io.netty.handler.codec.mqtt.MqttQoS;
import io.netty.handler.codec.mqtt.MqttReasonCodeAndPropertiesVariableHeader;
import io.netty.handler.codec.mqtt.MqttSubscribeMessage;
import io.netty.handler.codec.mqtt.MqttSubscribePayload;
import io.netty.handler.codec.mqtt.MqttSubscriptionOption;
import io.netty.handler.codec.mqtt.MqttTopicSubscription;
import io.netty.handler.codec.mqtt.MqttUnsubscribeMessage;
import io.netty.handler.codec.mqtt.MqttUnsubscribePayload;
import io.netty.handler.codec.mqtt.MqttVersion;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Optional;

/** Packets of MQTT, of the version that a broker is spoken to by. Immutable. */
final class Packets {
    private static final JsonFactory JSON = new JsonFactory();
    private static final byte SUCCESS = 0;
    private static final byte UNKNOWN_ID = (byte) 0x92;

    private final boolean isVersion5;

    Packets(int version) {
        this.isVersion5 = version == 5;
    }

    private static MqttFixedHeader header(MqttMessageType type, int qos) {
        return new MqttFixedHeader(type, false, MqttQoS.valueOf(qos), false, 0);
    }

    /** @throws dev.millrace.error.MillraceException if a secret that it refers to is not there */
    MqttConnectMessage connect(MqttBroker broker, BrokerSession session) {
        MqttMessageBuilders.ConnectBuilder packet = MqttMessageBuilders.connect()
                .protocolVersion(isVersion5 ? MqttVersion.MQTT_5 : MqttVersion.MQTT_3_1_1)
                .clientId(session.clientId())
                .cleanSession(!session.isPersistent())
                .keepAlive(broker.keepAliveSeconds());
        if (isVersion5) {
            MqttProperties properties = new MqttProperties();
            properties.add(new IntegerProperty(
                    MqttProperties.SESSION_EXPIRY_INTERVAL, session.isPersistent() ? (int) broker.expirySeconds() : 0));
            properties.add(new IntegerProperty(MqttProperties.RECEIVE_MAXIMUM, broker.receiveMaximum()));
            properties.add(new IntegerProperty(MqttProperties.MAXIMUM_PACKET_SIZE, broker.mostPacketBytes()));
            packet.properties(properties);
        }
        broker.user().ifPresent(user -> packet.hasUser(true).username(user));
        broker.password().ifPresent(password -> packet.hasPassword(true).password(password));
        broker.will()
                .ifPresent(will -> packet.willFlag(true)
                        .willTopic(will.topic())
                        .willMessage(will.payload())
                        .willQoS(MqttQoS.valueOf(will.qos()))
                        .willRetain(will.retain()));
        return packet.build();
    }

    MqttMessage subscribe(int id, List<TopicFilter> filters, int qos) {
        // retained as published would hide that a message was kept before
        MqttSubscriptionOption option = new MqttSubscriptionOption(
                MqttQoS.valueOf(qos), false, false, MqttSubscriptionOption.RetainedHandlingPolicy.SEND_AT_SUBSCRIBE);
        return new MqttSubscribeMessage(
                header(MqttMessageType.SUBSCRIBE, 1),
                withId(id),
                new MqttSubscribePayload(filters.stream()
                        .map(filter -> new MqttTopicSubscription(filter.text(), option))
                        .toList()));
    }

    MqttMessage unsubscribe(int id, List<TopicFilter> filters) {
        return new MqttUnsubscribeMessage(
                header(MqttMessageType.UNSUBSCRIBE, 1),
                withId(id),
                new MqttUnsubscribePayload(
                        filters.stream().map(TopicFilter::text).toList()));
    }

    private MqttMessageIdVariableHeader withId(int id) {
        return isVersion5
                ? new MqttMessageIdAndPropertiesVariableHeader(id, MqttProperties.NO_PROPERTIES)
                : MqttMessageIdVariableHeader.from(id);
    }

    /** @param id 0 at QoS 0 */
    MqttMessage publish(Publication message, int id) {
        return new MqttPublishMessage(
                new MqttFixedHeader(
                        MqttMessageType.PUBLISH, false, MqttQoS.valueOf(message.qos()), message.retain(), 0),
                new MqttPublishVariableHeader(message.topic(), id, MqttProperties.NO_PROPERTIES),
                Unpooled.wrappedBuffer(message.payload()));
    }

    /** PUBACK, PUBREC, PUBREL or PUBCOMP. */
    MqttMessage answer(MqttMessageType type, int id) {
        return new MqttMessage(header(type, type == MqttMessageType.PUBREL ? 1 : 0), answerHeader(id, SUCCESS));
    }

    /** PUBREL of a message that nobody knows; by 3.1.1 as of any other. */
    MqttMessage releaseUnknown(int id) {
        return new MqttMessage(header(MqttMessageType.PUBREL, 1), answerHeader(id, UNKNOWN_ID));
    }

    private MqttMessageIdVariableHeader answerHeader(int id, byte code) {
        return isVersion5
                ? new MqttPubReplyMessageVariableHeader(id, code, MqttProperties.NO_PROPERTIES)
                : MqttMessageIdVariableHeader.from(id);
    }

    MqttMessage disconnect() {
        return isVersion5
                ? new MqttMessage(
                        header(MqttMessageType.DISCONNECT, 0),
                        new MqttReasonCodeAndPropertiesVariableHeader(SUCCESS, MqttProperties.NO_PROPERTIES))
                : MqttMessage.DISCONNECT;
    }

    /** A message that came; the packet stays the caller's. */
    static ArrivedMessage arrived(MqttPublishMessage packet, Clock clock) {
        MqttFixedHeader header = packet.fixedHeader();
        MqttPublishVariableHeader about = packet.variableHeader();
        int qos = header.qosLevel().value();
        return new ArrivedMessage(
                about.topicName(),
                ByteBufUtil.getBytes(packet.payload()),
                qos,
                header.isRetain(),
                qos == 0 ? 0 : about.packetId(),
                properties(about.properties()),
                clock.epochMicros());
    }

    /** What its sender added; of several properties of one name the last. */
    private static Optional<String> properties(MqttProperties all) {
        List<? extends MqttProperties.MqttProperty> given = all.getProperties(MqttProperties.USER_PROPERTY);
        if (given.isEmpty()) {
            return Optional.empty();
        }
        StringWriter text = new StringWriter();
        try (var json = JSON.createGenerator(text)) {
            json.writeStartObject();
            for (MqttProperties.MqttProperty<?> each : given) {
                if (each instanceof MqttProperties.UserProperty pair) {
                    json.writeStringField(pair.value().key, pair.value().value);
                }
            }
            json.writeEndObject();
        } catch (IOException e) {
            throw new UncheckedIOException("memory is written", e);
        }
        return Optional.of(text.toString());
    }
}
