package dev.millrace.connectors.mqtt;

import dev.millrace.connector.Options;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.time.Clock;
import java.util.List;

/**
 * A clean session at a broker, by MQTT 5 and QoS 1, for those who speak with others over it and know by themselves what got lost. It connects once: who loses
 * it opens another. Safe on any thread.
 */
public final class BrokerLine implements AutoCloseable {
    private static final int QOS = 1;

    private final MqttBroker broker;
    private final BrokerClient client;
    private final Listener listener;

    /** Is told what happens, on a thread of the line's, which must not be held up. */
    public interface Listener {
        /** A message; so that the broker sends more than some, each is to be acknowledged. */
        void arrived(String topic, byte[] payload, Runnable acknowledge);

        /** The broker has a message, and there is room for another. */
        void taken();

        /** A message that was published is not at the broker. */
        void refused(String topic, String reason);

        /** The connection is gone. Told once. */
        void lost(String reason);
    }

    /**
     * Connects to nobody yet.
     *
     * @param options those of a broker, as of connector {@code mqtt}
     * @throws MillraceException 22023 naming an option that is wrong
     */
    public BrokerLine(Options options, String clientId, Clock clock, Listener listener) {
        this.broker = MqttBroker.read(options);
        this.listener = listener;
        this.client = new BrokerClient(broker, new BrokerSession(clientId, false), clock, new BrokerClient.Listener() {
            @Override
            public void arrived(ArrivedMessage message) {
                int id = message.id();
                listener.arrived(message.topic(), message.payload(), () -> {
                    if (id != 0) {
                        client.acknowledge(id);
                    }
                });
            }

            @Override
            public void released(int id) {
                client.completed(id); // of QoS 2, which is not subscribed to
            }

            @Override
            public void lost(String reason) {
                listener.lost(reason);
            }
        });
    }

    /**
     * Connects and subscribes, some seconds at most.
     *
     * @throws MillraceException 08006 if the broker does not let it, or is not there
     */
    public void open(String filter) {
        try {
            client.connect(() -> {});
            client.subscribe(List.of(TopicFilter.of(filter)), QOS);
        } catch (BrokerException e) {
            throw MillraceException.external(
                    SqlState.CONNECTION_FAILURE, "cannot use the broker at " + broker + ": " + e.reason(), e);
        }
    }

    /** Bytes of a packet that the broker takes: topic, payload, and some more. */
    public long mostPacketBytes() {
        return client.mostPacketBytes();
    }

    /**
     * Sends a message.
     *
     * @return false if there is no room for it now
     * @throws MillraceException 54000 if it is larger than the broker takes
     */
    public boolean publish(String topic, byte[] payload) {
        return client.publish(new Publication(topic, payload, QOS, false, new Publication.Answer() {
            @Override
            public void taken() {
                listener.taken();
            }

            @Override
            public void failed(String reason) {
                listener.refused(topic, reason);
            }

            @Override
            public void refused(String reason) {
                listener.refused(topic, reason);
            }
        }));
    }

    /** The broker's address, without secrets. */
    @Override
    public String toString() {
        return broker.toString();
    }

    @Override
    public void close() {
        client.close();
    }
}
