package dev.millrace.connectors.http;

import java.io.IOException;
import java.net.ConnectException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.UnresolvedAddressException;

/** Why a request by Java's HTTP client had no answer, for users: its exceptions of the way to the server mostly say nothing. Stateless. */
public final class HttpReason {
    private HttpReason() {}

    public static String of(IOException failure) {
        if (failure.getMessage() != null && !failure.getMessage().isBlank()) {
            return failure.getMessage();
        }
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof UnresolvedAddressException) {
                return "unknown host";
            }
        }
        if (failure instanceof ConnectException) {
            return "connection refused";
        }
        return failure instanceof ClosedChannelException
                ? "it closed the connection"
                : failure.getClass().getSimpleName();
    }
}
