package dev.millrace.server.http;

import dev.millrace.server.config.HttpLimits;
import dev.millrace.server.pgwire.Authentication;
import dev.millrace.server.tls.Tls;
import java.util.List;
import java.util.Optional;

/**
 * How the server listens for HTTP.
 *
 * @param addresses names or addresses of interfaces; {@code *} is all of them
 * @param port 0 for any that is free
 * @param mostConnections open at once; of {@value HttpPlaces#RESERVED} more only the server's health is told
 * @param mostBodyBytes of one request; a longer one is refused (413)
 * @param mostRows of one answer; 0 for any number
 * @param corsOrigin whose pages may use the API; none without, {@code *} for any
 * @param tls offered, or asked of all, on the same port
 * @param authentication who may come in; a password comes by Basic authentication
 * @param limits of what clients may hold without sending a request
 */
public record HttpOptions(
        List<String> addresses,
        int port,
        int mostConnections,
        int mostBodyBytes,
        long mostRows,
        Optional<String> corsOrigin,
        Optional<Tls> tls,
        Authentication authentication,
        HttpLimits limits) {
    public HttpOptions {
        addresses = List.copyOf(addresses);
    }

    /** On this machine only, without a password. */
    public static HttpOptions local(int port) {
        return new HttpOptions(
                List.of("localhost"),
                port,
                1000,
                64 << 20,
                0,
                Optional.empty(),
                Optional.empty(),
                new Authentication.Trust(),
                HttpLimits.defaults());
    }

    public HttpOptions withAuthentication(Authentication newAuthentication) {
        return new HttpOptions(
                addresses, port, mostConnections, mostBodyBytes, mostRows, corsOrigin, tls, newAuthentication, limits);
    }

    public HttpOptions withTls(Tls newTls) {
        return new HttpOptions(
                addresses,
                port,
                mostConnections,
                mostBodyBytes,
                mostRows,
                corsOrigin,
                Optional.of(newTls),
                authentication,
                limits);
    }

    public HttpOptions withLimits(int newMostBodyBytes, long newMostRows) {
        return new HttpOptions(
                addresses,
                port,
                mostConnections,
                newMostBodyBytes,
                newMostRows,
                corsOrigin,
                tls,
                authentication,
                limits);
    }

    public HttpOptions withCorsOrigin(String origin) {
        return new HttpOptions(
                addresses,
                port,
                mostConnections,
                mostBodyBytes,
                mostRows,
                Optional.of(origin),
                tls,
                authentication,
                limits);
    }

    public HttpOptions withLimits(int newMostConnections, HttpLimits newLimits) {
        return new HttpOptions(
                addresses,
                port,
                newMostConnections,
                mostBodyBytes,
                mostRows,
                corsOrigin,
                tls,
                authentication,
                newLimits);
    }
}
