package dev.millrace.connectors.mqtt;

import dev.millrace.connector.Options;
import dev.millrace.connector.PushedSource;
import dev.millrace.connectors.Connectors;
import dev.millrace.testing.connector.PushedOutside;
import dev.millrace.testing.mqtt.Mosquitto;
import dev.millrace.testing.mqtt.MqttPeer;
import dev.millrace.testing.net.Wire;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** A topic of a real broker, and a wire to it. */
final class MqttOutside implements PushedOutside, AutoCloseable {
    private static final AtomicInteger TOPICS = new AtomicInteger();

    private final String version;
    private final int qos;
    private final String topic = "pushed" + TOPICS.incrementAndGet();
    private final Wire wire;
    private final MqttPeer sender;

    MqttOutside(String version, int qos) {
        Mosquitto broker = Mosquitto.shared();
        this.version = version;
        this.qos = qos;
        this.sender = new MqttPeer(broker.url());
        this.wire = new Wire(broker.url());
    }

    @Override
    public PushedSource source() {
        Map<String, String> options = Map.of(
                "url",
                wire.url(),
                "topic",
                topic,
                "qos",
                "" + qos,
                "version",
                version,
                "client_id",
                "client of " + topic);
        // connections of its own: another process
        return (PushedSource)
                new MqttSourceFactory(Connectors.formats(), new MqttConnections()).create(SCHEMA, new Options(options));
    }

    @Override
    public void bring(long from, long to) {
        for (long id = from; id < to; id++) {
            sender.send(topic, "{\"id\": " + id + "}", qos, false);
        }
    }

    @Override
    public void poison() {
        sender.send(topic, "no JSON", qos, false);
    }

    @Override
    public boolean isExactlyOnce() {
        return qos == 2;
    }

    @Override
    public void cut() {
        wire.cut();
    }

    @Override
    public void mend() {
        wire.mend();
    }

    /** As seen from the source; what a broker keeps when it is stopped is tried with a database. */
    @Override
    public boolean goes() {
        cut();
        return true;
    }

    @Override
    public void comes() {
        mend();
    }

    @Override
    public void close() {
        sender.close();
        wire.close();
    }
}
