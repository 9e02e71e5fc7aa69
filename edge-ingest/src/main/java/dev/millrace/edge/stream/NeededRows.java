package dev.millrace.edge.stream;

import dev.millrace.edge.config.EdgeConfig.StreamConfig;
import dev.millrace.edge.config.SketchSettings;
import dev.millrace.edge.program.RowNeeds;
import java.util.Optional;

/**
 * Which rows of a stream leave the device, and which of their columns. Of one thread.
 *
 * <p>Where only what queries need is sent, one row goes all the same when none has for as long as a segment is, by event time: with it time goes on at the
 * server, and windows close there.
 */
final class NeededRows {
    private final StreamRow values;
    private final Optional<RowNeeds> needs; // of all, if none
    private final boolean[] sent; // of rows that go, by column
    private final long mostSilentMicros;
    private long lastMicros = Long.MIN_VALUE; // the latest event time that went

    /** @throws dev.millrace.error.MillraceException 42804 if a query has a column otherwise than the device has */
    NeededRows(StreamConfig stream, SketchSettings settings, StreamRow values) {
        this.values = values;
        this.mostSilentMicros = settings.segmentMicros();
        this.needs = needs(stream, settings);
        this.sent = new boolean[stream.columns().size()];
        for (int column = 0; column < sent.length; column++) {
            sent[column] =
                    needs.isEmpty() || needs.get().reads(column) || stream.key().equals(Optional.of(column));
        }
    }

    /** Holds settings to what a stream has, as the constructor does. */
    static void require(StreamConfig stream, SketchSettings settings) {
        needs(stream, settings);
    }

    private static Optional<RowNeeds> needs(StreamConfig stream, SketchSettings settings) {
        return settings.rows().onlyNeeded()
                ? Optional.of(new RowNeeds(settings.rows().queries().values(), StreamRow.schema(stream)))
                : Optional.empty();
    }

    /** Whether a row goes, of this time. */
    boolean goes(int row, long timeMicros) {
        if (needs.isEmpty()) {
            return true;
        }
        boolean silent = lastMicros == Long.MIN_VALUE || timeMicros - mostSilentMicros >= lastMicros;
        if (silent || needs.get().needs(values, row)) {
            lastMicros = Math.max(lastMicros, timeMicros);
            return true;
        }
        return false;
    }

    /** Whether a column of rows that go does. */
    boolean goes(int column) {
        return sent[column];
    }
}
