package dev.millrace.server.session;

import dev.millrace.testing.mqtt.Mosquitto;
import dev.millrace.testing.mqtt.MqttPeer;
import dev.millrace.testing.time.Eventually;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** What tests of streams from MQTT brokers say again and again: numbers that are sent, and counted. */
final class MqttStreams {
    private static final AtomicInteger TOPICS = new AtomicInteger();

    private MqttStreams() {}

    static String newTopic() {
        return "t" + TOPICS.incrementAndGet();
    }

    static String url() {
        return Mosquitto.shared().url();
    }

    /** @param options more of them, each behind a comma */
    static String stream(String name, String topic, String options) {
        return stream(name, url(), topic, options);
    }

    static String stream(String name, String url, String topic, String options) {
        return "CREATE STREAM " + name + " (v BIGINT) WITH (connector = 'mqtt', url = '" + url + "', topic = '" + topic
                + "'" + options + ")";
    }

    static String view(String name, String stream) {
        return "CREATE MATERIALIZED VIEW " + name
                + " AS SELECT count(*) AS n, sum(v) AS total, count(DISTINCT v) AS different FROM " + stream;
    }

    /** What such a view has when each number from 0 to a count came once. */
    static String each(int count) {
        return count + "|" + (long) count * (count - 1) / 2 + "|" + count;
    }

    static void becomes(TestDatabase database, String sql, String... rows) {
        Eventually.holds(
                sql + " gives " + List.of(rows) + " and not " + database.rows(sql),
                () -> database.rows(sql).equals(List.of(rows)));
    }

    /** All streams are subscribed: what is sent from now on is theirs. */
    static void subscribed(TestDatabase database) {
        Eventually.holds(
                "all are subscribed, and not " + database.rows("TABLE millrace.sources"),
                () -> database.rows("SELECT 1 FROM millrace.sources WHERE position IS DISTINCT FROM 'subscribed'")
                        .isEmpty());
    }

    static void send(String topic, int qos, int from, int to) {
        try (MqttPeer peer = new MqttPeer(url())) {
            send(peer, topic, qos, from, to);
        }
    }

    static void send(MqttPeer peer, String topic, int qos, int from, int to) {
        for (int i = from; i < to; i++) {
            peer.send(topic, "{\"v\": " + i + "}", qos, false);
        }
    }
}
