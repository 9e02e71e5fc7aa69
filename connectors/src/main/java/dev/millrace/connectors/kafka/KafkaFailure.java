package dev.millrace.connectors.kafka;

import java.net.UnknownHostException;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.DisconnectException;
import org.apache.kafka.common.errors.SslAuthenticationException;

/**
 * What went wrong between us and brokers, in the words of users: Kafka's client tells of calls and of nodes.
 *
 * @param reason one line
 * @param hint what to look at
 */
record KafkaFailure(String reason, Optional<String> hint) {
    private static final int MOST_CAUSES = 10;

    static KafkaFailure of(Throwable failure) {
        Throwable cause = failure;
        for (int depth = 0; depth < MOST_CAUSES; depth++) {
            if (cause instanceof SslAuthenticationException) {
                return told("TLS fails: " + said(cause), "properties.ssl.truststore.* and properties.ssl.keystore.*");
            } else if (cause instanceof AuthenticationException) {
                return told("the login is refused: " + said(cause), "properties.sasl.* and the secret that they name");
            } else if (cause instanceof AuthorizationException) {
                return told("not allowed: " + said(cause), "what the brokers let this user do");
            } else if (cause instanceof UnknownHostException || said(cause).contains("No resolvable bootstrap")) {
                return told("no broker's name is known to this machine", "the names in bootstrap");
            } else if (isSilence(cause)) {
                return told(
                        "no broker answers",
                        "that they run, that this machine reaches them by their advertised.listeners, and that"
                                + " properties.security.protocol is theirs");
            }
            if (cause.getCause() == null) {
                break;
            }
            cause = cause.getCause();
        }
        String outermost = said(failure);
        String innermost = said(cause);
        return new KafkaFailure(
                outermost.contains(innermost) ? outermost : outermost + ": " + innermost, Optional.empty());
    }

    /** Of timeouts those that are of no topic or record, but of any answer at all. */
    private static boolean isSilence(Throwable cause) {
        String said = said(cause);
        return cause instanceof DisconnectException
                || cause instanceof TimeoutException
                || cause instanceof org.apache.kafka.common.errors.TimeoutException
                        && (said.contains("node assignment")
                                || said.contains("Call:")
                                || said.contains("fetching topic metadata")
                                || said.contains("Failed to get offsets by times")
                                || said.contains("awaiting InitProducerId"));
    }

    private static KafkaFailure told(String reason, String check) {
        return new KafkaFailure(reason, Optional.of("check " + check));
    }

    private static String said(Throwable failure) {
        String said = failure.getMessage() == null ? failure.getClass().getSimpleName() : failure.getMessage();
        return said.replaceAll("\\s+", " ").strip();
    }
}
