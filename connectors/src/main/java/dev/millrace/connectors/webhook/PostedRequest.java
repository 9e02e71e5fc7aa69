package dev.millrace.connectors.webhook;

import dev.millrace.connectors.push.MetaColumn;
import dev.millrace.type.DataType;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What was POSTed.
 *
 * @param headers by their names in lower case
 * @param receivedMicros since 1970 UTC
 */
public record PostedRequest(Map<String, String> headers, byte[] body, long receivedMicros) {
    public PostedRequest {
        headers = Map.copyOf(headers);
    }

    Optional<String> header(String name) {
        return Optional.ofNullable(headers.get(name));
    }

    /**
     * What rows can have of a request.
     *
     * @param key its idempotency key
     */
    record About(Optional<String> key, long receivedMicros) {
        static final List<MetaColumn.Kind> COLUMNS = List.of(
                new MetaColumn.Kind("key", DataType.TEXT, true, about -> ((About) about).key()),
                new MetaColumn.Kind(
                        "received",
                        DataType.TIMESTAMPTZ,
                        false,
                        about -> Optional.of(((About) about).receivedMicros())));
    }
}
