package dev.millrace.server.session;

import static dev.millrace.server.session.MqttStreams.becomes;
import static dev.millrace.server.session.MqttStreams.each;
import static dev.millrace.server.session.MqttStreams.newTopic;
import static dev.millrace.server.session.MqttStreams.send;
import static dev.millrace.server.session.MqttStreams.stream;
import static dev.millrace.server.session.MqttStreams.subscribed;
import static dev.millrace.server.session.MqttStreams.url;
import static dev.millrace.server.session.MqttStreams.view;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.testing.mqtt.Mosquitto;
import dev.millrace.testing.mqtt.WithMosquitto;
import dev.millrace.testing.net.TestKeys;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who speaks to a broker, and to which: TLS by certificates on both sides, names and passwords. */
@Timeout(120)
@Tag("long")
@WithMosquitto
class MqttSecurityTest {
    private static final Mosquitto BROKER = Mosquitto.shared();

    @TempDir
    static Path keys;

    private TestDatabase database;

    @BeforeEach
    void open() {
        database = new TestDatabase();
        database.run("CREATE STREAM base (v INT)");
        database.run("CREATE SECRET ca AS '" + BROKER.own().certificatePem() + "'");
        database.run("CREATE SECRET certificate AS '" + BROKER.client().certificatePem() + "'");
        database.run("CREATE SECRET key AS '" + BROKER.client().keyPem() + "'");
        database.run("CREATE SECRET word AS '" + Mosquitto.PASSWORD + "'");
    }

    @AfterEach
    void close() {
        database.close();
    }

    private void takes(String url, String options) {
        String topic = newTopic();
        database.run(stream("s", url, topic, options));
        database.run(view("n", "s"));
        String out = newTopic();
        database.run("CREATE SINK k FROM s WITH (connector = 'mqtt', url = '" + url + "', topic = '" + out + "'"
                + options + ")");
        subscribed(database);
        send(topic, 1, 0, 10);
        becomes(database, "TABLE n", each(10));
        becomes(database, "SELECT records FROM millrace.sinks WHERE sink = 'k'", "10");
        assertFalse(database.rows("SHOW CREATE STREAM s").toString().contains("PRIVATE"));
    }

    /** Streams and sinks are refused in one clear line. */
    private void refuses(String url, String options, String state, String message) {
        for (String statement : new String[] {
            stream("refused", url, "a", options),
            "CREATE SINK refused FROM base WITH (connector = 'mqtt', url = '" + url + "', topic = 'a'" + options + ")"
        }) {
            MillraceException refused = assertThrows(MillraceException.class, () -> database.run(statement));
            assertEquals(state, refused.sqlState().code(), refused::toString);
            assertTrue(Pattern.matches(message, String.valueOf(refused.getMessage())), refused::getMessage);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"5", "3.1.1"})
    void aBrokerIsSpokenToByTls(String version) {
        takes(BROKER.tlsUrl(), ", version = '" + version + "', tls.trusted = '${secret:ca}'");
    }

    @Test
    void aBrokerThatWantsACertificateIsShownOne() {
        takes(
                BROKER.closedUrl(),
                ", tls.trusted = '${secret:ca}', tls.certificate = '${secret:certificate}', tls.key = '${secret:key}'");
    }

    @Test
    void aBrokerWhoseCertificateIsNotTrustedIsNotSpokenTo() {
        refuses(BROKER.tlsUrl(), "", "08006", "mqtts://localhost:\\d+: its certificate is not trusted: .*");
    }

    @Test
    void aBrokerWhoseCertificateIsMadeOutToAnotherIsNotSpokenTo() {
        refuses(
                BROKER.tlsUrl().replace("localhost", "127.0.0.2"),
                ", tls.trusted = '${secret:ca}'",
                "08006",
                "mqtts://127.0.0.2:\\d+: (its certificate is not trusted: .*127.0.0.2.*|Connection refused.*)");
    }

    @Test
    void whoHasNoCertificateOrAnotherIsRefused() {
        refuses(
                BROKER.closedUrl(),
                ", tls.trusted = '${secret:ca}'",
                "08006",
                "mqtts://localhost:\\d+: (it refuses our part of TLS: .*|it closed the connection)");
        TestKeys other = TestKeys.make(keys, "other");
        database.run("CREATE SECRET other_certificate AS '" + other.certificatePem() + "'");
        database.run("CREATE SECRET other_key AS '" + other.keyPem() + "'");
        refuses(
                BROKER.closedUrl(),
                ", tls.trusted = '${secret:ca}', tls.certificate = '${secret:other_certificate}',"
                        + " tls.key = '${secret:other_key}'",
                "08006",
                "mqtts://localhost:\\d+: (it refuses our part of TLS: .*|it closed the connection)");
    }

    @Test
    void whatCannotBeIsSaid() {
        refuses(
                BROKER.tlsUrl(),
                ", tls.trusted = '${secret:word}'",
                "22023",
                "option \"tls.trusted\" is no PEM that can be read");
        refuses(
                url(),
                ", tls.trusted = '${secret:ca}'",
                "22023",
                "options \"tls.\\*\" are of brokers at mqtts://, and not mqtt://.*");
        refuses(
                BROKER.tlsUrl(),
                ", tls.trusted = '${secret:ca}', tls.certificate = '${secret:certificate}'",
                "22023",
                "options \"tls.certificate\" and \"tls.key\" are given together");
        refuses(
                url().replace("mqtt:", "mqtts:"),
                "",
                "08006",
                "mqtts://127.0.0.1:\\d+: (it does not speak TLS|it closed the connection|it does not answer)");
    }

    @ParameterizedTest
    @ValueSource(strings = {"5", "3.1.1"})
    void namesAndPasswordsAreShown(String version) {
        String as = ", version = '" + version + "', username = 'u', password = ";
        takes(url(), as + "'${secret:word}'");
        refuses(
                url(),
                as + "'${secret:ca}'",
                "08006",
                "mqtt://127.0.0.1:\\d+: it refuses the connection: (not authorized|bad user ?name or password).*");
    }
}
