package dev.millrace.server.differential;

import dev.millrace.server.differential.Scope.Column;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Random queries from a grammar: joins up to three deep of relations that are queries again; predicates with IN, EXISTS
 * and scalar subqueries, correlated too ({@link RandomPredicates}); groups with HAVING and grouping sets; DISTINCT, set
 * operations, WITH, the first rows of all and of each partition, aggregates OVER partitions. Every answer is the only
 * right one: what is cut off is sorted by all its columns.
 */
final class RandomGrammar {
    /**
     * A query.
     *
     * @param columns {@code c0}, {@code c1}, ...
     * @param rows about how many
     */
    record Select(Dual text, List<Column> columns, double rows) {
        Scope scope() {
            return new Scope(columns, rows);
        }
    }

    /** Relations joined: what follows FROM, and what it offers. */
    record Relations(Dual text, Scope scope) {}

    private final Chance chance;
    private final RandomPredicates predicates;
    private final RandomFrom froms;
    private final RandomCuts cuts;
    private int aliases;

    RandomGrammar(Chance chance) {
        this.chance = chance;
        this.predicates = new RandomPredicates(chance, this);
        this.froms = new RandomFrom(chance, this, predicates);
        this.cuts = new RandomCuts(chance, this);
    }

    /** A whole query. */
    Dual next() {
        return select(chance.of(1, 2, 2)).text();
    }

    Select select(int depth) {
        if (depth <= 0) {
            return chance.percent(50) ? grouped(0) : filtered(0);
        }
        return switch (chance.below(12)) {
            case 0, 1, 2 -> filtered(depth);
            case 3, 4, 5 -> grouped(depth);
            case 6 -> distinct(depth);
            case 7 -> setOperation(depth);
            case 8, 9 -> cuts.next(depth);
            case 10 -> cuts.over(depth);
            default -> with(depth);
        };
    }

    // ---- FROM

    String alias() {
        return "r" + aliases++;
    }

    Relations relation(int depth) {
        return froms.relation(depth);
    }

    private Relations from(int depth) {
        return froms.next(depth);
    }

    private Dual where(Relations from, int depth) {
        Dual condition = predicates.optional(from, depth);
        return condition.ours().isEmpty() ? condition : Dual.of(" WHERE {}", condition);
    }

    // ---- SELECT

    private static Dual named(List<Dual> expressions) {
        return Dual.join(
                ", ",
                IntStream.range(0, expressions.size())
                        .mapToObj(i -> expressions.get(i).then(" AS c" + i))
                        .toList());
    }

    static String names(int count) {
        return IntStream.range(0, count).mapToObj(i -> "c" + i).collect(Collectors.joining(", "));
    }

    private Select filtered(int depth) {
        Relations from = from(depth);
        RandomExpressions expressions = new RandomExpressions(chance, from.scope());
        List<Dual> selected = new ArrayList<>();
        List<Column> columns = new ArrayList<>();
        for (int i = chance.between(1, 4); i > 0; i--) {
            String name = "c" + columns.size();
            if (chance.percent(30)) {
                Kind kind = chance.of(Kind.INTEGER, Kind.TEXT, Kind.BOOLEAN, Kind.DATE, Kind.NUMERIC);
                selected.add(expressions.of(kind, 2));
                columns.add(new Column(name, kind, 20, true));
            } else {
                Column column = chance.of(from.scope().columns());
                selected.add(Dual.same(column.name()));
                columns.add(new Column(name, column.kind(), column.values(), column.plain()));
            }
        }
        if (depth > 0 && chance.percent(15)) {
            selected.add(predicates.scalar(from));
            columns.add(new Column("c" + columns.size(), Kind.OTHER, 5, false));
        }
        Dual text = Dual.of("SELECT {} FROM {}{}", named(selected), from.text(), where(from, depth));
        return new Select(text, columns, from.scope().rows());
    }

    private Select distinct(int depth) {
        Select select = filtered(depth);
        Dual text = new Dual(
                select.text().ours().replaceFirst("SELECT", "SELECT DISTINCT"),
                select.text().duck().replaceFirst("SELECT", "SELECT DISTINCT"));
        return new Select(text, select.columns(), select.rows());
    }

    private Select grouped(int depth) {
        Relations from = from(depth);
        List<Column> keys = new ArrayList<>();
        for (int i = chance.below(3); i > 0; i--) {
            Column key = chance.of(from.scope().columns());
            if (!keys.contains(key)) {
                keys.add(key);
            }
        }
        GroupedCalls calls = new GroupedCalls(chance, from.scope());
        List<Dual> selected = new ArrayList<>();
        List<Column> columns = new ArrayList<>();
        for (Column key : keys) {
            selected.add(Dual.same(key.name()));
            columns.add(new Column("c" + columns.size(), key.kind(), key.values(), key.plain()));
        }
        for (int i = chance.between(1, 3); i > 0; i--) {
            selected.add(calls.next("c" + columns.size(), columns));
        }
        Dual text = Dual.of(
                "SELECT {} FROM {}{}{}{}",
                named(selected),
                from.text(),
                where(from, depth),
                Dual.same(groupBy(keys.stream().map(Column::name).toList())),
                chance.percent(25) ? Dual.of(" HAVING {}", calls.condition()) : Dual.same(""));
        double groups = keys.stream().mapToDouble(Column::values).reduce(1, (a, b) -> a * b);
        return new Select(text, columns, Math.min(from.scope().rows(), groups));
    }

    private String groupBy(List<String> keys) {
        if (keys.isEmpty()) {
            return "";
        }
        String all = String.join(", ", keys);
        return " GROUP BY "
                + switch (chance.below(10)) {
                    case 5 -> "ROLLUP (" + all + ")";
                    case 6 -> "CUBE (" + all + ")";
                    case 7 -> "GROUPING SETS ((" + all + "), (" + keys.get(0) + "), ())";
                    case 8 ->
                        keys.get(0) + ", ROLLUP (" + String.join(", ", keys.subList(keys.size() - 1, keys.size()))
                                + ")";
                    default -> all;
                };
    }

    /** Of one column of a kind, under a common type so that both sides of a set operation agree. */
    Select ofKind(Kind kind, int depth) {
        Relations from = from(depth);
        Dual value = new RandomExpressions(chance, from.scope()).of(kind, 1);
        Dual text = Dual.of("SELECT {} AS c0 FROM {}{}", common(kind, value), from.text(), where(from, depth));
        return new Select(
                text, List.of(new Column("c0", kind, 20, true)), from.scope().rows());
    }

    private static Dual common(Kind kind, Dual value) {
        return switch (kind) {
            case INTEGER, BIGINT -> Dual.of("CAST({} AS BIGINT)", value);
            case NUMERIC -> Dual.of("CAST({} AS NUMERIC(20, 4))", value);
            default -> value;
        };
    }

    private Select setOperation(int depth) {
        List<Kind> kinds = new ArrayList<>();
        for (int i = chance.between(1, 3); i > 0; i--) {
            kinds.add(chance.of(Kind.INTEGER, Kind.TEXT, Kind.DATE, Kind.BOOLEAN, Kind.NUMERIC));
        }
        List<Column> columns = new ArrayList<>();
        for (Kind kind : kinds) {
            columns.add(new Column("c" + columns.size(), kind, 10, true));
        }
        Select left = side(kinds, columns, depth);
        Select right = side(kinds, columns, depth - 1);
        Dual text = Dual.of("{} " + setOperator() + " {}", left.text(), right.text());
        double rows = left.rows() + right.rows();
        if (chance.percent(20)) {
            Select third = side(kinds, columns, 0);
            String template = chance.of("({}) " + setOperator() + " {}", "{} " + setOperator() + " {}");
            text = chance.percent(30)
                    ? Dual.of("{} " + setOperator() + " ({})", third.text(), text)
                    : Dual.of(template, text, third.text());
            rows += third.rows();
        }
        return new Select(text, columns, rows);
    }

    private String setOperator() {
        return chance.of("UNION ALL", "UNION", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL");
    }

    private Select side(List<Kind> kinds, List<Column> columns, int depth) {
        Relations from = from(depth);
        RandomExpressions expressions = new RandomExpressions(chance, from.scope());
        List<Dual> selected = kinds.stream()
                .map(kind -> common(kind, expressions.of(kind, 1)))
                .toList();
        Dual text = Dual.of("SELECT {} FROM {}{}", named(selected), from.text(), where(from, depth));
        return new Select(text, columns, from.scope().rows());
    }

    /** A named query, read twice. */
    private Select with(int depth) {
        Select inner = select(depth - 1);
        String name = "w" + aliases++;
        Relations left = new Relations(Dual.same(name + " AS l"), inner.scope().under("l"));
        Relations right = chance.percent(50)
                ? new Relations(Dual.same(name + " AS m"), inner.scope().under("m"))
                : froms.base();
        Relations both = froms.join(left, right);
        RandomExpressions expressions = new RandomExpressions(chance, both.scope());
        Column column = chance.of(both.scope().columns());
        Kind kind = chance.of(Kind.INTEGER, Kind.TEXT);
        Dual text = Dual.of(
                "WITH " + name + " AS ({}) SELECT {} FROM {}",
                inner.text(),
                named(List.of(Dual.same(column.name()), expressions.of(kind, 2))),
                both.text());
        return new Select(
                text,
                List.of(
                        new Column("c0", column.kind(), column.values(), column.plain()),
                        new Column("c1", kind, 10, true)),
                both.scope().rows());
    }
}
