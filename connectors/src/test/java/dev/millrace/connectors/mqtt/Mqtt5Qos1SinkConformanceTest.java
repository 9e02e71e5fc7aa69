package dev.millrace.connectors.mqtt;

import dev.millrace.testing.connector.AtLeastOnceFault;
import dev.millrace.testing.connector.ConformanceOf;
import dev.millrace.testing.mqtt.WithMosquitto;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** By version 5, at QoS 1. */
@ConformanceOf("sink mqtt")
@Tag("long")
@WithMosquitto
class Mqtt5Qos1SinkConformanceTest extends MqttSinkConformance {
    @Override
    String version() {
        return "5";
    }

    @Override
    int qos() {
        return 1;
    }

    @ParameterizedTest
    @EnumSource
    void faultsAreCaught(AtLeastOnceFault fault) {
        catches(fault);
    }
}
