package dev.millrace.connectors.mqtt;

import dev.millrace.testing.connector.AtLeastOnceConformance;
import dev.millrace.testing.connector.AtLeastOnceOutside;
import dev.millrace.testing.mqtt.Mosquitto;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The sink that sends messages to a broker, which is stopped and begun again, by a wire that is cut. */
@Timeout(120)
abstract class MqttSinkConformance extends AtLeastOnceConformance {
    @TempDir
    static Path folder;

    private static Optional<Mosquitto> broker = Optional.empty();

    private final List<MqttSinkOutside> outsides = new ArrayList<>();

    @BeforeAll
    static void begin() {
        broker = Optional.of(new Mosquitto(folder.resolve("broker")));
    }

    @AfterAll
    static void end() {
        broker.ifPresent(Mosquitto::close);
    }

    @AfterEach
    void close() {
        outsides.forEach(MqttSinkOutside::close);
    }

    abstract String version();

    abstract int qos();

    @Override
    protected AtLeastOnceOutside outside() {
        MqttSinkOutside outside = new MqttSinkOutside(broker.orElseThrow(), version(), qos());
        outsides.add(outside);
        return outside;
    }
}
