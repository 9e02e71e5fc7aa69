package dev.millrace.connectors.mqtt;

import dev.millrace.testing.mqtt.WithMosquitto;
import org.junit.jupiter.api.Tag;

/** By version 5, at QoS 2. */
@Tag("long")
@WithMosquitto
class Mqtt5Qos2SinkConformanceTest extends MqttSinkConformance {
    @Override
    String version() {
        return "5";
    }

    @Override
    int qos() {
        return 2;
    }
}
