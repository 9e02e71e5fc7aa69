package dev.millrace.server.differential;

import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Random queries in which the relation meets itself: joins, subqueries, set operations. */
final class RandomJoins {
    private final Chance chance;
    private final RandomExpressions expressions;

    RandomJoins(Chance chance, RandomExpressions expressions) {
        this.chance = chance;
        this.expressions = expressions;
    }

    Dual next() {
        return switch (chance.below(10)) {
            case 6 -> several();
            case 7 -> ranged();
            case 8 -> using();
            case 0, 1 -> join();
            case 2 -> in();
            case 3 -> exists();
            case 4 -> setOperation();
            default -> scalar();
        };
    }

    /** Equal keys, and sometimes a condition over both sides; no key has so few values that the result explodes. */
    private Dual join() {
        String kind = chance.of("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN");
        String keys = chance.of(
                "a.i = b.i",
                "a.g = b.g AND a.k = b.k",
                "a.day = b.day AND a.b = b.b",
                "a.x = b.x AND a.k = b.k",
                "a.w = b.w AND a.k = b.k");
        String more = chance.of("", "", " AND a.id < b.id", " AND a.n > b.n", " AND a.t <> b.t");
        String where = chance.of("", "", " WHERE a.k > 0", " WHERE b.id IS NULL", " WHERE a.b OR b.b");
        return Dual.of(
                "SELECT a.id, b.id AS other, a.t, b.n FROM {} AS a " + kind + " {} AS b ON " + keys + more + where,
                side(),
                side());
    }

    /** Three or four of one key, mostly, which may become one join; a side with a filter keeps the product small. */
    private Dual several() {
        String[] key = chance.of("g k b", "i", "x i", "w l", "day i").split(" ");
        String left = chance.percent(80) ? "JOIN" : "LEFT JOIN";
        String query = "SELECT a.id, b.id AS other, c.id AS third, c.t FROM {} AS a JOIN {} AS b ON "
                + equal(key, "b", "a")
                + " " + left + " {} AS c ON " + equal(key, "c", chance.of("a", "b"))
                + chance.of("", "", "", " AND c.n > a.n");
        return Dual.of(query + chance.of("", " WHERE a.k > 0"), side(), side(), side());
    }

    /** Few keys, each of so many rows that those of a range are looked for in an order. */
    private Dual ranged() {
        String kind = chance.of("JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "SEMI JOIN", "ANTI JOIN");
        String range = chance.of(
                "b.i BETWEEN a.i - 2 AND a.i + 1",
                "b.l > a.l AND b.l < a.l + 9000",
                "b.n >= a.n AND b.n <= a.n + 90.5",
                "b.d > a.d AND a.d + 5 >= b.d",
                "b.day = a.day AND b.i >= a.i",
                "a.n < b.n AND b.n < a.n + a.k * 100");
        boolean ofLeft = kind.equals("SEMI JOIN") || kind.equals("ANTI JOIN");
        return Dual.of(
                "SELECT a.id, a.k" + (ofLeft ? "" : ", b.id AS other") + " FROM {} AS a " + kind + " {} AS b ON "
                        + chance.of("a.k = b.k", "a.b = b.b", "a.g = b.g") + " AND " + range,
                side(),
                side());
    }

    private Dual using() {
        String kind = chance.of("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN");
        String keys = chance.of("g, k", "i", "day, b");
        return Dual.of(
                "SELECT " + keys + ", a.id, b.id AS other, b.t FROM {} AS a " + kind + " {} AS b USING (" + keys + ")",
                side(),
                side());
    }

    private static String equal(String[] columns, String one, String other) {
        return Stream.of(columns)
                .map(column -> one + "." + column + " = " + other + "." + column)
                .collect(Collectors.joining(" AND "));
    }

    private Dual side() {
        return chance.percent(60)
                ? Dual.same("rel")
                : Dual.of("(SELECT * FROM rel WHERE {})", expressions.condition(1));
    }

    private Dual in() {
        Kind kind = chance.of(Kind.INTEGER, Kind.TEXT, Kind.DATE);
        return Dual.of(
                "SELECT id, g FROM rel WHERE {} " + chance.of("", "NOT ") + "IN (SELECT {} AS e FROM rel WHERE {})",
                expressions.of(kind, 1),
                expressions.of(kind, 1),
                expressions.condition(1));
    }

    private Dual exists() {
        return Dual.same("SELECT id, k FROM rel AS o WHERE " + chance.of("", "NOT ")
                + "EXISTS (SELECT 1 FROM rel AS p WHERE p."
                + chance.of("i = o.i", "g = o.g AND p.k = o.k", "day = o.day")
                + chance.of("", " AND p.id <> o.id", " AND p.n > o.n") + ")");
    }

    private Dual setOperation() {
        String columns = chance.of("k", "g, k", "day, b", "x");
        return Dual.of(
                "SELECT " + columns + " FROM rel WHERE {} " + chance.of("INTERSECT", "EXCEPT") + chance.of("", " ALL")
                        + " SELECT " + columns + " FROM rel WHERE {}",
                expressions.condition(1),
                expressions.condition(1));
    }

    private Dual scalar() {
        return chance.percent(50)
                ? Dual.of(
                        "SELECT id, {} AS e, (SELECT " + chance.of("max(k)", "sum(i)", "min(n)")
                                + " FROM rel) AS whole FROM rel",
                        expressions.any(1))
                : Dual.same("SELECT k, g, count(*) AS n, sum(i) AS s FROM rel GROUP BY "
                        + chance.of("ROLLUP (k, g)", "CUBE (k, g)", "GROUPING SETS ((k, g), (g), ())"));
    }
}
