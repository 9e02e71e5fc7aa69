package dev.millrace.connectors.mqtt;

/** By version 5, at QoS 2. */
class Mqtt5Qos2ConformanceTest extends MqttPushedConformance {
    @Override
    String version() {
        return "5";
    }

    @Override
    int qos() {
        return 2;
    }
}
