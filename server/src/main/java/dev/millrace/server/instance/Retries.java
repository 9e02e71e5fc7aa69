package dev.millrace.server.instance;

import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.error.MillraceException;
import dev.millrace.error.MillraceException.Fault;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Which queries that failed are to begin anew by themselves, and when: those whose option {@code retries} says how often, where they failed
 * for want of memory or disk or of something outside (what rows make fail does so again). The first time after a second, then after
 * twice as long as before, a minute at most; who has run for ten minutes begins to count again. Safe on any thread, but for {@link #due} and
 * {@link #tried}, which one thread calls.
 */
public final class Retries {
    /** The option of queries and views. */
    public static final String OPTION = "retries";

    /** The most that it can say. */
    public static final int MOST = 1_000_000;

    private static final long FIRST_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final int MOST_DOUBLINGS = 6;
    private static final long LONGEST_NANOS = TimeUnit.MINUTES.toNanos(1);
    private static final long CALM_NANOS = TimeUnit.MINUTES.toNanos(10);

    private final DatabaseCatalog catalog;
    private final Function<String, Optional<StandingQuery>> standing;
    private final Clock clock;
    private final Map<String, Count> counts = new ConcurrentHashMap<>(); // of queries that failed lately

    /** How often a query was begun anew, when that was, and when it is the next time. */
    private record Count(int done, long lastNanos, long dueNanos) {}

    Retries(DatabaseCatalog catalog, Function<String, Optional<StandingQuery>> standing, Clock clock) {
        this.catalog = catalog;
        this.standing = standing;
        this.clock = clock;
    }

    /** The queries whose time has come. */
    public List<CatalogObject> due() {
        long now = clock.nanoTime();
        counts.keySet().removeIf(name -> catalog.object(name).isEmpty());
        List<CatalogObject> due = new ArrayList<>();
        for (CatalogObject object : catalog.objects()) {
            int most = most(object);
            if (most == 0) {
                continue;
            }
            Optional<StandingQuery> query = standing.apply(object.name());
            Optional<Count> count = Optional.ofNullable(counts.get(object.name()));
            if (query.filter(Retries::mayPass).isPresent()) {
                Count from = count.orElseGet(() -> new Count(0, now, now + FIRST_NANOS));
                counts.put(object.name(), from);
                if (from.done() < most && now - from.dueNanos() >= 0) {
                    due.add(object);
                }
            } else if (count.isPresent() && now - count.get().lastNanos() >= CALM_NANOS) {
                counts.remove(object.name());
            }
        }
        return due;
    }

    /** A query was begun anew, or was to be. @param counts whether that is one of its times; else it is only put off */
    public void tried(String name, boolean counts) {
        this.counts.computeIfPresent(name, (same, count) -> {
            int done = count.done() + (counts ? 1 : 0);
            long pause = Math.min(LONGEST_NANOS, FIRST_NANOS << Math.min(done, MOST_DOUBLINGS));
            long now = clock.nanoTime();
            return new Count(done, now, now + pause);
        });
    }

    /** What a query that failed waits for, in words. */
    public Optional<String> waitsFor(CatalogObject object) {
        Count count = counts.get(object.name());
        int most = most(object);
        if (count == null
                || count.done() >= most
                || standing.apply(object.name()).filter(Retries::mayPass).isEmpty()) {
            return Optional.empty();
        }
        long seconds = TimeUnit.NANOSECONDS.toSeconds(Math.max(0, count.dueNanos() - clock.nanoTime())) + 1;
        return Optional.of("begins anew within " + seconds + " s (" + (count.done() + 1) + " of " + most + " retries)");
    }

    private static int most(CatalogObject object) {
        return object.options().containsKey(OPTION)
                ? Integer.parseInt(object.options().get(OPTION).replace("_", "").trim())
                : 0;
    }

    private static boolean mayPass(StandingQuery query) {
        return query.state() == QueryState.FAILED
                && query.failure()
                        .map(MillraceException::fault)
                        .filter(fault -> fault == Fault.RESOURCES || fault == Fault.EXTERNAL)
                        .isPresent();
    }
}
