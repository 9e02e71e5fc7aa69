package dev.millrace.connectors.mqtt;

import dev.millrace.connector.PushedContext;
import dev.millrace.connector.PushedReader;
import dev.millrace.connector.PushedSource;
import dev.millrace.connectors.push.ArrivalQueue;
import dev.millrace.connectors.push.Overload;
import dev.millrace.connectors.push.PushedRecords;
import dev.millrace.connectors.push.RecordReceiver;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.time.Clock;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.UUID;

/**
 * Topics of a broker.
 *
 * @param bufferBytes of messages of QoS 0 that wait until the stream takes them
 */
record MqttSource(
        MqttConnections connections,
        MqttBroker broker,
        List<TopicFilter> filters,
        int qos,
        PushedRecords records,
        Overload overload,
        long bufferBytes)
        implements PushedSource {
    MqttSource {
        filters = List.copyOf(filters);
    }

    @Override
    public Schema schema() {
        return records.schema();
    }

    /** By a session of its own, which ends with it. */
    @Override
    public void check() {
        check(broker);
    }

    static void check(MqttBroker broker) {
        BrokerSession session = new BrokerSession(
                "millrace-check-" + UUID.randomUUID().toString().substring(0, 8), false);
        BrokerClient.Listener nobody = new BrokerClient.Listener() {
            @Override
            public void arrived(ArrivedMessage message) {}

            @Override
            public void released(int id) {}

            @Override
            public void lost(String reason) {}
        };
        try (BrokerClient client = new BrokerClient(broker, session, Clock.system(), nobody)) {
            client.connect(() -> {});
        } catch (BrokerException e) {
            throw MillraceException.external(SqlState.CONNECTION_FAILURE, broker + ": " + e.reason());
        }
    }

    @Override
    public PushedReader receive(PushedContext context) {
        ArrivalQueue inbox = new ArrivalQueue(bufferBytes);
        return new RecordReceiver(records, context, inbox, new MqttSubscription(this, context, inbox));
    }
}
