package dev.millrace.connectors.mqtt;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import javax.net.ssl.SSLContext;

/**
 * A broker, and how it is spoken to. Who says the same terms shares a connection; secrets are references until a client is made.
 */
final class MqttBroker {
    private static final long KEEP_ALIVE_MICROS = 30_000_000;
    private static final long EXPIRY_MICROS = 7L * 24 * 3600 * 1_000_000;
    private static final long MICROS_PER_SECOND = 1_000_000;
    private static final long RECEIVE_MAXIMUM = 10_000;
    private static final long PACKET_BYTES = 1 << 20;
    private static final long MOST_PACKET_BYTES = 256 << 20;
    private static final int PACKET_OVERHEAD_BYTES = 70_000; // a topic, and what else is before the payload

    static final String URL = "mqtt://host:1883, or mqtts://host:8883 for TLS";

    /** What users said, as they wrote it. */
    record Terms(
            String url,
            int version,
            Optional<String> user,
            Optional<String> password,
            Optional<String> trusted,
            Optional<String> certificate,
            Optional<String> key,
            Optional<String> clientId,
            Optional<Boolean> persistent,
            Optional<LastWill> will,
            int keepAliveSeconds,
            long expirySeconds,
            int receiveMaximum,
            long mostPayloadBytes) {}

    private final Terms terms;
    private final Options.References references;

    private MqttBroker(Terms terms, Options.References references) {
        this.terms = terms;
        this.references = references;
    }

    static MqttBroker read(Options options) {
        String url = options.required("url");
        Options.OpenSecret.refuseInAddress("url", url);
        if (!url.matches("(?i)(mqtts?|tcp|ssl)://[^/\\s]+|.*\\$\\{.*")) {
            throw Options.invalid("url", url, URL);
        }
        if (!url.contains("${")) {
            BrokerAddress.of(url, url);
        }
        String version = options.text("version", "5");
        if (!version.equals("5") && !version.equals("3.1.1")) {
            throw Options.invalid("version", version, "5 or 3.1.1");
        }
        Optional<String> session = options.text("session").map(text -> text.toLowerCase(Locale.ROOT));
        session.filter(text -> !text.equals("persistent") && !text.equals("clean"))
                .ifPresent(text -> {
                    throw Options.invalid("session", text, "persistent or clean");
                });
        return new MqttBroker(
                new Terms(
                        url,
                        version.equals("5") ? 5 : 3,
                        options.text("username"),
                        secret(options, "password"),
                        options.text("tls.trusted"),
                        options.text("tls.certificate"),
                        secret(options, "tls.key"),
                        options.text("client_id"),
                        session.map("persistent"::equals),
                        LastWill.read(options),
                        (int) seconds(options, "keep_alive", KEEP_ALIVE_MICROS, 65_535),
                        seconds(options, "session.expiry", EXPIRY_MICROS, 0xFFFF_FFFFL),
                        (int) options.integer("receive_maximum", RECEIVE_MAXIMUM, 1, 65_535),
                        options.integer("max_record_bytes", PACKET_BYTES, 1, MOST_PACKET_BYTES)),
                options.references());
    }

    private static long seconds(Options options, String name, long defaultMicros, long most) {
        long seconds = options.durationMicros(name, defaultMicros) / MICROS_PER_SECOND;
        if (seconds < 1 || seconds > most) {
            throw Options.invalid(name, options.text(name, ""), "a duration from 1s to " + most + "s");
        }
        return seconds;
    }

    /** A secret is not written in a definition, which others can read. */
    private static Optional<String> secret(Options options, String name) {
        Optional<String> given = options.text(name);
        given.ifPresent(text -> Options.OpenSecret.refuse(name, text));
        return given;
    }

    /** What all that speak to a broker can say of it. */
    static List<OptionDescription> options() {
        return List.of(
                new OptionDescription("url", "", URL),
                new OptionDescription("version", "5", "of MQTT: 5 or 3.1.1"),
                new OptionDescription("username", "", "with the password, if the broker wants them"),
                new OptionDescription("password", "", "a reference such as ${secret:name}"),
                new OptionDescription(
                        "client_id",
                        "made of the database's own name",
                        "by which the broker knows the session; no two databases may have the same"),
                new OptionDescription(
                        "session",
                        "persistent with a data directory, else clean",
                        "persistent: the broker keeps messages while the database is closed; clean: it does not"),
                new OptionDescription(
                        "session.expiry", "7 days", "how long it does; of version 3.1.1 the broker decides"),
                new OptionDescription("keep_alive", "30s", "after so long without a word the connection is given up"),
                new OptionDescription(
                        "receive_maximum",
                        "10000",
                        "messages that the broker sends before the first of them is acknowledged; of version 3.1.1 the"
                                + " broker decides"),
                new OptionDescription("max_record_bytes", "1 MB", "of a message; larger ones are not taken"),
                new OptionDescription(
                        "tls.trusted", "Java's", "certificates that are trusted, as PEM, such as ${file:/etc/ca.pem}"),
                new OptionDescription("tls.certificate", "", "our own, as PEM, where the broker wants one"),
                new OptionDescription(
                        "tls.key", "", "its key, as PEM (PKCS #8): a reference such as ${file:/etc/key.pem}"),
                new OptionDescription("will.topic", "", "where the broker says that the connection broke off"),
                new OptionDescription("will.payload", "", "what it says then"),
                new OptionDescription("will.qos", "0", "and how"),
                new OptionDescription("will.retain", "false", "and whether it is kept for those who come later"));
    }

    Terms terms() {
        return terms;
    }

    int version() {
        return terms.version();
    }

    /** @throws MillraceException 22023 if a reference in it is no part of an address */
    BrokerAddress address() {
        return BrokerAddress.of(references.resolve(terms.url()), terms.url());
    }

    /** Whether it is spoken to by TLS. @throws MillraceException 22023 if it is not, and something is said of TLS */
    boolean isTls() {
        boolean is = BrokerAddress.isTls(references.resolve(terms.url()));
        if (!is
                && (terms.trusted().isPresent()
                        || terms.certificate().isPresent()
                        || terms.key().isPresent())) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE, "options \"tls.*\" are of brokers at mqtts://, and not " + this);
        }
        return is;
    }

    Optional<String> user() {
        return terms.user().map(references::resolve);
    }

    Optional<byte[]> password() {
        return terms.password().map(references::resolve).map(text -> text.getBytes(StandardCharsets.UTF_8));
    }

    /** Whom it trusts, and what shows who it is. */
    SSLContext tls() {
        return PemTls.context(
                terms.trusted().map(references::resolve),
                terms.certificate().map(references::resolve),
                terms.key().map(references::resolve));
    }

    Optional<LastWill> will() {
        return terms.will();
    }

    int keepAliveSeconds() {
        return terms.keepAliveSeconds();
    }

    long expirySeconds() {
        return terms.expirySeconds();
    }

    int receiveMaximum() {
        return terms.receiveMaximum();
    }

    int mostPacketBytes() {
        return (int) Math.min(MOST_PACKET_BYTES, terms.mostPayloadBytes() + PACKET_OVERHEAD_BYTES);
    }

    /** For users; without secrets. */
    @Override
    public String toString() {
        return terms.url();
    }
}
