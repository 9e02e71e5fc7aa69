package dev.millrace.server.planning;

import dev.millrace.edge.program.Term;
import dev.millrace.edge.program.WindowProgram;
import dev.millrace.edge.program.WindowProgram.Function;
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
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Collectors;

/**
 * The cutting of a plan below one aggregation over windows, as {@link WindowsAtEdge} shows it: by a program that is made of the aggregation, or by one that devices
 * have already, which then has to have all that the aggregation needs. For one plan, on one thread.
 */
final class WindowCut {
    private static final String DEVICE = "include.device";
    private static final DataType WIDE = DataType.numeric(DataType.MAX_NUMERIC_PRECISION, 0);

    private final String partials;
    private final String id;
    private final Optional<WindowProgram> kept; // that devices have already
    private final List<Field> columns = new ArrayList<>(); // of the stream of partials
    private final List<Term> keys = new ArrayList<>();
    private final List<Field> keyFields = new ArrayList<>(); // of a program that is made
    private final Map<WindowProgram.Aggregate, Field> aggregates = new LinkedHashMap<>();
    private final List<Expression> ofGroups = new ArrayList<>(); // conditions that the server asks of partials

    private WindowCut(String partials, String id, Optional<WindowProgram> kept) {
        this.partials = partials;
        this.id = id;
        this.kept = kept;
    }

    /** By a program that is made. @param id of it */
    static WindowCut making(String partials, String id) {
        return new WindowCut(partials, id, Optional.empty());
    }

    /** By the program of a stream of partials. */
    static WindowCut over(CatalogObject partials) {
        WindowProgram program = WindowsAtEdge.program(partials);
        WindowCut cut = new WindowCut(partials.name(), program.id(), Optional.of(program));
        cut.columns.addAll(partials.schema().fields());
        cut.keys.addAll(program.keys());
        int value = cut.keys.size() + 2; // behind the window's beginning, the keys, and the number of rows
        for (WindowProgram.Aggregate aggregate : program.aggregates()) {
            cut.aggregates.put(aggregate, partials.schema().field(value));
            value++;
        }
        return cut;
    }

    /** Something that no device computes, or not for this stream of partials. */
    @SuppressWarnings("serial") // never leaves this package
    static final class NotThere extends RuntimeException {
        final String why;

        NotThere(String why) {
            super(why, null, false, false);
            this.why = why;
        }
    }

    /** @throws NotThere if it cannot be cut so */
    WindowsAtEdge cut(
            PlanNode plan,
            PlanNode.WindowAggregate top,
            java.util.function.Function<String, Optional<CatalogObject>> objects) {
        WindowSpec.Tumble panes = panes(top.window());
        PlanNode.WindowAggregate low = lowest(top);
        PlanNode.Scan scan = WindowsAtEdge.scanOf(top).orElseThrow();
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
                        .ifPresent(condition ->
                                conditions.addAll(Expressions.conjuncts(Expressions.substitute(condition, before))));
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
        Optional<Term> condition = kept.isPresent()
                ? requireRows(conditions, places, scan)
                : conjunction(conditions.stream().map(places::term).toList());
        List<Integer> keyPlaces = new ArrayList<>(); // among the columns; of the device -1
        for (int key : low.keys()) {
            Expression of = values.get(key);
            keyPlaces.add(places.isDevice(of) ? -1 : keyPlace(of, places));
        }
        List<List<Integer>> parts = new ArrayList<>(); // of each call, its aggregates by their places
        for (AggregateCall call : low.calls()) {
            parts.add(parts(call, values, places));
        }
        int rows = keys.size() + 1;
        if (kept.isEmpty()) {
            columns.add(new Field("window_start", time.type(), true));
            columns.addAll(keyFields);
            columns.add(new Field("row_count", DataType.BIGINT, true));
            columns.addAll(aggregates.values());
            columns.add(new Field("device", DataType.TEXT, true));
        }

        WindowProgram program = kept.orElseGet(() -> new WindowProgram(
                id,
                panes.sizeMicros(),
                panes.offsetMicros(),
                ofTime.name(),
                keys,
                List.copyOf(aggregates.keySet()),
                condition));
        requirePanes(panes, program);
        program.text(); // or it is too large
        PlanNode cut = merging(top, low, watermark.get(), keyPlaces, rows, parts);
        PlanNode root =
                Rewriter.rewrite(plan, node -> node == top || node.equals(top) ? Optional.of(cut) : Optional.empty());
        return new WindowsAtEdge(stream.name(), partials, program, new Schema(columns), root);
    }

    private static Optional<Term> conjunction(List<Term> terms) {
        return terms.isEmpty()
                ? Optional.empty()
                : Optional.of(terms.size() == 1 ? terms.get(0) : new Term.Call(Term.Operator.AND, terms));
    }

    private static List<Term> conjuncts(Optional<Term> condition) {
        return condition
                .map(term -> term instanceof Term.Call call && call.operator() == Term.Operator.AND
                        ? call.arguments()
                        : List.of(term))
                .orElse(List.of());
    }

    // ---- what devices make already
    // ----------------------------------------------------------------------------------

    /** Rows that count are those of the program, or those of some of its groups. @return the program's condition */
    private Optional<Term> requireRows(List<Expression> conditions, Places places, PlanNode.Scan scan) {
        Optional<Term> counted = kept.orElseThrow().condition();
        List<Term> left = new ArrayList<>(conjuncts(counted));
        for (Expression condition : conditions) {
            Optional<Term> term = places.plainTerm(condition);
            if (term.isEmpty() || !left.remove(term.get())) {
                ofGroups.add(overKeys(condition, places, scan));
            }
        }
        if (!left.isEmpty()) {
            throw new NotThere("devices count only rows for which "
                    + left.stream().map(EdgeTerms::text).collect(Collectors.joining(" and ")));
        }
        return counted;
    }

    /** A condition on rows as one on partials: all rows of a group have the same keys. */
    private Expression overKeys(Expression condition, Places places, PlanNode.Scan scan) {
        List<Expression> ofPartials = new ArrayList<>();
        BitSet there = new BitSet();
        BitSet devices = new BitSet();
        for (int column = 0; column < scan.columns().size(); column++) {
            Field field = scan.schema().field(column);
            Expression of = new Expression.Column(column, field.type(), field.nullable());
            devices.set(column, places.isDevice(of));
            int place = devices.get(column)
                    ? columns.size() - 1
                    : places.plainTerm(of).map(keys::indexOf).orElse(-1) + 1;
            there.set(column, place > 0 && columns.get(place).type().equals(field.type()));
            ofPartials.add(there.get(column) ? column(new Schema(columns), place) : of);
        }
        boolean isAlike = places.plainTerm(condition).isPresent() // of numbers that are one key, such as 0 and -0
                || Expressions.readsOnly(condition, devices::get) && !Expressions.isVolatile(condition);
        if (!isAlike || !Expressions.readsOnly(condition, there::get)) {
            throw new NotThere("of what devices have made it cannot be told whether " + condition);
        }
        return Expressions.substitute(condition, ofPartials);
    }

    private void requirePanes(WindowSpec.Tumble panes, WindowProgram program) {
        long size = program.sizeMicros();
        if (panes.sizeMicros() % size != 0 || (panes.offsetMicros() - program.offsetMicros()) % size != 0) {
            throw new NotThere("devices make windows of " + size + " us, which these are not made of");
        }
    }

    /** The place of a key among the columns. */
    private int keyPlace(Expression of, Places places) {
        Term term = places.term(of);
        if (kept.isEmpty()) {
            keys.add(term);
            keyFields.add(new Field("key_" + keys.size(), of.type(), true));
            return keys.size();
        }
        int place = keys.indexOf(term) + 1;
        if (place == 0 || !columns.get(place).type().equals(of.type())) {
            throw new NotThere("devices do not group by " + EdgeTerms.text(term));
        }
        return place;
    }

    // ---- what devices can make
    // --------------------------------------------------------------------------------------

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
            return List.of(filter.isEmpty() ? -1 : part(Function.COUNT, new Term.Truth(true), filter, DataType.BIGINT));
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
        if (kept.isEmpty()) {
            aggregates.putIfAbsent(aggregate, new Field("value_" + (aggregates.size() + 1), type, true));
        } else if (!aggregates.containsKey(aggregate)
                || !aggregates.get(aggregate).type().equals(type)) {
            throw new NotThere("devices make no " + function.name().toLowerCase(Locale.ROOT) + " of "
                    + EdgeTerms.text(argument)
                    + filter.map(rows -> " where " + EdgeTerms.text(rows)).orElse(""));
        }
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
        PlanNode scan = new PlanNode.Scan(partials, places, List.of(), schema);
        PlanNode timed = new PlanNode.Watermark(
                scan, 0, watermark.delayMicros(), watermark.idleTimeoutMicros(), watermark.lateBeyond());
        Expression counts = new Expression.Call(
                "gt",
                List.of(column(schema, rows), new Expression.Literal(0L, DataType.BIGINT)),
                DataType.BOOLEAN,
                true);
        List<Expression> all = new ArrayList<>();
        places.forEach(place -> all.add(column(schema, place)));
        List<Expression> counting = new ArrayList<>(List.of(counts));
        counting.addAll(ofGroups);
        PlanNode rowsOfPartials = new PlanNode.Calc(timed, Expressions.and(counting), all, schema);

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
        PlanNode merged = aggregation(top, low, rowsOfPartials, mergedKeys, calls, schema);
        return new PlanNode.Calc(
                merged, Optional.empty(), outputs(top, merged.schema(), mergedKeys.size(), parts), top.schema());
    }

    private static AggregateCall call(AggregateCall.Function function, int argument, DataType type) {
        return new AggregateCall(function, List.of(argument), false, OptionalInt.empty(), List.of(), List.of(), type);
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
            output.add(new Field("sum_" + i, calls.get(i).type(), calls.get(i).nullable()));
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

        private Optional<Term> any(Expression expression) {
            return EdgeTerms.of(expression, place -> name(place).filter(EdgeNeeds.columnsOfDevices(stream)::contains));
        }

        /** Empty for what no device computes in windows. */
        Optional<Term> plainTerm(Expression expression) {
            return any(expression).filter(WindowProgram::isPlain);
        }

        Term term(Expression expression) {
            Optional<Term> term = any(expression);
            return term.filter(WindowProgram::isPlain)
                    .orElseThrow(() -> new NotThere("no device computes " + expression
                            + (term.isPresent() ? " in windows, as it may overflow" : "")));
        }
    }
}
