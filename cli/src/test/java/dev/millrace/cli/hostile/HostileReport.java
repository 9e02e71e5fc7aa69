package dev.millrace.cli.hostile;

import dev.millrace.cli.hostile.HostileStatements.Hostile;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;

/** How long statements took beyond their timeouts, and what they said. Safe on any thread. */
final class HostileReport {
    /**
     * What a client waits for.
     *
     * @param sentNanos when it last sent something, asked again while it sends
     */
    record UnderWay(Hostile hostile, LongSupplier sentNanos, int timeoutMillis) {
        long dueNanos() {
            return sentNanos.getAsLong() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
        }
    }

    private final Stalls stalls;
    private final long mostOverMillis;

    /** @param mostOverMillis beyond which a statement is late */
    HostileReport(Stalls stalls, long mostOverMillis) {
        this.stalls = stalls;
        this.mostOverMillis = mostOverMillis;
    }

    private static final class Tally {
        private long runs;
        private long late; // beyond what is allowed
        private long worstMillis = Long.MIN_VALUE; // without the times at which the machine stood still
        private long worstWallMillis = Long.MIN_VALUE;
        private final Map<String, Long> errors = new TreeMap<>();
    }

    private final Map<String, Tally> tallies = new TreeMap<>(); // guarded by itself
    private final Map<Object, UnderWay> underWay = new ConcurrentHashMap<>();

    /** A client sends a statement, or asks for more of its rows. */
    void begins(Object client, Hostile hostile, int timeoutMillis, LongSupplier sentNanos) {
        long now = System.nanoTime();
        underWay.put(
                client, new UnderWay(hostile, () -> now + Math.max(0, sentNanos.getAsLong() - now), timeoutMillis));
    }

    /** A client waits no longer; what the machine had no time for is not the server's. */
    void ended(Object client, Hostile hostile) {
        long now = System.nanoTime();
        UnderWay step = underWay.remove(client);
        long overNanos = now - step.dueNanos();
        long ownNanos = overNanos > 0 ? overNanos - stalls.within(step.dueNanos(), now) : overNanos;
        synchronized (tallies) {
            Tally tally = tallies.computeIfAbsent(hostile.kind(), kind -> new Tally());
            tally.runs++;
            tally.late += TimeUnit.NANOSECONDS.toMillis(ownNanos) > mostOverMillis ? 1 : 0;
            tally.worstMillis = Math.max(tally.worstMillis, TimeUnit.NANOSECONDS.toMillis(ownNanos));
            tally.worstWallMillis = Math.max(tally.worstWallMillis, TimeUnit.NANOSECONDS.toMillis(overNanos));
        }
    }

    void failed(Hostile hostile, SQLException why) {
        synchronized (tallies) {
            tallies.computeIfAbsent(hostile.kind(), kind -> new Tally())
                    .errors
                    .merge(String.valueOf(why.getSQLState()), 1L, Long::sum);
        }
    }

    /** What clients wait for now. */
    List<UnderWay> underWay() {
        return List.copyOf(underWay.values());
    }

    long runs() {
        synchronized (tallies) {
            return tallies.values().stream().mapToLong(tally -> tally.runs).sum();
        }
    }

    /** How many were late. */
    long late() {
        synchronized (tallies) {
            return tallies.values().stream().mapToLong(tally -> tally.late).sum();
        }
    }

    long worstMillis() {
        return worst(tally -> tally.worstMillis);
    }

    long worstWallMillis() {
        return worst(tally -> tally.worstWallMillis);
    }

    private long worst(ToLongFunction<Tally> millis) {
        synchronized (tallies) {
            return tallies.values().stream().mapToLong(millis).max().orElse(0);
        }
    }

    /** A line of JSON for each kind. */
    List<String> lines() {
        List<String> lines = new ArrayList<>();
        synchronized (tallies) {
            tallies.forEach((kind, tally) -> lines.add(String.format(
                    "{\"kind\": \"%s\", \"runs\": %d, \"late\": %d, \"worst_over_ms\": %d, \"worst_wall_ms\": %d, \"errors\": \"%s\"}",
                    kind, tally.runs, tally.late, tally.worstMillis, tally.worstWallMillis, tally.errors)));
        }
        return lines;
    }
}
