package dev.millrace.server.catalog;

import dev.millrace.connector.Options;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The option {@code checkpoint_interval} of sinks that show rows by checkpoints: how long rows may wait for one. */
public final class SinkInterval {
    private static final String OPTION = "checkpoint_interval";
    private static final long DEFAULT_MICROS = TimeUnit.SECONDS.toMicros(5);
    private static final long LEAST_MICROS = TimeUnit.MILLISECONDS.toMicros(100);
    private static final long MOST_MICROS = TimeUnit.HOURS.toMicros(1);

    private SinkInterval() {}

    /** @throws MillraceException 22023 if it is no time from 100 ms to an hour */
    public static void check(Options options) {
        long micros = options.durationMicros(OPTION, DEFAULT_MICROS);
        if (micros < LEAST_MICROS || micros > MOST_MICROS) {
            throw Options.invalid(OPTION, options.text(OPTION).orElse(""), "a duration from 100 ms to 1 hour");
        }
    }

    /** @throws MillraceException 22023 if it is given to a sink that shows rows at once */
    public static void refuse(Options options) {
        if (options.text(OPTION).isPresent()) {
            throw MillraceException.user(
                            SqlState.INVALID_PARAMETER_VALUE,
                            "option \"" + OPTION + "\" is of sinks with delivery = 'exactly_once'")
                    .withHint("other sinks show rows at the end of each epoch");
        }
    }

    /** Of options that were checked. */
    public static long nanos(Map<String, String> options) {
        return TimeUnit.MICROSECONDS.toNanos(new Options(options).durationMicros(OPTION, DEFAULT_MICROS));
    }
}
