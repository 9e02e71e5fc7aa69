package dev.millrace.planner.tree;

import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.plan.expression.OverCall;
import dev.millrace.plan.node.JoinTime;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Phase;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/**
 * Makes nodes. Schemas follow from the parts alone, names too (a column keeps its name, a call is named after its
 * function): what a user called a column does not keep two equal subplans apart. Only a plan's root bears the user's
 * names, see {@link #named}.
 */
public final class Nodes {
    public static final String WINDOW_START = "window_start";
    public static final String WINDOW_END = "window_end";

    /** What PostgreSQL calls a column that has no name. */
    private static final String UNNAMED = "?column?";

    private static final Field RANK = new Field("rank", DataType.BIGINT, false);

    private Nodes() {}

    public static PlanNode.Calc calc(PlanNode input, Optional<Expression> condition, List<Expression> projections) {
        List<Field> fields = new ArrayList<>(projections.size());
        for (Expression projection : projections) {
            fields.add(new Field(name(projection, input.schema()), projection.type(), projection.nullable()));
        }
        return new PlanNode.Calc(input, condition, projections, new Schema(fields));
    }

    private static String name(Expression expression, Schema input) {
        if (expression instanceof Column column) {
            return input.field(column.index()).name();
        } else if (expression instanceof Expression.Cast cast) {
            return name(cast.input(), input);
        } else if (expression instanceof Expression.Call call) {
            return call.function();
        } else if (expression instanceof Expression.Case) {
            return "case";
        }
        return UNNAMED;
    }

    /** All that a Calc computes: its condition, if it has one, then its projections. */
    public static List<Expression> expressions(PlanNode.Calc calc) {
        List<Expression> all = new ArrayList<>(calc.condition().stream().toList());
        all.addAll(calc.projections());
        return all;
    }

    /** The columns whose computing is what they are for. */
    public static BitSet waiting(PlanNode.Calc calc) {
        BitSet waiting = new BitSet();
        for (int column = 0; column < calc.projections().size(); column++) {
            waiting.set(column, Expressions.waits(calc.projections().get(column)));
        }
        return waiting;
    }

    /** Whether random values are drawn in a Calc. */
    public static boolean draws(PlanNode.Calc calc) {
        return expressions(calc).stream().anyMatch(Expressions::draws);
    }

    /** The rows of {@code input} where {@code condition} is true. */
    public static PlanNode.Calc filter(PlanNode input, Expression condition) {
        return calc(input, Optional.of(condition), columns(input));
    }

    public static PlanNode.Calc project(PlanNode input, List<Expression> projections) {
        return calc(input, Optional.empty(), projections);
    }

    /** A watermark like another over other rows, whose time is {@code timeColumn}. */
    public static PlanNode.Watermark watermark(PlanNode.Watermark like, PlanNode input, int timeColumn) {
        return new PlanNode.Watermark(
                input, timeColumn, like.delayMicros(), like.idleTimeoutMicros(), like.lateBeyond(), like.byEpoch());
    }

    /** Columns of {@code input}, in that order; the input itself when these are all of them in order. */
    public static PlanNode select(PlanNode input, List<Integer> columns) {
        return isIdentity(columns, input.schema().size())
                ? input
                : project(
                        input,
                        columns.stream()
                                .<Expression>map(column -> column(input, column))
                                .toList());
    }

    private static boolean isIdentity(List<Integer> columns, int width) {
        return columns.equals(IntStream.range(0, width).boxed().toList());
    }

    public static Column column(PlanNode node, int index) {
        Field field = node.schema().field(index);
        return new Column(index, field.type(), field.nullable());
    }

    /** A column expression for every column of {@code node}. */
    public static List<Expression> columns(PlanNode node) {
        return IntStream.range(0, node.schema().size())
                .<Expression>mapToObj(index -> column(node, index))
                .toList();
    }

    public static PlanNode.Versions versions(PlanNode input, List<Integer> key, int timeColumn) {
        Schema number = Schema.of(new Field("version", DataType.BIGINT, false));
        return new PlanNode.Versions(input, key, timeColumn, input.schema().concat(number));
    }

    public static PlanNode.WindowAssign windowAssign(PlanNode input, int timeColumn, WindowSpec window) {
        Schema bounds = windowBounds(input.schema().type(timeColumn));
        return new PlanNode.WindowAssign(
                input, timeColumn, window, input.schema().concat(bounds));
    }

    public static PlanNode.Expand expand(
            PlanNode input, List<Integer> kept, List<PlanNode.TableCall> calls, boolean ordinality, boolean outer) {
        List<Field> made = new ArrayList<>();
        calls.forEach(call -> made.addAll(call.outputs()));
        if (ordinality) {
            made.add(new Field("ordinality", DataType.BIGINT, outer));
        }
        Schema schema = input.schema().select(kept).concat(new Schema(made));
        return new PlanNode.Expand(input, kept, calls, ordinality, outer, schema);
    }

    private static Schema windowBounds(DataType time) {
        return Schema.of(new Field(WINDOW_START, time, false), new Field(WINDOW_END, time, false));
    }

    public static PlanNode.Aggregate aggregate(
            PlanNode input, List<Integer> keys, List<AggregateCall> calls, Phase phase, boolean appendOnlyInput) {
        Schema schema = input.schema().select(keys).concat(results(calls, input.schema()));
        return new PlanNode.Aggregate(input, keys, calls, phase, appendOnlyInput, schema);
    }

    public static PlanNode.WindowAggregate windowAggregate(
            PlanNode input,
            int timeColumn,
            WindowSpec window,
            List<Integer> keys,
            List<AggregateCall> calls,
            Phase phase) {
        Schema schema = input.schema()
                .select(keys)
                .concat(results(calls, input.schema()))
                .concat(windowBounds(input.schema().type(timeColumn)));
        return new PlanNode.WindowAggregate(input, timeColumn, window, keys, calls, phase, schema);
    }

    private static Schema results(List<AggregateCall> calls, Schema input) {
        return new Schema(calls.stream()
                .map(call -> new Field(name(call, input), call.type(), call.nullable()))
                .toList());
    }

    private static String name(AggregateCall call, Schema input) {
        String function = call.name();
        return call.arguments().isEmpty()
                ? function
                : function + "_" + input.field(call.arguments().get(0)).name();
    }

    public static PlanNode.WindowExtreme windowExtreme(
            PlanNode input,
            int timeColumn,
            WindowSpec window,
            List<Integer> keys,
            int valueColumn,
            boolean maximum,
            boolean closedEnd,
            Phase phase) {
        Schema schema = phase == Phase.PARTIAL
                ? input.schema()
                : input.schema().concat(windowBounds(input.schema().type(timeColumn)));
        return new PlanNode.WindowExtreme(
                input, timeColumn, window, keys, valueColumn, maximum, closedEnd, phase, schema);
    }

    public static PlanNode.Join join(
            PlanNode left,
            PlanNode right,
            PlanNode.JoinKind kind,
            List<Integer> leftKeys,
            List<Integer> rightKeys,
            Optional<Expression> residual,
            Optional<JoinTime> time) {
        return new PlanNode.Join(
                left, right, kind, leftKeys, rightKeys, residual, time, joined(kind, left.schema(), right.schema()));
    }

    public static PlanNode.MultiJoin multiJoin(List<PlanNode> inputs, List<List<Integer>> keys) {
        Schema schema =
                inputs.stream().map(PlanNode::schema).reduce(Schema::concat).orElseThrow();
        return new PlanNode.MultiJoin(inputs, keys, schema);
    }

    /** The join under another condition beside its keys. */
    public static PlanNode.Join withResidual(PlanNode.Join join, Optional<Expression> residual) {
        return join(join.left(), join.right(), join.kind(), join.leftKeys(), join.rightKeys(), residual, join.time());
    }

    private static Schema joined(PlanNode.JoinKind kind, Schema left, Schema right) {
        return switch (kind) {
            case INNER -> left.concat(right);
            case LEFT -> left.concat(nullable(right));
            case RIGHT -> nullable(left).concat(right);
            case FULL -> nullable(left).concat(nullable(right));
            case SEMI, ANTI -> left;
        };
    }

    private static Schema nullable(Schema schema) {
        return new Schema(schema.fields().stream()
                .map(field -> new Field(field.name(), field.type(), true))
                .toList());
    }

    /** Whether a TopN keeps all rows from its offset on: its limit is as large as it can be. */
    public static boolean isUnlimited(PlanNode.TopN topN) {
        return topN.limit() >= Long.MAX_VALUE - topN.offset();
    }

    public static PlanNode.TopN topN(
            PlanNode input,
            List<Integer> partition,
            List<OrderKey> order,
            PlanNode.Rank rank,
            long limit,
            long offset,
            boolean emitRank,
            OptionalInt windowEnd) {
        Schema schema = emitRank ? input.schema().concat(Schema.of(RANK)) : input.schema();
        return new PlanNode.TopN(input, partition, order, rank, limit, offset, emitRank, windowEnd, false, schema);
    }

    /** The same TopN with the promise that no row of its input is taken back, or without. */
    public static PlanNode.TopN promised(PlanNode.TopN topN, boolean appendOnlyInput) {
        return new PlanNode.TopN(
                topN.input(),
                topN.partition(),
                topN.order(),
                topN.rank(),
                topN.limit(),
                topN.offset(),
                topN.emitRank(),
                topN.windowEnd(),
                appendOnlyInput,
                topN.forgetting(),
                topN.schema());
    }

    public static PlanNode.Over over(
            PlanNode input, List<Integer> partition, List<OrderKey> order, List<OverCall> calls, OptionalInt closing) {
        Schema results = new Schema(calls.stream()
                .map(call -> new Field(name(call, input.schema()), call.type(), call.nullable()))
                .toList());
        return new PlanNode.Over(
                input, partition, order, calls, closing, input.schema().concat(results));
    }

    private static String name(OverCall call, Schema input) {
        return call.aggregate()
                .map(aggregate -> name(aggregate, input))
                .orElse(call.function().name().toLowerCase(Locale.ROOT));
    }

    /** The inputs have equal types; the names are those of the first that has any. */
    public static PlanNode.Union union(List<PlanNode> inputs) {
        Schema first = inputs.get(0).schema();
        List<Field> fields = new ArrayList<>();
        for (int column = 0; column < first.size(); column++) {
            int at = column;
            boolean nullable =
                    inputs.stream().anyMatch(input -> input.schema().field(at).nullable());
            String name = inputs.stream()
                    .map(input -> input.schema().field(at).name())
                    .filter(named -> !named.equals(UNNAMED))
                    .findFirst()
                    .orElse(UNNAMED);
            fields.add(new Field(name, first.type(at), nullable));
        }
        return new PlanNode.Union(inputs, new Schema(fields));
    }

    /** The node over other inputs of the same columns; itself when they are the very same. */
    public static PlanNode withInputs(PlanNode node, List<PlanNode> inputs) {
        List<PlanNode> old = node.inputs();
        boolean same = true;
        for (int i = 0; i < inputs.size(); i++) {
            same &= inputs.get(i) == old.get(i);
        }
        return same ? node : NodeVisitor.visit(node, new Rebuild(inputs));
    }

    /** {@code node} under the user's names; types and nullability stay what they are. */
    public static PlanNode named(PlanNode node, List<String> names) {
        if (node.schema().names().equals(names)) {
            return node;
        }
        List<Field> fields = new ArrayList<>();
        for (int column = 0; column < names.size(); column++) {
            fields.add(node.schema().field(column).withName(names.get(column)));
        }
        return NodeVisitor.visit(node, new Rename(names, new Schema(fields)));
    }
}
