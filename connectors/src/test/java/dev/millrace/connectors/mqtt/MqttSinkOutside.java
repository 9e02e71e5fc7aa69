package dev.millrace.connectors.mqtt;

import dev.millrace.connector.Options;
import dev.millrace.connector.Sink;
import dev.millrace.connector.SinkContext;
import dev.millrace.connectors.Connectors;
import dev.millrace.testing.connector.AtLeastOnceOutside;
import dev.millrace.testing.mqtt.Mosquitto;
import dev.millrace.testing.mqtt.MqttPeer;
import dev.millrace.testing.net.Wire;
import dev.millrace.testing.time.Eventually;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/** Topics of a real broker, which is stopped and begun again, somebody who hears them, and a wire from the sink to it. */
final class MqttSinkOutside implements AtLeastOnceOutside, AutoCloseable {
    private static final AtomicInteger TOPICS = new AtomicInteger();
    private static final String MARK = "mark";

    private final Mosquitto broker;
    private final Map<String, String> options;
    private final String topic = "sunk" + TOPICS.incrementAndGet();
    private final Wire wire;
    private final List<Long> before = new ArrayList<>(); // that the reader was another
    private MqttPeer reader;
    private List<MqttPeer.Heard> heard;
    private int marks;

    MqttSinkOutside(Mosquitto broker, String version, int qos) {
        this.broker = broker;
        this.wire = new Wire(broker.url());
        this.options = Map.of(
                "url",
                wire.url(),
                "topic",
                topic + "/{name}",
                "qos",
                "" + qos,
                "version",
                version,
                "client_id",
                "client of " + topic);
        listen();
    }

    private void listen() {
        reader = new MqttPeer(broker.url());
        heard = reader.hear(topic + "/#", 1);
    }

    @Override
    public Sink open(SinkContext context) {
        // connections of its own: another process
        return new MqttSinkFactory(Connectors.formats(), new MqttConnections())
                .open(SCHEMA, true, new Options(options), context);
    }

    /** What was heard before a mark that is sent now: the broker has all that it acknowledged before. */
    @Override
    public List<Long> came() {
        String mark = MARK + marks++;
        reader.send(topic + "/" + MARK, mark, 1, false);
        Eventually.holds(
                "what is sent is heard",
                () -> heard.stream().anyMatch(each -> each.payload().equals(mark)));
        List<Long> came = new ArrayList<>(before);
        heard.stream()
                .filter(each -> !each.topic().endsWith(MARK))
                .map(each -> Long.valueOf(each.payload().replaceAll("\\D+", "")))
                .forEach(came::add);
        return came;
    }

    @Override
    public void stumbles(int how) {
        wire.cut();
        wire.mend();
    }

    @Override
    public boolean goes() {
        wire.cut();
        List<Long> came = came();
        before.clear();
        before.addAll(came);
        reader.close();
        broker.stop();
        return true;
    }

    @Override
    public void comes() {
        broker.restart();
        listen();
        wire.mend();
    }

    @Override
    public Optional<String> refused() {
        return options.get("version").equals("5") ? Optional.of(Mosquitto.REFUSED) : Optional.empty();
    }

    @Override
    public void close() {
        reader.close();
        wire.close();
    }
}
