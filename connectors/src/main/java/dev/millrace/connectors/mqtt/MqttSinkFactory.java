package dev.millrace.connectors.mqtt;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connector.Sink;
import dev.millrace.connector.SinkContext;
import dev.millrace.connector.SinkFactory;
import dev.millrace.error.MillraceException;
import dev.millrace.format.RecordEncoder;
import dev.millrace.format.RecordFormats;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The sink {@code mqtt}. */
public final class MqttSinkFactory implements SinkFactory {
    private static final long IN_FLIGHT = 100;
    private static final long MOST_IN_FLIGHT = 10_000;

    private final RecordFormats formats;
    private final MqttConnections connections;

    /**
     * @param formats that messages can have
     * @param connections that all share
     */
    public MqttSinkFactory(RecordFormats formats, MqttConnections connections) {
        this.formats = formats;
        this.connections = connections;
    }

    @Override
    public String name() {
        return "mqtt";
    }

    @Override
    public Sink open(Schema schema, boolean appendOnly, Options options, SinkContext context) {
        if (!appendOnly) {
            throw MillraceException.notAvailableYet("a sink of connector mqtt for rows that are taken back")
                    .withHint("windows with EMIT FINAL take none back");
        }
        MqttBroker broker = MqttBroker.read(options);
        TopicTemplate topic = TopicTemplate.of(options.required("topic"), schema);
        int qos = (int) options.integer("qos", 1, 0, 2);
        boolean retain = options.bool("retain", false);
        int inFlight = (int) options.integer("max_in_flight", IN_FLIGHT, 1, MOST_IN_FLIGHT);
        RecordEncoder encoder = formats.named(options.text("format", "json").toLowerCase(Locale.ROOT))
                .encoder(schema, options);
        try {
            options.rejectUnread();
            // A broker remembers the ids of messages of QoS 2 that it has, which begin anew with the process: by a
            // session of its own.
            MqttConnection connection = connections.publish(broker, context.home(), qos == 2, context.clock());
            return new MqttSink(
                    connection, topic, new MqttSink.Manner(qos, retain, inFlight), encoder, context.allocator());
        } catch (RuntimeException | Error e) {
            encoder.close();
            throw e;
        }
    }

    @Override
    public List<OptionDescription> options() {
        List<OptionDescription> all = new ArrayList<>(MqttBroker.options());
        all.add(
                1,
                new OptionDescription(
                        "topic", "", "where messages go; {column} stands for the value of a column: site/{room}/temp"));
        all.add(2, new OptionDescription("qos", "1", "0, 1 or 2"));
        all.add(3, new OptionDescription("retain", "false", "whether the broker keeps the last message of each topic"));
        all.add(4, new OptionDescription("format", "json", "of the messages"));
        all.add(new OptionDescription("max_in_flight", "100", "messages that the broker has not acknowledged"));
        return List.copyOf(all);
    }
}
