package dev.millrace.cli.demo;

import dev.millrace.server.session.Database;
import dev.millrace.server.session.Session;
import dev.millrace.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** The demonstration's statements, executed, and the subscriptions that keep {@link Vitals} up to date. */
final class VitalFeeds implements AutoCloseable {
    private static final long RATE_NANOS = 1_000_000_000L;

    private final Database database;
    private final Clock clock;
    private final Vitals vitals;
    private final List<Subscribed> feeds = new ArrayList<>();
    private long ratedNanos;
    private long ratedRows;

    private record Subscribed(DemoFeed feed, Consumer<DemoFeed.Added> taker) {}

    VitalFeeds(Database database, Clock clock, Vitals vitals) {
        this.database = database;
        this.clock = clock;
        this.vitals = vitals;
        try (Session session = database.session()) {
            for (DemoQueries.Step step : DemoQueries.STEPS) {
                session.execute(step.sql()).drain();
            }
        }
        subscribe(DemoQueries.SAMPLES, vitals::sample);
        subscribe(DemoQueries.PER_SECOND, vitals::second);
        subscribe(DemoQueries.SLIDING, vitals::tenSeconds);
        subscribe(DemoQueries.ALARMS, vitals::alarm);
        subscribe(DemoQueries.CORES + " WITH (SNAPSHOT)", vitals::core);
        subscribe(DemoQueries.SO_FAR + " WITH (SNAPSHOT)", vitals::soFar);
    }

    private void subscribe(String what, Consumer<DemoFeed.Added> taker) {
        feeds.add(new Subscribed(new DemoFeed(database, "SUBSCRIBE TO " + what), taker));
    }

    /** Takes what came since the last call; does not wait. */
    void poll() {
        for (Subscribed subscribed : feeds) {
            subscribed.feed().poll().forEach(subscribed.taker());
        }
        long now = clock.nanoTime();
        if (now - ratedNanos >= RATE_NANOS) {
            rate(now);
        }
    }

    /** Rows that all queries together read, per second, since the last call. */
    private void rate(long now) {
        long rows = database.engine().queries().stream()
                .mapToLong(query -> query.statistics().rowsIn())
                .sum();
        if (ratedRows > 0) {
            vitals.rowsPerSecond = (rows - ratedRows) / ((now - ratedNanos) / 1e9);
        }
        ratedNanos = now;
        ratedRows = rows;
    }

    @Override
    public void close() {
        feeds.forEach(subscribed -> subscribed.feed().close());
    }
}
