package dev.millrace.connectors.mqtt;

import org.junit.jupiter.api.Tag;

/** By version 5, at QoS 1. */
@Tag("long")
class Mqtt5Qos1ConformanceTest extends MqttPushedConformance {
    @Override
    String version() {
        return "5";
    }

    @Override
    int qos() {
        return 1;
    }
}
