package dev.millrace.server.differential;

/** Random queries with arrays, JSONB and what FROM makes of them: UNNEST, series, LATERAL subqueries. */
final class RandomNested {
    private final Chance chance;
    private final RandomExpressions expressions;

    RandomNested(Chance chance, RandomExpressions expressions) {
        this.chance = chance;
        this.expressions = expressions;
    }

    Dual next() {
        return switch (chance.below(5)) {
            case 0 -> unnest();
            case 1 -> series();
            case 2 -> lateral();
            case 3 -> arrays();
            default -> json();
        };
    }

    private Dual where() {
        return chance.percent(50) ? Dual.same("") : Dual.of(" WHERE {}", expressions.condition(1));
    }

    private Dual numbers() {
        Dual three = Dual.of(
                "{}, {}, {}",
                expressions.of(Kind.INTEGER, 1),
                expressions.column(Kind.INTEGER),
                Dual.same(Integer.toString(chance.between(0, 9))));
        return Dual.of("ARRAY[{}]", "[{}]", three);
    }

    private Dual unnest() {
        Dual from = Dual.of("rel, unnest({}) AS u(v)", numbers());
        return chance.percent(50)
                ? Dual.of("SELECT id, v FROM {}{}", from, where())
                : Dual.of("SELECT v, count(*) AS n, sum(l) AS s FROM {}{} GROUP BY v", from, where());
    }

    private Dual series() {
        int step = chance.of(1, 1, 2);
        String series = "generate_series(" + chance.of("1, k", "k, 3", "k - 1, k + 1") + ", " + step + ")";
        return Dual.of(
                "SELECT id, k, v FROM rel, " + series + " AS s(v){}",
                "SELECT id, k, v FROM rel, unnest(" + series + ") AS s(v){}",
                where());
    }

    private Dual lateral() {
        String call = chance.of("max(p.i)", "count(*)", "sum(p.l)", "min(p.ts)");
        String key = chance.of("p.g = o.g", "p.k = o.k AND p.b = o.b", "p.day = o.day");
        String more = chance.of("", " AND p.i > 0", " AND p.n IS NOT NULL");
        return Dual.same("SELECT o.id, q.m FROM rel AS o " + chance.of("LEFT JOIN LATERAL", "JOIN LATERAL")
                + " (SELECT " + call + " AS m FROM rel AS p WHERE " + key + more + ") AS q ON true");
    }

    private Dual arrays() {
        Dual numbers = numbers();
        String at = Integer.toString(chance.between(1, 4));
        return Dual.of(
                "SELECT id, ({})[" + at + "] AS e, {} AS c FROM rel{}",
                numbers,
                switch (chance.below(4)) {
                    case 0 -> Dual.of("cardinality({})", "CAST(len({}) AS INTEGER)", numbers);
                    case 1 -> Dual.of("coalesce(i = ANY({}), false)", "coalesce(list_contains({}, i), false)", numbers);
                    case 2 -> Dual.of("array_to_string({}, '-')", numbers);
                    default -> Dual.of("array_position({}, 7)", "CAST(list_position({}, 7) AS INTEGER)", numbers);
                },
                where());
    }

    private Dual json() {
        Dual object = Dual.of(
                "jsonb_build_object('a', {}, 'b', {})",
                "json_object('a', {}, 'b', {})",
                expressions.of(Kind.INTEGER, 1),
                expressions.column(Kind.TEXT));
        Dual value = chance.percent(50)
                ? Dual.of("CAST({} ->> 'a' AS INTEGER)", "CAST({} ->> '$.a' AS INTEGER)", object)
                : Dual.of("({} ->> 'b')", "({} ->> '$.b')", object);
        return chance.percent(50)
                ? Dual.of("SELECT id, {} AS e FROM rel{}", value, where())
                : Dual.of("SELECT {} AS e, count(*) AS n FROM rel{} GROUP BY 1", value, where());
    }
}
