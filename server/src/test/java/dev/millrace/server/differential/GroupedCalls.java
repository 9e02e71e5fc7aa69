package dev.millrace.server.differential;

import dev.millrace.server.differential.Scope.Column;
import java.util.List;

/** Random aggregate calls over a scope, all exact, so that queries above may compare what they give. */
final class GroupedCalls {
    private final Chance chance;
    private final Scope scope;
    private final RandomExpressions expressions;

    GroupedCalls(Chance chance, Scope scope) {
        this.chance = chance;
        this.scope = scope;
        this.expressions = new RandomExpressions(chance, scope);
    }

    /** A call, and as the last of {@code columns} what it gives. */
    Dual next(String name, List<Column> columns) {
        Dual call = bare(name, columns);
        return chance.percent(15) ? Dual.of("{} FILTER (WHERE {})", call, expressions.condition(1)) : call;
    }

    private Dual bare(String name, List<Column> columns) {
        Column any = chance.of(scope.columns());
        List<Column> numbers = scope.numbers();
        switch (chance.below(7)) {
            case 0 -> {
                columns.add(new Column(name, Kind.BIGINT, 20, true));
                return Dual.same("count(*)");
            }
            case 1 -> {
                columns.add(new Column(name, Kind.BIGINT, 20, true));
                return Dual.same("count(" + chance.of("", "DISTINCT ") + any.name() + ")");
            }
            case 2 -> {
                Dual text = Dual.of("concat({})", expressions.of(Kind.TEXT, 1)); // DuckDB does not sort by a constant
                columns.add(new Column(name, Kind.TEXT, 50, true));
                return Dual.of("string_agg({}, ',' ORDER BY {})", text, text);
            }
            case 3 -> {
                columns.add(new Column(name, Kind.BOOLEAN, 2, true));
                return Dual.of(chance.of("bool_and({})", "bool_or({})"), expressions.condition(1));
            }
            case 4 -> {
                Dual number = numbers.isEmpty()
                        ? Dual.same("1")
                        : Dual.same(chance.of(numbers).name());
                columns.add(new Column(name, Kind.OTHER, 50, false));
                return Dual.of("sum(" + chance.of("", "", "DISTINCT ") + "{})", number);
            }
            default -> {
                // falls to the extremes
            }
        }
        boolean hasExtremes = any.kind() != Kind.BOOLEAN && any.kind() != Kind.OTHER;
        columns.add(
                hasExtremes
                        ? new Column(name, any.kind(), any.values(), any.plain())
                        : new Column(name, Kind.BIGINT, 20, true));
        return Dual.same((hasExtremes ? chance.of("max", "min") : "count") + "(" + any.name() + ")");
    }

    /** For HAVING. */
    Dual condition() {
        List<Column> numbers = scope.numbers();
        String call = numbers.isEmpty() || chance.percent(50)
                ? "count(*)"
                : chance.of("max", "min") + "(" + chance.of(numbers).name() + ")";
        String compared = call + chance.of(" > ", " <= ", " <> ");
        return chance.percent(20) ? Dual.same(compared).then(scalar()) : Dual.same(compared + chance.between(0, 4));
    }

    /** A number of rows that nobody else reads, with a division over none of them. */
    private Dual scalar() {
        String rows = chance.of("", " WHERE of_all.k = 1", " WHERE of_all.id < 0", " WHERE of_all.g IS NULL");
        String divided = "(SELECT count(*) {} NULLIF(count(DISTINCT of_all.k), 0) FROM rel AS of_all" + rows + ")";
        return new Dual(divided.replace("{}", "/"), divided.replace("{}", "//"));
    }
}
