package dev.millrace.server.differential;

import java.util.List;
import java.util.Optional;

/**
 * Random scalar expressions over the columns of {@link RandomRows}, of a wanted type, exact in both systems: they may be
 * compared, grouped and filtered by. Nothing here overflows or divides by zero.
 */
final class RandomExpressions {
    private static final Kind[] COMPARABLE = {
        Kind.INTEGER, Kind.BIGINT, Kind.NUMERIC, Kind.DOUBLE, Kind.TEXT, Kind.TIMESTAMP, Kind.DATE
    };

    private static final Kind[] COMPUTABLE = {
        Kind.INTEGER, Kind.BIGINT, Kind.NUMERIC, Kind.DOUBLE, Kind.TEXT, Kind.BOOLEAN, Kind.TIMESTAMP, Kind.DATE
    };

    private final Chance chance;
    private final Optional<Scope> scope;

    /** Over the columns of {@link RandomRows} by their bare names. */
    RandomExpressions(Chance chance) {
        this(chance, Optional.empty());
    }

    RandomExpressions(Chance chance, Scope scope) {
        this(chance, Optional.of(scope));
    }

    private RandomExpressions(Chance chance, Optional<Scope> scope) {
        this.chance = chance;
        this.scope = scope;
    }

    /** An expression of any type. */
    Dual any(int depth) {
        return of(chance.of(COMPUTABLE), depth);
    }

    Dual of(Kind kind, int depth) {
        if (RandomVolatile.isWanted(chance)) {
            return RandomVolatile.value(chance, of(kind, depth));
        }
        if (depth <= 0 || chance.percent(30)) {
            return leaf(kind);
        }
        if (chance.percent(15)) {
            return general(kind, depth - 1);
        }
        return switch (kind) {
            case INTEGER -> integer(depth - 1);
            case BIGINT -> bigint(depth - 1);
            case NUMERIC -> numeric(depth - 1);
            case DOUBLE -> real(depth - 1);
            case TEXT -> text(depth - 1);
            case BOOLEAN -> condition(depth);
            case TIMESTAMP -> timestamp(depth - 1);
            case DATE -> date(depth - 1);
            case OTHER -> throw new IllegalArgumentException("nothing computes " + kind);
        };
    }

    private Dual leaf(Kind kind) {
        return chance.percent(20) ? constant(kind) : column(kind);
    }

    /** A column by itself. */
    Dual column(Kind kind) {
        if (scope.isPresent()) {
            return scope.get().any(kind, chance).orElseGet(() -> constant(kind));
        }
        return Dual.same(
                switch (kind) {
                    case INTEGER -> chance.of("i", "i", "k");
                    case BIGINT -> chance.of("l", "l", "id");
                    case NUMERIC -> "n";
                    case DOUBLE -> chance.of("d", "r");
                    case TEXT -> chance.of("g", "t");
                    case BOOLEAN -> "b";
                    case TIMESTAMP -> "ts";
                    case DATE -> "day";
                    case OTHER -> throw new IllegalArgumentException("no column of " + kind);
                });
    }

    private Dual constant(Kind kind) {
        return Dual.same(
                switch (kind) {
                    case INTEGER -> number(-9, 99);
                    case BIGINT -> "CAST(" + number(-9, 999) + " AS BIGINT)";
                    case NUMERIC -> chance.of("0.5", "1.25", "-7.75", "100.00");
                    case DOUBLE -> "CAST(" + chance.of("0.25", "-3.5", "12") + " AS DOUBLE PRECISION)";
                    case TEXT -> chance.of("'a'", "'b'", "''", "'apple'", "'it''s'");
                    case BOOLEAN -> chance.of("true", "false");
                    case TIMESTAMP -> "TIMESTAMP '2023-11-14 22:13:20'";
                    case DATE -> "DATE '2022-01-13'";
                    case OTHER -> throw new IllegalArgumentException("no constant of " + kind);
                });
    }

    private String number(int from, int to) {
        int number = chance.between(from, to);
        return number < 0 ? "(" + number + ")" : Integer.toString(number);
    }

    /** What there is for every type. */
    private Dual general(Kind kind, int depth) {
        return switch (chance.below(5)) {
            case 0 ->
                Dual.of(
                        "CASE WHEN {} THEN {} WHEN {} THEN {} ELSE {} END",
                        condition(depth),
                        of(kind, depth),
                        condition(depth),
                        of(kind, depth),
                        of(kind, depth));
            case 1 -> Dual.of("CASE WHEN {} THEN {} END", condition(depth), of(kind, depth));
            case 2 -> Dual.of("coalesce({}, {})", of(kind, depth), of(kind, depth));
            case 3 -> Dual.of("nullif({}, {})", of(kind, depth), of(kind, depth));
            default ->
                kind == Kind.BOOLEAN
                        ? condition(depth)
                        : Dual.of(chance.of("greatest({}, {})", "least({}, {})"), of(kind, depth), of(kind, depth));
        };
    }

    private Dual integer(int depth) {
        return switch (chance.below(10)) {
            case 0 -> Dual.of("({} + {})", of(Kind.INTEGER, depth), of(Kind.INTEGER, depth));
            case 1 -> Dual.of("({} - {})", of(Kind.INTEGER, depth), of(Kind.INTEGER, depth));
            case 2 -> Dual.of("({} * {})", of(Kind.INTEGER, 0), Dual.same(number(-5, 5)));
            case 3 -> Dual.of("({} / {})", "({} // {})", of(Kind.INTEGER, depth), Dual.same(number(1, 9)));
            case 4 -> Dual.of("({} % {})", of(Kind.INTEGER, depth), Dual.same(number(2, 9)));
            case 5 -> Dual.of("abs({})", of(Kind.INTEGER, depth));
            case 6 -> Dual.of("(- {})", of(Kind.INTEGER, depth));
            case 7 -> Dual.of("CAST(length({}) AS INTEGER)", of(Kind.TEXT, depth));
            case 8 ->
                Dual.of("({} / nullif({}, 0))", "({} // nullif({}, 0))", of(Kind.INTEGER, depth), column(Kind.INTEGER));
            default ->
                Dual.of(
                        "CAST(extract(" + chance.of("hour", "minute", "second", "dow", "doy", "year", "month")
                                + " FROM {}) AS INTEGER)",
                        truncatedTime());
        };
    }

    /** Whole seconds, so that a cast to INTEGER has nothing to round. */
    private Dual truncatedTime() {
        return Dual.of(
                "date_trunc('" + chance.of("second", "minute", "hour", "day") + "', {})", column(Kind.TIMESTAMP));
    }

    private Dual bigint(int depth) {
        return switch (chance.below(6)) {
            case 0 -> Dual.of("({} + {})", of(Kind.BIGINT, depth), of(Kind.INTEGER, depth));
            case 1 -> Dual.of("({} - {})", of(Kind.BIGINT, depth), of(Kind.BIGINT, depth));
            case 2 -> Dual.of("({} * {})", of(Kind.BIGINT, 0), Dual.same(number(-7, 7)));
            case 3 -> Dual.of("({} / {})", "({} // {})", of(Kind.BIGINT, depth), Dual.same(number(1, 1000)));
            case 4 -> Dual.of("mod({}, {})", of(Kind.BIGINT, depth), Dual.same(number(2, 9)));
            default -> Dual.of("CAST({} AS BIGINT)", of(Kind.INTEGER, depth));
        };
    }

    private Dual numeric(int depth) {
        return switch (chance.below(7)) {
            case 0 -> Dual.of("({} + {})", of(Kind.NUMERIC, depth), of(Kind.NUMERIC, depth));
            case 1 -> Dual.of("({} - {})", of(Kind.NUMERIC, depth), of(Kind.INTEGER, depth));
            case 2 -> Dual.of("({} * {})", leaf(Kind.NUMERIC), Dual.same(chance.of("1.5", "-0.25", "3")));
            case 3 -> Dual.of("abs({})", of(Kind.NUMERIC, depth));
            case 4 -> Dual.of(chance.of("round({}, 1)", "round({})"), leaf(Kind.NUMERIC));
            case 5 -> Dual.of(chance.of("floor({})", "ceil({})"), leaf(Kind.NUMERIC));
            default -> Dual.of("CAST({} AS NUMERIC(14, 3))", of(Kind.INTEGER, depth));
        };
    }

    /** Multiples of small powers of two stay exact. */
    private Dual real(int depth) {
        return switch (chance.below(7)) {
            case 0 -> Dual.of("({} + {})", of(Kind.DOUBLE, depth), leaf(Kind.DOUBLE));
            case 1 -> Dual.of("({} - {})", of(Kind.DOUBLE, depth), of(Kind.DOUBLE, depth));
            case 2 -> Dual.of("({} * {})", leaf(Kind.DOUBLE), Dual.same(number(-5, 5)));
            case 3 -> Dual.of("({} / 4)", leaf(Kind.DOUBLE));
            case 4 -> Dual.of("abs({})", of(Kind.DOUBLE, depth));
            case 5 -> Dual.of(chance.of("floor({})", "ceil({})"), of(Kind.DOUBLE, depth));
            default -> Dual.of("CAST({} AS DOUBLE PRECISION)", of(Kind.INTEGER, depth));
        };
    }

    private Dual text(int depth) {
        return switch (chance.below(12)) {
            case 0 -> // DuckDB takes it for an integer where it is always NULL
                Dual.of("({} || {})", "CAST({} || {} AS VARCHAR)", of(Kind.TEXT, depth), of(Kind.TEXT, depth));
            case 1 -> Dual.of(chance.of("upper({})", "lower({})"), of(Kind.TEXT, depth));
            case 2 -> Dual.of("substring({} FROM {} FOR {})", of(Kind.TEXT, depth), small(), small());
            case 3 -> Dual.of(chance.of("left({}, {})", "right({}, {})"), of(Kind.TEXT, depth), small());
            case 4 -> Dual.of("replace({}, 'a', {})", of(Kind.TEXT, depth), leaf(Kind.TEXT));
            case 5 -> Dual.of("concat({}, {})", of(Kind.TEXT, depth), of(Kind.TEXT, depth));
            case 6 -> Dual.of("trim({})", of(Kind.TEXT, depth));
            case 7 -> Dual.of("split_part({}, '/', {})", of(Kind.TEXT, depth), small());
            case 8 -> Dual.of("reverse({})", leaf(Kind.TEXT));
            case 9 -> Dual.of("CAST({} AS TEXT)", of(chance.of(Kind.INTEGER, Kind.BIGINT, Kind.DATE), depth));
            case 10 -> Dual.of("lpad({}, {}, '*')", of(Kind.TEXT, depth), small());
            default -> Dual.of("md5({})", of(Kind.TEXT, depth));
        };
    }

    private Dual small() {
        return Dual.same(Integer.toString(chance.between(1, 4)));
    }

    private Dual timestamp(int depth) {
        return switch (chance.below(3)) {
            case 0 ->
                Dual.of(
                        "date_trunc('" + chance.of("second", "minute", "hour", "day") + "', {})",
                        of(Kind.TIMESTAMP, depth));
            case 1 ->
                Dual.of("({} + INTERVAL '" + chance.of("90 seconds", "3 days", "1 month") + "')", leaf(Kind.TIMESTAMP));
            default -> Dual.of("({} - INTERVAL '" + chance.of("1 hour", "1 day") + "')", leaf(Kind.TIMESTAMP));
        };
    }

    private Dual date(int depth) {
        return switch (chance.below(2)) {
            case 0 -> Dual.of("({} + {})", leaf(Kind.DATE), small());
            default -> Dual.of("CAST({} AS DATE)", of(Kind.TIMESTAMP, depth));
        };
    }

    /** A BOOLEAN expression. */
    Dual condition(int depth) {
        if (RandomVolatile.isWanted(chance)) {
            return RandomVolatile.condition(chance, condition(depth));
        }
        if (depth <= 0) {
            return comparison(0);
        }
        return switch (chance.below(9)) {
            case 0 -> Dual.of("({} AND {})", condition(depth - 1), condition(depth - 1));
            case 1 -> Dual.of("({} OR {})", condition(depth - 1), condition(depth - 1));
            case 2 -> Dual.of("(NOT {})", condition(depth - 1));
            case 3 -> Dual.of("({} IS " + chance.of("", "NOT ") + "NULL)", any(depth - 1));
            case 4 -> {
                Kind kind = chance.of(Kind.INTEGER, Kind.TEXT);
                yield Dual.of(
                        "({} " + chance.of("", "NOT ") + "IN ({}, {}, {}))",
                        of(kind, depth - 1),
                        literal(kind),
                        literal(kind),
                        literal(kind));
            }
            case 5 -> {
                Kind kind = chance.of(COMPARABLE);
                // One stream's time between two of another's would be an interval join, which drops late rows:
                // RandomTimes has those.
                Dual last = kind == Kind.TIMESTAMP ? Dual.of("TIMESTAMP '2023-11-14 22:14:20'") : of(kind, 0);
                yield Dual.of("({} BETWEEN {} AND {})", of(kind, depth - 1), of(kind, 0), last);
            }
            case 6 ->
                Dual.of(
                        "({} " + chance.of("", "NOT ") + "LIKE " + chance.of("'a%'", "'%a_'", "'%/%'", "'_'", "''")
                                + ")",
                        of(Kind.TEXT, depth - 1));
            case 7 -> {
                Kind kind = chance.of(COMPARABLE);
                yield Dual.of(
                        "({} IS " + chance.of("", "NOT ") + "DISTINCT FROM {})",
                        of(kind, depth - 1),
                        of(kind, depth - 1));
            }
            default -> comparison(depth - 1);
        };
    }

    private Dual literal(Kind kind) {
        return Dual.same(kind == Kind.INTEGER ? number(-9, 30) : chance.of("'a'", "'b'", "'ü'", "''", "'apple'"));
    }

    private Dual comparison(int depth) {
        String operator = chance.of("=", "<>", "<", "<=", ">", ">=");
        if (scope.isEmpty() && chance.percent(10)) {
            return Dual.of(
                    "({} " + operator + " {})",
                    Dual.same("x"),
                    Dual.same(chance.of("1.5", "'NaN'::DOUBLE PRECISION", "x", "d")));
        }
        if (scope.isEmpty() && chance.percent(10)) {
            return chance.percent(50)
                    ? Dual.of("(big " + operator + " {})", of(Kind.BIGINT, depth))
                    : Dual.of(
                            "(w " + operator + " {})",
                            Dual.same(chance.of("w", "n", "922337203685477.5808", "-0.0001")));
        }
        Kind kind = chance.of(COMPARABLE);
        return Dual.of("({} " + operator + " {})", of(kind, depth), of(kind, depth));
    }

    /** Columns and expressions with few values, to group by. */
    Dual groupKey() {
        return switch (chance.below(8)) {
            case 0 -> of(chance.of(Kind.TEXT, Kind.BOOLEAN), 1);
            case 1 -> Dual.of("({} % 3)", Dual.same("i"));
            case 2 -> Dual.of("date_trunc('minute', {})", Dual.same("ts"));
            default ->
                Dual.same(chance.of(List.of("k", "g", "g", "b", "day", "x", "(x - x)", "r", "u", "tz", "big", "w")));
        };
    }
}
