package dev.millrace.planner.reference;

import dev.millrace.condense.Condensation;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Frame;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.plan.expression.OverCall;
import dev.millrace.plan.node.JoinTime;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Distribution;
import dev.millrace.plan.node.PlanNode.Exchange;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.plan.node.PlanNode.Phase;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.planner.reference.Windows.Window;
import dev.millrace.planner.tree.NodeVisitor;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * The rows of a plan over given relations, as a batch. A row number among ties is an accident, so ROW_NUMBER is taken as
 * RANK and a limit keeps the ties of its last row: then two plans of one meaning have equal rows.
 */
public final class Interpreter implements NodeVisitor<List<List<Object>>> {
    private final Map<String, List<List<Object>>> relations;

    /** @param relations all columns of all rows by relation; numbers and times are {@link BigDecimal} */
    public Interpreter(Map<String, List<List<Object>>> relations) {
        this.relations = relations;
    }

    public List<List<Object>> rows(PlanNode plan) {
        return NodeVisitor.visit(plan, this);
    }

    private static List<Object> pick(List<Object> row, List<Integer> columns) {
        List<Object> picked = new ArrayList<>();
        columns.forEach(column -> picked.add(row.get(column)));
        return picked;
    }

    private static List<Object> plain(List<Object> row) {
        List<Object> plain = new ArrayList<>(row);
        plain.replaceAll(Scalars::plain);
        return plain;
    }

    private static List<Object> concat(List<Object> left, List<Object> right) {
        List<Object> all = new ArrayList<>(left);
        all.addAll(right);
        return all;
    }

    private static <K> Map<K, List<List<Object>>> grouped(List<List<Object>> rows, Function<List<Object>, K> key) {
        Map<K, List<List<Object>>> groups = new LinkedHashMap<>();
        rows.forEach(row ->
                groups.computeIfAbsent(key.apply(row), any -> new ArrayList<>()).add(row));
        return groups;
    }

    @Override
    public List<List<Object>> scan(PlanNode.Scan scan) {
        return relations.get(scan.relation()).stream()
                .map(row -> scan.condensation().map(how -> condensed(row, how)).orElse(row))
                .map(row -> pick(row, scan.columns()))
                .map(Interpreter::plain)
                .toList();
    }

    /** With the last time there is between which and the row's the query says that it tells none apart. */
    private static List<Object> condensed(List<Object> row, Condensation how) {
        if (how.time().isEmpty() || !(row.get(how.time().getAsInt()) instanceof Long micros)) {
            return row;
        }
        List<Object> other = new ArrayList<>(row);
        other.set(how.time().getAsInt(), how.end(micros) - 1);
        return other;
    }

    @Override
    public List<List<Object>> values(PlanNode.Values values) {
        List<List<Object>> rows = new ArrayList<>();
        values.rows().forEach(row -> rows.add(computed(row, List.of())));
        return rows;
    }

    private static List<Object> computed(List<Expression> expressions, List<Object> row) {
        List<Object> computed = new ArrayList<>();
        expressions.forEach(expression -> computed.add(Scalars.value(expression, row)));
        return computed;
    }

    @Override
    public List<List<Object>> watermark(PlanNode.Watermark watermark) {
        return rows(watermark.input());
    }

    @Override
    public List<List<Object>> versions(PlanNode.Versions versions) {
        List<List<Object>> numbered = new ArrayList<>();
        for (List<Object> row : rows(versions.input())) {
            List<Object> version = new ArrayList<>(row);
            version.add(numbered.size() + 1L);
            numbered.add(version);
        }
        return numbered;
    }

    @Override
    public List<List<Object>> calc(PlanNode.Calc calc) {
        return rows(calc.input()).stream()
                .filter(row -> calc.condition().isEmpty()
                        || Scalars.isTrue(calc.condition().get(), row))
                .map(row -> computed(calc.projections(), row))
                .toList();
    }

    @Override
    public List<List<Object>> windowAssign(PlanNode.WindowAssign assign) {
        List<List<Object>> assigned = new ArrayList<>();
        if (assign.window() instanceof WindowSpec.Session session) {
            Exchange sessions = (Exchange) assign.input();
            List<Integer> keys = sessions.distribution() instanceof Distribution.Hash hash ? hash.columns() : List.of();
            grouped(rows(sessions.input()), row -> pick(row, keys)).values().forEach(group -> {
                for (Window window : Windows.sessions(group, assign.timeColumn(), session.gapMicros())) {
                    within(group, assign.timeColumn(), window)
                            .forEach(row -> assigned.add(concat(row, window.columns())));
                }
            });
            return assigned;
        }
        for (List<Object> row : rows(assign.input())) {
            Windows.of(assign.window(), assign.timeColumn(), row)
                    .forEach(window -> assigned.add(concat(row, window.columns())));
        }
        return assigned;
    }

    private static List<List<Object>> within(List<List<Object>> rows, int timeColumn, Window window) {
        return rows.stream()
                .filter(row -> row.get(timeColumn) != null)
                .filter(row -> Windows.micros(row.get(timeColumn)) >= window.start()
                        && Windows.micros(row.get(timeColumn)) < window.end())
                .toList();
    }

    private static List<Object> results(List<AggregateCall> calls, List<List<Object>> rows) {
        List<Object> results = new ArrayList<>();
        calls.forEach(call -> results.add(Groups.value(call, rows)));
        return results;
    }

    /** The input of the PARTIAL phase below a FINAL one. */
    private static PlanNode partialInput(PlanNode input) {
        return input instanceof Exchange exchange
                ? partialInput(exchange.input())
                : input.inputs().get(0);
    }

    @Override
    public List<List<Object>> aggregate(PlanNode.Aggregate aggregate) {
        if (aggregate.phase() == Phase.FINAL) {
            PlanNode.Aggregate partial = (PlanNode.Aggregate) below(aggregate.input());
            return aggregated(rows(partialInput(aggregate.input())), partial.keys(), aggregate.calls());
        }
        return aggregated(rows(aggregate.input()), aggregate.keys(), aggregate.calls());
    }

    private static PlanNode below(PlanNode node) {
        return node instanceof Exchange exchange ? below(exchange.input()) : node;
    }

    private static List<List<Object>> aggregated(
            List<List<Object>> rows, List<Integer> keys, List<AggregateCall> calls) {
        Map<List<Object>, List<List<Object>>> groups = grouped(rows, row -> pick(row, keys));
        if (keys.isEmpty() && groups.isEmpty()) {
            groups.put(List.of(), List.of());
        }
        List<List<Object>> aggregated = new ArrayList<>();
        groups.forEach((key, group) -> aggregated.add(concat(key, results(calls, group))));
        return aggregated;
    }

    @Override
    public List<List<Object>> windowAggregate(PlanNode.WindowAggregate aggregate) {
        if (aggregate.phase() == Phase.FINAL) {
            PlanNode.WindowAggregate partial = (PlanNode.WindowAggregate) below(aggregate.input());
            return windowAggregated(rows(partial.input()), partial);
        }
        return windowAggregated(rows(aggregate.input()), aggregate);
    }

    private static List<List<Object>> windowAggregated(List<List<Object>> rows, PlanNode.WindowAggregate node) {
        List<List<Object>> aggregated = new ArrayList<>();
        grouped(rows, row -> pick(row, node.keys())).forEach((key, group) -> {
            Map<Window, List<List<Object>>> windows = new LinkedHashMap<>();
            if (node.window() instanceof WindowSpec.Session session) {
                Windows.sessions(group, node.timeColumn(), session.gapMicros())
                        .forEach(window -> windows.put(window, within(group, node.timeColumn(), window)));
            } else {
                group.forEach(row -> Windows.of(node.window(), node.timeColumn(), row)
                        .forEach(window -> windows.computeIfAbsent(window, any -> new ArrayList<>())
                                .add(row)));
            }
            windows.forEach((window, members) ->
                    aggregated.add(concat(concat(key, results(node.calls(), members)), window.columns())));
        });
        return aggregated;
    }

    @Override
    public List<List<Object>> windowExtreme(PlanNode.WindowExtreme node) {
        List<List<Object>> rows = rows(node.input());
        if (node.phase() == PlanNode.Phase.PARTIAL) {
            return rows; // all may be candidates
        }
        Map<List<Object>, List<Object>> values = new LinkedHashMap<>();
        for (List<Object> row : rows) {
            for (Window window : Windows.of(node.window(), node.timeColumn(), row)) {
                List<Object> group = concat(pick(row, node.keys()), window.columns());
                values.computeIfAbsent(group, any -> new ArrayList<>()).add(row.get(node.valueColumn()));
            }
        }
        List<List<Object>> best = new ArrayList<>();
        for (List<Object> row : rows) {
            List<Window> windows = new ArrayList<>(Windows.of(node.window(), node.timeColumn(), row));
            if (node.closedEnd() && row.get(node.timeColumn()) != null) {
                long time = Windows.micros(row.get(node.timeColumn()));
                List<Object> before = new ArrayList<>(row);
                before.set(node.timeColumn(), Scalars.plain(time - 1));
                Windows.of(node.window(), node.timeColumn(), before).stream()
                        .filter(window -> window.end() == time)
                        .forEach(windows::add);
            }
            for (Window window : windows) {
                Object own = row.get(node.valueColumn());
                Comparator<Object> order = Scalars::compare;
                boolean isBest = own != null
                        && values.getOrDefault(concat(pick(row, node.keys()), window.columns()), List.of()).stream()
                                .filter(Objects::nonNull)
                                .max(node.maximum() ? order : order.reversed())
                                .filter(own::equals)
                                .isPresent();
                if (isBest) {
                    best.add(concat(row, window.columns()));
                }
            }
        }
        return best;
    }

    @Override
    public List<List<Object>> join(PlanNode.Join join) {
        List<List<Object>> left = rows(join.left());
        List<List<Object>> right = rows(join.right());
        List<Object> noLeft = Collections.nCopies(join.left().schema().size(), null);
        List<Object> noRight = Collections.nCopies(join.right().schema().size(), null);
        List<List<Object>> joined = new ArrayList<>();
        List<List<Object>> unmatchedRight = new ArrayList<>(right);
        for (List<Object> row : left) {
            List<List<Object>> partners =
                    right.stream().filter(other -> matches(join, row, other)).toList();
            partners.forEach(partner -> unmatchedRight.removeIf(other -> other == partner));
            switch (join.kind()) {
                case SEMI, ANTI -> {
                    if (partners.isEmpty() == (join.kind() == JoinKind.ANTI)) {
                        joined.add(row);
                    }
                }
                case INNER, RIGHT -> partners.forEach(partner -> joined.add(concat(row, partner)));
                case LEFT, FULL -> {
                    partners.forEach(partner -> joined.add(concat(row, partner)));
                    if (partners.isEmpty()) {
                        joined.add(concat(row, noRight));
                    }
                }
            }
        }
        if (join.kind() == JoinKind.RIGHT || join.kind() == JoinKind.FULL) {
            unmatchedRight.forEach(row -> joined.add(concat(noLeft, row)));
        }
        return joined;
    }

    @Override
    public List<List<Object>> multiJoin(PlanNode.MultiJoin join) {
        List<List<Object>> joined = rows(join.inputs().get(0));
        for (int input = 1; input < join.inputs().size(); input++) {
            List<List<Object>> others = rows(join.inputs().get(input));
            List<Integer> keys = join.keys().get(input);
            List<List<Object>> longer = new ArrayList<>();
            for (List<Object> row : joined) {
                for (List<Object> other : others) {
                    boolean isEqual = true;
                    for (int key = 0; key < keys.size(); key++) {
                        Object value = row.get(join.keys().get(0).get(key));
                        isEqual &= value != null && value.equals(other.get(keys.get(key)));
                    }
                    if (isEqual) {
                        longer.add(concat(row, other));
                    }
                }
            }
            joined = longer;
        }
        return joined;
    }

    private static boolean meet(JoinTime.Bounds bounds, List<Object> left, List<Object> right) {
        return isAtMost(right.get(bounds.right()), left.get(bounds.leftUntil()), bounds.upperMicros())
                && isAtMost(left.get(bounds.left()), right.get(bounds.rightUntil()), -bounds.lowerMicros());
    }

    private static boolean isAtMost(Object time, Object until, long micros) {
        return time != null
                && until != null
                && ((BigDecimal) time).subtract((BigDecimal) until).compareTo(BigDecimal.valueOf(micros)) <= 0;
    }

    private static boolean matches(PlanNode.Join join, List<Object> left, List<Object> right) {
        if (join.time().isPresent()
                && join.time().get() instanceof JoinTime.Bounds bounds
                && !meet(bounds, left, right)) {
            return false;
        }
        for (int key = 0; key < join.leftKeys().size(); key++) {
            Object value = left.get(join.leftKeys().get(key));
            if (value == null || !value.equals(right.get(join.rightKeys().get(key)))) {
                return false;
            }
        }
        return join.residual().isEmpty() || Scalars.isTrue(join.residual().get(), concat(left, right));
    }

    @Override
    public List<List<Object>> topN(PlanNode.TopN node) {
        List<List<Object>> kept = new ArrayList<>();
        grouped(rows(node.input()), row -> pick(row, node.partition())).values().forEach(partition -> {
            Comparator<List<Object>> order = order(node.order());
            for (List<Object> row : partition) {
                long before = partition.stream()
                        .filter(other -> order.compare(other, row) < 0)
                        .map(other -> node.rank() == PlanNode.Rank.DENSE_RANK ? key(other, node.order()) : other)
                        .distinct()
                        .count();
                if (node.rank() != PlanNode.Rank.DENSE_RANK) {
                    before = partition.stream()
                            .filter(other -> order.compare(other, row) < 0)
                            .count();
                }
                boolean isIn = before >= node.offset() && (before - node.offset()) < node.limit();
                if (isIn) {
                    kept.add(node.emitRank() ? concat(row, List.of(Scalars.plain(before + 1))) : row);
                }
            }
        });
        return kept;
    }

    @Override
    public List<List<Object>> expand(PlanNode.Expand node) {
        throw new UnsupportedOperationException("table functions are compared with a reference of their own");
    }

    @Override
    public List<List<Object>> match(PlanNode.Match node) {
        throw new UnsupportedOperationException("row patterns are compared with a reference of their own");
    }

    /** Ranks, ROW_NUMBER as RANK, LAG, and aggregates over the partition or up to the current row and its ties. */
    @Override
    public List<List<Object>> over(PlanNode.Over node) {
        List<List<Object>> all = new ArrayList<>();
        Comparator<List<Object>> order = order(node.order());
        grouped(rows(node.input()), row -> pick(row, node.partition())).values().forEach(partition -> {
            for (List<Object> row : partition) {
                List<Object> results = new ArrayList<>();
                node.calls().forEach(call -> results.add(overCall(call, node.order(), order, row, partition)));
                all.add(concat(row, results));
            }
        });
        return all;
    }

    private static Object overCall(
            OverCall call,
            List<OrderKey> keys,
            Comparator<List<Object>> order,
            List<Object> row,
            List<List<Object>> partition) {
        List<List<Object>> before = partition.stream()
                .filter(other -> order.compare(other, row) < 0)
                .toList();
        return switch (call.function()) {
            case ROW_NUMBER, RANK -> Scalars.plain(before.size() + 1L);
            case DENSE_RANK ->
                Scalars.plain(before.stream()
                                .map(other -> key(other, keys))
                                .distinct()
                                .count()
                        + 1);
            case LAG -> { // of rows that tie the value is one of several, unless it is the key
                List<List<Object>> sorted = new ArrayList<>(partition);
                sorted.sort(order);
                int at = (int) (IntStream.range(0, sorted.size())
                                .filter(i -> sorted.get(i) == row)
                                .findFirst()
                                .orElseThrow()
                        - call.parameter());
                yield at < 0 ? null : sorted.get(at).get(call.arguments().get(0));
            }
            case AGGREGATE -> {
                if (!call.frame().equals(Frame.ALL) && !call.frame().equals(Frame.TO_CURRENT)) {
                    throw new UnsupportedOperationException(call.toString());
                }
                yield Groups.value(
                        call.aggregate().orElseThrow(),
                        call.frame().equals(Frame.ALL)
                                ? partition
                                : partition.stream()
                                        .filter(other -> order.compare(other, row) <= 0)
                                        .toList());
            }
            default -> throw new UnsupportedOperationException(call.toString());
        };
    }

    private static List<Object> key(List<Object> row, List<OrderKey> order) {
        return pick(row, order.stream().map(OrderKey::column).toList());
    }

    private static Comparator<List<Object>> order(List<OrderKey> keys) {
        return (a, b) -> {
            for (OrderKey key : keys) {
                Object x = a.get(key.column());
                Object y = b.get(key.column());
                int comparison = x == null || y == null
                        ? (x == y ? 0 : (x == null) == key.nullsFirst() ? -1 : 1)
                        : Scalars.compare(x, y) * (key.descending() ? -1 : 1);
                if (comparison != 0) {
                    return comparison;
                }
            }
            return 0;
        };
    }

    @Override
    public List<List<Object>> timeFilter(PlanNode.TimeFilter filter) {
        throw new IllegalArgumentException("the rows of a finite query do not change with time");
    }

    @Override
    public List<List<Object>> pace(PlanNode.Pace pace) {
        return rows(pace.input());
    }

    @Override
    public List<List<Object>> union(PlanNode.Union union) {
        List<List<Object>> all = new ArrayList<>();
        union.inputs().stream().map(this::rows).forEach((Collection<List<Object>> rows) -> all.addAll(rows));
        return all;
    }

    @Override
    public List<List<Object>> sort(PlanNode.Sort sort) {
        List<List<Object>> rows = rows(sort.input());
        Comparator<List<Object>> order = order(sort.order());
        return rows.stream()
                .filter(row -> {
                    long before = rows.stream()
                            .filter(other -> order.compare(other, row) < 0)
                            .count();
                    return before >= sort.offset() && (sort.limit() < 0 || before - sort.offset() < sort.limit());
                })
                .sorted(order)
                .toList();
    }

    @Override
    public List<List<Object>> exchange(PlanNode.Exchange exchange) {
        return rows(exchange.input());
    }
}
