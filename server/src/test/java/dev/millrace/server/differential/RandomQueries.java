package dev.millrace.server.differential;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/** Random queries of the supported grammar over one relation, called {@code rel} in their texts. */
final class RandomQueries {
    /**
     * A query.
     *
     * @param text with {@code rel} where the relation goes, and {@code beside} for one that goes with it
     * @param windowEnd the position of the column that says when a window ended, for queries that emit at window close
     * @param heldMicros how far behind the watermark that must be
     * @param ordered whether a pull query gives its rows in an order that is the only right one
     * @param kept how it is kept as a view
     */
    record Generated(Dual text, OptionalInt windowEnd, long heldMicros, boolean ordered, Kept kept) {
        Generated(Dual text, OptionalInt windowEnd, long heldMicros, boolean ordered) {
            this(text, windowEnd, heldMicros, ordered, Kept.PLAIN);
        }

        /** A query whose rows come in any order. */
        static Generated of(Dual text) {
            return new Generated(text, OptionalInt.empty(), 0, false);
        }

        /** A query that only a stream's rows can be asked. */
        static Generated ofStream(Dual text) {
            return new Generated(text, OptionalInt.empty(), 0, false, Kept.OVER_STREAM);
        }

        /** The same in another way. */
        Generated kept(Kept how) {
            return new Generated(text, windowEnd, heldMicros, ordered, how);
        }

        /** Our text over a relation. */
        String ours(String relation) {
            return over(text.ours(), relation);
        }

        String duck(String relation) {
            return over(text.duck(), relation);
        }

        boolean isOfTwo() {
            return text.ours().contains("beside AS ");
        }

        private static String over(String text, String relation) {
            String beside = relation.equals(RandomRound.TABLE) ? RandomRound.VIEW : RandomRound.TABLE;
            return text.replaceAll("\\brel\\b", relation).replaceAll("\\bbeside(?= AS )", beside);
        }
    }

    /** How a query is kept as a view. */
    enum Kept {
        PLAIN,
        /** Of streams only. */
        OVER_STREAM,
        /** Late rows correct windows that were shown. */
        LATE_INCLUDED,
        /** Told every so often. */
        PACED,
        /** In two: a view over a view. */
        IN_TWO,
        /** As another query first. */
        ALTERED
    }

    private final Chance chance;
    private final RandomExpressions expressions;
    private final RandomAggregates aggregates;
    private final RandomWindows windows;
    private final RandomJoins joins;
    private final RandomOvers overs;
    private final RandomTimes times;
    private final RandomNested nested;
    private final RandomGaps gaps;

    RandomQueries(Chance chance) {
        this.chance = chance;
        this.expressions = new RandomExpressions(chance);
        this.aggregates = new RandomAggregates(chance, expressions);
        this.windows = new RandomWindows(chance);
        this.joins = new RandomJoins(chance, expressions);
        this.overs = new RandomOvers(chance, expressions);
        this.times = new RandomTimes(chance, windows);
        this.nested = new RandomNested(chance, expressions);
        this.gaps = new RandomGaps(chance, expressions);
    }

    Generated next() {
        return switch (chance.below(30)) {
            case 0, 1 -> plain(filtered());
            case 2 -> plain(Dual.of("SELECT DISTINCT {} FROM {}", keys(1 + chance.below(2)), source()));
            case 3, 4, 5, 6 -> plain(grouped());
            case 7, 8, 9, 10 -> windowed();
            case 11 -> plain(union());
            case 12 -> top();
            case 13 -> plain(rank());
            case 14 -> plain(regrouped());
            case 15, 16, 28 -> plain(joins.next());
            case 17, 18, 19 -> plain(overs.next());
            case 20, 21, 22, 23 -> times.next();
            case 24, 25 -> plain(nested.next());
            case 26 -> corrected();
            case 29 -> plain(gaps.next());
            default -> windowJoin();
        };
    }

    private static Generated plain(Dual text) {
        return Generated.of(text);
    }

    /** The relation, or a filter over it under the same column names. */
    private Dual source() {
        return chance.percent(70)
                ? Dual.same("rel")
                : Dual.of("(SELECT * FROM rel WHERE {}) AS sub", expressions.condition(2));
    }

    private Dual where() {
        return chance.percent(50) ? Dual.same("") : Dual.of(" WHERE {}", expressions.condition(2));
    }

    private Dual filtered() {
        List<Dual> columns = new ArrayList<>(List.of(Dual.same("id")));
        int count = 1 + chance.below(4);
        for (int column = 0; column < count; column++) {
            columns.add(Dual.of("{} AS c" + column, expressions.any(3)));
        }
        if (chance.percent(20)) {
            columns.add(Dual.of("{} / {} AS q", expressions.of(Kind.NUMERIC, 0), Dual.same("7.5")));
            columns.add(Dual.of("sqrt(abs({})) AS root", expressions.of(Kind.DOUBLE, 1)));
        }
        return Dual.of("SELECT {} FROM {}{}", Dual.join(", ", columns), source(), where());
    }

    private Dual keys(int count) {
        List<Dual> keys = new ArrayList<>();
        for (int key = 0; key < count; key++) {
            keys.add(Dual.of("{} AS k" + key, expressions.groupKey()));
        }
        return Dual.join(", ", keys);
    }

    private Dual calls(int count) {
        List<Dual> calls = new ArrayList<>();
        for (int call = 0; call < count; call++) {
            calls.add(Dual.of("{} AS a" + call, aggregates.call()));
        }
        return Dual.join(", ", calls);
    }

    private Dual grouped() {
        int keys = chance.below(3);
        Dual calls = calls(1 + chance.below(4));
        if (keys == 0) {
            return Dual.of("SELECT {} FROM {}{}", calls, source(), where());
        }
        Dual positions = Dual.same(keys == 1 ? "1" : "1, 2");
        Dual having = chance.percent(30)
                ? Dual.of(" HAVING {} " + chance.of(">", "<=", "<>") + " " + chance.between(0, 5), aggregates.exact())
                : Dual.same("");
        return Dual.of(
                "SELECT {}, {} FROM {}{} GROUP BY {}{}", keys(keys), calls, source(), where(), positions, having);
    }

    private Generated windowed() {
        RandomWindows.Window window = windows.next();
        Dual key = window.key().isPresent()
                ? window.key().get()
                : chance.percent(70) ? Dual.same(chance.of("k", "g", "b", "day")) : Dual.same("");
        boolean within = window.isSession() && chance.percent(25);
        if (within) {
            key = key.then(", " + chance.of(key.ours().equals("b") ? "k" : "b", "day"));
        }
        boolean keyed = !key.ours().isEmpty();
        Dual calls = calls(1 + chance.below(3));
        Dual having = chance.percent(15) ? Dual.same(" HAVING count(*) > 1") : Dual.same("");
        Dual keyColumn = keyed ? key.then(", ") : Dual.same("");
        Dual text = Dual.of(
                "SELECT {}window_start, window_end, {} FROM {}{} GROUP BY {}window_start, window_end{}",
                keyColumn,
                calls,
                window.relation(),
                window.isSession() ? Dual.same("") : where(),
                keyColumn,
                having);
        return within
                ? Generated.of(ofAllRows(text)) // groups within sessions do not wait for the sessions' end
                : new Generated(text, OptionalInt.of(keyed ? 2 : 1), window.heldMicros(), false);
    }

    /** Late rows correct the windows: then all rows count. */
    private Generated corrected() {
        Generated query = windowed();
        return Generated.of(ofAllRows(query.text())).kept(Kept.LATE_INCLUDED);
    }

    private static Dual ofAllRows(Dual text) {
        return new Dual(text.ours(), text.duck().replaceAll("\\bwm\\b", RandomRows.EARLIEST));
    }

    private Dual union() {
        String all = chance.of(
                " UNION ALL ", " UNION ALL ", " UNION ", " INTERSECT ", " INTERSECT ALL ", " EXCEPT ", " EXCEPT ALL ");
        return Dual.of(
                "SELECT k AS a, {} AS b FROM rel{}" + all + "SELECT k AS a, {} AS b FROM rel{}",
                expressions.of(Kind.TEXT, 1),
                where(),
                expressions.of(Kind.TEXT, 1),
                where());
    }

    private Dual order() {
        Kind kind = chance.of(Kind.INTEGER, Kind.TEXT, Kind.NUMERIC, Kind.DOUBLE, Kind.TIMESTAMP);
        Dual key = chance.percent(40)
                ? Dual.same(chance.of("x", "big", "w", "b", "t", "t", "g"))
                : Dual.of("coalesce({}, {})", expressions.of(kind, 1), expressions.column(kind));
        return Dual.of("{}" + chance.of("", " DESC", " ASC NULLS FIRST", " DESC NULLS LAST") + ", id", key);
    }

    private Generated top() {
        String offset = chance.percent(30) ? " OFFSET " + chance.below(4) : "";
        Dual text = Dual.of(
                "SELECT id, k, g, {} AS e FROM rel{} ORDER BY {} LIMIT " + chance.of(1, 2, 3, 5, 8, 12, 40, 90)
                        + offset,
                expressions.any(1),
                where(),
                order());
        return new Generated(text, OptionalInt.empty(), 0, true);
    }

    private Dual rank() {
        return Dual.of(
                "SELECT id, p, e, pos FROM (SELECT id, {} AS p, {} AS e, row_number() OVER (PARTITION BY {} ORDER BY {}) AS pos"
                        + " FROM rel) AS ranked WHERE pos <= " + chance.of(1, 2, 3, 20),
                Dual.same("g"),
                expressions.any(1),
                Dual.same("g"),
                order());
    }

    private Dual regrouped() {
        Dual inner = Dual.of(
                "SELECT {} AS p, count(*) AS c, sum(i) AS s, max(l) AS m FROM rel{} GROUP BY 1",
                expressions.groupKey(),
                where());
        return switch (chance.below(3)) {
            case 0 -> Dual.of("SELECT count(*) AS n, sum(c) AS c, max(s) AS s, min(m) AS m FROM ({}) AS sub", inner);
            case 1 ->
                Dual.of(
                        "SELECT c, count(*) AS n, sum(s) AS s, count(DISTINCT m) AS m FROM ({}) AS sub GROUP BY c",
                        inner);
            default -> Dual.of("SELECT p, c + 1 AS c, s FROM ({}) AS sub WHERE c > 1 OR s > 10", inner);
        };
    }

    /** Groups of a window with the window's own maximum, as q5 and q7 have it. */
    private Generated windowJoin() {
        RandomWindows.Window window = windows.nextAligned();
        Dual text = Dual.of(
                "SELECT a.g, a.c, a.e FROM"
                        + " (SELECT g, window_start AS s, window_end AS e, count(*) AS c FROM {}"
                        + " GROUP BY g, window_start, window_end) AS a"
                        + " JOIN (SELECT max(c) AS m, s, e FROM (SELECT window_start AS s, window_end AS e, count(*) AS c FROM {}"
                        + " GROUP BY g, window_start, window_end) AS c GROUP BY s, e) AS b"
                        + " ON a.s = b.s AND a.e = b.e AND a.c >= b.m",
                window.relation(),
                window.relation());
        return new Generated(text, OptionalInt.of(2), window.heldMicros(), false);
    }
}
