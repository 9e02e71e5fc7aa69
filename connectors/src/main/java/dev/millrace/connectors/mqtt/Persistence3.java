package dev.millrace.connectors.mqtt;

import dev.millrace.error.MillraceException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.eclipse.paho.client.mqttv3.MqttClientPersistence;
import org.eclipse.paho.client.mqttv3.MqttPersistable;
import org.eclipse.paho.client.mqttv3.MqttPersistenceException;
import org.eclipse.paho.client.mqttv3.internal.MqttPersistentData;
import org.eclipse.paho.client.mqttv3.internal.wire.MqttPublish;

/**
 * Where Paho's client for MQTT 3 keeps messages: those that it received at QoS 2 where we keep them, those that it sends on the heap, as whoever
 * sends them sends them again after a crash.
 */
final class Persistence3 implements MqttClientPersistence {
    private static final String RECEIVED = "r-"; // what Paho's keys of received messages begin with

    private final ReceivedMessages received;
    private final Map<String, MqttPersistable> sent = new ConcurrentHashMap<>();

    Persistence3(ReceivedMessages received) {
        this.received = received;
    }

    private static boolean isReceived(String key) {
        return key.startsWith(RECEIVED);
    }

    private static int id(String key) {
        return Integer.parseInt(key.substring(RECEIVED.length()));
    }

    @Override
    public void open(String clientId, String serverUri) {}

    @Override
    public void put(String key, MqttPersistable message) throws MqttPersistenceException {
        if (!isReceived(key)) {
            sent.put(key, message);
            return;
        }
        ByteBuffer bytes = ByteBuffer.allocate(Integer.BYTES + message.getHeaderLength() + message.getPayloadLength());
        bytes.putInt(message.getHeaderLength());
        bytes.put(message.getHeaderBytes(), message.getHeaderOffset(), message.getHeaderLength());
        if (message.getPayloadLength() > 0) {
            bytes.put(message.getPayloadBytes(), message.getPayloadOffset(), message.getPayloadLength());
        }
        try {
            received.put(id(key), ((MqttPublish) message).getTopicName(), bytes.array());
        } catch (MillraceException e) {
            throw new MqttPersistenceException(e); // the connection ends, and the broker sends the message again
        }
    }

    @Override
    public MqttPersistable get(String key) throws MqttPersistenceException {
        MqttPersistable found = isReceived(key)
                ? received.get(id(key)).map(bytes -> read(key, bytes)).orElse(null)
                : sent.get(key);
        if (found == null) {
            throw new MqttPersistenceException();
        }
        return found;
    }

    private static MqttPersistable read(String key, byte[] bytes) {
        int header = ByteBuffer.wrap(bytes).getInt();
        int payload = bytes.length - Integer.BYTES - header;
        return new MqttPersistentData(key, bytes, Integer.BYTES, header, bytes, Integer.BYTES + header, payload);
    }

    /** What was received goes when the stream has it. */
    @Override
    public void remove(String key) {
        sent.remove(key);
    }

    @Override
    public Enumeration<String> keys() {
        List<String> keys = new ArrayList<>(sent.keySet());
        received.ids().forEach(id -> keys.add(RECEIVED + id));
        return Collections.enumeration(keys);
    }

    /** Of a session that is over: what was received in it is the streams' all the same. */
    @Override
    public void clear() {
        sent.clear();
    }

    @Override
    public boolean containsKey(String key) {
        return isReceived(key) ? received.get(id(key)).isPresent() : sent.containsKey(key);
    }

    @Override
    public void close() {}
}
