package dev.millrace.server.differential;

import java.util.Optional;

/**
 * Windows over {@code rel}, in our dialect as table functions, for the oracle spelled out: without the rows that were late,
 * those one of whose windows had ended by the watermark {@code wm} of the rows before them.
 */
final class RandomWindows {
    /**
     * A relation with {@code window_start} and {@code window_end}.
     *
     * @param key what sessions are per; empty for other windows
     * @param heldMicros how far behind the watermark a window must end to be closed: a row that is not late may still join
     *     a session that ended up to a gap ago
     */
    record Window(Dual relation, Optional<Dual> key, long heldMicros) {
        boolean isSession() {
            return key.isPresent();
        }
    }

    /** A row counts in all of its windows or in none. */
    private static final String IN_TIME = " QUALIFY min(window_end) OVER (PARTITION BY id) > wm";

    private final Chance chance;

    RandomWindows(Chance chance) {
        this.chance = chance;
    }

    Window next() {
        return chance.percent(25) ? session() : nextAligned();
    }

    /** Any but a session. */
    Window nextAligned() {
        return chance.percent(12) ? ofMonths() : ofSeconds();
    }

    private Window ofSeconds() {
        return switch (chance.below(3)) {
            case 0 -> tumble();
            case 1 -> hop();
            default -> cumulate();
        };
    }

    private static String seconds(int seconds) {
        return "INTERVAL '" + seconds + " seconds'";
    }

    private static String bucket(int seconds) {
        return "time_bucket(" + seconds(seconds) + ", ts, TIMESTAMP '1970-01-01')";
    }

    /** Months, quarters and years, and months that overlap. */
    private Window ofMonths() {
        int months = chance.of(1, 3, 12);
        String begin = "date_trunc('" + (months == 1 ? "month" : months == 3 ? "quarter" : "year") + "', ts)";
        int longer = months == 1 ? chance.of(0, 1, 2) : 0;
        String size = "INTERVAL '" + (months + longer) + " months'";
        String starts = "generate_series(" + begin + " - INTERVAL '" + longer + " months', " + begin + ", INTERVAL '"
                + months + " months')";
        String ours = longer == 0 && chance.percent(70)
                ? "TUMBLE(TABLE rel, DESCRIPTOR(ts), " + size + ") AS w"
                : "HOP(TABLE rel, DESCRIPTOR(ts), INTERVAL '" + months + " months', " + size + ") AS w";
        return new Window(
                new Dual(
                        ours,
                        "(SELECT rel.*, s AS window_start, s + " + size + " AS window_end FROM rel, unnest(" + starts
                                + ") AS starts(s)" + IN_TIME + ") AS w"),
                Optional.empty(),
                0);
    }

    private Window tumble() {
        int size = chance.of(1, 7, 10, 60, 3600);
        String ours = chance.percent(50)
                ? "TUMBLE(TABLE rel, DESCRIPTOR(ts), " + seconds(size) + ")"
                : "TUMBLE(rel, ts, " + seconds(size) + ")";
        return new Window(
                new Dual(
                        ours + " AS w",
                        "(SELECT *, " + bucket(size) + " AS window_start, " + bucket(size) + " + " + seconds(size)
                                + " AS window_end FROM rel WHERE " + bucket(size) + " + " + seconds(size)
                                + " > wm) AS w"),
                Optional.empty(),
                0);
    }

    private Window hop() {
        int slide = chance.of(1, 2, 5, 10, 15);
        int size = chance.of(slide, 2 * slide, 5 * slide, 3 * slide + 1, slide + 10);
        int reach = size / slide * slide;
        String starts = "generate_series(" + bucket(slide) + " - " + seconds(reach) + ", " + bucket(slide) + ", "
                + seconds(slide) + ")";
        return new Window(
                new Dual(
                        "HOP(TABLE rel, DESCRIPTOR(ts), " + seconds(slide) + ", " + seconds(size) + ") AS w",
                        "(SELECT rel.*, s AS window_start, s + " + seconds(size) + " AS window_end FROM rel, unnest("
                                + starts + ") AS starts(s) WHERE s + " + seconds(size) + " > ts" + IN_TIME + ") AS w"),
                Optional.empty(),
                0);
    }

    private Window cumulate() {
        int step = chance.of(1, 5, 10);
        int size = step * chance.of(1, 2, 6);
        String ends = "generate_series(" + bucket(step) + " + " + seconds(step) + ", " + bucket(size) + " + "
                + seconds(size) + ", " + seconds(step) + ")";
        return new Window(
                new Dual(
                        "CUMULATE(TABLE rel, DESCRIPTOR(ts), " + seconds(step) + ", " + seconds(size) + ") AS w",
                        "(SELECT rel.*, " + bucket(size) + " AS window_start, e AS window_end FROM rel, unnest(" + ends
                                + ") AS ends(e)" + IN_TIME + ") AS w"),
                Optional.empty(),
                0);
    }

    private Window session() {
        int gap = chance.of(1, 5, 30);
        String key = chance.of("k", "g", "b");
        String sessions = "(SELECT *, min(ts) OVER (PARTITION BY " + key + ", session) AS window_start, max(ts) OVER"
                + " (PARTITION BY " + key + ", session) + " + seconds(gap)
                + " AS window_end FROM (SELECT *, sum(starts)"
                + " OVER (PARTITION BY " + key
                + " ORDER BY ts, id) AS session FROM (SELECT *, CASE WHEN ts - lag(ts) OVER"
                + " (PARTITION BY " + key + " ORDER BY ts, id) < " + seconds(gap)
                + " THEN 0 ELSE 1 END AS starts FROM rel WHERE ts + " + seconds(gap) + " > wm))) AS w";
        return new Window(
                new Dual(
                        "SESSION(TABLE rel PARTITION BY " + key + ", DESCRIPTOR(ts), " + seconds(gap) + ") AS w",
                        sessions),
                Optional.of(Dual.same(key)),
                gap * 1_000_000L - 1);
    }
}
