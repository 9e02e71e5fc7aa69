package dev.millrace.server.differential;

import dev.millrace.server.differential.RandomGrammar.Select;
import dev.millrace.server.differential.Scope.Column;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * What orders the rows of a query: the first of all (LIMIT, WITH TIES) and of each partition (a filter on a rank, QUALIFY,
 * DISTINCT ON), window functions. Rows that their order leaves equal are equal, or all of them count.
 */
final class RandomCuts {
    private final Chance chance;
    private final RandomGrammar grammar;
    private final RandomFrames frames;

    RandomCuts(Chance chance, RandomGrammar grammar) {
        this.chance = chance;
        this.grammar = grammar;
        this.frames = new RandomFrames(chance);
    }

    Select next(int depth) {
        return switch (chance.below(6)) {
            case 0, 1 -> firstOfAll(depth);
            case 2, 3 -> firstOfEach(depth);
            case 4 -> withTies(depth);
            default -> distinctOn(depth);
        };
    }

    private String byAll(int columns) {
        String direction = chance.of("", " DESC", " NULLS FIRST", " DESC NULLS LAST");
        return IntStream.range(0, columns).mapToObj(i -> "c" + i + direction).collect(Collectors.joining(", "));
    }

    private Select firstOfAll(int depth) {
        Select inner = grammar.select(depth - 1);
        int count = inner.columns().size();
        int limit = chance.between(1, 9);
        Dual text = Dual.of(
                "SELECT " + RandomGrammar.names(count) + " FROM ({}) AS " + grammar.alias() + " ORDER BY "
                        + byAll(count) + " LIMIT " + limit + chance.of("", "", " OFFSET 2"),
                inner.text());
        return new Select(text, inner.columns(), limit);
    }

    /** All that are as good as the last; the oracle, which has no such words, ranks. */
    private Select withTies(int depth) {
        Select inner = grammar.select(depth - 1);
        int count = inner.columns().size();
        int limit = chance.between(1, 6);
        int offset = chance.of(0, 0, 2);
        String names = RandomGrammar.names(count);
        String alias = grammar.alias();
        String order = " ORDER BY c0" + chance.of("", " DESC", " NULLS FIRST", " DESC NULLS LAST");
        // Which of those that tie an offset leaves out, nothing says: it is for total orders.
        String total = offset == 0 ? order : order.replace("c0", names.replace(", ", order.substring(12) + ", "));
        Dual text = Dual.of(
                "SELECT " + names + " FROM ({}) AS " + alias + total + (offset == 0 ? "" : " OFFSET " + offset)
                        + " FETCH FIRST " + limit + " ROWS WITH TIES",
                "SELECT " + names + " FROM (SELECT *, rank() OVER (" + total.trim() + ") AS best, row_number() OVER ("
                        + total.trim() + ") AS place FROM ({}) AS " + alias + ") WHERE best <= " + (limit + offset)
                        + " AND place > " + offset,
                inner.text());
        return new Select(text, inner.columns(), inner.rows());
    }

    private Select distinctOn(int depth) {
        Select inner = grammar.select(depth - 1);
        int count = inner.columns().size();
        Dual text = Dual.of(
                "SELECT DISTINCT ON (c0) " + RandomGrammar.names(count) + " FROM ({}) AS " + grammar.alias()
                        + " ORDER BY " + byAll(count),
                inner.text());
        return new Select(text, inner.columns(), inner.columns().get(0).values());
    }

    /** The first rows of each partition, and sometimes which they are: then equal rows are told apart by nothing. */
    private Select firstOfEach(int depth) {
        Select inner = grammar.select(depth - 1);
        int count = inner.columns().size();
        String names = RandomGrammar.names(count);
        String rank = chance.of("row_number()", "rank()", "dense_rank()") + " OVER (PARTITION BY c0 ORDER BY "
                + byAll(count) + ")";
        String range = chance.of(
                "%s <= 1",
                "%s <= 2", "%s <= 3", "%s = 2", "%s < 3", "2 >= %s", "3 > %s", "%s BETWEEN 2 AND 3", "%s > 1");
        if (chance.percent(25)) {
            Dual text = Dual.of(
                    "SELECT " + names + " FROM ({}) AS " + grammar.alias() + " QUALIFY " + range.formatted(rank),
                    inner.text());
            return new Select(text, inner.columns(), 3 * inner.columns().get(0).values());
        }
        Dual text = Dual.of(
                "SELECT " + names + ", rn AS c" + count + " FROM (SELECT " + names + ", " + rank
                        + " AS rn FROM ({}) AS " + grammar.alias() + ") AS " + grammar.alias() + " WHERE "
                        + range.formatted("rn"),
                inner.text());
        List<Column> columns = new ArrayList<>(inner.columns());
        columns.add(new Column("c" + count, Kind.BIGINT, 3, true));
        return new Select(text, columns, 3 * inner.columns().get(0).values());
    }

    /** Window functions of rows whose order says all about them. */
    Select over(int depth) {
        Select inner = grammar.select(depth - 1);
        int count = inner.columns().size();
        List<Column> columns = new ArrayList<>(inner.columns());
        List<Dual> calls = new ArrayList<>();
        String partition = chance.of("PARTITION BY c0 ", "");
        String order =
                "ORDER BY " + byAll(count); // one for all calls: another may tell equal rows apart in another way
        for (int i = chance.of(1, 1, 2); i > 0; i--) {
            calls.add(Dual.of("{} AS c" + columns.size(), call(inner, columns, partition, order)));
        }
        Dual text = Dual.of(
                "SELECT " + RandomGrammar.names(count) + ", {} FROM ({}) AS " + grammar.alias(),
                Dual.join(", ", calls),
                inner.text());
        return new Select(text, columns, inner.rows());
    }

    private Dual call(Select inner, List<Column> columns, String partition, String order) {
        int count = inner.columns().size();
        List<Column> numbers = inner.scope().numbers();
        String number = numbers.isEmpty() ? "1" : chance.of(numbers).name();
        String name = "c" + columns.size();
        String whole = " OVER (" + partition + ")";
        String running = " OVER (" + partition + order;
        Column last = inner.columns().get(count - 1);
        switch (chance.below(6)) {
            case 0 -> {
                columns.add(new Column(name, Kind.OTHER, 20, false));
                return Dual.same(chance.of("sum", "max", "min") + "(" + number + ")" + whole);
            }
            case 1 -> {
                columns.add(new Column(name, Kind.OTHER, 20, false));
                return Dual.same(chance.of("sum", "max", "min") + "(" + number + ")" + running + frames.any() + ")");
            }
            case 2 -> {
                columns.add(new Column(name, Kind.BIGINT, 20, true));
                return Dual.same(chance.of("rank()", "dense_rank()", "row_number()") + running + ")");
            }
            case 3 -> {
                columns.add(new Column(name, Kind.BIGINT, 20, true));
                return Dual.same("count(" + chance.of("*", last.name()) + ")" + running + frames.any() + ")");
            }
            case 4 -> {
                columns.add(
                        last.plain()
                                ? new Column(name, last.kind(), last.values(), true)
                                : new Column(name, Kind.OTHER, last.values(), false));
                return Dual.same(chance.of("lag(", "lead(") + last.name() + chance.of("", ", 2") + ")" + running + ")");
            }
            default -> {
                columns.add(new Column(name, Kind.OTHER, last.values(), false));
                return Dual.same(
                        chance.of("first_value(%s)", "last_value(%s)", "nth_value(%s, 2)")
                                        .formatted(last.name()) + running + frames.any() + ")");
            }
        }
    }
}
