package dev.millrace.connectors.mqtt;

import dev.millrace.time.Clock;
import java.util.List;
import java.util.Optional;
import org.eclipse.paho.client.mqttv3.IMqttActionListener;
import org.eclipse.paho.client.mqttv3.IMqttDeliveryToken;
import org.eclipse.paho.client.mqttv3.IMqttToken;
import org.eclipse.paho.client.mqttv3.MqttAsyncClient;
import org.eclipse.paho.client.mqttv3.MqttCallbackExtended;
import org.eclipse.paho.client.mqttv3.MqttConnectOptions;
import org.eclipse.paho.client.mqttv3.MqttException;
import org.eclipse.paho.client.mqttv3.MqttMessage;

/** MQTT 3.1.1, by Paho's client for 3. */
final class PahoClient3 implements BrokerClient, MqttCallbackExtended {
    private static final long ANSWER_MILLIS = 10_000;
    private static final long FAREWELL_MILLIS = 1_000;
    private static final int REFUSED = 0x80;

    private final MqttBroker broker;
    private final BrokerSession session;
    private final Clock clock;
    private final Listener listener;
    private final MqttAsyncClient client;

    PahoClient3(MqttBroker broker, BrokerSession session, ReceivedMessages received, Clock clock, Listener listener)
            throws BrokerException {
        this.broker = broker;
        this.session = session;
        this.clock = clock;
        this.listener = listener;
        try {
            client = new MqttAsyncClient(broker.url(), session.clientId(), new Persistence3(received));
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
        MqttConnectOptions options = new MqttConnectOptions();
        options.setMqttVersion(MqttConnectOptions.MQTT_VERSION_3_1_1);
        options.setCleanSession(!session.isPersistent());
        options.setAutomaticReconnect(false);
        options.setMaxInflight(broker.receiveMaximum());
        options.setConnectionTimeout((int) (ANSWER_MILLIS / 1_000));
        options.setKeepAliveInterval(broker.keepAliveSeconds());
        broker.user().ifPresent(options::setUserName);
        broker.password()
                .ifPresent(password -> options.setPassword(
                        new String(password, java.nio.charset.StandardCharsets.UTF_8).toCharArray()));
        broker.sockets().ifPresent(options::setSocketFactory);
        broker.will().ifPresent(will -> options.setWill(will.topic(), will.payload(), will.qos(), will.retain()));
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
            String[] topics = filters.stream().map(TopicFilter::text).toArray(String[]::new);
            int[] wanted = new int[topics.length];
            java.util.Arrays.fill(wanted, qos);
            IMqttToken token = client.subscribe(topics, wanted);
            token.waitForCompletion(ANSWER_MILLIS);
            int[] granted = token.getGrantedQos() == null ? new int[0] : token.getGrantedQos();
            for (int i = 0; i < granted.length; i++) {
                if (granted[i] >= REFUSED) {
                    throw new BrokerException("the broker refuses the subscription to " + filters.get(i));
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
            client.messageArrivedComplete(id, qos);
        } catch (MqttException e) {
            throw failure(e);
        }
    }

    @Override
    public void publish(String topic, byte[] payload, int qos, boolean retain, Sent then) throws BrokerException {
        try {
            client.publish(topic, payload, qos, retain, null, new IMqttActionListener() {
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

    @Override
    public void messageArrived(String topic, MqttMessage message) {
        listener.arrived(new ArrivedMessage(
                topic,
                message.getPayload(),
                message.getQos(),
                message.isRetained(),
                message.getId(),
                Optional.empty(),
                clock.epochMicros()));
    }

    @Override
    public void connectionLost(Throwable cause) {
        listener.lost(cause instanceof Exception e ? failure(e).reason() : String.valueOf(cause));
    }

    @Override
    public void deliveryComplete(IMqttDeliveryToken token) {}

    @Override
    public void connectComplete(boolean reconnect, String url) {}

    @Override
    public void close() {
        try {
            if (client.isConnected()) {
                client.disconnectForcibly(0, FAREWELL_MILLIS);
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
