package dev.millrace.edge.config;

import dev.millrace.edge.queue.WhenFull;
import dev.millrace.edge.socket.RemoteHost;
import dev.millrace.type.Schema;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * All that an agent is started with; {@code docs/edge.md} says what each option means.
 *
 * @param device its name, unique at the server
 * @param data the directory of its queue
 * @param server where segments go; without one they stay
 * @param commitMicros after how long what was read is on disk at the latest
 * @param streams at least one, of different names
 */
public record EdgeConfig(
        String device,
        Path data,
        Optional<Server> server,
        Queue queue,
        long commitMicros,
        long statusMicros,
        List<StreamConfig> streams) {
    public EdgeConfig {
        streams = List.copyOf(streams);
    }

    /**
     * Where the server is reached.
     *
     * @param peer its port for devices, or the broker
     * @param user the role that it logs in as
     * @param token its password
     * @param broker how messages go by a broker; else the peer is the server
     */
    public record Server(RemoteHost peer, String user, String token, Optional<Broker> broker) {
        @Override
        public String toString() {
            return peer.host() + ":" + peer.port(); // and no token
        }
    }

    /**
     * The way by a broker.
     *
     * @param topic that the topics of all devices begin with, without a slash at its end
     * @param clientId as whom it is connected to; else each connection is of another client: some brokers mix up what is for one that went and
     *     came at once
     * @param user with a password, if the broker wants one
     */
    public record Broker(String topic, Optional<String> clientId, Optional<String> user, Optional<String> password) {
        @Override
        public String toString() {
            return topic; // and no password
        }
    }

    /** @param coarsest how often records are merged to a wider bound */
    public record Queue(long bytes, WhenFull whenFull, int coarsest) {}

    /**
     * One stream.
     *
     * @param columns as the input has them, the time included
     * @param time the column with the event time; without one it is the time of arrival, as a column {@code time} before the others
     * @param key the column by which segments are kept apart
     * @param mostKeys how many of them have an open segment at once
     */
    public record StreamConfig(
            String name,
            Schema columns,
            Optional<Integer> time,
            Optional<Integer> key,
            int mostKeys,
            InputConfig input,
            SketchSettings settings) {}

    /**
     * Where rows are from.
     *
     * @param type {@code stdin}, {@code file}, {@code tcp}, {@code http}, {@code mqtt}, {@code system}
     * @param format of records
     * @param options of the input and of the format, each read once
     */
    public record InputConfig(String type, String format, Map<String, String> options) {
        public InputConfig {
            options = Map.copyOf(options);
        }

        @Override
        public String toString() {
            return type; // and no password
        }
    }
}
