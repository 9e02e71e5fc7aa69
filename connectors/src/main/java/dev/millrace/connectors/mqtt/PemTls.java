package dev.millrace.connectors.mqtt;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/** TLS with certificates and keys that are given as PEM. */
final class PemTls {
    private static final char[] NO_PASSWORD = new char[0];
    private static final List<String> KEYS = List.of("RSA", "EC", "Ed25519");

    private PemTls() {}

    /** @throws MillraceException 22023 if something of it cannot be read; says nothing of a key */
    static SSLContext context(Optional<String> trusted, Optional<String> certificate, Optional<String> key) {
        if (certificate.isPresent() != key.isPresent()) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE, "options \"tls.certificate\" and \"tls.key\" are given together");
        }
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            if (certificate.isPresent()) {
                KeyStore own = empty();
                own.setKeyEntry(
                        "own",
                        key(key.orElseThrow()),
                        NO_PASSWORD,
                        certificates("tls.certificate", certificate.get()).toArray(Certificate[]::new));
                keys.init(own, NO_PASSWORD);
            }
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            @Nullable KeyStore known = null; // Java's own
            if (trusted.isPresent()) {
                known = empty();
                for (Certificate each : certificates("tls.trusted", trusted.get())) {
                    known.setCertificateEntry("trusted" + known.size(), each);
                }
            }
            trust.init(known);
            context.init(certificate.isPresent() ? keys.getKeyManagers() : null, trust.getTrustManagers(), null);
            return context;
        } catch (GeneralSecurityException | IOException e) {
            throw unreadable("tls.trusted\", \"tls.certificate\" or \"tls.key");
        }
    }

    private static KeyStore empty() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, NO_PASSWORD);
        return store;
    }

    private static List<Certificate> certificates(String option, String pem) {
        try {
            List<Certificate> all = List.copyOf(CertificateFactory.getInstance("X.509")
                    .generateCertificates(new ByteArrayInputStream(pem.getBytes(StandardCharsets.US_ASCII))));
            if (!all.isEmpty()) {
                return all;
            }
        } catch (GeneralSecurityException e) {
            // falls through to the one message for both
        }
        throw unreadable(option);
    }

    private static PrivateKey key(String pem) {
        String base64 = pem.replaceAll("-----[A-Z ]+-----", "").replaceAll("\\s", "");
        for (String algorithm : KEYS) {
            try {
                return KeyFactory.getInstance(algorithm)
                        .generatePrivate(
                                new PKCS8EncodedKeySpec(Base64.getDecoder().decode(base64)));
            } catch (GeneralSecurityException | IllegalArgumentException e) {
                // perhaps it is of the next kind
            }
        }
        throw unreadable("tls.key");
    }

    private static MillraceException unreadable(String option) {
        return MillraceException.user(
                SqlState.INVALID_PARAMETER_VALUE, "option \"" + option + "\" is no PEM that can be read");
    }
}
