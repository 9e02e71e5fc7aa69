package dev.millrace.server.pgwire;

import dev.millrace.server.tls.Tls;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * How the server listens.
 *
 * @param addresses names or addresses of interfaces; {@code *} is all of them
 * @param port 0 for any that is free
 * @param mostConnections clients at once; one more is refused (53300). As many again may be on their way in: of more, the
 *     oldest is cut off
 * @param mostMessageBytes of one message from a client, a statement or a piece of a COPY
 * @param authenticationTimeout how long a client may take to say who it is; zero is for ever
 * @param tls offered to clients that ask, or asked of all; none leaves connections unencrypted
 * @param authentication who may come in
 */
public record PgServerOptions(
        List<String> addresses,
        int port,
        int mostConnections,
        int mostMessageBytes,
        Duration authenticationTimeout,
        Optional<Tls> tls,
        Authentication authentication) {
    public static final int DEFAULT_PORT = 5433;

    public PgServerOptions {
        addresses = List.copyOf(addresses);
        if (addresses.isEmpty()) {
            throw new IllegalArgumentException("at least one address is needed");
        }
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
        return new PgServerOptions(
                addresses,
                port,
                mostConnections,
                mostMessageBytes,
                authenticationTimeout,
                Optional.of(newTls),
                authentication);
    }

    public PgServerOptions withLimits(int newMostConnections, int newMostMessageBytes) {
        return new PgServerOptions(
                addresses, port, newMostConnections, newMostMessageBytes, authenticationTimeout, tls, authentication);
    }

    public PgServerOptions withAuthentication(Authentication newAuthentication) {
        return new PgServerOptions(
                addresses, port, mostConnections, mostMessageBytes, authenticationTimeout, tls, newAuthentication);
    }

    /** On this machine only, without a password. */
    public static PgServerOptions local(int port) {
        return new PgServerOptions(
                List.of("localhost"),
                port,
                1000,
                64 << 20,
                Duration.ofSeconds(60),
                Optional.empty(),
                new Authentication.Trust());
    }
}
