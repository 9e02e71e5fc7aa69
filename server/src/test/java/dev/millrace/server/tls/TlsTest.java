package dev.millrace.server.tls;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.util.List;
import java.util.Optional;
import org.bouncycastle.asn1.sec.ECPrivateKey;
import org.bouncycastle.asn1.sec.SECObjectIdentifiers;
import org.bouncycastle.openssl.jcajce.JcaPEMWriter;
import org.bouncycastle.util.io.pem.PemObject;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TlsTest {
    @TempDir
    Path directory;

    private Tls own() {
        return Tls.open(TlsOptions.own(TlsMode.ALLOW).withDirectory(directory), List.of("db.example.org", "10.0.0.7"));
    }

    private static void pem(Path file, Object object) throws Exception {
        StringWriter text = new StringWriter();
        try (JcaPEMWriter writer = new JcaPEMWriter(text)) {
            writer.writeObject(object);
        }
        Files.writeString(file, text.toString());
    }

    @Test
    void ourOwnCertificateIsMadeOnceAndItsKeyIsNobodyElses() throws Exception {
        Tls first = own();
        assertEquals(first.certificate(), own().certificate());
        assertNotEquals(
                first.certificate(),
                Tls.open(TlsOptions.own(TlsMode.ALLOW), List.of()).certificate());
        assertEquals(
                "rw-------",
                PosixFilePermissions.toString(Files.getPosixFilePermissions(directory.resolve("server.key"))));
        List<String> names = first.certificate().getSubjectAlternativeNames().stream()
                .map(name -> name.get(1).toString())
                .toList();
        assertEquals(List.of("db.example.org", "10.0.0.7", "localhost", "127.0.0.1", "0:0:0:0:0:0:0:1"), names);
        first.certificate().verify(first.certificate().getPublicKey());
        assertEquals(32, first.endPoint().length);
    }

    @Test
    void keysAreReadInTheFormsThatOpensslWrites() throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
        generator.initialize(2048);
        KeyPair other = generator.generateKeyPair();
        own();
        Path certificate = directory.resolve("server.crt");
        Path key = directory.resolve("other.key");
        pem(key, other.getPrivate()); // BEGIN RSA PRIVATE KEY
        assertTrue(Files.readString(key).contains("RSA PRIVATE KEY"));
        TlsOptions options =
                new TlsOptions(TlsMode.ALLOW, Optional.of(certificate), Optional.of(key), Optional.empty());
        MillraceException mismatch = assertThrows(MillraceException.class, () -> Tls.open(options, List.of()));
        assertEquals("F0000", mismatch.sqlState().code());
        assertTrue(mismatch.getMessage().contains("it is not the key of the certificate"), mismatch.getMessage());

        TlsIdentity own = TlsIdentity.of(TlsOptions.own(TlsMode.ALLOW).withDirectory(directory), List.of());
        byte[] sec1 = new ECPrivateKey(
                        256, ((java.security.interfaces.ECPrivateKey) own.key()).getS(), SECObjectIdentifiers.secp256r1)
                .getEncoded();
        pem(key, new PemObject("EC PRIVATE KEY", sec1));
        assertEquals(own.chain().get(0), Tls.open(options, List.of()).certificate());
    }

    @Test
    void whatCannotBeUsedIsNamed() throws Exception {
        Path none = directory.resolve("none.crt");
        MillraceException missing = assertThrows(
                MillraceException.class,
                () -> Tls.open(
                        new TlsOptions(TlsMode.ALLOW, Optional.of(none), Optional.of(none), Optional.empty()),
                        List.of()));
        assertEquals("cannot use " + none + " for TLS: there is no such file", missing.getMessage());
        MillraceException half = assertThrows(
                MillraceException.class,
                () -> Tls.open(
                        new TlsOptions(TlsMode.ALLOW, Optional.of(none), Optional.empty(), Optional.empty()),
                        List.of()));
        assertTrue(half.getMessage().contains("only the certificate is"), half.getMessage());
        Files.writeString(none, "no certificate\n");
        MillraceException junk = assertThrows(
                MillraceException.class,
                () -> Tls.open(
                        new TlsOptions(TlsMode.ALLOW, Optional.of(none), Optional.of(none), Optional.empty()),
                        List.of()));
        assertTrue(junk.getMessage().startsWith("cannot use " + none + " for TLS: "), junk.getMessage());
    }
}
