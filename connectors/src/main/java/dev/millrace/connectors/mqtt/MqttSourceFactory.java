package dev.millrace.connectors.mqtt;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceFactory;
import dev.millrace.connectors.push.ArrivalQueue;
import dev.millrace.connectors.push.Overload;
import dev.millrace.connectors.push.PushedRecords;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.format.RecordFormats;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The source {@code mqtt}. */
public final class MqttSourceFactory implements SourceFactory {
    private final RecordFormats formats;
    private final MqttConnections connections;

    /**
     * @param formats that messages can have
     * @param connections that all share
     */
    public MqttSourceFactory(RecordFormats formats, MqttConnections connections) {
        this.formats = formats;
        this.connections = connections;
    }

    @Override
    public String name() {
        return "mqtt";
    }

    @Override
    public Source create(Schema declared, Options options) {
        MqttBroker broker = MqttBroker.read(options);
        List<TopicFilter> filters = filters(options);
        int qos = (int) options.integer("qos", 1, 0, 2);
        return new MqttSource(
                connections,
                broker,
                filters,
                qos,
                PushedRecords.read(name(), formats, "json", declared, options, ArrivedMessage.columns()),
                Overload.read(options),
                ArrivalQueue.readBytes(options));
    }

    private static List<TopicFilter> filters(Options options) {
        List<TopicFilter> filters = Arrays.stream(options.required("topic").split(",", -1))
                .map(text -> TopicFilter.of(text.strip()))
                .toList();
        for (int i = 0; i < filters.size(); i++) {
            for (int j = 0; j < i; j++) {
                if (filters.get(i).overlaps(filters.get(j))) {
                    throw MillraceException.user(
                                    SqlState.INVALID_PARAMETER_VALUE,
                                    "option \"topic\" cannot have " + filters.get(j) + " and " + filters.get(i)
                                            + ": a topic can be of both, and its messages would come twice")
                            .withHint("two streams, one for each, do not get in each other's way");
                }
            }
        }
        return filters;
    }

    @Override
    public List<OptionDescription> options() {
        List<OptionDescription> all = new ArrayList<>(MqttBroker.options());
        all.add(
                1,
                new OptionDescription(
                        "topic",
                        "",
                        "topics, between commas: names, with + for a level and # for all that follow;"
                                + " $share/GROUP/.. shares messages out with others of the group"));
        all.add(2, new OptionDescription("qos", "1", "at most, of messages that are sent to us: 0, 1 or 2"));
        all.add(3, new OptionDescription("format", "json", "of the messages"));
        all.add(Overload.description());
        all.add(ArrivalQueue.description());
        all.add(new OptionDescription("include.topic", "", "a column of that name with the topic"));
        all.add(new OptionDescription(
                "include.level<n>", "", "with a level of the topic, from 1; NULL where it has fewer"));
        all.add(new OptionDescription("include.qos", "", "with the message's QoS"));
        all.add(new OptionDescription(
                "include.retained", "", "with whether the broker had kept the message from before the subscription"));
        all.add(new OptionDescription("include.received", "", "with the time at which it came"));
        all.add(new OptionDescription(
                "include.properties", "", "with the sender's properties (MQTT 5), an object; NULL without any"));
        return List.copyOf(all);
    }
}
