package dev.millrace.server.tls;

import java.nio.file.Path;
import java.util.Optional;

/**
 * Which certificate encrypted connections are made with.
 *
 * @param certificate a PEM file with the server's certificate, followed by those that lead to its authority; none for a
 *     self-signed one of our own
 * @param key a PEM file with its private key (PKCS#8, PKCS#1 or SEC 1, not encrypted); given with {@code certificate}
 * @param directory where our own certificate is kept from the first start on ({@code server.crt}, {@code server.key});
 *     none for one that lasts as long as the process
 */
public record TlsOptions(TlsMode mode, Optional<Path> certificate, Optional<Path> key, Optional<Path> directory) {
    /** Our own certificate, not kept. */
    public static TlsOptions own(TlsMode mode) {
        return new TlsOptions(mode, Optional.empty(), Optional.empty(), Optional.empty());
    }

    public TlsOptions withDirectory(Path newDirectory) {
        return new TlsOptions(mode, certificate, key, Optional.of(newDirectory));
    }
}
