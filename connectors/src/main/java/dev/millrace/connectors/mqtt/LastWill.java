package dev.millrace.connectors.mqtt;

import dev.millrace.connector.Options;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * What a broker tells others when the connection breaks off.
 *
 * @param text of the message
 */
record LastWill(String topic, String text, int qos, boolean retain) {
    static Optional<LastWill> read(Options options) {
        Optional<String> topic = options.text("will.topic");
        String text = options.text("will.payload", "");
        int qos = (int) options.integer("will.qos", 0, 0, 2);
        boolean retain = options.bool("will.retain", false);
        return topic.map(name -> new LastWill(TopicFilter.requireName("will.topic", name), text, qos, retain));
    }

    byte[] payload() {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
