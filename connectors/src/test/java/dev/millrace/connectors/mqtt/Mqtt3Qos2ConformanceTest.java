package dev.millrace.connectors.mqtt;

import dev.millrace.testing.mqtt.WithMosquitto;
import org.junit.jupiter.api.Tag;

/** By version 3.1.1, at QoS 2. */
@Tag("long")
@WithMosquitto
class Mqtt3Qos2ConformanceTest extends MqttPushedConformance {
    @Override
    String version() {
        return "3.1.1";
    }

    @Override
    int qos() {
        return 2;
    }
}
