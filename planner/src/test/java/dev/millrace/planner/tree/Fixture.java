package dev.millrace.planner.tree;

import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.IntervalValue;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.planner.explain.PlanText;
import dev.millrace.planner.fact.Inference;
import dev.millrace.planner.fact.RelationFacts;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/** Relations and short ways to write plans, for the tests of rewrites. */
public final class Fixture {
    public static final long SECOND = 1_000_000;

    private static final Schema BID = Schema.of(
            new Field("auction", DataType.BIGINT, false),
            new Field("bidder", DataType.BIGINT, false),
            new Field("price", DataType.BIGINT, false),
            new Field("channel", DataType.TEXT, true),
            new Field("datetime", DataType.TIMESTAMP, false));
    private static final Schema DEVICE = Schema.of(
            new Field("device", DataType.TEXT, false),
            new Field("site", DataType.TEXT, true),
            new Field("limit_c", DataType.DOUBLE, true));

    private Fixture() {}

    /** {@code bid} is an append-only stream with a watermark, {@code plain} one without, {@code device} a table. */
    public static RelationFacts facts(String relation) {
        return switch (relation) {
            case "bid" ->
                new RelationFacts(true, true, Optional.of(new RelationFacts.EventTime(4, 4 * SECOND, 0)), List.of());
            case "plain" -> new RelationFacts(true, true, Optional.empty(), List.of());
            case "device" -> new RelationFacts(false, false, Optional.empty(), List.of(0));
            default -> throw new AssertionError("no relation " + relation);
        };
    }

    public static Inference standing() {
        return new Inference(Fixture::facts, false);
    }

    /** The plan as text. */
    public static String text(PlanNode plan) {
        return PlanText.of(plan, standing());
    }

    private static PlanNode.Scan scan(String relation, Schema schema) {
        return new PlanNode.Scan(
                relation, IntStream.range(0, schema.size()).boxed().toList(), List.of(), schema);
    }

    public static PlanNode bid() {
        return new PlanNode.Watermark(scan("bid", BID), 4, 4 * SECOND, 0, Optional.empty());
    }

    /** The columns of bid, without a watermark. */
    public static PlanNode.Scan plain() {
        return scan("plain", BID);
    }

    public static PlanNode.Scan device() {
        return scan("device", DEVICE);
    }

    public static int at(PlanNode node, String column) {
        int index = node.schema().indexOf(column);
        if (index < 0) {
            throw new AssertionError("no column " + column + " in " + node.schema());
        }
        return index;
    }

    public static List<Integer> at(PlanNode node, String... columns) {
        return Arrays.stream(columns).map(column -> at(node, column)).toList();
    }

    public static Expression column(PlanNode node, String name) {
        return Nodes.column(node, at(node, name));
    }

    public static Literal number(long value) {
        return new Literal(value, DataType.BIGINT);
    }

    public static Literal text(String value) {
        return new Literal(value, DataType.TEXT);
    }

    public static Literal seconds(long value) {
        return new Literal(new IntervalValue(0, 0, value * SECOND), DataType.INTERVAL);
    }

    public static Expression test(String function, Expression... arguments) {
        return Expressions.test(function, arguments);
    }

    public static Expression and(Expression... conjuncts) {
        return Expressions.and(List.of(conjuncts)).orElseThrow();
    }

    public static Expression call(String function, DataType type, Expression... arguments) {
        return new Call(
                function, List.of(arguments), type, Arrays.stream(arguments).anyMatch(Expression::nullable));
    }

    public static PlanNode filter(PlanNode node, Expression condition) {
        return Nodes.filter(node, condition);
    }

    public static PlanNode project(PlanNode node, String... columns) {
        return Nodes.project(
                node, Arrays.stream(columns).map(name -> column(node, name)).toList());
    }

    public static AggregateCall count() {
        return aggregate(Function.COUNT, DataType.BIGINT, List.of());
    }

    public static AggregateCall max(PlanNode input, String column) {
        int index = at(input, column);
        return aggregate(Function.MAX, input.schema().type(index), List.of(index));
    }

    public static AggregateCall aggregate(Function function, DataType type, List<Integer> arguments) {
        return new AggregateCall(function, arguments, false, OptionalInt.empty(), List.of(), List.of(), type);
    }

    public static AggregateCall countDistinct(PlanNode input, String column) {
        return new AggregateCall(
                Function.COUNT,
                at(input, new String[] {column}),
                true,
                OptionalInt.empty(),
                List.of(),
                List.of(),
                DataType.BIGINT);
    }

    public static PlanNode group(PlanNode input, List<String> keys, AggregateCall... calls) {
        return Nodes.aggregate(
                input, at(input, keys.toArray(String[]::new)), List.of(calls), PlanNode.Phase.SINGLE, false);
    }

    public static PlanNode tumble(PlanNode input, long seconds) {
        return Nodes.windowAssign(input, at(input, "datetime"), new WindowSpec.Tumble(seconds * SECOND));
    }

    public static PlanNode hop(PlanNode input, long slideSeconds, long sizeSeconds) {
        return Nodes.windowAssign(
                input, at(input, "datetime"), new WindowSpec.Hop(slideSeconds * SECOND, sizeSeconds * SECOND));
    }

    public static PlanNode session(PlanNode input, String partition, long gapSeconds) {
        PlanNode sessions = new PlanNode.Exchange(input, new PlanNode.Distribution.Hash(List.of(at(input, partition))));
        return Nodes.windowAssign(sessions, at(input, "datetime"), new WindowSpec.Session(gapSeconds * SECOND));
    }

    /** An inner join whose whole condition is still in the residual; {@code right} counts after {@code left}'s columns. */
    public static PlanNode join(PlanNode.JoinKind kind, PlanNode left, PlanNode right, Expression condition) {
        return Nodes.join(left, right, kind, List.of(), List.of(), Optional.of(condition), Optional.empty());
    }

    /** A column of the right side of a join of these two. */
    public static Expression right(PlanNode left, PlanNode right, String name) {
        return Expressions.renumber(
                column(right, name), index -> index + left.schema().size());
    }
}
