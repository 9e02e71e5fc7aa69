package dev.millrace.server.planning;

import dev.millrace.edge.program.Term;
import dev.millrace.edge.program.WindowProgram;
import dev.millrace.edge.program.WindowProgram.Function;
import dev.millrace.error.MillraceException;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.PartialSchemas;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Phase;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Rewriter;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The windows of a standing query with {@code run_at = 'edge'} that devices make: an aggregation over windows directly over a stream of devices becomes a
 * program for these, and another aggregation that adds their partials up, in the query's plan.
 *
 * <pre>
 *   WindowAggregate (count, sum, avg ..)          Calc (avg = sum / count ..)
 *     Calc (condition, columns)             -&gt;      WindowAggregate (sum, min, max of partials)
 *       Watermark                                     Calc (those that have rows)
 *         Scan (stream of devices)                      Watermark
 *                                                         Scan (stream of partials)
 * </pre>
 *
 * <p>Windows that overlap are made of panes: devices make the panes, and the server adds each up in all windows that it is in.
 *
 * <p>Not where there are several, a condition or a column that no device computes, arithmetic, which may overflow, DISTINCT or other aggregates.
 *
 * @param stream of devices that is read
 * @param program for them
 * @param columns of the stream of partials
 * @param plan that reads it
 */
public record WindowsAtEdge(String stream, WindowProgram program, Schema columns, PlanNode plan) {
    private static final String SUFFIX = "$windows";
    private static final String DEVICE = "include.device";
    private static final DataType WIDE = DataType.numeric(DataType.MAX_NUMERIC_PRECISION, 0);

    /** What was found: windows for devices, or why there are none though the query has some. */
    public record Finding(Optional<WindowsAtEdge> windows, String whyNot) {
        private static Finding none(String why) {
            return new Finding(Optional.empty(), why);
        }
    }

    /** The stream of partials of a query. */
    public static String streamOf(String query) {
        return query + SUFFIX;
    }

    /** What runs where, for people. */
    public List<String> describe() {
        StringBuilder text = new StringBuilder("at the edge, of each row of " + stream + ": ");
        program.condition().ifPresent(condition -> text.append("whether " + EdgeTerms.text(condition) + "; "));
        text.append("windows of " + program.sizeMicros() + " us of " + program.time() + ", by ("
                + program.keys().stream().map(EdgeTerms::text).collect(Collectors.joining(", ")) + "): count");
        for (WindowProgram.Aggregate aggregate : program.aggregates()) {
            text.append(", " + aggregate.function().name().toLowerCase(Locale.ROOT) + "("
                    + EdgeTerms.text(aggregate.argument()) + ")"
                    + aggregate
                            .filter()
                            .map(filter -> " where " + EdgeTerms.text(filter))
                            .orElse(""));
        }
        return List.of(
                text.toString(),
                "at the server: the plan above, but that its windows add up what devices made, and rows that count in none of it");
    }

    /** Whether a relation is a stream of partials that the server makes. */
    public static boolean isStreamOfPartials(CatalogObject object) {
        return object.options().containsKey(WindowProgram.STREAM_OPTION);
    }

    /** Whether a name is that of the stream of partials of a query that is among others. */
    public static boolean isStreamOfQuery(String relation, Set<String> others) {
        return relation.endsWith(SUFFIX) && others.contains(relation.substring(0, relation.length() - SUFFIX.length()));
    }

    /**
     * Looks for windows.
     *
     * @param query its name
     * @param id of the program, unlike that of any other
     * @param objects what scans read
     */
    public static Finding find(
            PlanNode plan,
            String query,
            String id,
            java.util.function.Function<String, Optional<CatalogObject>> objects) {
        List<PlanNode.WindowAggregate> tops = new ArrayList<>();
        collect(plan, objects, tops);
        if (tops.isEmpty()) {
            return Finding.none("");
        }
        if (tops.size() > 1) {
            return Finding.none("it has several aggregations over windows");
        }
        try {
            return new Finding(Optional.of(new Cutting(query, id, objects).cut(plan, tops.get(0))), "");
        } catch (NotThere e) {
            return Finding.none(e.why);
        } catch (MillraceException e) { // a program that is too large
            return Finding.none(String.valueOf(e.getMessage()));
        }
    }

    private static void collect(
            PlanNode node,
            java.util.function.Function<String, Optional<CatalogObject>> objects,
            List<PlanNode.WindowAggregate> tops) {
        if (node instanceof PlanNode.WindowAggregate aggregate
                && aggregate.phase() != Phase.PARTIAL
                && scanOf(aggregate)
                        .flatMap(scan -> objects.apply(scan.relation()))
                        .filter(EdgeNeeds::isOfDevices)
                        .isPresent()) {
            if (!tops.contains(aggregate)) {
                tops.add(aggregate);
            }
            return;
        }
        node.inputs().forEach(input -> collect(input, objects, tops));
    }

    /** What is below an aggregation, if rows come there one by one. */
    private static Optional<PlanNode.Scan> scanOf(PlanNode.WindowAggregate top) {
        PlanNode at = top;
        while (at == top
                || at instanceof PlanNode.Calc
                || at instanceof PlanNode.Watermark
                || at instanceof PlanNode.Exchange
                || at instanceof PlanNode.WindowAggregate below && below.phase() == Phase.PARTIAL) {
            at = at.inputs().get(0);
        }
        return at instanceof PlanNode.Scan scan ? Optional.of(scan) : Optional.empty();
    }

    /** Something that no device computes. */
    @SuppressWarnings("serial") // never leaves this class
    private static final class NotThere extends RuntimeException {
        final String why;

        NotThere(String why) {
            super(why, null, false, false);
            this.why = why;
        }
    }

    /** The rewriting of one aggregation. */
    private static final class Cutting {
        private final String query;
        private final String id;
        private final java.util.function.Function<String, Optional<CatalogObject>> objects;
        private final List<Field> columns = new ArrayList<>(); // of the stream of partials
        private final List<Term> keys = new ArrayList<>();
        private final Map<WindowProgram.Aggregate, Field> aggregates = new LinkedHashMap<>();

        Cutting(String query, String id, java.util.function.Function<String, Optional<CatalogObject>> objects) {
            this.query = query;
            this.id = id;
            this.objects = objects;
        }

        WindowsAtEdge cut(PlanNode plan, PlanNode.WindowAggregate top) {
            WindowSpec.Tumble panes = panes(top.window());
            PlanNode.WindowAggregate low = lowest(top);
            PlanNode.Scan scan = scanOf(top).orElseThrow();
            CatalogObject stream = objects.apply(scan.relation()).orElseThrow();
            // the aggregation's input in terms of the stream's columns
            List<Expression> values = new ArrayList<>();
            for (int c = 0; c < scan.columns().size(); c++) {
                Field field = scan.schema().field(c);
                values.add(new Expression.Column(c, field.type(), field.nullable()));
            }
            List<PlanNode> path = new ArrayList<>();
            for (PlanNode at = low.input(); at != scan; at = at.inputs().get(0)) {
                path.add(0, at);
            }
            List<Expression> conditions = new ArrayList<>();
            Optional<PlanNode.Watermark> watermark = Optional.empty();
            for (PlanNode node : path) {
                if (node instanceof PlanNode.Calc calc) {
                    List<Expression> before = values;
                    calc.condition()
                            .ifPresent(condition -> conditions.addAll(
                                    Expressions.conjuncts(Expressions.substitute(condition, before))));
                    values = Expressions.substitute(calc.projections(), before);
                } else if (node instanceof PlanNode.Watermark of) {
                    watermark = Optional.of(of);
                }
            }
            Places places = new Places(stream, scan);
            if (watermark.isEmpty() || !(values.get(low.timeColumn()) instanceof Expression.Column time)) {
                throw new NotThere("its windows are not of the stream's event time");
            }
            Term.Column ofTime = (Term.Column) places.term(time);
            int eventTime = stream.eventTime()
                    .orElseThrow(() -> new NotThere("the stream has no event time"))
                    .column();
            if (scan.columns().get(time.index()) != eventTime) {
                throw new NotThere("its windows are not of the stream's event time");
            }
            List<Term> all = new ArrayList<>();
            conditions.forEach(condition -> all.add(places.term(condition)));
            Optional<Term> condition = all.isEmpty()
                    ? Optional.empty()
                    : Optional.of(all.size() == 1 ? all.get(0) : new Term.Call(Term.Operator.AND, all));

            columns.add(new Field("window_start", time.type(), true));
            List<Integer> keyPlaces = new ArrayList<>(); // among the columns; of the device -1
            for (int key : low.keys()) {
                Expression of = values.get(key);
                if (places.isDevice(of)) {
                    keyPlaces.add(-1);
                } else {
                    keys.add(places.term(of));
                    keyPlaces.add(columns.size());
                    columns.add(new Field("key_" + keys.size(), of.type(), true));
                }
            }
            int rows = columns.size();
            columns.add(new Field("row_count", DataType.BIGINT, true));
            List<List<Integer>> parts = new ArrayList<>(); // of each call, its aggregates by their places
            for (AggregateCall call : low.calls()) {
                parts.add(parts(call, values, places));
            }
            aggregates.values().forEach(columns::add);
            columns.add(new Field("device", DataType.TEXT, true));

            WindowProgram program = new WindowProgram(
                    id,
                    panes.sizeMicros(),
                    panes.offsetMicros(),
                    ofTime.name(),
                    keys,
                    List.copyOf(aggregates.keySet()),
                    condition);
            program.text(); // or it is too large
            PlanNode cut = merging(top, low, watermark.get(), keyPlaces, rows, parts);
            PlanNode root = Rewriter.rewrite(
                    plan, node -> node == top || node.equals(top) ? Optional.of(cut) : Optional.empty());
            return new WindowsAtEdge(stream.name(), program, new Schema(columns), root);
        }

        /** Windows that lie within or beyond each of those asked for, so that the server adds them up as it would rows at their beginnings. */
        private static WindowSpec.Tumble panes(WindowSpec windows) {
            if (windows instanceof WindowSpec.Tumble tumble) {
                return tumble;
            }
            if (windows instanceof WindowSpec.Hop hop && hop.sizeMicros() % hop.slideMicros() == 0) {
                return new WindowSpec.Tumble(hop.slideMicros(), hop.offsetMicros());
            }
            if (windows instanceof WindowSpec.Cumulate cumulate) {
                return new WindowSpec.Tumble(cumulate.stepMicros(), cumulate.offsetMicros() % cumulate.stepMicros());
            }
            throw new NotThere("devices make windows of a fixed size, whose distance divides it");
        }

        private static PlanNode.WindowAggregate lowest(PlanNode.WindowAggregate top) {
            PlanNode at = top;
            while (at instanceof PlanNode.Exchange
                    || at instanceof PlanNode.WindowAggregate aggregate && aggregate.phase() == Phase.FINAL) {
                at = at.inputs().get(0);
            }
            return (PlanNode.WindowAggregate) at;
        }

        /** What a call is made of, each once: places among the aggregates, or -1 for the rows. */
        private List<Integer> parts(AggregateCall call, List<Expression> values, Places places) {
            if (call.distinct()) {
                throw new NotThere("devices know no DISTINCT: " + call.name());
            }
            Optional<Term> filter = call.filter().isPresent()
                    ? Optional.of(places.term(tested(values.get(call.filter().getAsInt()))))
                    : Optional.empty();
            if (call.arguments().isEmpty()) {
                return List.of(
                        filter.isEmpty() ? -1 : part(Function.COUNT, new Term.Truth(true), filter, DataType.BIGINT));
            }
            Expression argument = values.get(call.arguments().get(0));
            Term term = places.term(argument);
            return switch (call.function()) {
                case COUNT -> List.of(part(Function.COUNT, term, filter, DataType.BIGINT));
                case SUM -> List.of(part(Function.SUM, term, filter, sum(argument)));
                case AVG ->
                    List.of(
                            part(Function.SUM, term, filter, sum(argument)),
                            part(Function.COUNT, term, filter, DataType.BIGINT));
                case MIN -> List.of(part(Function.MIN, numeric(term, call), filter, argument.type()));
                case MAX -> List.of(part(Function.MAX, numeric(term, call), filter, argument.type()));
                default -> throw new NotThere("devices do not know " + call.name());
            };
        }

        /** A filter is a test whether something is true, as that of a device is. */
        private static Expression tested(Expression filter) {
            return filter instanceof Expression.Call call && call.function().equals("is_true")
                    ? call.arguments().get(0)
                    : filter;
        }

        private static Term numeric(Term term, AggregateCall call) {
            if (term.kind() != Term.Kind.WHOLE && term.kind() != Term.Kind.NUMBER) {
                throw new NotThere("devices know " + call.name() + " of numbers and times alone");
            }
            return term;
        }

        private static DataType sum(Expression argument) {
            return switch (argument.type().kind()) {
                case SMALLINT, INTEGER, BIGINT -> DataType.BIGINT;
                case REAL, DOUBLE -> DataType.DOUBLE;
                default -> throw new NotThere("devices know no sum of " + argument.type());
            };
        }

        private int part(Function function, Term argument, Optional<Term> filter, DataType type) {
            WindowProgram.Aggregate aggregate = new WindowProgram.Aggregate(function, argument, filter);
            aggregates.putIfAbsent(aggregate, new Field("value_" + (aggregates.size() + 1), type, true));
            return List.copyOf(aggregates.keySet()).indexOf(aggregate);
        }

        // ---- the plan
        // ------------------------------------------------------------------------------------------------

        private PlanNode merging(
                PlanNode.WindowAggregate top,
                PlanNode.WindowAggregate low,
                PlanNode.Watermark watermark,
                List<Integer> keyPlaces,
                int rows,
                List<List<Integer>> parts) {
            Schema schema = new Schema(columns);
            List<Integer> places = new ArrayList<>();
            for (int c = 0; c < schema.size(); c++) {
                places.add(c);
            }
            PlanNode scan = new PlanNode.Scan(streamOf(query), places, List.of(), schema);
            PlanNode timed = new PlanNode.Watermark(
                    scan, 0, watermark.delayMicros(), watermark.idleTimeoutMicros(), watermark.lateBeyond());
            Expression counts = new Expression.Call(
                    "gt",
                    List.of(column(schema, rows), new Expression.Literal(0L, DataType.BIGINT)),
                    DataType.BOOLEAN,
                    true);
            List<Expression> all = new ArrayList<>();
            places.forEach(place -> all.add(column(schema, place)));
            PlanNode partials = new PlanNode.Calc(timed, Optional.of(counts), all, schema);

            List<Integer> mergedKeys = new ArrayList<>();
            keyPlaces.forEach(place -> mergedKeys.add(place < 0 ? schema.size() - 1 : place));
            List<AggregateCall> calls = new ArrayList<>();
            calls.add(call(AggregateCall.Function.SUM, rows, WIDE));
            int at = rows;
            for (Map.Entry<WindowProgram.Aggregate, Field> each : aggregates.entrySet()) {
                at++;
                DataType type = each.getValue().type();
                calls.add(
                        switch (each.getKey().function()) {
                            case COUNT -> call(AggregateCall.Function.SUM, at, WIDE);
                            case SUM ->
                                call(AggregateCall.Function.SUM, at, type.kind() == DataType.Kind.BIGINT ? WIDE : type);
                            case MIN -> call(AggregateCall.Function.MIN, at, type);
                            case MAX -> call(AggregateCall.Function.MAX, at, type);
                        });
            }
            PlanNode merged = aggregation(top, low, partials, mergedKeys, calls, schema);
            return new PlanNode.Calc(
                    merged, Optional.empty(), outputs(top, merged.schema(), mergedKeys.size(), parts), top.schema());
        }

        private static AggregateCall call(AggregateCall.Function function, int argument, DataType type) {
            return new AggregateCall(
                    function, List.of(argument), false, OptionalInt.empty(), List.of(), List.of(), type);
        }

        /** In as many phases as it was. */
        private static PlanNode aggregation(
                PlanNode.WindowAggregate top,
                PlanNode.WindowAggregate low,
                PlanNode partials,
                List<Integer> keys,
                List<AggregateCall> calls,
                Schema schema) {
            List<Field> output = new ArrayList<>();
            keys.forEach(key -> output.add(schema.field(key)));
            for (int i = 0; i < calls.size(); i++) {
                output.add(
                        new Field("sum_" + i, calls.get(i).type(), calls.get(i).nullable()));
            }
            int before = low.keys().size() + low.calls().size();
            for (int i = before; i < top.schema().size(); i++) { // the window's bounds
                output.add(top.schema().field(i));
            }
            Schema outputs = new Schema(output);
            if (top == low) {
                PlanNode input = low.input() instanceof PlanNode.Exchange exchange
                        ? new PlanNode.Exchange(partials, exchanged(exchange.distribution(), keys))
                        : partials;
                return new PlanNode.WindowAggregate(input, 0, top.window(), keys, calls, Phase.SINGLE, outputs);
            }
            PlanNode.WindowAggregate raw =
                    new PlanNode.WindowAggregate(partials, 0, top.window(), keys, calls, Phase.PARTIAL, outputs);
            PlanNode first = new PlanNode.WindowAggregate(
                    partials, 0, top.window(), keys, calls, Phase.PARTIAL, PartialSchemas.of(raw));
            PlanNode exchanged = top.input() instanceof PlanNode.Exchange exchange
                    ? new PlanNode.Exchange(first, exchange.distribution())
                    : first;
            return new PlanNode.WindowAggregate(
                    exchanged, top.timeColumn(), top.window(), top.keys(), calls, Phase.FINAL, outputs);
        }

        private static PlanNode.Distribution exchanged(PlanNode.Distribution before, List<Integer> keys) {
            return before instanceof PlanNode.Distribution.Hash ? new PlanNode.Distribution.Hash(keys) : before;
        }

        private List<Expression> outputs(
                PlanNode.WindowAggregate top, Schema merged, int keyCount, List<List<Integer>> parts) {
            List<Expression> outputs = new ArrayList<>();
            for (int key = 0; key < keyCount; key++) {
                outputs.add(column(merged, key));
            }
            for (int i = 0; i < parts.size(); i++) {
                AggregateCall call = top.calls().get(i);
                List<Expression> of = new ArrayList<>();
                parts.get(i).forEach(part -> of.add(column(merged, keyCount + 1 + part)));
                Expression value = of.get(0);
                if (call.function() == AggregateCall.Function.AVG) {
                    value = quotient(value, of.get(1), call.type());
                }
                outputs.add(value.type().equals(call.type()) ? value : new Expression.Cast(value, call.type()));
            }
            for (int i = keyCount + aggregates.size() + 1; i < merged.size(); i++) {
                outputs.add(column(merged, i));
            }
            return outputs;
        }

        private static Expression quotient(Expression sum, Expression count, DataType type) {
            if (type.kind() == DataType.Kind.BIGNUM) {
                Expression dividend = new Expression.Cast(sum, type);
                return new Expression.Call("divide", List.of(dividend, new Expression.Cast(count, type)), type, true);
            }
            boolean isDouble = sum.type().kind() == DataType.Kind.DOUBLE;
            Expression divisor = isDouble ? new Expression.Cast(count, DataType.DOUBLE) : count;
            return new Expression.Call("divide", List.of(sum, divisor), isDouble ? DataType.DOUBLE : type, true);
        }

        private static Expression column(Schema schema, int place) {
            Field field = schema.field(place);
            return new Expression.Column(place, field.type(), field.nullable());
        }
    }

    /** The columns that a scan reads, as devices have them. */
    private record Places(CatalogObject stream, PlanNode.Scan scan) {
        boolean isDevice(Expression expression) {
            return expression instanceof Expression.Column column
                    && name(column.index()).isPresent()
                    && name(column.index())
                            .equals(Optional.ofNullable(stream.options().get(DEVICE)));
        }

        private Optional<String> name(int place) {
            int column = scan.columns().get(place);
            return column < stream.schema().size()
                    ? Optional.of(stream.schema().field(column).name())
                    : Optional.empty();
        }

        Term term(Expression expression) {
            Optional<Term> term =
                    EdgeTerms.of(expression, place -> name(place).filter(EdgeNeeds.columnsOfDevices(stream)::contains));
            return term.filter(WindowProgram::isPlain)
                    .orElseThrow(() -> new NotThere("no device computes " + expression
                            + (term.isPresent() ? " in windows, as it may overflow" : "")));
        }
    }
}
