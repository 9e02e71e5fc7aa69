package dev.millrace.server.system;

import static dev.millrace.server.system.SystemRelations.bigint;
import static dev.millrace.server.system.SystemRelations.real;
import static dev.millrace.server.system.SystemRelations.text;
import static dev.millrace.server.system.SystemRelations.timestamp;

import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.SystemRelation;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.retention.BackfillProgress;
import dev.millrace.server.retention.RetainedStreams.QueryBackfill;
import dev.millrace.server.rows.RowBuilder;
import dev.millrace.type.Schema;
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
        return new SystemRelation(
                "millrace.backfills",
                "how far queries that begin in the past are with what each stream keeps",
                Schema.of(
                        text("query"),
                        text("stream"),
                        text("state"),
                        timestamp("from_time"),
                        timestamp("to_time"),
                        bigint("record"),
                        timestamp("record_time"),
                        bigint("last_record"),
                        bigint("rows"),
                        bigint("all_rows"),
                        real("percent"),
                        real("rows_per_second"),
                        real("seconds_left"),
                        text("replaces"),
                        text("waits_for"),
                        text("materialize"),
                        bigint("rows_left_out")),
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
