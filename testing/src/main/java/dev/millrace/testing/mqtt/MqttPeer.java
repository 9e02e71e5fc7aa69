package dev.millrace.testing.mqtt;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import org.eclipse.paho.mqttv5.client.IMqttMessageListener;
import org.eclipse.paho.mqttv5.client.MqttClient;
import org.eclipse.paho.mqttv5.client.persist.MemoryPersistence;
import org.eclipse.paho.mqttv5.common.MqttException;
import org.eclipse.paho.mqttv5.common.MqttMessage;
import org.eclipse.paho.mqttv5.common.MqttSubscription;
import org.eclipse.paho.mqttv5.common.packet.MqttProperties;
import org.eclipse.paho.mqttv5.common.packet.UserProperty;

/** Somebody else at a broker, by Eclipse Paho's client for MQTT 5: sends, and hears. For one thread at a time. */
public final class MqttPeer implements AutoCloseable {
    private static final int TOO_MANY_IN_FLIGHT = 32202; // Paho's
    private static final int MOST_TRIES = 30_000;
    private static final long ANSWER_MILLIS = 30_000;

    private final MqttClient client;

    /** What it heard of a topic. */
    public record Heard(String topic, String payload, int qos, boolean retained) {}

    /** @param url {@code mqtt://host:port} */
    public MqttPeer(String url) {
        try {
            client = new MqttClient(url.replace("mqtt:", "tcp:"), "peer-" + UUID.randomUUID(), new MemoryPersistence());
            client.setTimeToWait(ANSWER_MILLIS);
            client.connect();
        } catch (MqttException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns when the broker has it. */
    public void send(String topic, String payload, int qos, boolean retain) {
        MqttMessage message = new MqttMessage(payload.getBytes(StandardCharsets.UTF_8), qos, retain, null);
        MqttProperties properties = new MqttProperties();
        properties.setUserProperties(List.of(new UserProperty("unit", "C")));
        message.setProperties(properties);
        for (int tries = 0; ; tries++) {
            try {
                client.publish(topic, message);
                return;
            } catch (MqttException e) {
                if (e.getReasonCode() != TOO_MANY_IN_FLIGHT || tries > MOST_TRIES) {
                    throw new IllegalStateException(e);
                }
                LockSupport.parkNanos(1_000_000); // what the client has acknowledged is on its way
            }
        }
    }

    /** All messages of a filter from now on; they come to be in the list, in their order. */
    public List<Heard> hear(String filter, int qos) {
        List<Heard> heard = new CopyOnWriteArrayList<>();
        MqttSubscription subscription = new MqttSubscription(filter, qos);
        subscription.setRetainAsPublished(false);
        IMqttMessageListener listener = (topic, message) -> heard.add(new Heard(
                topic,
                new String(message.getPayload(), StandardCharsets.UTF_8),
                message.getQos(),
                message.isRetained()));
        try {
            client.subscribe(new MqttSubscription[] {subscription}, new IMqttMessageListener[] {listener});
        } catch (MqttException e) {
            throw new IllegalStateException(e);
        }
        return heard;
    }

    @Override
    public void close() {
        try {
            client.disconnect();
            client.close();
        } catch (MqttException e) {
            throw new IllegalStateException(e);
        }
    }
}
