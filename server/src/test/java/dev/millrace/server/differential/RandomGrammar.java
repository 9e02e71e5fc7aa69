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
    private static final double MOST_ROWS = 3_000;

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
    private int aliases;

    RandomGrammar(Chance chance) {
        this.chance = chance;
        this.predicates = new RandomPredicates(chance, this);
    }

    /** A whole query. */
    Dual next() {
        return select(chance.of(1, 2, 2)).text();
    }

    private Select select(int depth) {
        if (depth <= 0) {
            return chance.percent(50) ? grouped(0) : filtered(0);
        }
        return switch (chance.below(12)) {
            case 0, 1, 2 -> filtered(depth);
            case 3, 4, 5 -> grouped(depth);
            case 6 -> distinct(depth);
            case 7 -> setOperation(depth);
            case 8 -> firstOfAll(depth);
            case 9 -> firstOfEach(depth);
            case 10 -> over(depth);
            default -> with(depth);
        };
    }

    // ---- FROM

    private String alias() {
        return "r" + aliases++;
    }

    private Relations base() {
        String alias = alias();
        return new Relations(Dual.same("rel AS " + alias), Scope.BASE.under(alias));
    }

    Relations relation(int depth) {
        if (depth <= 0 || chance.percent(60)) {
            return base();
        }
        Select inner = select(depth - 1);
        String alias = alias();
        return new Relations(
                Dual.of("({}) AS " + alias, inner.text()), inner.scope().under(alias));
    }

    private Relations from(int depth) {
        Relations all = relation(depth);
        int joins = depth <= 0 ? 0 : chance.of(0, 0, 1, 1, 2, 3);
        for (int join = 0; join < joins; join++) {
            all = join(all, relation(depth - 1));
        }
        return all;
    }

    /** By so many equal columns that the rows stay few; where there are none, the left alone. */
    private Relations join(Relations left, Relations right) {
        double rows = left.scope().rows() * right.scope().rows();
        List<String> keys = new ArrayList<>();
        for (int tries = 0; tries < 12 && (rows > MOST_ROWS || keys.isEmpty()); tries++) {
            Column key = chance.of(left.scope().columns());
            List<Column> partners = right.scope().like(key);
            if (!partners.isEmpty()) {
                Column partner = chance.of(partners);
                keys.add(key.name() + " = " + partner.name());
                rows /= Math.max(1, Math.max(key.values(), partner.values()) / 2);
            }
        }
        if (rows > MOST_ROWS || keys.isEmpty()) {
            return left;
        }
        Scope both = left.scope().with(right.scope(), Math.max(1, rows));
        Dual condition = Dual.same(String.join(" AND ", keys));
        if (chance.percent(30)) {
            condition = Dual.of("{} AND {}", condition, new RandomExpressions(chance, both).condition(1));
        }
        String kind = chance.of("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN");
        double alone =
                kind.equals("JOIN") ? 0 : left.scope().rows() + right.scope().rows();
        return new Relations(
                Dual.of("{} " + kind + " {} ON {}", left.text(), right.text(), condition),
                new Scope(both.columns(), both.rows() + alone));
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

    private static String names(int count) {
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
                + switch (chance.below(8)) {
                    case 5 -> "ROLLUP (" + all + ")";
                    case 6 -> "CUBE (" + all + ")";
                    case 7 -> "GROUPING SETS ((" + all + "), (" + keys.get(0) + "), ())";
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
        String operation = chance.of("UNION ALL", "UNION", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL");
        List<Column> columns = new ArrayList<>();
        for (Kind kind : kinds) {
            columns.add(new Column("c" + columns.size(), kind, 10, true));
        }
        Select left = side(kinds, columns, depth);
        Select right = side(kinds, columns, depth - 1);
        Dual text = Dual.of("{} " + operation + " {}", left.text(), right.text());
        return new Select(text, columns, left.rows() + right.rows());
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

    private String byAll(int columns) {
        String direction = chance.of("", " DESC", " NULLS FIRST", " DESC NULLS LAST");
        return IntStream.range(0, columns).mapToObj(i -> "c" + i + direction).collect(Collectors.joining(", "));
    }

    private Select firstOfAll(int depth) {
        Select inner = select(depth - 1);
        int count = inner.columns().size();
        int limit = chance.between(1, 9);
        Dual text = Dual.of(
                "SELECT " + names(count) + " FROM ({}) AS " + alias() + " ORDER BY " + byAll(count) + " LIMIT " + limit
                        + chance.of("", "", " OFFSET 2"),
                inner.text());
        return new Select(text, inner.columns(), limit);
    }

    /** The first rows of each partition, and sometimes which they are: then equal rows are told apart by nothing. */
    private Select firstOfEach(int depth) {
        Select inner = select(depth - 1);
        int count = inner.columns().size();
        String function = chance.of("row_number()", "rank()", "dense_rank()");
        Dual text = Dual.of(
                "SELECT " + names(count) + ", rn AS c" + count + " FROM (SELECT " + names(count) + ", " + function
                        + " OVER (PARTITION BY c0 ORDER BY " + byAll(count) + ") AS rn FROM ({}) AS " + alias()
                        + ") AS "
                        + alias() + " WHERE rn <= " + chance.between(1, 3),
                inner.text());
        List<Column> columns = new ArrayList<>(inner.columns());
        columns.add(new Column("c" + count, Kind.BIGINT, 3, true));
        return new Select(text, columns, 3 * inner.columns().get(0).values());
    }

    private Select over(int depth) {
        Select inner = select(depth - 1);
        int count = inner.columns().size();
        List<Column> numbers = inner.scope().numbers();
        String argument = numbers.isEmpty() ? "1" : chance.of(numbers).name();
        String partition = chance.of("PARTITION BY c0 ", "");
        String function = chance.of("sum", "count", "max", "min") + "(" + argument + ")";
        String whole = " OVER (" + partition + ")";
        String running = " OVER (" + partition + "ORDER BY " + byAll(count) + ")";
        String expression = switch (chance.below(4)) {
            case 0 -> function + whole;
            case 1 -> function + running;
            case 2 -> chance.of("rank()", "dense_rank()", "row_number()") + running;
            default -> chance.of("lag(", "lead(", "first_value(") + "c" + (count - 1) + ")" + running;
        };
        Dual text = Dual.of(
                "SELECT " + names(count) + ", " + expression + " AS c" + count + " FROM ({}) AS " + alias(),
                inner.text());
        List<Column> columns = new ArrayList<>(inner.columns());
        columns.add(new Column("c" + count, Kind.OTHER, 20, false));
        return new Select(text, columns, inner.rows());
    }

    /** A named query, read twice. */
    private Select with(int depth) {
        Select inner = select(depth - 1);
        String name = "w" + aliases++;
        Relations left = new Relations(Dual.same(name + " AS l"), inner.scope().under("l"));
        Relations right = chance.percent(50)
                ? new Relations(Dual.same(name + " AS m"), inner.scope().under("m"))
                : base();
        Relations both = join(left, right);
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
