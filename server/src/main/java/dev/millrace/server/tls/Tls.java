package dev.millrace.server.tls;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Locale;
import javax.net.ssl.SSLException;

/**
 * Encrypted connections of a server: TLS 1.2 and 1.3 with one certificate. Immutable.
 *
 * <pre>
 *   Tls tls = Tls.open(TlsOptions.own(TlsMode.REQUIRE), List.of("localhost"));
 *   pipeline.addFirst(tls.postgresql().newHandler(alloc));
 * </pre>
 */
public final class Tls {
    /** The protocol that a PostgreSQL client names when it begins with TLS right away. */
    public static final String POSTGRESQL = "postgresql";

    private static final String HTTP = "http/1.1";

    private final TlsMode mode;
    private final SslContext postgresql;
    private final SslContext http;
    private final X509Certificate certificate;

    private Tls(TlsMode mode, Identity identity) throws SSLException {
        this.mode = mode;
        this.postgresql = context(identity, POSTGRESQL);
        this.http = context(identity, HTTP);
        this.certificate = identity.chain().get(0);
    }

    /**
     * Reads the certificate, or makes one on the first start.
     *
     * @param names by which clients reach this server: what a certificate of our own is made out to
     * @throws MillraceException if files cannot be read or do not fit together (F0000)
     */
    public static Tls open(TlsOptions options, List<String> names) {
        try {
            return new Tls(options.mode(), Identity.of(options, names));
        } catch (SSLException | IllegalArgumentException e) {
            throw MillraceException.user(
                    SqlState.CONFIG_FILE_ERROR, "the TLS certificate cannot be used: " + e.getMessage());
        }
    }

    private static SslContext context(Identity identity, String protocol) throws SSLException {
        return SslContextBuilder.forServer(identity.key(), identity.chain().toArray(new X509Certificate[0]))
                .protocols("TLSv1.3", "TLSv1.2")
                .applicationProtocolConfig(new ApplicationProtocolConfig(
                        Protocol.ALPN,
                        SelectorFailureBehavior.NO_ADVERTISE,
                        SelectedListenerFailureBehavior.ACCEPT,
                        protocol))
                .build();
    }

    public TlsMode mode() {
        return mode;
    }

    /** For connections of PostgreSQL's protocol. */
    public SslContext postgresql() {
        return postgresql;
    }

    /** For connections of HTTP. */
    public SslContext http() {
        return http;
    }

    /** What clients see. */
    public X509Certificate certificate() {
        return certificate;
    }

    /** What a login is bound to: {@code tls-server-end-point}, the hash of the certificate (RFC 5929, section 4.1). */
    public byte[] endPoint() {
        String signed = certificate.getSigAlgName().toUpperCase(Locale.ROOT);
        int with = signed.indexOf("WITH");
        String hash = with < 0 ? "SHA256" : signed.substring(0, with).replace("-", "");
        String algorithm = switch (hash) {
            case "SHA384" -> "SHA-384";
            case "SHA512" -> "SHA-512";
            default -> "SHA-256"; // also in place of MD5 and SHA-1, as the RFC says
        };
        try {
            return MessageDigest.getInstance(algorithm).digest(certificate.getEncoded());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has " + algorithm, e);
        }
    }
}
