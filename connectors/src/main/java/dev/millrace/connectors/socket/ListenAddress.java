package dev.millrace.connectors.socket;

import dev.millrace.connector.Options;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

/**
 * Where to listen: {@code host:port}, {@code [::1]:port}.
 *
 * @param port 0 for any
 */
record ListenAddress(String host, int port) {
    private static final String EXPECTED =
            "host:port, such as 127.0.0.1:7000, or 0.0.0.0:7000 for all of this machine's addresses";

    static ListenAddress read(Options options) {
        String text = options.required("listen");
        int colon = text.lastIndexOf(':');
        String host = colon < 0 ? "" : text.substring(0, colon).replaceAll("^\\[|]$", "");
        try {
            int port = Integer.parseInt(text.substring(colon + 1).strip());
            if (!host.isBlank() && port >= 0 && port <= 65_535) {
                return new ListenAddress(host.strip(), port);
            }
        } catch (NumberFormatException e) {
            // falls through to the one message for all
        }
        throw Options.invalid("listen", text, EXPECTED);
    }

    InetSocketAddress resolved() {
        try {
            return new InetSocketAddress(InetAddress.getByName(host), port);
        } catch (UnknownHostException e) {
            throw MillraceException.external(SqlState.CONNECTION_FAILURE, "host \"" + host + "\" is not known", e);
        }
    }

    MillraceException failure(IOException e) {
        return MillraceException.external(
                SqlState.CONNECTION_FAILURE, "cannot listen at " + this + ": " + e.getMessage(), e);
    }

    @Override
    public String toString() {
        return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
    }
}
