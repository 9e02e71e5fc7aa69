package dev.millrace.server.differential;

/** Random aggregate calls over the columns of {@link RandomRows}. */
final class RandomAggregates {
    private final Chance chance;
    private final RandomExpressions expressions;

    RandomAggregates(Chance chance, RandomExpressions expressions) {
        this.chance = chance;
        this.expressions = expressions;
    }

    /** A call, sometimes with FILTER. */
    Dual call() {
        if (chance.percent(6)) {
            return ratio();
        }
        Dual call = bare();
        return chance.percent(20) ? Dual.of("{} FILTER (WHERE {})", call, expressions.condition(1)) : call;
    }

    /** A call whose value is exact, to filter by in HAVING. */
    Dual exact() {
        return switch (chance.below(4)) {
            case 0 -> Dual.same("count(*)");
            case 1 -> Dual.same("sum(i)");
            case 2 -> Dual.same("max(l)");
            default -> Dual.same("count(DISTINCT k)");
        };
    }

    private Dual bare() {
        return switch (chance.below(17)) {
            case 0 -> Dual.same("count(*)");
            case 1 -> Dual.of("count({})", expressions.any(1));
            case 2 -> Dual.of("count(DISTINCT {})", expressions.groupKey());
            case 3, 4 -> Dual.of("sum({})", chance.percent(10) ? Dual.same("w") : number());
            case 5 -> Dual.of("avg({})", number());
            case 6, 7 -> Dual.of(chance.of("min({})", "max({})"), ordered());
            case 8 ->
                Dual.of(chance.of("stddev_samp({})", "stddev_pop({})", "var_samp({})", "var_pop({})"), plainNumber());
            case 9 -> Dual.of(chance.of("bool_and({})", "bool_or({})"), expressions.condition(1));
            case 10 -> Dual.of("string_agg({}, ',' ORDER BY id)", expressions.of(Kind.TEXT, 1));
            case 11 ->
                Dual.of(
                        "array_agg({} ORDER BY id)",
                        expressions.of(chance.of(Kind.INTEGER, Kind.TEXT, Kind.BIGINT), 1));
            case 12 -> {
                String fraction = chance.of("0.5", "0.25", "0.9", "0", "1");
                yield Dual.of(
                        "percentile_cont(" + fraction + ") WITHIN GROUP (ORDER BY {})",
                        "quantile_cont(CAST({} AS DOUBLE), " + fraction + ")",
                        plainNumber());
            }
            case 13 -> {
                String fraction = chance.of("0.5", "0.1", "0.99");
                yield Dual.of(
                        "percentile_disc(" + fraction + ") WITHIN GROUP (ORDER BY {})",
                        chance.percent(50) ? plainNumber() : Dual.same("ts"));
            }
            case 14 -> Dual.of("first({}, id)", "arg_min({}, id)", expressions.any(1));
            case 15 ->
                Dual.same(chance.of(
                        "arg_max(t, id)",
                        "arg_min(n, id)",
                        "first(g ORDER BY ts, id)",
                        "last(i ORDER BY l, id)",
                        "string_agg(DISTINCT g, '+' ORDER BY g)",
                        "array_agg(DISTINCT k ORDER BY k)",
                        "regr_count(i, k)"));
            default -> Dual.of("sum(DISTINCT {})", Dual.same(chance.of("i", "k", "l", "n", "d", "w")));
        };
    }

    /** The sum of INTEGERs is a BIGINT and divides as one, that of BIGINTs is a NUMERIC. */
    private Dual ratio() {
        return chance.percent(50)
                ? Dual.of(
                        "sum({}) / nullif(count({}), 0)",
                        "sum({}) // nullif(count({}), 0)",
                        Dual.same("i"),
                        Dual.same("i"))
                : Dual.of("sum({}) / nullif(count({}), 0)", Dual.same("l"), Dual.same("l"));
    }

    private Dual number() {
        return expressions.of(chance.of(Kind.INTEGER, Kind.BIGINT, Kind.NUMERIC, Kind.DOUBLE), 1);
    }

    private Dual plainNumber() {
        return Dual.same(chance.of("i", "k", "l", "d", "n"));
    }

    private Dual ordered() {
        return chance.percent(40)
                ? Dual.same(chance.of("x", "big", "day", "ts", "tz", "tm", "t", "n", "w", "u"))
                : expressions.of(
                        chance.of(Kind.INTEGER, Kind.BIGINT, Kind.NUMERIC, Kind.DOUBLE, Kind.TEXT, Kind.TIMESTAMP), 1);
    }
}
