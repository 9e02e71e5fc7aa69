package dev.millrace.connectors.mqtt;

import dev.millrace.error.MillraceException;
import dev.millrace.time.Clock;
import java.util.Collections;
import java.util.Enumeration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.eclipse.paho.mqttv5.client.MqttClientPersistence;
import org.eclipse.paho.mqttv5.common.MqttPersistable;
import org.eclipse.paho.mqttv5.common.MqttPersistenceException;
import org.eclipse.paho.mqttv5.common.packet.MqttPublish;

/**
 * Where Paho's client for MQTT 5 keeps messages. Those that it received at QoS 2 are ours when they were put, and it needs them no more; those
 * that it sends are on the heap, as whoever sends them sends them again after a crash.
 */
final class Persistence5 implements MqttClientPersistence {
    private static final String RECEIVED = "r-"; // what Paho's keys of received messages begin with

    private final ReceivedMessages received;
    private final Clock clock;
    private final Map<String, MqttPersistable> sent = new ConcurrentHashMap<>();

    Persistence5(ReceivedMessages received, Clock clock) {
        this.received = received;
        this.clock = clock;
    }

    private static boolean isReceived(String key) {
        return key.startsWith(RECEIVED);
    }

    @Override
    public void open(String clientId) {}

    @Override
    public void put(String key, MqttPersistable message) throws MqttPersistenceException {
        if (!isReceived(key)) {
            sent.put(key, message);
            return;
        }
        MqttPublish publish = (MqttPublish) message;
        try {
            received.put(
                    PahoClient5.arrived(publish.getTopicName(), publish.getMessageId(), publish.getMessage(), clock),
                    publish.getMessage().isDuplicate());
        } catch (MillraceException e) {
            throw new MqttPersistenceException(e); // the connection ends, and the broker sends the message again
        }
    }

    @Override
    public MqttPersistable get(String key) throws MqttPersistenceException {
        MqttPersistable found = sent.get(key);
        if (found == null) {
            throw new MqttPersistenceException();
        }
        return found;
    }

    @Override
    public void remove(String key) {
        sent.remove(key);
    }

    @Override
    public Enumeration<String> keys() {
        return Collections.enumeration(sent.keySet());
    }

    @Override
    public void clear() {
        sent.clear();
    }

    @Override
    public boolean containsKey(String key) {
        return sent.containsKey(key);
    }

    @Override
    public void close() {}
}
