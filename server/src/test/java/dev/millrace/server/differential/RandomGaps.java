package dev.millrace.server.differential;

/** Random groups of buckets in which those without rows are there, too; the oracle has a series per key and looks up the groups around. */
final class RandomGaps {
    private static final String NO_KEY = "'none'";

    private final Chance chance;
    private final RandomExpressions expressions;

    RandomGaps(Chance chance, RandomExpressions expressions) {
        this.chance = chance;
        this.expressions = expressions;
    }

    Dual next() {
        String width = "INTERVAL '" + chance.of("10 seconds", "1 minute", "7 minutes", "1 hour", "1 month") + "'";
        String key = chance.of("k", "g", "b");
        String filled = chance.of("sum(i)", "sum(l)", "count(*)", "max(id)", "min(d)", "count(DISTINCT k)");
        String plain = chance.of("count(*)", "sum(n)", "max(t)", "min(x)");
        String between = chance.of("avg(i)", "sum(d)", "min(d)", "avg(d)");
        Dual where = chance.percent(60) ? Dual.same("") : Dual.of(" WHERE {}", expressions.condition(1));
        String having = chance.percent(20) ? " HAVING count(*) > 1" : "";
        Dual groups = Dual.of(
                "SELECT time_bucket(" + width + ", ts) AS b, " + key + " AS key, coalesce(CAST(" + key + " AS TEXT), "
                        + NO_KEY + ") AS kk, " + filled + " AS f, " + plain + " AS p, " + between
                        + " AS i FROM rel{} GROUP BY ALL" + having,
                where);
        Dual ours = Dual.of(
                "SELECT time_bucket_gapfill(" + width + ", ts) AS bucket, " + key + " AS key, locf(" + filled
                        + ") AS f, " + plain + " AS p, interpolate(" + between + ") AS i FROM rel{} GROUP BY bucket, "
                        + key + having,
                where);
        String duck = "WITH groups AS (" + groups.duck()
                + "), grid AS (SELECT kk, any_value(key) AS key, unnest(generate_series(min(b), max(b), "
                + width
                + ")) AS b FROM groups GROUP BY kk) SELECT grid.b, grid.key, p.f, CASE WHEN grid.b = p.b THEN p.p END, CASE WHEN grid.b = p.b"
                + " THEN p.i ELSE p.i + (n.i - p.i) * epoch(grid.b - p.b) / epoch(n.b - p.b) END FROM grid ASOF JOIN groups AS p ON grid.kk = p.kk"
                + " AND grid.b >= p.b ASOF JOIN groups AS n ON grid.kk = n.kk AND grid.b <= n.b";
        return new Dual(ours.ours(), duck);
    }
}
