package dev.millrace.server.differential;

import dev.millrace.server.differential.RandomQueries.Generated;
import java.util.OptionalInt;

/**
 * Random queries in which time decides who meets: interval, window and ASOF joins, rows as of a time, row patterns. In the
 * oracle's texts {@code wm} is the watermark of the rows before a row, and {@link #NOW} stands for that of the moment at
 * which the answers are compared.
 */
final class RandomTimes {
    /** In the oracle's text: the watermark when the answers are compared; the end of time where there is none. */
    static final String NOW = "current_watermark";

    /** Who waits for rows' own times leaves out the rows behind the watermark. */
    private static final String IN_TIME = "(SELECT * FROM rel WHERE ts >= wm)";

    private final Chance chance;
    private final RandomWindows windows;

    RandomTimes(Chance chance, RandomWindows windows) {
        this.chance = chance;
        this.windows = windows;
    }

    Generated next() {
        return switch (chance.below(12)) {
            case 0, 1 -> interval();
            case 2, 3 -> outerInterval();
            case 4 -> overInterval();
            case 5 -> asof();
            case 6 -> asOfTime();
            case 7, 8 -> windowJoin();
            case 9 -> firstOfWindow();
            case 10 -> closedOver();
            default -> pattern();
        };
    }

    private String key() {
        return chance.of("a.g = b.g", "a.k = b.k AND a.b = b.b", "a.i = b.i", "a.day = b.day AND a.g = b.g");
    }

    /** Whether a left row can have no partner for a NULL in its key, which is known at once. */
    private static String hasNull(String key) {
        return "(" + key.replaceAll(" = b\\.\\w+", " IS NULL").replace(" AND ", " OR ") + ")";
    }

    /** The condition on the times of both sides, and how far the right one may be behind and ahead of the left one. */
    private record Near(String condition, int behindSeconds, int aheadSeconds) {}

    private Near near() {
        int before = chance.of(0, 1, 5, 60);
        int after = chance.of(0, 2, 10, 60);
        return new Near(
                switch (chance.below(3)) {
                    case 0 ->
                        "b.ts BETWEEN a.ts - INTERVAL '" + before + " seconds' AND a.ts + INTERVAL '" + after
                                + " seconds'";
                    case 1 ->
                        "b.ts >= a.ts - INTERVAL '" + before + " seconds' AND a.ts >= b.ts - INTERVAL '" + after
                                + " seconds'";
                    default ->
                        "b.ts - a.ts <= INTERVAL '" + after + " seconds' AND a.ts - b.ts <= INTERVAL '" + before
                                + " seconds'";
                },
                before,
                after);
    }

    private static Dual sides(String join) {
        return new Dual("rel AS a " + join + " rel AS b", IN_TIME + " AS a " + join + " " + IN_TIME + " AS b");
    }

    private Generated interval() {
        String more = chance.of("", "", " AND a.id < b.id", " AND a.n > b.n", " AND a.t <> b.t");
        String condition = key() + " AND " + near().condition() + more;
        return switch (chance.below(4)) {
            case 0 ->
                Generated.of(Dual.of(
                        "SELECT a.g, count(*) AS n, sum(b.i) AS s FROM {} ON " + condition + " GROUP BY a.g",
                        sides("JOIN")));
            case 1 ->
                Generated.of(Dual.of(
                        "SELECT a.id FROM {} WHERE EXISTS (SELECT 1 FROM {} WHERE " + condition + ")",
                        new Dual("rel AS a", IN_TIME + " AS a"),
                        new Dual("rel AS b", IN_TIME + " AS b")));
            default ->
                Generated.of(Dual.of("SELECT a.id, b.id AS other, a.t, b.n FROM {} ON " + condition, sides("JOIN")));
        };
    }

    /** Rows without a partner come when none can come any more. */
    private Generated outerInterval() {
        Near near = near();
        String key = key();
        String kind = chance.of("LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "ANTI JOIN");
        String leftIsKnown =
                "(a.ts < " + NOW + " - INTERVAL '" + near.aheadSeconds() + " seconds' OR " + hasNull(key) + ")";
        String rightIsKnown = "(b.ts < " + NOW + " - INTERVAL '" + near.behindSeconds() + " seconds' OR "
                + hasNull(key).replace("a.", "b.") + ")";
        boolean anti = kind.equals("ANTI JOIN");
        Dual joined = Dual.of(
                "SELECT a.id" + (anti ? "" : ", b.id AS other, b.t") + " FROM {} ON " + key + " AND "
                        + near.condition(),
                sides(kind));
        String known = anti
                ? leftIsKnown
                : "a.id IS NOT NULL AND b.id IS NOT NULL OR b.id IS NULL AND " + leftIsKnown + " OR a.id IS NULL AND "
                        + rightIsKnown;
        return Generated.of(joined.then(new Dual("", " WHERE " + known)));
    }

    /** Windows over an interval join, whose watermark is held back by the wider bound. */
    private Generated overInterval() {
        int before = chance.of(1, 5, 20);
        int after = chance.of(2, 10);
        int size = chance.of(5, 10, 60);
        String kind = chance.of("JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN");
        String time =
                kind.equals("RIGHT JOIN") ? "b.ts" : kind.equals("LEFT JOIN") ? "a.ts" : chance.of("a.ts", "b.ts");
        Dual joined = Dual.of(
                "SELECT " + time + " AS ts, a.g AS g, b.i AS i FROM {} ON " + key()
                        + " AND b.ts BETWEEN a.ts - INTERVAL '" + before + " seconds' AND a.ts + INTERVAL '" + after
                        + " seconds'",
                sides(kind));
        String bucket = "time_bucket(INTERVAL '" + size + " seconds', ts, TIMESTAMP '1970-01-01')";
        Dual text = Dual.of(
                "SELECT g, window_end, count(*) AS n, sum(i) AS s FROM TUMBLE({}, ts, INTERVAL '" + size
                        + " seconds') GROUP BY g, window_start, window_end",
                "SELECT g, window_end, count(*) AS n, sum(i) AS s FROM (SELECT *, " + bucket + " + INTERVAL '" + size
                        + " seconds' AS window_end FROM {}) GROUP BY g, window_end",
                Dual.of("({})", joined));
        long heldMicros = 1_000_000L * Math.max(before, after);
        return new Generated(text, OptionalInt.of(1), heldMicros, false);
    }

    /**
     * What is shown of the nearest row is its time: rows at one time are equally near. By one key: with several DuckDB takes
     * NULLs for equal.
     */
    private Generated asof() {
        String kind = chance.of("ASOF JOIN", "ASOF LEFT JOIN");
        String compare = chance.of("a.ts >= b.ts", "a.ts > b.ts", "a.ts <= b.ts", "a.ts < b.ts");
        return Generated.of(Dual.same("SELECT a.id, a.t, b.ts AS nearest FROM rel AS a " + kind + " rel AS b ON "
                + chance.of("a.g = b.g", "a.k = b.k", "a.i = b.i") + " AND " + compare));
    }

    /** The last row of a key at or before a row's time, once both watermarks say so. */
    private Generated asOfTime() {
        boolean left = chance.percent(50);
        String key = chance.of("a.g = b.g", "a.k = b.k");
        String kind = left ? "LEFT JOIN" : "JOIN";
        String ours = "SELECT a.id, a.ts, b.ts AS nearest FROM rel AS a " + kind
                + " rel FOR SYSTEM_TIME AS OF a.ts AS b ON " + key;
        String duck = "SELECT a.id, a.ts, b.ts AS nearest FROM " + IN_TIME + " AS a ASOF " + kind + " " + IN_TIME
                + " AS b ON " + key + " AND a.ts >= b.ts";
        return Generated.ofStream(new Dual(ours, duck + " WHERE a.ts < " + NOW + " OR " + hasNull(key)));
    }

    /** A pair is certain at once, a row without a partner when its window closes. */
    private Generated windowJoin() {
        RandomWindows.Window window = windows.nextAligned();
        String kind = chance.of("JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "SEMI JOIN", "ANTI JOIN");
        String more = chance.of("", "", " AND a.i < b.i");
        Dual side = Dual.of("(SELECT id, g, i, window_start, window_end FROM {})", window.relation());
        boolean ofLeft = kind.equals("SEMI JOIN") || kind.equals("ANTI JOIN");
        String end = ofLeft ? "a.window_end" : "coalesce(a.window_end, b.window_end)";
        Dual text = Dual.of(
                "SELECT a.id, " + (ofLeft ? "" : "b.id AS other, ") + end + " AS e FROM {} AS a " + kind
                        + " {} AS b ON a.g = b.g AND a.window_start = b.window_start AND a.window_end = b.window_end"
                        + more,
                side,
                side);
        String known = switch (kind) {
            case "SEMI JOIN" -> "true";
            case "ANTI JOIN" -> "a.g IS NULL OR " + end + " <= " + NOW;
            default -> "a.id IS NOT NULL AND b.id IS NOT NULL OR coalesce(a.g, b.g) IS NULL OR " + end + " <= " + NOW;
        };
        return Generated.of(text.then(new Dual("", " WHERE " + known)));
    }

    /** A row's results, which look back only, once the watermark has passed it. */
    private Generated closedOver() {
        String partition = chance.of("", "PARTITION BY g ", "PARTITION BY k, b ");
        String total = " OVER (" + partition + "ORDER BY ts, id";
        String tied = " OVER (" + partition + "ORDER BY ts";
        String first = chance.of("row_number()", "lag(i)", "lag(t, 3)", "first_value(i)", "lag(i, 2, 7)") + total + ")";
        String second = chance.of("sum(i)", "count(*)", "max(t)", "min(n)", "avg(l)", "bool_or(b)")
                + chance.of(
                        total + " ROWS 3 PRECEDING)",
                        total + " ROWS BETWEEN 4 PRECEDING AND 1 PRECEDING)",
                        total + ")",
                        tied + ")",
                        tied + " RANGE INTERVAL '2 seconds' PRECEDING)",
                        tied + " RANGE BETWEEN INTERVAL '9 seconds' PRECEDING AND INTERVAL '1 second' PRECEDING)",
                        tied + " GROUPS BETWEEN 2 PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW)");
        String third = chance.of("rank()", "dense_rank()") + tied + ")";
        String select = "SELECT id, " + first + " AS u, " + second + " AS v, " + third + " AS w";
        return Generated.ofStream(new Dual(
                select + " FROM rel EMIT ON WINDOW CLOSE",
                "SELECT id, u, v, w FROM (" + select + ", ts FROM " + IN_TIME + ") WHERE ts < " + NOW));
    }

    /** The first rows of each window, or of its groups, or what all groups of a window make, when it closes. */
    private Generated firstOfWindow() {
        RandomWindows.Window window = windows.nextAligned();
        String place = chance.of("row_number()", "row_number()", "rank()", "dense_rank()");
        String order = chance.of("i", "i DESC NULLS LAST", "w DESC", "g");
        String key = chance.of("", ", g", ", b");
        String limit = chance.of(" <= 1", " <= 3", " <= 2", " = 2");
        Dual groups = Dual.of(
                "(SELECT g, window_start AS s, window_end AS e, count(*) AS c, sum(i) AS i FROM {}"
                        + " GROUP BY g, window_start, window_end) AS c",
                window.relation());
        Dual text = switch (chance.below(3)) {
            case 0 ->
                Dual.of(
                        "SELECT id, e, place FROM (SELECT id, window_end AS e, " + place
                                + " OVER (PARTITION BY window_start, window_end" + key + " ORDER BY " + order
                                + (place.equals("row_number()") ? ", id" : "") + ") AS place FROM {}) AS ranked"
                                + " WHERE place" + limit,
                        window.relation());
            case 1 ->
                Dual.of(
                        "SELECT g, e, place FROM (SELECT g, e, " + place + " OVER (PARTITION BY s, e ORDER BY c"
                                + chance.of("", " DESC") + (place.equals("row_number()") ? ", g" : "")
                                + ") AS place FROM {}) AS ranked WHERE place" + limit,
                        groups);
            default -> Dual.of("SELECT count(*) AS n, e, max(c) AS c, sum(i) AS i FROM {} GROUP BY s, e", groups);
        };
        return new Generated(text, OptionalInt.of(1), window.heldMicros(), false);
    }

    /** A row and the next of its partition: each pair of neighbours that the conditions take. */
    private Generated pattern() {
        String partition = chance.of("g", "k", "b");
        String first = chance.of("i > 0", "b", "n < 0 OR i < 20");
        String second = chance.of("i > %i", "t <> %t", "n < %n", "id > %id");
        String ours = "SELECT x, y, s FROM rel MATCH_RECOGNIZE (PARTITION BY " + partition
                + " ORDER BY ts, id MEASURES p.id AS x, q.id AS y, p.i + q.i AS s ONE ROW PER MATCH"
                + " AFTER MATCH SKIP TO NEXT ROW PATTERN (p q) DEFINE p AS " + first + ", q AS "
                + second.replaceAll("%(\\w+)", "PREV($1)") + ")";
        String next = " OVER (PARTITION BY " + partition + " ORDER BY ts, id)";
        String condition = second.replaceFirst("^(\\w+)", "next_$1").replace("%", "");
        String duck = "SELECT id AS x, next_id AS y, i + next_i AS s FROM (SELECT *, lead(id)" + next
                + " AS next_id, lead(i)" + next + " AS next_i, lead(t)" + next + " AS next_t, lead(n)" + next
                + " AS next_n, lead(ts)" + next + " AS next_ts FROM " + IN_TIME + ") WHERE (" + first + ") AND ("
                + condition + ") AND next_ts < " + NOW;
        return Generated.of(new Dual(ours, duck));
    }
}
