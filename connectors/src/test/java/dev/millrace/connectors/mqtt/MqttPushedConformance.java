package dev.millrace.connectors.mqtt;

import dev.millrace.testing.connector.PushedConformance;
import dev.millrace.testing.connector.PushedOutside;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;

/** The source over a real broker, by a wire that is cut. */
@Timeout(180)
abstract class MqttPushedConformance extends PushedConformance {
    private final List<MqttOutside> outsides = new ArrayList<>();

    @AfterEach
    void close() {
        outsides.forEach(MqttOutside::close);
    }

    abstract String version();

    abstract int qos();

    @Override
    protected PushedOutside outside() {
        MqttOutside outside = new MqttOutside(version(), qos());
        outsides.add(outside);
        return outside;
    }
}
