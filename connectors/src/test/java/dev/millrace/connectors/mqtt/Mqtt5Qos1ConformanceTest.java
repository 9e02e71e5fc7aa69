package dev.millrace.connectors.mqtt;

/** By version 5, at QoS 1. */
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
