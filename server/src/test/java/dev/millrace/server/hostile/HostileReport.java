package dev.millrace.server.hostile;

import dev.millrace.server.hostile.HostileStatements.Hostile;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/** How long statements took beyond their timeouts, and what they said. Safe on any thread. */
final class HostileReport {
    /** What a client waits for. */
    record UnderWay(Hostile hostile, long sinceNanos, int timeoutMillis) {}

    private static final class Tally {
        private long runs;
        private long worstMillis = Long.MIN_VALUE;
        private final Map<String, Long> errors = new TreeMap<>();
    }

    private final Map<String, Tally> tallies = new TreeMap<>(); // guarded by itself
    private final Map<Object, UnderWay> underWay = new ConcurrentHashMap<>();

    void begins(Object client, Hostile hostile, int timeoutMillis) {
        underWay.put(client, new UnderWay(hostile, System.nanoTime(), timeoutMillis));
    }

    /** @param overMillis how long it took beyond its timeout; negative when it took less */
    void ended(Object client, Hostile hostile, long overMillis) {
        underWay.remove(client);
        synchronized (tallies) {
            Tally tally = tallies.computeIfAbsent(hostile.kind(), kind -> new Tally());
            tally.runs++;
            tally.worstMillis = Math.max(tally.worstMillis, overMillis);
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

    long worstMillis() {
        synchronized (tallies) {
            return tallies.values().stream()
                    .mapToLong(tally -> tally.worstMillis)
                    .max()
                    .orElse(0);
        }
    }

    /** A line of JSON for each kind. */
    List<String> lines() {
        List<String> lines = new ArrayList<>();
        synchronized (tallies) {
            tallies.forEach((kind, tally) -> lines.add(String.format(
                    "{\"kind\": \"%s\", \"runs\": %d, \"worst_over_ms\": %d, \"errors\": \"%s\"}",
                    kind, tally.runs, tally.worstMillis, tally.errors)));
        }
        return lines;
    }
}
