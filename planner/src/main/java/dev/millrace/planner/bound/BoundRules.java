package dev.millrace.planner.bound;

import dev.millrace.condense.Condensing;
import dev.millrace.condense.ErrorColumns;
import dev.millrace.error.MillraceException;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Cast;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.plan.node.Subplans;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.planner.bound.BoundedRows.Members;
import dev.millrace.planner.bound.Known.Interval;
import dev.millrace.planner.bound.Known.Verdict;
import dev.millrace.planner.fact.RelationFacts;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.NodeVisitor;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/**
 * Has a query compute what it asks of bounds. Scans of sketches read how far values may be off; each node passes on what is known of its columns, and a filter
 * that is not certain of a row keeps it, with whether it is shown and whether it is there for certain.
 *
 * <pre>
 * Calc(error_bound(avg))      becomes    Calc(the larger of avg - low and high - avg)
 *   Aggregate(avg(v))                      Calc(avg, low of avg, high of avg)
 *     Calc(where v > 5)                      Aggregate(avg(v) filter shown, sums and counts of ends, some filter certain)
 *       Scan(s: v)                             Calc(v, low, high, v > 5 as shown, low > 5 as certain; where high > 5)
 *                                                Calc(v, v less v_error as low, v and v_error as high)
 *                                                  Scan(s: v, v_error)
 * </pre>
 *
 * What no rule speaks of gives the rows that are shown, of which nothing is known. Use once, on one thread.
 *
 * <p>Long because each kind of node has its rule here.
 */
public final class BoundRules implements NodeVisitor<BoundedRows> {
    private final Function<String, RelationFacts> relations;
    private final Map<PlanNode, BoundedRows> done = new IdentityHashMap<>();

    private BoundRules(Function<String, RelationFacts> relations) {
        this.relations = relations;
    }

    /** Whether a plan, as it comes of the algebra, asks how far off values may be. */
    public static boolean areAsked(PlanNode plan) {
        return Subplans.of(plan).stream()
                .flatMap(node -> expressions(node).stream())
                .anyMatch(expression -> Expressions.any(expression, RowBounds::asks));
    }

    private static List<Expression> expressions(PlanNode node) {
        if (node instanceof PlanNode.Calc calc) {
            return Nodes.expressions(calc);
        } else if (node instanceof PlanNode.Join join) {
            return join.residual().stream().toList();
        } else if (node instanceof PlanNode.Match match) {
            return match.outputs();
        }
        return List.of();
    }

    /**
     * The plan with what it asks computed; itself if it asks nothing.
     *
     * @param maxError how far numbers of the answer may be off, if that is limited
     * @param names of its columns, as the user knows them
     */
    public static PlanNode apply(
            PlanNode plan, Function<String, RelationFacts> relations, OptionalDouble maxError, List<String> names) {
        if (maxError.isEmpty() && !areAsked(plan)) {
            return plan;
        }
        BoundedRows rows = new BoundRules(relations).bounded(plan);
        boolean isLimited = maxError.isPresent() && rows.columns().stream().anyMatch(Optional::isPresent);
        return isLimited ? limited(rows.onlyShown(), maxError.getAsDouble(), names) : rows.asShown();
    }

    /** The rows that are shown; of a value that may be further off it fails. */
    private static PlanNode limited(BoundedRows rows, double maxError, List<String> names) {
        List<Expression> columns = new ArrayList<>();
        for (int column = 0; column < rows.width(); column++) {
            Expression value = rows.column(column);
            if (rows.isExact(column)) {
                columns.add(value);
                continue;
            }
            Expression within = new Expression.Call(
                    "bound_within",
                    List.of(
                            rows.row().distance(column, value),
                            Ends.literal(maxError),
                            new Expression.Literal(names.get(column), DataType.TEXT)),
                    DataType.BOOLEAN,
                    true);
            columns.add(Ends.where(Expressions.test("is_not_false", within), value));
        }
        return Nodes.project(rows.plan(), columns);
    }

    private BoundedRows bounded(PlanNode node) {
        BoundedRows known = done.get(node);
        if (known == null) {
            known = NodeVisitor.visit(node, this);
            done.put(node, known);
        }
        return known;
    }

    @Override
    public BoundedRows scan(PlanNode.Scan scan) {
        return scanned(scan, rows -> rows);
    }

    /** @param marked puts a watermark on the rows, if it is to be there: directly on those that are read */
    private BoundedRows scanned(PlanNode.Scan scan, UnaryOperator<PlanNode> marked) {
        RelationFacts facts = relations.apply(scan.relation());
        if (facts.precision() == RelationFacts.Precision.UNKNOWN) {
            return BoundedRows.nothing(marked.apply(scan));
        }
        Condensing condensing = facts.condensing().orElse(null);
        if (condensing == null || condensing.inexact().isEmpty()) {
            return BoundedRows.exact(marked.apply(scan));
        }
        int width = scan.columns().size();
        List<Integer> read = new ArrayList<>(scan.columns());
        List<Field> fields = new ArrayList<>(scan.schema().fields());
        List<Integer> errors = new ArrayList<>(); // by column, where its error is read
        for (int column = 0; column < width; column++) {
            boolean isOff = condensing.inexact().contains(scan.columns().get(column));
            errors.add(isOff ? read.size() : -1);
            if (isOff) {
                // a plan's scan of the algebra has all columns of its relation
                read.add(ErrorColumns.of(scan.schema(), scan.columns().get(column)));
                fields.add(ErrorColumns.field(scan.schema(), read.get(read.size() - 1)));
            }
        }
        PlanNode all = marked.apply(new PlanNode.Scan(scan.relation(), read, List.of(), new Schema(fields)));
        List<Expression> own = IntStream.range(0, width)
                .<Expression>mapToObj(column -> Nodes.column(all, column))
                .toList();
        List<Optional<Known>> known = new ArrayList<>();
        for (int column = 0; column < width; column++) {
            known.add(
                    errors.get(column) < 0
                            ? Optional.empty()
                            : Optional.of(read(own.get(column), Nodes.column(all, errors.get(column)))));
        }
        return BoundedRows.of(all, Optional.empty(), own, known, BoundedRows.ALL, List.of());
    }

    private static Known read(Expression value, Expression error) {
        if (!Ends.isNumber(value.type())) {
            return Known.nothing(value.type());
        }
        if (value.type().kind() == DataType.Kind.REAL) {
            Expression wide = new Cast(value, DataType.DOUBLE);
            return new Interval(
                    Ends.call("bound_real_low", wide, error), Ends.call("bound_real_high", wide, error), false);
        }
        Interval shown = Ends.exact(value);
        return new Interval(
                Ends.call("bound_low", shown.low(), error), Ends.call("bound_high", shown.high(), error), false);
    }

    @Override
    public BoundedRows values(PlanNode.Values values) {
        return BoundedRows.exact(values);
    }

    @Override
    public BoundedRows calc(PlanNode.Calc calc) {
        return computed(bounded(calc.input()), calc.condition(), calc.projections());
    }

    private static BoundedRows computed(
            BoundedRows input, Optional<Expression> condition, List<Expression> projections) {
        RowBounds row = input.row();
        List<Expression> kept = new ArrayList<>();
        List<Expression> certain = new ArrayList<>();
        List<Expression> uncertain = new ArrayList<>(); // conditions
        for (Expression conjunct : Expressions.conjuncts(condition)) {
            if (row.isExact(conjunct)) {
                kept.add(row.shown(conjunct));
            } else {
                Verdict verdict = row.verdict(conjunct);
                kept.add(verdict.mayBeTrue());
                certain.add(verdict.isTrue());
                uncertain.add(row.shown(conjunct));
            }
        }
        Optional<Expression> filter = Expressions.and(
                kept.stream().filter(test -> !Expressions.isLiteral(test, true)).toList());
        List<Optional<Known>> known = projections.stream().map(row::known).toList();
        List<Expression> shown = projections.stream().map(row::shown).toList();
        boolean isTracked = input.members() instanceof Members.Some;
        if (input.members().equals(BoundedRows.UNKNOWN)) {
            Optional<Expression> all = Expressions.and(filter, Expressions.and(uncertain));
            return BoundedRows.of(input.plan(), all, shown, known, BoundedRows.UNKNOWN, List.of());
        }
        if (!isTracked && uncertain.isEmpty()) {
            return BoundedRows.of(input.plan(), filter, shown, known, BoundedRows.ALL, List.of());
        }
        Expression isShown = input.shown();
        for (Expression test : uncertain) {
            Expression isTrue = Expressions.test("is_true", test);
            // a row that is not shown need not be one that this can be computed of
            isShown = Expressions.isLiteral(isShown, true)
                    ? isTrue
                    : Ends.choose(isShown, isTrue, Expressions.literal(false));
        }
        certain.add(input.certain());
        List<Expression> guarded = new ArrayList<>();
        for (int column = 0; column < shown.size(); column++) {
            Expression value = shown.get(column);
            boolean isSimple = value instanceof Expression.Column
                    || value instanceof Expression.Literal
                    || value instanceof Expression.Null
                    || known.get(column).isEmpty() && !Expressions.any(projections.get(column), RowBounds::asks);
            guarded.add(isSimple ? value : Ends.where(isShown, value));
        }
        return BoundedRows.of(
                input.plan(), filter, guarded, known, BoundedRows.ALL, List.of(isShown, Ends.and(certain)));
    }

    /** Rows of a node over rows with more columns: its own, then what is known of them. */
    private static BoundedRows moved(
            PlanNode node, int width, int[] places, List<Optional<Known>> known, Members members) {
        List<Expression> own = IntStream.of(places)
                .<Expression>mapToObj(place -> Nodes.column(node, place))
                .toList();
        List<Expression> ofMembers = members instanceof Members.Some some
                ? List.of(Nodes.column(node, some.shown()), Nodes.column(node, some.certain()))
                : List.of();
        assert own.size() == width;
        return BoundedRows.of(node, Optional.empty(), own, known, members, ofMembers);
    }

    @Override
    public BoundedRows windowAssign(PlanNode.WindowAssign assign) {
        BoundedRows input = bounded(assign.input());
        boolean areSessions = assign.window() instanceof WindowSpec.Session;
        if (!input.isExact(assign.timeColumn())
                || areSessions && !input.members().equals(BoundedRows.ALL)) {
            return opaque(assign);
        }
        PlanNode assigned = Nodes.windowAssign(input.plan(), assign.timeColumn(), assign.window());
        int width = input.plan().schema().size();
        List<Optional<Known>> known = new ArrayList<>(input.columns());
        known.add(Optional.empty());
        known.add(Optional.empty());
        int[] places = IntStream.concat(IntStream.range(0, input.width()), IntStream.of(width, width + 1))
                .toArray();
        return moved(assigned, assign.schema().size(), places, known, input.members());
    }

    @Override
    public BoundedRows aggregate(PlanNode.Aggregate aggregate) {
        return AggregateBounds.of(aggregate, bounded(aggregate.input()));
    }

    @Override
    public BoundedRows join(PlanNode.Join join) {
        BoundedRows left = bounded(join.left());
        BoundedRows right = bounded(join.right());
        boolean areKeysExact = join.leftKeys().stream().allMatch(left::isExact)
                && join.rightKeys().stream().allMatch(right::isExact);
        if (join.time().isPresent() || !areKeysExact) {
            return opaque(join);
        }
        boolean isInner = join.kind() == JoinKind.INNER;
        RowBounds row = new RowBounds(IntStream.range(0, left.width() + right.width())
                .mapToObj(column -> column < left.width()
                        ? left.columns().get(column)
                        : right.columns().get(column - left.width()))
                .toList());
        boolean isExact = join.residual().map(row::isExact).orElse(true);
        boolean areAll =
                left.members().equals(BoundedRows.ALL) && right.members().equals(BoundedRows.ALL);
        return isInner
                ? inner(join, left, right)
                : outer(
                        join,
                        left.onlyShown(),
                        right.onlyShown(),
                        isExact && areAll ? BoundedRows.ALL : BoundedRows.UNKNOWN);
    }

    /** All pairs that may be there; what decides that by inexact values comes behind the join. */
    private static BoundedRows inner(PlanNode.Join join, BoundedRows left, BoundedRows right) {
        PlanNode pairs = Nodes.join(
                left.plan(),
                right.plan(),
                JoinKind.INNER,
                join.leftKeys(),
                join.rightKeys(),
                Optional.empty(),
                Optional.empty());
        BoundedRows all = beside(pairs, left, right, join.schema().size());
        return computed(
                all,
                join.residual(),
                IntStream.range(0, all.width()).mapToObj(all::column).toList());
    }

    private static BoundedRows outer(PlanNode.Join join, BoundedRows left, BoundedRows right, Members members) {
        int shift = left.plan().schema().size() - left.width();
        if (join.residual()
                .filter(test -> Expressions.any(test, RowBounds::asks))
                .isPresent()) {
            throw refused("in the condition of a join that is not an inner one");
        }
        Optional<Expression> residual = join.residual()
                .map(test -> Expressions.renumber(test, column -> column < left.width() ? column : column + shift));
        PlanNode pairs = Nodes.join(
                left.plan(), right.plan(), join.kind(), join.leftKeys(), join.rightKeys(), residual, Optional.empty());
        boolean isLeftOnly = join.kind() == JoinKind.SEMI || join.kind() == JoinKind.ANTI;
        return isLeftOnly
                ? new BoundedRows(pairs, left.width(), left.columns(), members)
                : withMembers(beside(pairs, left, right, join.schema().size()), members);
    }

    private static BoundedRows withMembers(BoundedRows rows, Members members) {
        return new BoundedRows(rows.plan(), rows.width(), rows.columns(), members);
    }

    /** Pairs of rows: the columns of both, then what is known of them; there where both are. */
    private static BoundedRows beside(PlanNode pairs, BoundedRows left, BoundedRows right, int width) {
        int first = left.plan().schema().size();
        int[] places = IntStream.concat(
                        IntStream.range(0, left.width()),
                        IntStream.range(0, right.width()).map(column -> first + column))
                .toArray();
        assert places.length == width;
        List<Optional<Known>> known = new ArrayList<>(left.columns());
        right.columns().forEach(of -> known.add(BoundedRows.moved(of, column -> first + column)));
        List<Expression> ofMembers = new ArrayList<>();
        if (left.members() instanceof Members.Some || right.members() instanceof Members.Some) {
            ofMembers.add(
                    Ends.and(List.of(left.shown(), Expressions.renumber(right.shown(), column -> first + column))));
            ofMembers.add(
                    Ends.and(List.of(left.certain(), Expressions.renumber(right.certain(), column -> first + column))));
        }
        boolean isUnknown =
                left.members().equals(BoundedRows.UNKNOWN) || right.members().equals(BoundedRows.UNKNOWN);
        BoundedRows all = BoundedRows.of(
                pairs,
                Optional.empty(),
                IntStream.of(places)
                        .<Expression>mapToObj(place -> Nodes.column(pairs, place))
                        .toList(),
                known,
                BoundedRows.ALL,
                ofMembers);
        return isUnknown ? withMembers(all.onlyShown(), BoundedRows.UNKNOWN) : all;
    }

    @Override
    public BoundedRows union(PlanNode.Union union) {
        List<BoundedRows> inputs = union.inputs().stream().map(this::bounded).toList();
        boolean isUnknown = inputs.stream().anyMatch(input -> input.members().equals(BoundedRows.UNKNOWN));
        List<BoundedRows> parts =
                isUnknown ? inputs.stream().map(BoundedRows::onlyShown).toList() : inputs;
        boolean isTracked = parts.stream().anyMatch(part -> part.members() instanceof Members.Some);
        int width = union.schema().size();
        List<Boolean> areNumbers = new ArrayList<>(); // of which inexact columns ends are known
        for (int column = 0; column < width; column++) {
            areNumbers.add(Ends.isNumber(union.schema().type(column)));
        }
        List<PlanNode> sides = new ArrayList<>();
        boolean[] isOff = new boolean[width];
        boolean[] mayBeNull = new boolean[width];
        for (int column = 0; column < width; column++) {
            for (BoundedRows part : parts) {
                isOff[column] |= !part.isExact(column);
            }
        }
        for (BoundedRows part : parts) {
            List<Expression> all = new ArrayList<>();
            IntStream.range(0, width).forEach(column -> all.add(part.column(column)));
            for (int column = 0; column < width; column++) {
                if (isOff[column] && areNumbers.get(column)) {
                    Interval ends = part.row().interval(part.column(column));
                    mayBeNull[column] |= ends.mayBeNull();
                    all.add(ends.low());
                    all.add(ends.high());
                }
            }
            if (isTracked) {
                all.add(part.shown());
                all.add(part.certain());
            }
            sides.add(Nodes.project(part.plan(), all));
        }
        PlanNode all = Nodes.union(sides);
        List<Optional<Known>> known = new ArrayList<>();
        int next = width;
        for (int column = 0; column < width; column++) {
            if (!isOff[column]) {
                known.add(Optional.empty());
            } else if (areNumbers.get(column)) {
                known.add(Optional.of(
                        new Interval(Nodes.column(all, next), Nodes.column(all, next + 1), mayBeNull[column])));
                next += 2;
            } else {
                known.add(Optional.of(Known.nothing(union.schema().type(column))));
            }
        }
        Members members =
                isTracked ? new Members.Some(next, next + 1) : isUnknown ? BoundedRows.UNKNOWN : BoundedRows.ALL;
        return new BoundedRows(all, width, known, members);
    }

    /** An order of what is shown; which rows come first may be decided by values that are off. */
    @Override
    public BoundedRows sort(PlanNode.Sort sort) {
        BoundedRows input = bounded(sort.input());
        BoundedRows shown = input.onlyShown();
        boolean isCut = sort.limit() >= 0 || sort.offset() > 0;
        boolean isSure = !isCut || sort.order().stream().map(OrderKey::column).allMatch(shown::isExact);
        return new BoundedRows(
                new PlanNode.Sort(shown.plan(), sort.order(), sort.limit(), sort.offset()),
                shown.width(),
                shown.columns(),
                isSure ? shown.members() : BoundedRows.UNKNOWN);
    }

    @Override
    public BoundedRows expand(PlanNode.Expand expand) {
        BoundedRows input = bounded(expand.input());
        boolean isExact = expand.calls().stream()
                .allMatch(call -> call.arguments().stream().allMatch(input::isExact));
        if (!isExact) {
            return opaque(expand);
        }
        int behind = input.plan().schema().size() - input.width();
        List<Integer> kept = new ArrayList<>(expand.kept());
        IntStream.range(input.width(), input.plan().schema().size()).forEach(kept::add);
        PlanNode expanded = Nodes.expand(input.plan(), kept, expand.calls(), expand.ordinality(), expand.outer());
        int own = expand.kept().size();
        int made = expand.schema().size() - own;
        int[] places = IntStream.concat(IntStream.range(0, own), IntStream.range(own + behind, own + behind + made))
                .toArray();
        List<Optional<Known>> known = new ArrayList<>();
        expand.kept()
                .forEach(column -> known.add(
                        BoundedRows.moved(input.columns().get(column), place -> place - input.width() + own)));
        IntStream.range(0, made).forEach(column -> known.add(Optional.empty()));
        Members members = input.members() instanceof Members.Some some
                ? new Members.Some(some.shown() - input.width() + own, some.certain() - input.width() + own)
                : input.members();
        return moved(expanded, expand.schema().size(), places, known, members);
    }

    /** Of window functions over what is off, or over rows that may not be there, nothing is known. */
    @Override
    public BoundedRows over(PlanNode.Over over) {
        BoundedRows all = bounded(over.input());
        BoundedRows input = all.onlyShown();
        boolean isSure = all.members().equals(BoundedRows.ALL)
                && over.partition().stream().allMatch(input::isExact)
                && over.order().stream().map(OrderKey::column).allMatch(input::isExact);
        PlanNode computed = Nodes.over(input.plan(), over.partition(), over.order(), over.calls(), over.closing());
        int first = input.plan().schema().size();
        List<Optional<Known>> known = new ArrayList<>(input.columns());
        over.calls().forEach(call -> {
            boolean isExact = isSure
                    && call.arguments().stream().allMatch(input::isExact)
                    && call.aggregate()
                            .map(aggregate -> aggregate.arguments().stream().allMatch(input::isExact)
                                    && aggregate.filter().stream().allMatch(input::isExact)
                                    && aggregate.ordering().stream()
                                            .map(OrderKey::column)
                                            .allMatch(input::isExact))
                            .orElse(true);
            known.add(isExact ? Optional.empty() : Optional.of(Known.nothing(call.type())));
        });
        int[] places = IntStream.concat(
                        IntStream.range(0, input.width()),
                        IntStream.range(first, first + over.calls().size()))
                .toArray();
        return moved(computed, over.schema().size(), places, known, input.members());
    }

    /** Over rows as they are shown; what comes out is exact only if all that goes in is. */
    private BoundedRows opaque(PlanNode node) {
        List<BoundedRows> inputs = node.inputs().stream().map(this::bounded).toList();
        boolean isExact = inputs.stream().allMatch(BoundedRows::isExact);
        if (!isExact
                && expressions(node).stream().anyMatch(expression -> Expressions.any(expression, RowBounds::asks))) {
            throw refused("within this operator");
        }
        PlanNode over =
                Nodes.withInputs(node, inputs.stream().map(BoundedRows::asShown).toList());
        return isExact ? BoundedRows.exact(over) : BoundedRows.nothing(over);
    }

    private static MillraceException refused(String where) {
        return MillraceException.notAvailableYet("error_bound " + where)
                .withHint("ask for bounds in the SELECT list of a query around it");
    }

    /** Times that are off would make other rows late. */
    @Override
    public BoundedRows watermark(PlanNode.Watermark watermark) {
        if (!(watermark.input() instanceof PlanNode.Scan scan) || !bounded(scan).isExact(watermark.timeColumn())) {
            return opaque(watermark);
        }
        return scanned(scan, rows -> Nodes.watermark(watermark, rows, watermark.timeColumn()));
    }

    @Override
    public BoundedRows versions(PlanNode.Versions versions) {
        return opaque(versions);
    }

    @Override
    public BoundedRows windowAggregate(PlanNode.WindowAggregate aggregate) {
        return opaque(aggregate);
    }

    @Override
    public BoundedRows windowExtreme(PlanNode.WindowExtreme extreme) {
        return opaque(extreme);
    }

    @Override
    public BoundedRows multiJoin(PlanNode.MultiJoin join) {
        return opaque(join);
    }

    @Override
    public BoundedRows topN(PlanNode.TopN topN) {
        return opaque(topN);
    }

    @Override
    public BoundedRows match(PlanNode.Match match) {
        return opaque(match);
    }

    @Override
    public BoundedRows timeFilter(PlanNode.TimeFilter filter) {
        return opaque(filter);
    }

    @Override
    public BoundedRows pace(PlanNode.Pace pace) {
        return opaque(pace);
    }

    /** Below sessions, which rows share by their values and depend on which there are. */
    @Override
    public BoundedRows exchange(PlanNode.Exchange exchange) {
        BoundedRows input = bounded(exchange.input());
        boolean isSure = input.members().equals(BoundedRows.ALL)
                && (!(exchange.distribution() instanceof PlanNode.Distribution.Hash hash)
                        || hash.columns().stream().allMatch(input::isExact));
        return isSure
                ? new BoundedRows(
                        new PlanNode.Exchange(input.plan(), exchange.distribution()),
                        input.width(),
                        input.columns(),
                        input.members())
                : opaque(exchange);
    }
}
