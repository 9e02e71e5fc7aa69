package dev.millrace.connectors.mqtt;

import dev.millrace.testing.connector.ConformanceOf;
import dev.millrace.testing.connector.PushedFault;
import dev.millrace.testing.mqtt.WithMosquitto;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** By version 5, at QoS 2. */
@ConformanceOf("source mqtt")
@Tag("long")
@WithMosquitto
class Mqtt5Qos2ConformanceTest extends MqttPushedConformance {
    @Override
    String version() {
        return "5";
    }

    @Override
    int qos() {
        return 2;
    }

    @ParameterizedTest
    @EnumSource(names = {"NEVER_FORGETS", "FORGETS_WHAT_CAME"})
    void faultsAreCaught(PushedFault fault) {
        catches(fault);
    }
}
