package dev.millrace.server.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.edge.config.EdgeConfig;
import dev.millrace.edge.link.SocketWire;
import dev.millrace.edge.socket.RemoteHost;
import dev.millrace.edge.wire.Message;
import dev.millrace.server.pgwire.Authentication;
import dev.millrace.server.session.TestDatabase;
import dev.millrace.server.tls.Tls;
import dev.millrace.server.tls.TlsMode;
import dev.millrace.server.tls.TlsOptions;
import dev.millrace.testing.time.Eventually;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Date;
import java.util.List;
import java.util.Optional;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whom a device believes to be its server. */
class EdgeTlsTest {
    @TempDir
    private Path directory;

    private TestDatabase server;
    private Optional<EdgeGateway> gateway = Optional.empty();

    @BeforeEach
    void begin() {
        server = new TestDatabase(directory.resolve("db"));
    }

    @AfterEach
    void end() {
        gateway.ifPresent(EdgeGateway::close);
        server.close();
    }

    private void listen(TlsOptions options) {
        gateway = Optional.of(EdgeGateway.listen(
                server.database(),
                new Authentication.Trust(),
                List.of("localhost"),
                0,
                10,
                Optional.of(Tls.open(options, List.of("localhost")))));
    }

    private SocketWire dial(boolean tls, Optional<Path> authority) {
        int port = gateway.orElseThrow().port();
        SocketWire wire = new SocketWire(new EdgeConfig.Server(
                new RemoteHost("localhost", port, tls, authority), "millrace", "t", Optional.empty()));
        wire.send(new Message.Hello(Message.VERSION, "test", "millrace", "t", "millrace", 1, 0));
        return wire;
    }

    private void assertWelcome(SocketWire wire) {
        Message[] first = new Message[1];
        Eventually.holds("the server answers", () -> {
            wire.receive().ifPresent(message -> first[0] = message);
            return first[0] != null;
        });
        assertTrue(first[0] instanceof Message.Welcome, () -> first[0].toString());
        wire.close();
    }

    private void assertFails(SocketWire wire, String... words) {
        Eventually.holds("the connection fails", () -> wire.failure().isPresent());
        String failure = wire.failure().orElseThrow();
        for (String word : words) {
            assertTrue(failure.contains(word), failure);
        }
        assertEquals(Optional.empty(), wire.receive());
        wire.close();
    }

    private Path own(String name, TlsMode mode) throws Exception {
        Path folder = Files.createDirectory(directory.resolve(name));
        listen(TlsOptions.own(mode).withDirectory(folder));
        Eventually.holds("the certificate is there", () -> Files.exists(folder.resolve("server.crt")));
        return folder.resolve("server.crt");
    }

    @Test
    void aServerIsBelievedWhoseCertificateTheDeviceHasAndNoOther() throws Exception {
        Path other = own("other", TlsMode.REQUIRE);
        gateway.orElseThrow().close();
        Path right = own("right", TlsMode.REQUIRE);
        assertWelcome(dial(true, Optional.of(right)));
        assertFails(dial(true, Optional.of(other)), "no encrypted connection to localhost");
        assertFails(dial(true, Optional.empty()), "no encrypted connection to localhost");
        assertFails(dial(true, Optional.of(Files.createFile(directory.resolve("empty")))), "has no certificate");
        assertFails(dial(true, Optional.of(directory.resolve("missing"))), "missing");
    }

    @Test
    void withoutEncryptionNobodyIsHeardWhereItIsRequiredAndNobodySpeaksWhereItIsNotThere() throws Exception {
        own("required", TlsMode.REQUIRE);
        assertFails(dial(false, Optional.empty()));
        gateway.orElseThrow().close();
        Path certificate = own("allowed", TlsMode.ALLOW);
        assertWelcome(dial(false, Optional.empty()));
        assertWelcome(dial(true, Optional.of(certificate)));
        gateway.orElseThrow().close();
        gateway = Optional.of(EdgeGateway.listen(
                server.database(), new Authentication.Trust(), List.of("localhost"), 0, 10, Optional.empty()));
        assertFails(dial(true, Optional.of(certificate)), "no encrypted connection to localhost");
    }

    /** Java itself believes a certificate that it was given whatever its dates are. */
    @Test
    void aCertificateThatHasExpiredIsNotBelievedAndOneThatIsNotValidYetIs() throws Exception {
        Instant now = Instant.now();
        Path expired = certificate("expired", now.minus(Duration.ofDays(20)), now.minus(Duration.ofDays(10)));
        assertFails(dial(true, Optional.of(expired)), "expired.crt has expired on ");
        gateway.orElseThrow().close();
        Path early = certificate("early", now.plus(Duration.ofDays(10)), now.plus(Duration.ofDays(20)));
        assertWelcome(dial(true, Optional.of(early)));
    }

    /** Has the server listen with a certificate of its own making. */
    private Path certificate(String name, Instant from, Instant to) throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec("secp256r1"));
        KeyPair keys = generator.generateKeyPair();
        X500Name subject = new X500Name("CN=localhost");
        byte[] encoded = new JcaX509v3CertificateBuilder(
                        subject, BigInteger.ONE, Date.from(from), Date.from(to), subject, keys.getPublic())
                .addExtension(
                        Extension.subjectAlternativeName,
                        false,
                        new GeneralNames(new GeneralName(GeneralName.dNSName, "localhost")))
                .build(new JcaContentSignerBuilder("SHA256withECDSA").build(keys.getPrivate()))
                .getEncoded();
        Path certificate = pem(name + ".crt", "CERTIFICATE", encoded);
        Path key = pem(name + ".key", "PRIVATE KEY", keys.getPrivate().getEncoded());
        listen(new TlsOptions(TlsMode.REQUIRE, Optional.of(certificate), Optional.of(key), Optional.empty()));
        return certificate;
    }

    private Path pem(String name, String what, byte[] bytes) throws Exception {
        return Files.writeString(
                directory.resolve(name),
                "-----BEGIN " + what + "-----\n"
                        + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes) + "\n-----END " + what
                        + "-----\n");
    }
}
