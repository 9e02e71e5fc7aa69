package dev.millrace.benchmarks.mqtt;

import java.util.concurrent.atomic.AtomicLong;
import org.eclipse.paho.mqttv5.client.IMqttToken;
import org.eclipse.paho.mqttv5.client.MqttAsyncClient;
import org.eclipse.paho.mqttv5.client.MqttCallback;
import org.eclipse.paho.mqttv5.client.MqttConnectionOptions;
import org.eclipse.paho.mqttv5.client.MqttDisconnectResponse;
import org.eclipse.paho.mqttv5.client.persist.MemoryPersistence;
import org.eclipse.paho.mqttv5.common.MqttException;
import org.eclipse.paho.mqttv5.common.MqttMessage;
import org.eclipse.paho.mqttv5.common.packet.MqttProperties;

/** Eclipse Paho's client for MQTT 5, which acknowledges what comes at once, and counts it. */
final class BareClient implements MqttCallback, AutoCloseable {
    private static final long ANSWER_MILLIS = 30_000;
    private static final int RECEIVE_MAXIMUM = 10_000; // as Millrace has it

    private final AtomicLong count = new AtomicLong();
    private final MqttAsyncClient client;

    BareClient(String url, String topic, int qos) throws MqttException {
        client = new MqttAsyncClient(url.replace("mqtt:", "tcp:"), "bare", new MemoryPersistence());
        client.setCallback(this);
        MqttConnectionOptions options = new MqttConnectionOptions();
        options.setReceiveMaximum(RECEIVE_MAXIMUM);
        client.connect(options).waitForCompletion(ANSWER_MILLIS);
        client.subscribe(topic, qos).waitForCompletion(ANSWER_MILLIS);
    }

    long count() {
        return count.get();
    }

    @Override
    public void messageArrived(String topic, MqttMessage message) {
        count.incrementAndGet();
    }

    @Override
    public void disconnected(MqttDisconnectResponse response) {}

    @Override
    public void mqttErrorOccurred(MqttException exception) {}

    @Override
    public void deliveryComplete(IMqttToken token) {}

    @Override
    public void connectComplete(boolean reconnect, String url) {}

    @Override
    public void authPacketArrived(int reasonCode, MqttProperties properties) {}

    @Override
    public void close() throws MqttException {
        client.disconnect().waitForCompletion(ANSWER_MILLIS);
        client.close();
    }
}
