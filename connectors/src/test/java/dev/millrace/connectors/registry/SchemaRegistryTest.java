package dev.millrace.connectors.registry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.millrace.connector.Options;
import dev.millrace.error.MillraceException;
import dev.millrace.testing.registry.RegistryServer;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class SchemaRegistryTest {
    @TempDir
    Path folder;

    private static SchemaRegistry registry(Map<String, String> options, String certificates) {
        return SchemaRegistry.read(new Options(options, text -> text.replace("${file:/ca}", certificates)), false)
                .orElseThrow();
    }

    /** Answers every question with one schema, over TLS by a certificate that nobody else trusts. */
    private HttpsServer secured(KeyStore keys) throws Exception {
        KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(keys, "changeit".toCharArray());
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(managers.getKeyManagers(), null, null);
        HttpsServer server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setHttpsConfigurator(new HttpsConfigurator(context));
        server.createContext("/", exchange -> {
            try (exchange) {
                byte[] body = "{\"id\":3,\"version\":1,\"schema\":\"\\\"long\\\"\"}".getBytes(StandardCharsets.UTF_8);
                exchange.sendResponseHeaders(200, body.length);
                exchange.getResponseBody().write(body);
            }
        });
        server.start();
        return server;
    }

    private KeyStore keys() throws Exception {
        Path file = folder.resolve("keys.p12");
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-alias",
                        "r",
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=localhost",
                        "-ext",
                        "san=dns:localhost,ip:127.0.0.1",
                        "-validity",
                        "3650",
                        "-storetype",
                        "PKCS12",
                        "-storepass",
                        "changeit",
                        "-keystore",
                        file.toString())
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("keytool.out").toFile())
                .start();
        assertTrue(keytool.waitFor(30, TimeUnit.SECONDS) && keytool.exitValue() == 0);
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            keys.load(in, "changeit".toCharArray());
        }
        return keys;
    }

    @Test
    void aRegistrysCertificateIsTrustedWhereItsAuthorityIsGiven() throws Exception {
        KeyStore keys = keys();
        HttpsServer server = secured(keys);
        try {
            String pem = "-----BEGIN CERTIFICATE-----\n"
                    + Base64.getMimeEncoder()
                            .encodeToString(keys.getCertificate("r").getEncoded())
                    + "\n-----END CERTIFICATE-----\n";
            Map<String, String> options = new HashMap<>(Map.of(
                    "schema_registry",
                    "https://localhost:" + server.getAddress().getPort(),
                    "subject",
                    "s"));
            MillraceException untrusted = assertThrows(
                    MillraceException.class, () -> registry(options, "").latest());
            assertEquals("08006", untrusted.sqlState().code());
            options.put("schema_registry.ca", "${file:/ca}");
            assertEquals(3, registry(options, pem).latest().id());
            MillraceException none = assertThrows(
                    MillraceException.class,
                    () -> registry(options, "no certificate").latest());
            assertTrue(none.getMessage().contains("schema_registry.ca has no certificates in PEM"), none.getMessage());
        } finally {
            server.stop(0);
        }
    }

    @Test
    void theNextAddressIsAskedWhereOneDoesNotAnswer() {
        try (RegistryServer server = RegistryServer.start();
                RegistryServer gone = RegistryServer.start()) {
            gone.stop();
            server.register("s", "AVRO", "\"int\"");
            Map<String, String> options =
                    Map.of("schema_registry", gone.address() + ", " + server.address() + "/", "subject", "s");
            assertEquals("\"int\"", registry(options, "").latest().text());
            MillraceException unknown = assertThrows(
                    MillraceException.class,
                    () -> registry(Map.of("schema_registry", server.address(), "subject", "other"), "")
                            .latest());
            assertEquals("42704", unknown.sqlState().code());
            assertEquals(MillraceException.Fault.USER, unknown.fault());
        }
    }

    @Test
    void optionsOfNoRegistryAreRefused() {
        assertThrows(
                MillraceException.class,
                () -> SchemaRegistry.read(new Options(Map.of("schema_registry.user", "u")), false));
        MillraceException noSubject = assertThrows(
                MillraceException.class,
                () -> registry(Map.of("schema_registry", "http://localhost:1"), "")
                        .subject());
        assertEquals("option \"subject\" is required", noSubject.getMessage());
    }
}
