package dev.millrace.server.tls;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import javax.net.ssl.SSLException;

/**
 * Encrypted connections of a server: TLS 1.2 and 1.3 with one certificate. Safe on any thread.
 *
 * <pre>
 *   Tls tls = Tls.open(TlsOptions.own(TlsMode.REQUIRE), List.of("localhost"));
 *   tls.whenReady(channel.eventLoop(), () -> pipeline.addFirst(tls.postgresql().newHandler(alloc)), channel::close);
 * </pre>
 *
 * A certificate that is not kept is made in the background, from the first time that it is asked for, or {@link #prepare}: it
 * takes longer than all else at a server's start.
 */
public final class Tls {
    /** The protocol that a PostgreSQL client names when it begins with TLS right away. */
    public static final String POSTGRESQL = "postgresql";

    private static final String HTTP = "http/1.1";
    private static final System.Logger LOG = System.getLogger(Tls.class.getPackageName());

    /** What connections are made with. */
    private record Contexts(SslContext postgresql, SslContext http, X509Certificate certificate) {
        static Contexts of(TlsIdentity identity) {
            try {
                return new Contexts(
                        context(identity, POSTGRESQL),
                        context(identity, HTTP),
                        identity.chain().get(0));
            } catch (SSLException | IllegalArgumentException e) {
                throw MillraceException.user(
                        SqlState.CONFIG_FILE_ERROR, "the TLS certificate cannot be used: " + e.getMessage());
            }
        }
    }

    private final TlsMode mode;
    private final Supplier<Contexts> making;
    private final CompletableFuture<Contexts> contexts = new CompletableFuture<>();
    private final AtomicBoolean begun = new AtomicBoolean();

    private Tls(TlsMode mode, Supplier<Contexts> making) {
        this.mode = mode;
        this.making = making;
    }

    /**
     * Reads the certificate, or makes one on the first start.
     *
     * @param names by which clients reach this server: what a certificate of our own is made out to
     * @throws MillraceException if files cannot be read or do not fit together (F0000)
     */
    public static Tls open(TlsOptions options, List<String> names) {
        boolean unkept = options.certificate().isEmpty()
                && options.key().isEmpty()
                && options.directory().isEmpty();
        if (unkept) {
            return new Tls(options.mode(), () -> Contexts.of(TlsIdentity.of(options, names)));
        }
        Contexts known = Contexts.of(TlsIdentity.of(options, names));
        Tls tls = new Tls(options.mode(), () -> known);
        tls.make();
        return tls;
    }

    /**
     * Reads the certificate that a server has made for itself, and its key, and makes none.
     *
     * @return until when it is good, in words
     * @throws MillraceException F0000 if a file cannot be read, or the two do not fit together
     */
    public static String verify(Path directory) {
        return "good until "
                + TlsIdentity.kept(directory).chain().get(0).getNotAfter().toInstant();
    }

    /** Begins to make what is not there yet; returns at once. */
    public void prepare() {
        if (begun.compareAndSet(false, true)) {
            Thread thread = new Thread(this::make, "millrace-certificate");
            thread.setDaemon(true);
            thread.start();
        }
    }

    private void make() {
        begun.set(true);
        try {
            contexts.complete(making.get());
        } catch (RuntimeException | Error e) {
            contexts.completeExceptionally(e);
        }
    }

    /**
     * Runs an action when connections can be made: at once if they can be now, else later, by the executor.
     *
     * @param otherwise runs instead if they never can be
     */
    public void whenReady(Executor executor, Runnable action, Runnable otherwise) {
        if (contexts.isDone() && !contexts.isCompletedExceptionally()) {
            action.run();
            return;
        }
        prepare();
        contexts.whenCompleteAsync(
                (made, failure) -> {
                    if (failure == null) {
                        action.run();
                    } else {
                        LOG.log(System.Logger.Level.ERROR, "no TLS", failure);
                        otherwise.run();
                    }
                },
                executor);
    }

    /** Waits for what is being made. */
    private Contexts made() {
        prepare();
        return contexts.join();
    }

    private static SslContext context(TlsIdentity identity, String protocol) throws SSLException {
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
        return made().postgresql();
    }

    /** For connections of HTTP. */
    public SslContext http() {
        return made().http();
    }

    /** What clients see. */
    public X509Certificate certificate() {
        return made().certificate();
    }

    /** What a login is bound to: {@code tls-server-end-point}, the hash of the certificate (RFC 5929, section 4.1). */
    public byte[] endPoint() {
        X509Certificate certificate = certificate();
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
