package dev.millrace.connectors.mqtt;

import dev.millrace.testing.mqtt.WithMosquitto;
import org.junit.jupiter.api.Tag;

/** By version 3.1.1, at QoS 1, by which a broker cannot say that it refuses a message. */
@Tag("long")
@WithMosquitto
class Mqtt3Qos1SinkConformanceTest extends MqttSinkConformance {
    @Override
    String version() {
        return "3.1.1";
    }

    @Override
    int qos() {
        return 1;
    }
}
