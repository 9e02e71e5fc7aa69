package dev.millrace.server.pgwire;

import dev.millrace.server.tls.Tls;
import java.util.Optional;

/**
 * How the server listens.
 *
 * @param host name or address of the interface
 * @param port 0 for any that is free
 * @param mostConnections open at once; one more is refused (53300)
 * @param mostMessageBytes of one message from a client, a statement or a piece of a COPY
 * @param tls offered to clients that ask, or asked of all; none leaves connections unencrypted
 * @param authentication who may come in
 */
public record PgServerOptions(
        String host,
        int port,
        int mostConnections,
        int mostMessageBytes,
        Optional<Tls> tls,
        Authentication authentication) {
    public static final int DEFAULT_PORT = 5433;

    public PgServerOptions {
        if (port < 0 || port > 65535) {
            throw new IllegalArgumentException("port " + port + " is not between 0 and 65535");
        }
        if (mostConnections < 1) {
            throw new IllegalArgumentException("at least one connection is needed, not " + mostConnections);
        }
        if (mostMessageBytes < 1 << 16) {
            throw new IllegalArgumentException("messages must be allowed 64 KB, not " + mostMessageBytes);
        }
    }

    public PgServerOptions withTls(Tls newTls) {
        return new PgServerOptions(host, port, mostConnections, mostMessageBytes, Optional.of(newTls), authentication);
    }

    public PgServerOptions withAuthentication(Authentication newAuthentication) {
        return new PgServerOptions(host, port, mostConnections, mostMessageBytes, tls, newAuthentication);
    }

    /** On this machine only, without a password. */
    public static PgServerOptions local(int port) {
        return new PgServerOptions("localhost", port, 1000, 64 << 20, Optional.empty(), new Authentication.Trust());
    }
}
