package dev.millrace.server.query;

import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.result.Progress;
import dev.millrace.server.retention.Backfill;
import dev.millrace.server.retention.BackfillProgress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The readers of standing queries that begin in the past ({@code WITH (start = ..)}): they see rows when these are on disk, and not in the
 * epochs of who wrote them. Belongs to the session's thread.
 */
final class PastReaders {
    private static final long LOOK_NANOS = 1_000_000;

    private final Instance database;
    private final Consumer<Supplier<Optional<Progress>>> showProgress;

    /** @param showProgress told how far what is waited for is */
    PastReaders(Instance database, Consumer<Supplier<Optional<Progress>>> showProgress) {
        this.database = database;
        this.showProgress = showProgress;
    }

    /** Whether there are none. */
    boolean isEmpty() {
        return !database.retained().isFollowed() || !database.host().hasThreads();
    }

    /**
     * Waits until what was acknowledged before, to whomever, is in the answers that some relations are made of. Those of queries that do
     * not run are as they are.
     */
    void await(Collection<String> relations) {
        if (isEmpty()) {
            return;
        }
        Set<String> seen = new LinkedHashSet<>();
        relations.forEach(relation -> addRead(relation, new HashSet<>(), seen));
        while (database.replacements().isUnderWay(seen)) {
            Interrupt.checkCurrent();
            database.host().pause(LOOK_NANOS);
        }
        for (String query : seen) {
            List<Backfill> readers = database.retained().backfillsOf(query);
            Optional<StandingQuery> running = database.standing(query)
                    .filter(standing -> !readers.isEmpty() && standing.state() == QueryState.RUNNING);
            running.ifPresent(standing -> {
                readers.forEach(reader -> awaitRows(reader.stream()));
                List<Long> told = new ArrayList<>();
                readers.forEach(reader -> told.add(reader.lastTold()));
                showProgress.accept(() -> progress(readers));
                try {
                    long epoch = standing.awaitReaders(() -> Backfill.haveAll(readers, told));
                    database.engine().awaitEpoch(epoch, relations);
                } finally {
                    showProgress.accept(Optional::empty);
                }
            });
        }
    }

    /** A stream that a query fills has what came to that query. */
    private void awaitRows(String stream) {
        database.standing(stream)
                .filter(standing -> standing.state() == QueryState.RUNNING)
                .ifPresent(standing -> {
                    long epoch = standing.awaitReaders(() -> true);
                    database.engine().awaitEpoch(epoch, List.of(stream));
                });
    }

    /** Of all streams together; none when only what came just now is waited for. */
    private static Optional<Progress> progress(List<Backfill> readers) {
        double rows = 0;
        double allRows = 0;
        double speed = 0;
        boolean isOver = true;
        for (Backfill reader : readers) {
            BackfillProgress progress = reader.progress();
            rows += progress.fraction() * progress.allRows();
            allRows += progress.allRows();
            speed += progress.isOver() ? 0 : progress.rowsPerSecond();
            isOver &= progress.isOver();
        }
        return isOver ? Optional.empty() : Optional.of(new Progress(rows / Math.max(1, allRows), (long) rows, speed));
    }

    /** With all that it is made of, which comes before it. */
    private void addRead(String relation, Set<String> begun, Set<String> ordered) {
        if (begun.add(relation)) {
            database.catalog()
                    .object(relation)
                    .map(CatalogObject::reads)
                    .orElse(Set.of())
                    .forEach(read -> addRead(read, begun, ordered));
            ordered.add(relation);
        }
    }
}
