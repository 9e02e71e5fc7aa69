package dev.millrace.server.system;

import static dev.millrace.server.catalog.SystemRelation.Column.bigint;
import static dev.millrace.server.catalog.SystemRelation.Column.real;
import static dev.millrace.server.catalog.SystemRelation.Column.text;
import static dev.millrace.server.catalog.SystemRelation.Column.timestamp;

import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.SystemRelation;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.retention.BackfillProgress;
import dev.millrace.server.retention.RetainedStreams.QueryBackfill;
import dev.millrace.server.rows.RowBuilder;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/** {@code millrace.backfills}. */
final class BackfillRelation {
    private final Instance database;

    private BackfillRelation(Instance database) {
        this.database = database;
    }

    static SystemRelation of(Instance database) {
        return SystemRelation.of(
                "millrace.backfills",
                "how far queries that begin in the past are with what each stream keeps",
                List.of(
                        text("query", "the query that begins in the past"),
                        text("stream", "the stream whose past it reads"),
                        text("state", "reading, paused, failed or done"),
                        timestamp("from_time", "the arrival of the first rows that are meant; NULL for all"),
                        timestamp(
                                "to_time",
                                "the arrival of the last rows that are meant; NULL for all, and those that come"),
                        bigint("record", "the last record of the log of which it has all rows"),
                        timestamp("record_time", "when the last row that it has arrived; NULL before the first"),
                        bigint("last_record", "the last record that there is"),
                        bigint("rows", "rows that it has"),
                        bigint("all_rows", "rows that there are; more while rows come"),
                        real("percent", "how far it is, never less than before"),
                        real("rows_per_second", "rows of the last seconds; NULL while it stands still"),
                        real("seconds_left", "how long it takes, as fast as it is; NULL while it stands still"),
                        text("replaces", "the query whose place it takes when it is there (REPROCESS)"),
                        text("waits_for", "why it does not take that place"),
                        text(
                                "materialize",
                                "which rows of sketches it reads: all, a sample, those at the top or the bottom"),
                        bigint("rows_left_out", "rows that it left out for that reason")),
                new BackfillRelation(database)::rows);
    }

    private void rows(RowBuilder rows) {
        for (QueryBackfill each : database.retained().backfills()) {
            BackfillProgress progress = each.progress();
            String state = state(each);
            boolean isReading = state.equals("reading");
            boolean isDone = state.equals("done");
            rows.row(
                    each.query(),
                    progress.stream(),
                    state,
                    time(progress.arrivals().from()),
                    time(progress.arrivals().to()),
                    progress.entry(),
                    optional(progress.arrivedMicros()),
                    progress.lastEntry(),
                    isDone ? progress.allRows() : progress.rows(),
                    progress.allRows(),
                    isDone ? 100.0 : Math.floor(progress.fraction() * 1000) / 10,
                    isReading || isDone ? Optional.of(progress.rowsPerSecond()) : Optional.empty(),
                    isDone ? Optional.of(0.0) : isReading ? optional(progress.secondsLeft()) : Optional.empty(),
                    database.catalog()
                            .object(each.query())
                            .map(object -> object.options().getOrDefault(CatalogObject.REPLACES, ""))
                            .filter(replaced -> !replaced.isEmpty()),
                    database.replacements().whyRefused(each.query()),
                    each.choice().toString(),
                    each.leftOut());
        }
    }

    private String state(QueryBackfill backfill) {
        QueryState state =
                database.standing(backfill.query()).map(StandingQuery::state).orElse(QueryState.DROPPED);
        return switch (state) {
            case PAUSED -> "paused";
            case FAILED -> "failed";
            case FINISHED -> "done";
            case RUNNING, DROPPED -> backfill.progress().isOver() ? "done" : "reading";
        };
    }

    private static Optional<Long> time(long micros) {
        return micros == Long.MIN_VALUE || micros == Long.MAX_VALUE ? Optional.empty() : Optional.of(micros);
    }

    private static Optional<Long> optional(OptionalLong value) {
        return value.isPresent() ? Optional.of(value.getAsLong()) : Optional.empty();
    }

    private static Optional<Double> optional(OptionalDouble value) {
        return value.isPresent() ? Optional.of(value.getAsDouble()) : Optional.empty();
    }
}
