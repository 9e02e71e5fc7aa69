package dev.millrace.edge.socket;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;

/** Whose signature on a server's certificate is believed. Stateless: files are read again for each connection, so that they can be replaced. */
final class Authority {
    private Authority() {}

    /**
     * Makes sockets whose peers an authority has signed.
     *
     * @param pem a file of certificates, or none for those that Java comes with. Those that have expired do not count, which Java itself
     *     does not look at; those that are not valid yet do, as a device may not know the time
     * @throws SSLException if none is left
     */
    static SSLSocketFactory sockets(Optional<Path> pem) throws IOException, GeneralSecurityException {
        if (pem.isEmpty()) {
            return (SSLSocketFactory) SSLSocketFactory.getDefault();
        }
        KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
        trusted.load(null, null);
        List<X509Certificate> expired = new ArrayList<>();
        int number = 0;
        try (InputStream in = Files.newInputStream(pem.get())) {
            for (Certificate each : CertificateFactory.getInstance("X.509").generateCertificates(in)) {
                if (each instanceof X509Certificate dated
                        && dated.getNotAfter().getTime() < System.currentTimeMillis()) {
                    expired.add(dated);
                } else {
                    trusted.setCertificateEntry("authority " + number++, each);
                }
            }
        }
        if (number == 0) {
            throw new SSLException(
                    expired.isEmpty()
                            ? pem.get() + " has no certificate"
                            : "the certificate in " + pem.get() + " has expired on "
                                    + expired.get(0).getNotAfter().toInstant());
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context.getSocketFactory();
    }
}
