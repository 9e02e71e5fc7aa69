package dev.millrace.connectors.mqtt;

import com.fasterxml.jackson.core.JsonFactory;
import dev.millrace.time.Clock;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Optional;
import org.eclipse.paho.mqttv5.client.IMqttToken;
import org.eclipse.paho.mqttv5.client.MqttActionListener;
import org.eclipse.paho.mqttv5.client.MqttAsyncClient;
import org.eclipse.paho.mqttv5.client.MqttCallback;
import org.eclipse.paho.mqttv5.client.MqttConnectionOptions;
import org.eclipse.paho.mqttv5.client.MqttDisconnectResponse;
import org.eclipse.paho.mqttv5.common.MqttException;
import org.eclipse.paho.mqttv5.common.MqttMessage;
import org.eclipse.paho.mqttv5.common.MqttSubscription;
import org.eclipse.paho.mqttv5.common.packet.MqttProperties;
import org.eclipse.paho.mqttv5.common.packet.UserProperty;

/** MQTT 5, by Paho's client for 5. */
final class PahoClient5 implements BrokerClient, MqttCallback {
    private static final long ANSWER_MILLIS = 10_000;
    private static final long FAREWELL_MILLIS = 1_000;
    private static final int FAILURE = 0x80; // reason codes from here on
    private static final JsonFactory JSON = new JsonFactory();

    private final MqttBroker broker;
    private final BrokerSession session;
    private final Clock clock;
    private final Listener listener;
    private final MqttAsyncClient client;

    PahoClient5(MqttBroker broker, BrokerSession session, ReceivedMessages received, Clock clock, Listener listener)
            throws BrokerException {
        this.broker = broker;
        this.session = session;
        this.clock = clock;
        this.listener = listener;
        try {
            client = new MqttAsyncClient(broker.url(), session.clientId(), new Persistence5(received, clock));
            client.setManualAcks(true);
            client.setCallback(this);
        } catch (MqttException | IllegalArgumentException e) {
            throw failure(e);
        }
    }

    private static BrokerException failure(Exception e) {
        Throwable cause = e.getCause() == null ? e : e.getCause();
        String reason = cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
        return new BrokerException(reason.replaceAll("\\s+", " ").strip());
    }

    @Override
    public boolean connect() throws BrokerException {
        MqttConnectionOptions options = new MqttConnectionOptions();
        options.setCleanStart(!session.isPersistent());
        options.setSessionExpiryInterval(session.isPersistent() ? broker.expirySeconds() : 0L);
        options.setReceiveMaximum(broker.receiveMaximum());
        options.setMaximumPacketSize(broker.mostPacketBytes());
        options.setUseSubscriptionIdentifiers(false);
        options.setAutomaticReconnect(false);
        options.setConnectionTimeout((int) (ANSWER_MILLIS / 1_000));
        options.setKeepAliveInterval(broker.keepAliveSeconds());
        broker.user().ifPresent(options::setUserName);
        broker.password().ifPresent(options::setPassword);
        broker.sockets().ifPresent(options::setSocketFactory);
        broker.will().ifPresent(will -> {
            MqttMessage message = new MqttMessage(will.payload());
            message.setQos(will.qos());
            message.setRetained(will.retain());
            options.setWill(will.topic(), message);
        });
        try {
            IMqttToken token = client.connect(options);
            token.waitForCompletion(ANSWER_MILLIS);
            return token.getSessionPresent();
        } catch (MqttException e) {
            throw failure(e);
        }
    }

    @Override
    public void subscribe(List<TopicFilter> filters, int qos) throws BrokerException {
        try {
            MqttSubscription[] all = filters.stream()
                    .map(filter -> {
                        MqttSubscription one = new MqttSubscription(filter.text(), qos);
                        one.setRetainAsPublished(false); // the flag then says that it was kept before
                        return one;
                    })
                    .toArray(MqttSubscription[]::new);
            IMqttToken token = client.subscribe(all, null, null, new MqttProperties());
            token.waitForCompletion(ANSWER_MILLIS);
            int[] codes = token.getReasonCodes() == null ? new int[0] : token.getReasonCodes();
            for (int i = 0; i < codes.length; i++) {
                if (codes[i] >= FAILURE) {
                    throw new BrokerException(
                            "the broker refuses the subscription to " + filters.get(i) + " (" + codes[i] + ")");
                }
            }
        } catch (MqttException e) {
            throw failure(e);
        }
    }

    @Override
    public void unsubscribe(List<TopicFilter> filters) throws BrokerException {
        try {
            client.unsubscribe(filters.stream().map(TopicFilter::text).toArray(String[]::new))
                    .waitForCompletion(ANSWER_MILLIS);
        } catch (MqttException e) {
            throw failure(e);
        }
    }

    @Override
    public void acknowledge(int id, int qos) throws BrokerException {
        try {
            if (qos < 2) {
                client.messageArrivedComplete(id, qos);
            }
        } catch (MqttException e) {
            throw failure(e);
        }
    }

    @Override
    public void publish(String topic, byte[] payload, int qos, boolean retain, Sent then) throws BrokerException {
        try {
            client.publish(topic, payload, qos, retain, null, new MqttActionListener() {
                @Override
                public void onSuccess(IMqttToken token) {
                    then.taken();
                }

                @Override
                public void onFailure(IMqttToken token, Throwable cause) {
                    then.failed(String.valueOf(cause == null ? "not delivered" : cause.getMessage()));
                }
            });
        } catch (MqttException e) {
            throw failure(e);
        }
    }

    /** Those of QoS 2 are told of when they are put, before they are answered. */
    @Override
    public void messageArrived(String topic, MqttMessage message) {
        if (message.getQos() < 2) {
            listener.arrived(arrived(topic, message.getId(), message, clock));
        }
    }

    static ArrivedMessage arrived(String topic, int id, MqttMessage message, Clock clock) {
        return new ArrivedMessage(
                topic,
                message.getPayload(),
                message.getQos(),
                message.isRetained(),
                id,
                properties(message),
                clock.epochMicros());
    }

    /** Of several properties of one name the last. */
    private static Optional<String> properties(MqttMessage message) {
        List<UserProperty> all = message.getProperties() == null
                ? List.of()
                : message.getProperties().getUserProperties();
        if (all == null || all.isEmpty()) {
            return Optional.empty();
        }
        StringWriter text = new StringWriter();
        try (var json = JSON.createGenerator(text)) {
            json.writeStartObject();
            for (UserProperty property : all) {
                json.writeStringField(property.getKey(), property.getValue());
            }
            json.writeEndObject();
        } catch (IOException e) {
            throw new UncheckedIOException("memory is written", e);
        }
        return Optional.of(text.toString());
    }

    @Override
    public void disconnected(MqttDisconnectResponse response) {
        String reason = response.getReasonString() == null
                ? response.getException() == null
                        ? "disconnected by the broker (" + response.getReturnCode() + ")"
                        : failure(response.getException()).reason()
                : response.getReasonString();
        listener.lost(reason);
    }

    /** Of a packet that cannot be: Paho then ends the connection, which is told. */
    @Override
    public void mqttErrorOccurred(MqttException exception) {}

    @Override
    public void deliveryComplete(IMqttToken token) {}

    @Override
    public void connectComplete(boolean reconnect, String url) {}

    @Override
    public void authPacketArrived(int reasonCode, MqttProperties properties) {}

    @Override
    public void close() {
        try {
            if (client.isConnected()) {
                client.disconnectForcibly(0, FAREWELL_MILLIS, 0, new MqttProperties());
            }
        } catch (MqttException e) {
            listener.lost(failure(e).reason()); // it is closed all the same
        } finally {
            try {
                client.close(true);
            } catch (MqttException e) {
                listener.lost(failure(e).reason());
            }
        }
    }
}
