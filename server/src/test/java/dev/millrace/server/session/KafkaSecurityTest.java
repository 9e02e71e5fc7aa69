package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.testing.kafka.KafkaBroker;
import dev.millrace.testing.net.TestKeys;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A broker that wants TLS and a login is spoken to, with Kafka's own properties, by streams and by sinks. */
@Tag("peers")
@Timeout(120)
class KafkaSecurityTest {
    @TempDir
    private static Path folder;

    private static TestKeys keys;
    private static KafkaBroker broker;

    @BeforeAll
    static void start() throws IOException {
        keys = TestKeys.make(folder, "broker");
        Files.writeString(folder.resolve("trusted.pem"), keys.certificatePem());
        broker = KafkaBroker.guarded(folder.resolve("broker"), keys);
        broker.topic("in", 1);
        broker.topic("out", 1);
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
            producer.send(new ProducerRecord<>("in", "{\"v\": 7}".getBytes(StandardCharsets.UTF_8)));
        }
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    private static TestDatabase database(Path data, String password) {
        TestDatabase database = new TestDatabase(data);
        database.run("CREATE SECRET login AS 'org.apache.kafka.common.security.plain.PlainLoginModule required"
                + " username=\"u\" password=\"" + password + "\";'");
        return database;
    }

    private static String with(String topic, String more) {
        return " WITH (connector = 'kafka', bootstrap = '" + broker.guardedBootstrap() + "', topic = '" + topic
                + "', properties.security.protocol = 'SASL_SSL', properties.sasl.mechanism = 'PLAIN',"
                + " properties.sasl.jaas.config = '${secret:login}'" + more + ")";
    }

    private static String trusting() {
        return ", properties.ssl.truststore.type = 'PEM', properties.ssl.truststore.certificates = '${file:"
                + folder.resolve("trusted.pem") + "}'";
    }

    @Test
    void streamsAndSinksLogInByTls(@TempDir Path data) {
        try (TestDatabase database = database(data, KafkaBroker.PASSWORD)) {
            database.run("CREATE STREAM s (v BIGINT)" + with("in", trusting()));
            database.run("CREATE MATERIALIZED VIEW total AS SELECT sum(v) AS v FROM s");
            Eventually.holds("it is read", () -> database.rows("TABLE total").equals(List.of("7")));
            database.run("CREATE SINK o FROM s"
                    + with("out", trusting() + ", delivery = 'exactly_once', checkpoint_interval = '100 ms'"));
            Eventually.holds("it is written", () -> broker.records("out").size() == 1);
            assertFalse(database.rows("SELECT * FROM millrace.sinks").toString().contains(KafkaBroker.PASSWORD));
        }
    }

    @Test
    void whoHasAnotherPasswordOrTrustsAnotherIsToldSo(@TempDir Path data) {
        try (TestDatabase database = database(data, "another")) {
            String stream = "CREATE STREAM s (v BIGINT)";
            String refused = database.error(stream + with("in", trusting()));
            assertTrue(refused.contains("Authentication failed"), refused);
            assertFalse(refused.contains("another"), refused);
            String untrusted = database.error(stream + with("in", ""));
            assertTrue(untrusted.contains("SSL handshake failed"), untrusted);
        }
    }
}
