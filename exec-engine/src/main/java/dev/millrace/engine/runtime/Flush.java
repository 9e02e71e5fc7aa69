package dev.millrace.engine.runtime;

import dev.millrace.engine.epoch.Epochs;
import dev.millrace.engine.epoch.Quiescence;
import dev.millrace.engine.statistic.FlushProgress;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * One wait until all that is there has had its effect: bounded sources are read to their ends, the epochs in which that was are
 * committed, and what sinks have to commit by themselves is committed, too. By the thread that asked for it.
 */
final class Flush {
    private static final long PROGRESS_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final List<LocalStandingQuery> queries;
    private final Epochs epochs;
    private final Quiescence quiescence;
    private final Clock clock;
    private final List<Long> pending = new ArrayList<>(); // epochs, once all is read
    private final Map<LocalStandingQuery, Long> commits = new HashMap<>(); // of sinks, of all epochs up to those
    private boolean read;

    Flush(List<LocalStandingQuery> queries, Epochs epochs, Quiescence quiescence, Clock clock) {
        this.queries = queries;
        this.epochs = epochs;
        this.quiescence = quiescence;
        this.clock = clock;
    }

    void run(Consumer<FlushProgress> progress) {
        long rowsBefore = rowsRead();
        long lastRows = rowsBefore;
        long lastNanos = clock.nanoTime();
        while (!quiescence.await(this::isDone, PROGRESS_NANOS)) {
            long now = clock.nanoTime();
            long rows = rowsRead();
            double perSecond = (rows - lastRows) / Math.max(1e-9, (now - lastNanos) / 1e9);
            progress.accept(new FlushProgress(fractionRead(), rows - rowsBefore, perSecond));
            lastRows = rows;
            lastNanos = now;
        }
    }

    private boolean isDone() {
        if (!read && queries.stream().allMatch(Flush::hasReadAll)) {
            read = true;
            LocalStandingQuery.takeAllIn(queries.stream()
                    .filter(query -> query.lifeState() == QueryState.RUNNING
                            && !query.schedule().isData())
                    .toList());
            pending.addAll(epochs.pending());
        }
        if (!read || !pending.stream().allMatch(epochs::isCommitted)) {
            return false;
        }
        if (commits.isEmpty()) {
            queries.forEach(query -> commits.put(query, query.output().sinks().commitsBegun()));
        }
        return queries.stream()
                .allMatch(query -> query.state() == QueryState.DROPPED
                        || query.output().sinks().hasCommitted(Objects.requireNonNull(commits.get(query))));
    }

    /** Whether a query has no more to read of sources that come to an end. */
    static boolean hasReadAll(LocalStandingQuery query) {
        return query.lifeState() != QueryState.RUNNING
                || query.tasks().sources.stream()
                        .allMatch(source -> !source.bounded() || source.input().isFinished());
    }

    private long rowsRead() {
        return queries.stream()
                .mapToLong(query -> Statistics.rowsRead(query.tasks()))
                .sum();
    }

    private double fractionRead() {
        return queries.stream()
                .filter(query -> query.lifeState() == QueryState.RUNNING)
                .flatMap(query -> query.tasks().progress().stream())
                .mapToDouble(Double::doubleValue)
                .average()
                .orElse(-1);
    }
}
