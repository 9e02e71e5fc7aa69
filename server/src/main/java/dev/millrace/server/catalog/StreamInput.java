package dev.millrace.server.catalog;

import dev.millrace.condense.Condensing;
import dev.millrace.connector.Source;
import java.util.Optional;

/**
 * Where the rows of a stream come from.
 *
 * @param connector its name, {@code insert} for a stream without one, or {@link #QUERY}
 * @param source of the connector; none for a stream that is fed by INSERT, or by a query
 * @param idleTimeoutMicros how long a silent reader holds windows open; 0 is for ever
 * @param retained whether its rows are kept, for a while
 * @param sketched present if those that are old are kept as sketches: what readers of these can say
 */
public record StreamInput(
        String connector,
        Optional<Source> source,
        long idleTimeoutMicros,
        boolean retained,
        Optional<Condensing> sketched) {
    /** In the place of a connector, of a stream that a query fills. */
    public static final String QUERY = "query";

    /** Whether a query fills it: then nobody else can. */
    public boolean isDerived() {
        return connector.equals(QUERY);
    }

    /** Whether each reader starts at the first row again. */
    public boolean replayable() {
        return source.map(Source::replayable).orElse(false);
    }

    /** Whether a SELECT can read it from the first row to the last. */
    public boolean finite() {
        return retained || source.map(s -> s.replayable() && s.bounded()).orElse(false);
    }
}
