package dev.millrace.jdbc;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * What a URL says.
 *
 * @param text as it was given
 * @param postgresql the URL for PostgreSQL's driver
 * @param location where the database inside this program is; empty for that of a server
 */
record MillraceUrl(String text, String postgresql, Optional<String> location) {
    static final String DEFAULT_NAME = "millrace";
    static final int DEFAULT_PORT = 5433;
    private static final String PREFIX = "jdbc:millrace:";

    /** Empty for a URL of another driver. */
    static Optional<MillraceUrl> parse(String url) throws SQLException {
        if (url == null || !url.startsWith(PREFIX)) {
            return Optional.empty();
        }
        String rest = url.substring(PREFIX.length());
        int question = rest.indexOf('?');
        String properties = question < 0 ? "" : rest.substring(question);
        String place = question < 0 ? rest : rest.substring(0, question);
        if (!place.startsWith("//")) {
            // The address is not looked at: the connection's socket is a pipe.
            String inside = "jdbc:postgresql://localhost:" + DEFAULT_PORT + "/" + DEFAULT_NAME + properties;
            return Optional.of(
                    new MillraceUrl(url, inside, Optional.of(URLDecoder.decode(place, StandardCharsets.UTF_8))));
        }
        int slash = place.indexOf('/', 2);
        String hosts = slash < 0 ? place.substring(2) : place.substring(2, slash);
        String database = slash < 0 ? "" : place.substring(slash + 1);
        String addresses = Arrays.stream(hosts.split(",", -1))
                .map(host -> withPort(host.isEmpty() ? "localhost" : host))
                .collect(Collectors.joining(","));
        return Optional.of(new MillraceUrl(
                url,
                "jdbc:postgresql://" + addresses + "/" + (database.isEmpty() ? DEFAULT_NAME : database) + properties,
                Optional.empty()));
    }

    /** IPv6 addresses are in brackets. */
    private static String withPort(String host) {
        boolean hasPort = host.indexOf(':', host.lastIndexOf(']') + 1) >= 0;
        return hasPort ? host : host + ":" + DEFAULT_PORT;
    }
}
