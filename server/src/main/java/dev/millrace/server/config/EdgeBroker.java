package dev.millrace.server.config;

import dev.millrace.connector.Options;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * A broker by which devices send.
 *
 * @param url {@code mqtt://host:1883} or {@code mqtts://host:8883}
 * @param topic that the topics of all devices begin with; of one server
 * @param clientId as whom the server is known to the broker; else each connection is of another client, as some brokers mix up what is for one
 *     that went and came at once
 * @param trusted who has signed the broker's certificate, in PEM; else those whom Java trusts
 * @param certificate of the server as a client of the broker, in PEM, with its key
 */
public record EdgeBroker(
        String url,
        String topic,
        Optional<String> clientId,
        Optional<String> user,
        Optional<String> password,
        Optional<Path> trusted,
        Optional<Path> certificate,
        Optional<Path> key) {
    private static final String PASSWORD = "${password}";
    private static final String TRUSTED = "${trusted}";
    private static final String CERTIFICATE = "${certificate}";
    private static final String KEY = "${key}";
    private static final String UNDER_WAY = "200"; // messages, of up to 128 kB

    /** A broker that wants to know nothing. */
    public static EdgeBroker at(String url, String topic) {
        return new EdgeBroker(
                url,
                topic,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }

    /** As options of a client; files are read when they are needed, so that they can be replaced. */
    public Options options() {
        Map<String, String> options = new LinkedHashMap<>();
        options.put("url", url);
        user.ifPresent(text -> options.put("username", text));
        password.ifPresent(text -> options.put("password", PASSWORD));
        trusted.ifPresent(path -> options.put("tls.trusted", TRUSTED));
        certificate.ifPresent(path -> options.put("tls.certificate", CERTIFICATE));
        key.ifPresent(path -> options.put("tls.key", KEY));
        options.put("receive_maximum", UNDER_WAY);
        return new Options(options, this::resolve);
    }

    private String resolve(String text) {
        return switch (text) {
            case PASSWORD -> password.orElseThrow();
            case TRUSTED -> read(trusted.orElseThrow());
            case CERTIFICATE -> read(certificate.orElseThrow());
            case KEY -> read(key.orElseThrow());
            default -> text;
        };
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw MillraceException.external(SqlState.CONFIG_FILE_ERROR, "cannot read " + file, e);
        }
    }

    /** Whether nobody but this machine can connect to it. */
    public boolean isLoopback() {
        try {
            String host = URI.create(url).getHost();
            return host != null
                    && InetAddress.getByName(host.replaceAll("[\\[\\]]", "")).isLoopbackAddress();
        } catch (IllegalArgumentException | UnknownHostException e) {
            return false;
        }
    }

    @Override
    public String toString() {
        return url + " (" + topic + ")"; // and no password
    }
}
