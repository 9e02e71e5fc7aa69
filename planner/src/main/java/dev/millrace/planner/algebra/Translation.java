package dev.millrace.planner.algebra;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.plan.node.PlanNode.Rank;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.planner.fact.RelationFacts;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.sql.algebra.AggregateTranslator;
import dev.millrace.sql.algebra.ExpandRel;
import dev.millrace.sql.algebra.ExpressionTranslator;
import dev.millrace.sql.algebra.MatchRel;
import dev.millrace.sql.algebra.TimedJoin;
import dev.millrace.sql.algebra.TypeMapper;
import dev.millrace.sql.algebra.WindowScan;
import dev.millrace.sql.catalog.Relation;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Aggregate;
import org.apache.calcite.rel.core.Filter;
import org.apache.calcite.rel.core.Intersect;
import org.apache.calcite.rel.core.Join;
import org.apache.calcite.rel.core.Minus;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rel.core.Sort;
import org.apache.calcite.rel.core.TableScan;
import org.apache.calcite.rel.core.Union;
import org.apache.calcite.rel.core.Values;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexOver;

/**
 * Translates one query. Use once, on the thread that owns the algebra.
 *
 * <p>The result follows the algebra but for this: streams with a watermark have a {@code Watermark} node above their
 * scan (standing queries only); a standing ORDER BY is a {@code TopN} or, without LIMIT, nothing; ranks are a {@code
 * TopN} without a limit, other window functions an {@code Over}; a session's PARTITION BY is an {@code Exchange} by hash beneath its {@code WindowAssign}.
 */
public final class Translation {
    private final Function<String, RelationFacts> relations;
    private final boolean finite;
    private final boolean closing;
    private final UnaryOperator<Expression> folder;
    private final Map<RelNode, PlanNode> done = new IdentityHashMap<>();
    private final Interrupt interrupt = Interrupt.current();

    /**
     * @param finite whether this is a pull query
     * @param closing whether the rows of tables wait for their watermarks, too (EMIT ON WINDOW CLOSE)
     * @param folder the value of an expression over constants; what it cannot evaluate it gives back, and what has no value
     *     it fails with
     */
    public Translation(
            Function<String, RelationFacts> relations,
            boolean finite,
            boolean closing,
            UnaryOperator<Expression> folder) {
        this.relations = relations;
        this.finite = finite;
        this.closing = closing;
        this.folder = folder;
    }

    /** The whole query, its joins in an order without needless cross products. */
    public PlanNode translateQuery(RelNode root) {
        return WrittenOrder.choose(translate(root));
    }

    /** Node by node, joins in the order written. */
    public PlanNode translate(RelNode node) {
        interrupt.check();
        PlanNode known = done.get(node);
        if (known == null) {
            known = translateNew(node);
            done.put(node, known);
        }
        return known;
    }

    private PlanNode translateNew(RelNode node) {
        if (node instanceof Project project) {
            return project(project);
        } else if (node instanceof Filter filter) {
            return Nodes.filter(translate(filter.getInput()), ExpressionTranslator.translate(filter.getCondition()));
        } else if (node instanceof TableScan scan) {
            return scan(scan);
        } else if (node instanceof Aggregate aggregate) {
            return new AggregateTranslation(aggregate, translate(aggregate.getInput()), folder).translate();
        } else if (TimedJoin.of(node).isPresent()) {
            TimedJoin join = TimedJoin.of(node).get();
            return join.versions()
                    ? versionedJoin(join)
                    : TimedJoinTranslation.translate(join, translate(join.left()), translate(join.right()), finite);
        } else if (node instanceof Join join) {
            return join(join);
        } else if (node instanceof Sort sort) {
            return sort(sort);
        } else if (node instanceof ExpandRel expand) {
            List<Integer> kept = IntStream.range(0, expand.kept()).boxed().toList();
            return Nodes.expand(
                    translate(expand.getInput()), kept, expand.calls(), expand.ordinality(), expand.outer());
        } else if (node instanceof MatchRel match) {
            return new PlanNode.Match(
                    translate(match.getInput()),
                    match.partition(),
                    match.order(),
                    match.spec(),
                    match.values(),
                    match.outputs(),
                    TypeMapper.schema(match.getRowType()));
        } else if (node instanceof Union union) {
            PlanNode all = Nodes.union(inputs(union));
            return union.all ? all : SetOperations.distinct(all);
        } else if (node instanceof Intersect intersect) {
            return SetOperations.intersect(inputs(intersect), intersect.all);
        } else if (node instanceof Minus minus) {
            return SetOperations.except(inputs(minus), minus.all);
        } else if (node instanceof Values values) {
            return values(values);
        }
        return WindowScan.of(node).map(this::window).orElseThrow(() -> refuse(node));
    }

    private List<PlanNode> inputs(RelNode node) {
        return node.getInputs().stream().map(this::translate).toList();
    }

    private PlanNode scan(TableScan scan) {
        Relation relation = scan.getTable().unwrap(Relation.class);
        List<Integer> all = IntStream.range(0, relation.schema().size()).boxed().toList();
        PlanNode rows = new PlanNode.Scan(relation.name(), all, List.of(), relation.schema());
        Optional<RelationFacts.EventTime> time =
                relations.apply(relation.name()).eventTime();
        boolean isTable = relation.kind() == Relation.Kind.TABLE;
        boolean waits = relations.apply(relation.name()).appendOnly() // else a watermark speaks of versions
                && (closing || !isTable);
        return finite || !waits || time.isEmpty() || time.get().settled()
                ? rows
                : new PlanNode.Watermark(
                        rows,
                        time.get().column(),
                        time.get().delayMicros(),
                        time.get().idleTimeoutMicros(),
                        Optional.empty(),
                        isTable);
    }

    private PlanNode versionedJoin(TimedJoin join) {
        TableScan scan = (TableScan) join.right();
        Relation table = scan.getTable().unwrap(Relation.class);
        PlanNode rows = translate(scan);
        PlanNode right = finite ? rows : versions(rows, table);
        return TimedJoinTranslation.versions(
                join, translate(join.left()), right, rows.schema().size(), table.primaryKey(), finite);
    }

    private PlanNode versions(PlanNode rows, Relation table) {
        RelationFacts.EventTime time = relations.apply(table.name()).eventTime().orElseThrow();
        return new PlanNode.Watermark(
                Nodes.versions(rows, table.primaryKey(), time.column()),
                time.column(),
                time.delayMicros(),
                time.idleTimeoutMicros(),
                Optional.empty());
    }

    private PlanNode project(Project project) {
        PlanNode input = translate(project.getInput());
        List<RexNode> projections = project.getProjects();
        if (RexOver.containsOver(projections, null)) {
            return OverTranslation.translate(input, projections);
        }
        return Nodes.project(
                input, projections.stream().map(ExpressionTranslator::translate).toList());
    }

    private PlanNode values(Values values) {
        List<List<Expression>> rows = values.getTuples().stream()
                .map(row -> row.stream().map(ExpressionTranslator::translate).toList())
                .toList();
        return new PlanNode.Values(rows, TypeMapper.schema(values.getRowType()));
    }

    /**
     * A time made by {@code proctime()} gets a watermark of its own: it never runs backward. In a pull query it needs
     * none.
     */
    private PlanNode window(WindowScan scan) {
        PlanNode input = translate(scan.input());
        int time = scan.timeColumn();
        if (!finite
                && input instanceof PlanNode.Calc calc
                && Expressions.isClock(calc.projections().get(time))) {
            input = new PlanNode.Watermark(input, time, 0, PlanNode.Watermark.FOLLOWS_CLOCK, Optional.empty());
        }
        if (scan.window() instanceof WindowSpec.Session) {
            PlanNode.Distribution bySession = scan.partition().isEmpty()
                    ? new PlanNode.Distribution.Single()
                    : new PlanNode.Distribution.Hash(scan.partition());
            input = new PlanNode.Exchange(input, bySession);
        }
        return Nodes.windowAssign(input, time, scan.window());
    }

    private PlanNode join(Join join) {
        JoinKind kind = switch (join.getJoinType()) {
            case INNER -> JoinKind.INNER;
            case LEFT -> JoinKind.LEFT;
            case RIGHT -> JoinKind.RIGHT;
            case FULL -> JoinKind.FULL;
            case SEMI -> JoinKind.SEMI;
            case ANTI -> JoinKind.ANTI;
            case ASOF, LEFT_ASOF, LEFT_MARK ->
                throw Refusal.of(
                        "this use of IN or EXISTS is not available yet", "write it as a condition of WHERE by itself");
        };
        Expression condition = ExpressionTranslator.translate(join.getCondition());
        Optional<Expression> residual =
                Expressions.isLiteral(condition, true) ? Optional.empty() : Optional.of(condition);
        return Nodes.join(
                translate(join.getLeft()),
                translate(join.getRight()),
                kind,
                List.of(),
                List.of(),
                residual,
                Optional.empty());
    }

    private PlanNode sort(Sort sort) {
        PlanNode input = translate(sort.getInput());
        List<OrderKey> order = AggregateTranslator.orderKeys(sort.getCollation());
        long limit = sort.fetch == null ? -1 : count(sort.fetch, "LIMIT", -1);
        long offset = sort.offset == null ? 0 : count(sort.offset, "OFFSET", 0);
        if (limit == 0) {
            return new PlanNode.Values(List.of(), input.schema());
        }
        if (finite) {
            return new PlanNode.Sort(input, order, limit, offset);
        }
        // as in PostgreSQL, a view has no order: without LIMIT there is nothing to keep
        if (limit < 0 && offset == 0) {
            return input;
        }
        return Nodes.topN(
                input,
                List.of(),
                order,
                Rank.ROW_NUMBER,
                limit < 0 ? OverTranslation.NO_LIMIT : limit,
                offset,
                false,
                OptionalInt.empty());
    }

    /** @param none what a NULL says */
    private long count(RexNode node, String clause, long none) {
        Expression count = Expressions.transform(ExpressionTranslator.translate(node), this::folded);
        if (count instanceof Expression.Null) {
            return none;
        }
        if (!(count instanceof Expression.Literal literal) || !(literal.value() instanceof Long rows)) {
            throw Refusal.of(clause + " must be a number here", "write it as a literal");
        }
        if (rows < 0) {
            SqlState state = clause.equals("OFFSET")
                    ? SqlState.INVALID_ROW_COUNT_IN_RESULT_OFFSET_CLAUSE
                    : SqlState.INVALID_ROW_COUNT_IN_LIMIT_CLAUSE;
            throw MillraceException.user(state, clause + " must not be negative");
        }
        return rows;
    }

    private Expression folded(Expression expression) {
        boolean constant = Expressions.operands(expression).stream()
                .allMatch(operand -> operand instanceof Expression.Literal || operand instanceof Expression.Null);
        return constant && !Expressions.isVolatile(expression) ? folder.apply(expression) : expression;
    }

    private static MillraceException refuse(RelNode node) {
        return switch (node.getRelTypeName()) {
            case "LogicalSnapshot" ->
                Refusal.of("FOR SYSTEM_TIME AS OF is not available yet", "join with the table as it is now");
            case "LogicalRepeatUnion" -> Refusal.of("WITH RECURSIVE is not available yet", "unroll the recursion");
            case "LogicalSample" -> Refusal.of("TABLESAMPLE is not available yet", "filter on a hash of a key");
            case "LogicalTableFunctionScan" ->
                Refusal.of("this table function is not available", "TUMBLE, HOP, CUMULATE and SESSION are");
            default -> Refusal.of(node.getRelTypeName() + " is not available yet", "rewrite the query without it");
        };
    }
}
