package dev.millrace.server.pgwire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.Millrace;
import dev.millrace.server.role.ScramSecret;
import dev.millrace.server.session.Database;
import dev.millrace.server.tls.Tls;
import dev.millrace.server.tls.TlsMode;
import dev.millrace.server.tls.TlsOptions;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;

/** Encrypted connections with real clients: psql, PostgreSQL's JDBC driver, and sockets that do as nobody should. */
@Tag("long")
@Timeout(120)
class TlsClientTest {
    private static final String PASSWORD = "open sesame";

    @TempDir
    Path directory;

    private Database database;
    private PgServer server;

    @BeforeEach
    void open() {
        database = Millrace.open();
    }

    @AfterEach
    void close() {
        if (server != null) {
            server.close();
        }
        database.close();
    }

    private void listen(TlsMode mode, boolean password) {
        TlsOptions own = TlsOptions.own(mode).withDirectory(directory);
        PgServerOptions options = PgServerOptions.local(0).withTls(Tls.open(own, List.of("localhost")));
        ScramSecret secret = ScramSecret.of(PASSWORD);
        server = PgServer.listen(
                database,
                password ? options.withAuthentication(new Authentication.Scram(role -> Optional.of(secret))) : options);
    }

    private Connection connect(String... settings) throws SQLException {
        Properties properties = new Properties();
        properties.setProperty("user", "millrace");
        properties.setProperty("password", PASSWORD);
        for (int i = 0; i < settings.length; i += 2) {
            properties.setProperty(settings[i], settings[i + 1]);
        }
        return DriverManager.getConnection("jdbc:postgresql://localhost:" + server.port() + "/millrace", properties);
    }

    private String certificate() {
        return directory.resolve("server.crt").toString();
    }

    private String psql(String connection) throws Exception {
        boolean there;
        try {
            there = new ProcessBuilder("psql", "--version").start().waitFor() == 0;
        } catch (IOException e) {
            there = false;
        }
        Assumptions.assumeTrue(there, "skipped because there is no psql on the path");
        ProcessBuilder builder = new ProcessBuilder(
                "psql",
                "-XAt",
                "host=localhost port=" + server.port() + " user=millrace dbname=millrace " + connection,
                "-c",
                "SELECT count(*) FROM (VALUES (1), (2)) AS t(x)",
                "-c",
                "\\conninfo");
        builder.environment().put("PGPASSWORD", PASSWORD);
        Process process = builder.redirectErrorStream(true).start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(process.waitFor(30, TimeUnit.SECONDS));
        return out;
    }

    private static void assertContains(String part, String whole) {
        assertTrue(whole.contains(part), whole);
    }

    @Test
    void psqlEncryptsByEveryModeAndVersion() throws Exception {
        listen(TlsMode.ALLOW, true);
        String root = " sslrootcert=" + certificate();
        assertContains("protocol: TLSv1.3", psql("sslmode=prefer"));
        assertContains("protocol: TLSv1.3", psql("sslmode=require"));
        assertContains("protocol: TLSv1.3", psql("sslmode=verify-full" + root));
        assertContains("protocol: TLSv1.2", psql("sslmode=verify-full ssl_max_protocol_version=TLSv1.2" + root));
        assertContains("protocol: TLSv1.3", psql("sslmode=verify-full channel_binding=require" + root));
        String plain = psql("sslmode=disable");
        assertTrue(plain.startsWith("2\n") && !plain.contains("SSL"), plain);
    }

    @Test
    void psqlIsToldThatPlainTextIsNotTaken() throws Exception {
        listen(TlsMode.REQUIRE, false);
        assertContains(
                "FATAL:  this server takes encrypted connections only\nHINT:  sslmode=require",
                psql("sslmode=disable"));
        assertContains("2\n", psql("sslmode=prefer"));
    }

    @Test
    void driversVerifyTheServerAndBindTheLogin() throws Exception {
        listen(TlsMode.REQUIRE, true);
        String[] verified = {"sslmode", "verify-full", "sslrootcert", certificate(), "channelBinding", "require"};
        try (Connection connection = connect(verified);
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE STREAM s (k BIGINT, v TEXT)");
            statement.execute("CREATE MATERIALIZED VIEW n AS SELECT count(*) AS n, max(v) AS v FROM s");
            StringBuilder rows = new StringBuilder();
            for (int i = 0; i < 200_000; i++) {
                rows.append(i).append("\tsome text of row ").append(i % 1000).append('\n');
            }
            CopyManager copies = connection.unwrap(PGConnection.class).getCopyAPI();
            copies.copyIn(
                    "COPY s FROM STDIN",
                    new ByteArrayInputStream(rows.toString().getBytes(StandardCharsets.UTF_8)));
            try (ResultSet answer = statement.executeQuery("SELECT n, v FROM n")) {
                answer.next();
                assertEquals(200_000, answer.getLong(1));
                assertEquals("some text of row 999", answer.getString(2));
            }
            try (ResultSet many =
                    statement.executeQuery("SELECT g, repeat('x', 100) FROM generate_series(1, 100000) AS g")) {
                long sum = 0;
                while (many.next()) {
                    sum += many.getLong(1);
                }
                assertEquals(5_000_050_000L, sum);
            }
        }
        SQLException plain = assertThrows(SQLException.class, () -> connect("sslmode", "disable"));
        assertEquals("28000", plain.getSQLState());
        SQLException wrong =
                assertThrows(SQLException.class, () -> connect("sslmode", "require", "password", "guessed"));
        assertEquals("28P01", wrong.getSQLState());
    }

    @Test
    void anotherCertificateThanTheOneGivenIsNotTrusted(@TempDir Path other) throws Exception {
        listen(TlsMode.ALLOW, false);
        Tls.open(TlsOptions.own(TlsMode.ALLOW).withDirectory(other), List.of("localhost"));
        String root = other.resolve("server.crt").toString();
        assertThrows(SQLException.class, () -> connect("sslmode", "verify-full", "sslrootcert", root));
        assertContains("certificate verify failed", psql("sslmode=verify-full sslrootcert=" + root));
    }

    @Test
    void withoutTlsClientsThatInsistAreRefused() throws Exception {
        server = PgServer.listen(database, PgServerOptions.local(0));
        assertContains("server does not support SSL", psql("sslmode=require"));
        assertContains("2\n", psql("sslmode=prefer"));
    }

    @Test
    void whatWasSentBeforeTheHandshakeIsNotTakenForEncrypted() throws Exception {
        listen(TlsMode.ALLOW, false);
        try (Socket socket = new Socket("localhost", server.port())) {
            byte[] startup = startup();
            ByteBuffer both = ByteBuffer.allocate(8 + startup.length);
            both.putInt(8).putInt(80877103).put(startup);
            socket.getOutputStream().write(both.array());
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
            assertContains("C08P01", answer);
            assertContains("received unencrypted data after SSL request", answer);
        }
    }

    private static byte[] startup() {
        byte[] parameters = "user\0millrace\0\0".getBytes(StandardCharsets.US_ASCII);
        return ByteBuffer.allocate(8 + parameters.length)
                .putInt(8 + parameters.length)
                .putInt(3 << 16)
                .put(parameters)
                .array();
    }

    @Test
    void clientsMayBeginWithTlsIfTheyNameTheProtocol() throws Exception {
        listen(TlsMode.REQUIRE, false);
        try (SSLSocket socket = direct("postgresql")) {
            socket.getOutputStream().write(startup());
            assertEquals('R', socket.getInputStream().read());
        }
        try (SSLSocket socket = direct()) {
            socket.getOutputStream().write(startup());
            InputStream in = socket.getInputStream();
            assertEquals(-1, in.read());
        }
    }

    /** Trusts anyone: that a certificate is checked is tested above. */
    private SSLSocket direct(String... protocols) throws Exception {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, new TrustManager[] {new TrustsAll()}, null);
        SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket("localhost", server.port());
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setApplicationProtocols(protocols);
        socket.setSSLParameters(parameters);
        socket.startHandshake();
        return socket;
    }

    private static final class TrustsAll implements X509TrustManager {
        @Override
        public void checkClientTrusted(java.security.cert.X509Certificate[] chain, String type) {}

        @Override
        public void checkServerTrusted(java.security.cert.X509Certificate[] chain, String type) {}

        @Override
        public java.security.cert.X509Certificate[] getAcceptedIssuers() {
            return new java.security.cert.X509Certificate[0];
        }
    }
}
