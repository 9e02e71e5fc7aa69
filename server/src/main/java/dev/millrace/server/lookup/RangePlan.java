package dev.millrace.server.lookup;

import dev.millrace.engine.view.IndexRange;
import dev.millrace.engine.view.OrderedColumns;
import dev.millrace.error.MillraceException;
import dev.millrace.expressions.constant.ConstantFolder;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.expression.Expression.Null;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.Subplans;
import dev.millrace.planner.explain.ExpressionText;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.catalog.Index;
import dev.millrace.server.lookup.RangeMatch.Bound;
import dev.millrace.server.planning.UserCalls;
import dev.millrace.sql.catalog.TableRules.Unique;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToLongFunction;

/**
 * How the rows that a query reads of its one table or view are had from an ordered index: by values of its first columns, bounds
 * of the next one, and its order.
 *
 * @param index its name, as EXPLAIN shows it
 * @param equal for the first columns of the index, values of which each has one
 * @param low what the column behind those is not less than
 * @param backward whether rows come from the end of the index
 * @param calc what is done with the rows of the scan
 * @param answer the sort and what is above it, if the query is nothing else and the index has its order; else the rows take the place of
 *     the scan in the query's plan
 */
public record RangePlan(
        PlanNode.Scan scan,
        String index,
        OrderedColumns key,
        List<List<Expression>> equal,
        Optional<Bound> low,
        Optional<Bound> high,
        boolean backward,
        Optional<PlanNode.Calc> calc,
        Optional<Answer> answer) {
    private static final int MOST_RANGES = 1_000;
    private static final int FEW_ROWS = 1_000;

    /**
     * What is done in the order of the index.
     *
     * @param limit how many rows, -1 for all
     * @param top a projection of what is left
     */
    record Answer(long limit, long offset, Optional<PlanNode.Calc> top) {
        private long last() {
            return limit > Long.MAX_VALUE - offset ? Long.MAX_VALUE : limit + offset;
        }
    }

    /** The parts of a plan that may be answered. */
    private record Parts(
            PlanNode.Scan scan, Optional<PlanNode.Calc> calc, Optional<PlanNode.Sort> sort, Optional<Answer> answer) {}

    private record Candidate(String name, OrderedColumns key, boolean ranges) {}

    /** @param rows of the relation of a name, about */
    public static Optional<RangePlan> of(PlanNode plan, DatabaseCatalog catalog, ToLongFunction<String> rows) {
        Optional<Parts> parts = parts(plan);
        Optional<CatalogObject> relation = parts.flatMap(found -> catalog.object(found.scan.relation()))
                .filter(object -> object.kind() == ObjectKind.TABLE || object.kind() == ObjectKind.MATERIALIZED_VIEW);
        if (relation.isEmpty()) {
            return Optional.empty();
        }
        List<Expression> conjuncts = Expressions.conjuncts(parts.get().calc.flatMap(PlanNode.Calc::condition));
        KeyMatch equal = new KeyMatch(conjuncts);
        RangeMatch ranges = new RangeMatch(conjuncts);
        Optional<RangePlan> best = Optional.empty();
        for (Candidate candidate : candidates(relation.get(), catalog, rows)) {
            Optional<RangePlan> found =
                    by(candidate, parts.get(), relation.get().schema(), equal, ranges);
            if (found.isPresent()
                    && (best.isEmpty() || found.get().worth() > best.get().worth())) {
                best = found;
            }
        }
        return best;
    }

    private static List<Candidate> candidates(
            CatalogObject relation, DatabaseCatalog catalog, ToLongFunction<String> rows) {
        List<Candidate> candidates = new ArrayList<>();
        for (Index index : catalog.indexes(relation.name())) {
            boolean ranges = !index.method().equals("hash");
            candidates.add(new Candidate(index.name(), new OrderedColumns(index.keys()), ranges));
        }
        if (rows.applyAsLong(relation.name()) < FEW_ROWS) {
            return candidates; // an index that nobody asked for is not worth while
        }
        if (!relation.primaryKey().isEmpty()) {
            candidates.add(new Candidate(relation.name() + "_pkey", ascending(relation.primaryKey()), true));
        }
        for (Unique unique : relation.rules().uniques()) {
            if (catalog.index(unique.name()).isEmpty()) {
                List<Integer> columns = unique.columns().stream()
                        .map(relation.schema()::indexOf)
                        .toList();
                candidates.add(new Candidate(unique.name(), ascending(columns), true));
            }
        }
        return candidates;
    }

    private static OrderedColumns ascending(List<Integer> columns) {
        return new OrderedColumns(columns.stream()
                .map(column -> new OrderKey(column, false, false))
                .toList());
    }

    // ---- the plan --------------------------------------------------------------------------------------------------

    private static PlanNode below(PlanNode node) {
        PlanNode below = node;
        while (below instanceof PlanNode.Exchange exchange) {
            below = exchange.input();
        }
        return below;
    }

    private static Optional<Parts> parts(PlanNode plan) {
        List<PlanNode> nodes = Subplans.of(plan);
        long scans =
                nodes.stream().filter(node -> node instanceof PlanNode.Scan).count();
        if (scans != 1) {
            return Optional.empty();
        }
        PlanNode node = below(plan);
        Optional<PlanNode.Calc> top = Optional.empty();
        if (node instanceof PlanNode.Calc calc && below(calc.input()) instanceof PlanNode.Sort sort) {
            top = Optional.of(calc);
            node = sort;
        }
        Optional<PlanNode.Sort> sort = Optional.empty();
        if (node instanceof PlanNode.Sort found) {
            sort = Optional.of(found);
            node = below(found.input());
            if (node instanceof PlanNode.Sort part && isPartOf(part, found)) {
                node = below(part.input()); // of each task before all come together
            }
        }
        Optional<PlanNode.Calc> calc = Optional.empty();
        if (node instanceof PlanNode.Calc found) {
            calc = Optional.of(found);
            node = below(found.input());
        }
        boolean plain = node instanceof PlanNode.Scan
                && top.flatMap(PlanNode.Calc::condition).isEmpty()
                && computesAnywhere(calc)
                && computesAnywhere(top);
        if (!plain) {
            return scanOf(nodes);
        }
        long limit = sort.map(PlanNode.Sort::limit).orElse(-1L);
        long offset = sort.map(PlanNode.Sort::offset).orElse(0L);
        return Optional.of(new Parts((PlanNode.Scan) node, calc, sort, Optional.of(new Answer(limit, offset, top))));
    }

    /** Whether a sort gives another one, above it, all that it wants: one that a query says itself may give less. */
    private static boolean isPartOf(PlanNode.Sort part, PlanNode.Sort whole) {
        boolean enough = part.limit() < 0 || whole.limit() >= 0 && whole.limit() <= part.limit() - whole.offset();
        return part.order().equals(whole.order()) && part.offset() == 0 && enough;
    }

    /** Whether the one scan of a plan has one reader: then no other misses the rows that the reader does not want. */
    private static boolean isReadOnce(List<PlanNode> nodes) {
        return nodes.stream()
                        .filter(node -> !(node instanceof PlanNode.Exchange))
                        .flatMap(node -> node.inputs().stream())
                        .filter(input -> below(input) instanceof PlanNode.Scan)
                        .count()
                == 1;
    }

    private static boolean computesAnywhere(Optional<PlanNode.Calc> calc) {
        return calc.stream()
                .flatMap(node -> Nodes.expressions(node).stream())
                .noneMatch(expression -> Expressions.isVolatile(expression)
                        || Expressions.draws(expression)
                        || Expressions.readsProctime(expression)
                        || UserCalls.isIn(expression));
    }

    /** The scan and the filter right above it, of any plan with one scan that is read once. */
    private static Optional<Parts> scanOf(List<PlanNode> nodes) {
        if (!isReadOnce(nodes)) {
            return Optional.empty();
        }
        for (PlanNode node : nodes) {
            if (node instanceof PlanNode.Calc calc && below(calc.input()) instanceof PlanNode.Scan scan) {
                return Optional.of(new Parts(scan, Optional.of(calc), Optional.empty(), Optional.empty()));
            }
        }
        return Optional.empty();
    }

    // ---- one index -------------------------------------------------------------------------------------------------

    private static Optional<RangePlan> by(
            Candidate candidate, Parts parts, Schema schema, KeyMatch match, RangeMatch ranges) {
        List<OrderKey> keys = candidate.key.keys();
        List<List<Expression>> equal = new ArrayList<>();
        long combinations = 1;
        for (OrderKey key : keys) {
            Optional<List<Expression>> values = match.equal(place(key, parts))
                    .map(KeyMatch.Equal::values)
                    .filter(all -> RangeMatch.suits(schema.type(key.column())))
                    .filter(all -> all.stream().allMatch(RangeMatch::isFixed));
            combinations *= values.map(List::size).orElse(1);
            if (values.isEmpty() || combinations > MOST_RANGES) {
                break;
            }
            equal.add(values.get());
        }
        Optional<Bound> low = Optional.empty();
        Optional<Bound> high = Optional.empty();
        if (equal.size() < keys.size() && candidate.ranges) {
            int place = place(keys.get(equal.size()), parts);
            low = ranges.low(place);
            high = ranges.high(place);
        }
        if (!candidate.ranges && equal.size() < keys.size()) {
            return Optional.empty();
        }
        Optional<Boolean> backward =
                candidate.ranges || parts.sort.isEmpty() ? backward(keys, equal, parts, schema) : Optional.empty();
        boolean bounded = !equal.isEmpty() || low.isPresent() || high.isPresent();
        boolean few = backward.isPresent()
                && parts.answer.filter(answer -> answer.limit >= 0).isPresent()
                && parts.sort.filter(sort -> !sort.order().isEmpty()).isPresent();
        if (!bounded && !few) {
            return Optional.empty();
        }
        return Optional.of(new RangePlan(
                parts.scan,
                candidate.name,
                candidate.key,
                equal,
                low,
                high,
                backward.orElse(false),
                parts.calc,
                backward.isPresent() ? parts.answer : Optional.empty()));
    }

    /** A key's column among those that are scanned. */
    private static int place(OrderKey key, Parts parts) {
        return parts.scan.columns().indexOf(key.column());
    }

    /** Which way the index has the order that is asked for, if it has; any way where none is. */
    private static Optional<Boolean> backward(
            List<OrderKey> keys, List<List<Expression>> equal, Parts parts, Schema schema) {
        List<OrderKey> wanted = parts.sort.map(PlanNode.Sort::order).orElse(List.of());
        Optional<Boolean> backward = Optional.empty();
        int at = 0;
        int place = 0;
        while (place < wanted.size()) {
            Optional<Integer> column = column(wanted.get(place).column(), parts);
            if (column.isEmpty()) {
                return Optional.empty();
            }
            OrderKey key = at < keys.size() ? keys.get(at) : new OrderKey(-1, false, false);
            if (key.column() == column.get()) {
                boolean nullable = schema.field(key.column()).nullable();
                boolean same = key.descending() == wanted.get(place).descending()
                        && (!nullable || key.nullsFirst() == wanted.get(place).nullsFirst());
                boolean opposite = key.descending() != wanted.get(place).descending()
                        && (!nullable || key.nullsFirst() != wanted.get(place).nullsFirst());
                boolean one = isOne(equal, at);
                if (!one && !same && !opposite || !one && backward.isPresent() && backward.get() != opposite) {
                    return Optional.empty();
                }
                backward = one ? backward : Optional.of(opposite);
                at++;
                place++;
            } else if (isOne(equal, at)) {
                at++;
            } else if (isPinned(column.get(), keys, equal)) {
                place++;
            } else {
                return Optional.empty();
            }
        }
        return Optional.of(backward.orElse(false));
    }

    /** Whether a column of the index has one value in all rows that are read. */
    private static boolean isOne(List<List<Expression>> equal, int at) {
        return at < equal.size() && equal.get(at).size() == 1;
    }

    private static boolean isPinned(int column, List<OrderKey> keys, List<List<Expression>> equal) {
        for (int at = 0; at < equal.size(); at++) {
            if (keys.get(at).column() == column && isOne(equal, at)) {
                return true;
            }
        }
        return false;
    }

    /** The column of the relation that a column of what is sorted is. */
    private static Optional<Integer> column(int sorted, Parts parts) {
        if (parts.calc.isEmpty()) {
            return Optional.of(parts.scan.columns().get(sorted));
        }
        return parts.calc.get().projections().get(sorted) instanceof Column column
                ? Optional.of(parts.scan.columns().get(column.index()))
                : Optional.empty();
    }

    private int worth() {
        boolean cut = answer.filter(found -> found.limit >= 0).isPresent();
        return 4 * equal.size() + (low.isPresent() ? 1 : 0) + (high.isPresent() ? 1 : 0) + (cut ? 3 : 0);
    }

    // ---- values ----------------------------------------------------------------------------------------------------

    /** Whether all rows that the query may need are in the ranges, and not only as many as it takes. */
    boolean isBounded() {
        return !equal.isEmpty() || low.isPresent() || high.isPresent();
    }

    /**
     * What is read of the index.
     *
     * @return no list where a value cannot be computed, which is told by who executes the query
     */
    public Optional<List<IndexRange>> ranges(GivenValues given) {
        try {
            Set<List<Expression>> prefixes = new LinkedHashSet<>();
            prefixes.add(List.of());
            for (List<Expression> values : equal) {
                Set<List<Expression>> longer = new LinkedHashSet<>();
                for (Expression expression : values) {
                    Expression value = ConstantFolder.evaluate(given.in(expression));
                    if (!(value instanceof Null)) { // which equals nothing
                        prefixes.forEach(prefix -> longer.add(with(prefix, value)));
                    }
                }
                prefixes = longer;
            }
            Optional<Expression> least = low.map(bound -> ConstantFolder.evaluate(given.in(bound.value())));
            Optional<Expression> greatest = high.map(bound -> ConstantFolder.evaluate(given.in(bound.value())));
            if (least.filter(Null.class::isInstance).isPresent()
                    || greatest.filter(Null.class::isInstance).isPresent()) {
                return Optional.of(List.of());
            }
            List<IndexRange> ranges = new ArrayList<>();
            prefixes.forEach(prefix -> ranges.add(range(prefix, least, greatest)));
            return Optional.of(ranges);
        } catch (MillraceException e) {
            return Optional.empty();
        }
    }

    private IndexRange range(List<Expression> prefix, Optional<Expression> least, Optional<Expression> greatest) {
        if (least.isEmpty() && greatest.isEmpty()) {
            return new IndexRange(prefix, true, prefix, true);
        }
        OrderKey next = key.keys().get(prefix.size());
        Optional<Expression> from = next.descending() ? greatest : least;
        Optional<Expression> to = next.descending() ? least : greatest;
        boolean fromIncluded =
                (next.descending() ? high : low).filter(Bound::included).isPresent();
        boolean toIncluded =
                (next.descending() ? low : high).filter(Bound::included).isPresent();
        Expression none = new Null(from.or(() -> to).orElseThrow().type());
        // NULLs are not in between
        List<Expression> begin =
                from.map(value -> with(prefix, value)).orElseGet(() -> next.nullsFirst() ? with(prefix, none) : prefix);
        List<Expression> end =
                to.map(value -> with(prefix, value)).orElseGet(() -> next.nullsFirst() ? prefix : with(prefix, none));
        return new IndexRange(
                begin, from.isPresent() ? fromIncluded : !next.nullsFirst(),
                end, to.isPresent() ? toIncluded : next.nullsFirst());
    }

    private static List<Expression> with(List<Expression> prefix, Expression value) {
        List<Expression> more = new ArrayList<>(prefix);
        more.add(value);
        return more;
    }

    /** A line for EXPLAIN, above what it is in the place of. */
    public String describe(DatabaseCatalog catalog) {
        Schema schema = catalog.object(scan.relation()).orElseThrow().schema();
        List<String> terms = new ArrayList<>();
        for (int i = 0; i < equal.size(); i++) {
            String name = schema.field(key.keys().get(i).column()).name();
            List<String> values =
                    equal.get(i).stream().map(ExpressionText::constant).toList();
            terms.add(values.size() == 1 ? name + " = " + values.get(0) : name + " IN " + values);
        }
        if (equal.size() < key.keys().size()) {
            String name = schema.field(key.keys().get(equal.size()).column()).name();
            low.ifPresent(bound ->
                    terms.add(name + (bound.included() ? " >= " : " > ") + ExpressionText.constant(bound.value())));
            high.ifPresent(bound ->
                    terms.add(name + (bound.included() ? " <= " : " < ") + ExpressionText.constant(bound.value())));
        }
        if (backward) {
            terms.add("backward");
        }
        answer.filter(found -> found.limit >= 0).ifPresent(found -> terms.add("the first " + found.last()));
        return "Index Scan using " + index + " on " + scan.relation() + ": " + String.join(", ", terms)
                + (answer.isPresent() ? ", in the place of:" : ", in the place of the Scan of:");
    }
}
