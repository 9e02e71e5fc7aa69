package dev.millrace.server.differential;

import java.util.ArrayList;
import java.util.List;

/** Random queries with window functions. Orders end with the row's number, so that nothing depends on ties but peers. */
final class RandomOvers {
    private final Chance chance;
    private final RandomExpressions expressions;
    private final RandomFrames frames;

    RandomOvers(Chance chance, RandomExpressions expressions) {
        this.chance = chance;
        this.expressions = expressions;
        this.frames = new RandomFrames(chance);
    }

    Dual next() {
        return switch (chance.below(6)) {
            case 0 -> distinctOn();
            case 1 -> qualified();
            case 2 -> ranked();
            default -> computed();
        };
    }

    private Dual computed() {
        List<Dual> columns = new ArrayList<>(List.of(Dual.same("id")));
        int count = 1 + chance.below(4);
        Dual shared = window();
        for (int column = 0; column < count; column++) {
            columns.add(Dual.of("{} AS w" + column, chance.percent(50) ? call(shared) : call(window())));
        }
        return Dual.of("SELECT {} FROM rel{}", Dual.join(", ", columns), where());
    }

    private Dual where() {
        return chance.percent(60) ? Dual.same("") : Dual.of(" WHERE {}", expressions.condition(1));
    }

    private String partition() {
        return chance.percent(25) ? "" : "PARTITION BY " + chance.of("g", "k", "b", "g, b", "day");
    }

    /** A window whose order is total. */
    private Dual window() {
        String key = chance.of("", "ts, ", "l DESC, ", "i NULLS FIRST, ", "t DESC NULLS LAST, ", "x, ", "w DESC, ");
        return Dual.same("(" + partition() + " ORDER BY " + key + "id");
    }

    private Dual call(Dual window) {
        return switch (chance.below(14)) {
            case 0 -> Dual.of(chance.of("row_number()", "rank()", "dense_rank()") + " OVER {})", window);
            case 1 -> Dual.of(chance.of("percent_rank()", "cume_dist()") + " OVER {})", window);
            case 2 -> Dual.of("CAST(ntile(" + chance.between(1, 5) + ") OVER {}) AS BIGINT)", window);
            case 3 -> neighbour(window);
            case 4 ->
                Dual.of(
                        chance.of("lag", "lead") + "(i, " + chance.of(0, 1, 2, 3, 4, -1, -2) + ", "
                                + chance.of("id", "7") + ") OVER {})",
                        window);
            case 5 ->
                Dual.of(chance.of("first_value", "last_value") + "({}) OVER {}" + frames.rows() + ")", any(), window);
            case 6 ->
                Dual.of("nth_value({}, " + chance.between(1, 3) + ") OVER {}" + frames.rows() + ")", any(), window);
            case 7 -> byValue();
            case 8 -> tied();
            case 10 -> Dual.of("locf({}) OVER {})", "last_value({} IGNORE NULLS) OVER {})", any(), window);
            case 11 -> average(window);
            case 9 -> Dual.of("string_agg(g, '-') OVER {}" + frames.rows() + ")", window);
            default -> Dual.of("{} OVER {}" + frames.any() + ")", aggregate(), window);
        };
    }

    private Dual neighbour(Dual window) {
        String function = chance.of("lag", "lead");
        return chance.percent(70)
                ? Dual.of(function + "({}) OVER {})", any(), window)
                : Dual.of(
                        function + "({}, 2) IGNORE NULLS OVER {})",
                        function + "({}, 2 IGNORE NULLS) OVER {})",
                        any(),
                        window);
    }

    /** The oracle folds the values so far. */
    private Dual average(Dual window) {
        String value = chance.of("i", "d", "k");
        String share = chance.of("0.5", "0.125", "1");
        return Dual.of(
                "ema(" + value + ", " + share + ") OVER {})",
                "list_reduce(list(CAST(" + value + " AS DOUBLE)) FILTER (WHERE " + value
                        + " IS NOT NULL) OVER {}), lambda a, x: a + " + share + " * (x - a))",
                window);
    }

    private Dual any() {
        return Dual.same(chance.of("i", "l", "n", "d", "t", "ts", "b", "day", "g"));
    }

    private Dual aggregate() {
        Dual call = Dual.same(chance.of(
                "count(*)",
                "count(i)",
                "sum(i)",
                "sum(l)",
                "sum(d)",
                "sum(n)",
                "sum(w)",
                "max(w)",
                "avg(i)",
                "avg(d)",
                "min(i)",
                "max(t)",
                "min(ts)",
                "max(n)",
                "max(x)",
                "min(d)",
                "bool_and(b)",
                "bool_or(b)",
                "var_pop(i)",
                "stddev_samp(i)"));
        return chance.percent(20) ? Dual.of("{} FILTER (WHERE {})", call, expressions.condition(1)) : call;
    }

    /** A frame by distance in one key, which may tie. */
    private Dual byValue() {
        String direction = chance.of("", " DESC");
        if (chance.percent(50)) {
            String bounds = chance.of(
                    "BETWEEN INTERVAL '2 seconds' PRECEDING AND CURRENT ROW",
                    "BETWEEN INTERVAL '1 minute' PRECEDING AND INTERVAL '1 second' FOLLOWING",
                    "BETWEEN CURRENT ROW AND INTERVAL '10 seconds' FOLLOWING",
                    "BETWEEN UNBOUNDED PRECEDING AND INTERVAL '1 second' PRECEDING",
                    "BETWEEN INTERVAL '3 seconds' FOLLOWING AND INTERVAL '9 seconds' FOLLOWING");
            return Dual.of(
                    "{} OVER (" + partition() + " ORDER BY ts" + direction + " RANGE " + bounds + frames.exclusion()
                            + ")",
                    exact());
        }
        String bounds = chance.of(
                "BETWEEN 2 PRECEDING AND 2 FOLLOWING",
                "BETWEEN 5 PRECEDING AND CURRENT ROW",
                "UNBOUNDED PRECEDING",
                "BETWEEN 9 PRECEDING AND 1 PRECEDING",
                "BETWEEN 1 FOLLOWING AND 9 FOLLOWING");
        return Dual.of(
                "{} OVER (" + partition() + " ORDER BY " + chance.of("i", "id", "k") + direction + " RANGE " + bounds
                        + frames.exclusion() + ")",
                exact());
    }

    /** Peers count: rank functions and frames that end with ties. */
    private Dual tied() {
        String window = "(" + partition() + " ORDER BY " + chance.of("k", "g DESC", "b", "day, k");
        return switch (chance.below(4)) {
            case 0, 1 ->
                Dual.same(
                        chance.of("rank()", "dense_rank()", "percent_rank()", "cume_dist()") + " OVER " + window + ")");
            case 2 -> Dual.of("{} OVER " + window + frames.groups() + ")", exact());
            default -> Dual.of("{} OVER " + window + ")", exact());
        };
    }

    /** Aggregates whose value does not depend on the order of ties. */
    private Dual exact() {
        return Dual.same(chance.of("count(*)", "sum(i)", "max(l)", "min(t)", "avg(n)", "sum(d)"));
    }

    private Dual distinctOn() {
        String keys = chance.of("g", "k", "g, b");
        return Dual.same("SELECT DISTINCT ON (" + keys + ") " + keys + ", id, i FROM rel ORDER BY " + keys
                + chance.of(", ts", ", i DESC", "") + ", id" + chance.of("", " DESC"));
    }

    private Dual qualified() {
        String function = chance.of("row_number()", "rank()", "dense_rank()");
        return Dual.same("SELECT id, g, i FROM rel QUALIFY " + function + " OVER (PARTITION BY g ORDER BY "
                + chance.of("i", "k", "day DESC") + (function.equals("row_number()") ? ", id" : "") + ") <= "
                + chance.between(1, 3));
    }

    private Dual ranked() {
        return Dual.same("SELECT * FROM (SELECT id, g, " + chance.of("rank()", "dense_rank()")
                + " OVER (PARTITION BY " + chance.of("g", "b") + " ORDER BY "
                + chance.of("k DESC", "day", "i NULLS FIRST")
                + ") AS place FROM rel) AS ranked WHERE place <= " + chance.between(1, 4));
    }
}
