package dev.millrace.server.generated;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.connector.EventTime;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SourceReader;
import dev.millrace.engine.calc.DirectCalc;
import dev.millrace.error.MillraceException;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * A connector's source with further columns, computed from those of its records. What cannot be computed, or is NULL where
 * there may be none, makes a record a rejected one. As with columns that are read, that does not depend on the query: all
 * generated columns are computed of all records, whichever are asked for, and readers skip none.
 */
public final class GeneratedColumns implements Source {
    private final String stream;
    private final Source given;
    private final Schema schema;
    private final List<Expression> columns; // of the schema, each over the columns of the source

    /**
     * @param stream for messages
     * @param schema all columns; those that are not computed are the source's, by name
     * @param plan filters nothing and projects a scan of all columns of the schema to themselves with the computed ones
     *     in their places
     */
    public GeneratedColumns(String stream, Source given, Schema schema, PlanNode plan) {
        this.stream = stream;
        this.given = given;
        this.schema = schema;
        List<Expression> own = new ArrayList<>();
        for (String name : schema.names()) {
            int place = given.schema().indexOf(name);
            own.add(new Column(
                    Math.max(place, 0),
                    schema.type(own.size()),
                    schema.field(own.size()).nullable()));
        }
        assert schema.names().containsAll(given.schema().names());
        this.columns = Expressions.substitute(projections(plan), own);
    }

    private static List<Expression> projections(PlanNode plan) {
        if (plan instanceof PlanNode.Calc calc && calc.condition().isEmpty()) {
            return Expressions.substitute(calc.projections(), projections(calc.input()));
        } else if (plan instanceof PlanNode.Scan scan) {
            return IntStream.range(0, scan.columns().size())
                    .<Expression>mapToObj(i -> new Column(
                            scan.columns().get(i),
                            scan.schema().type(i),
                            scan.schema().field(i).nullable()))
                    .toList();
        }
        throw MillraceException.internal("generated columns of more than a row: " + plan);
    }

    @Override
    public Schema schema() {
        return schema;
    }

    @Override
    public boolean bounded() {
        return given.bounded();
    }

    @Override
    public boolean replayable() {
        return given.replayable();
    }

    @Override
    public void check() {
        given.check();
    }

    @Override
    public List<SourceReader> open(ScanRequest request, SourceContext context) {
        return computing(request, context, ofGiven -> given.open(ofGiven, context));
    }

    @Override
    public List<SourceReader> reopen(ScanRequest request, List<SourcePosition> positions, SourceContext context) {
        return computing(request, context, ofGiven -> given.reopen(ofGiven, positions, context));
    }

    /** Readers over those that somebody opens, who is asked for the columns that are needed. */
    List<SourceReader> computing(
            ScanRequest request, SourceContext context, Function<ScanRequest, List<SourceReader>> opens) {
        List<Integer> shown = new ArrayList<>(request.columns());
        IntStream.range(0, schema.size())
                .filter(column -> given.schema().indexOf(schema.field(column).name()) < 0 && !shown.contains(column))
                .forEach(shown::add);
        BitSet read = new BitSet();
        shown.forEach(column -> Expressions.addColumns(columns.get(column), read));
        int[] needed = read.stream().toArray();
        int[] places = new int[given.schema().size()];
        IntStream.range(0, needed.length).forEach(place -> places[needed[place]] = place);
        GeneratedRows rows = new GeneratedRows(
                stream,
                given.schema().select(IntStream.of(needed).boxed().toList()),
                shown.stream()
                        .map(column -> Expressions.renumber(columns.get(column), index -> places[index]))
                        .toList(),
                schema.select(shown),
                request.columns().size());
        ScanRequest ofGiven = new ScanRequest(
                IntStream.of(needed).boxed().toList(),
                List.of(),
                request.parallelism(),
                request.eventTime().map(time -> computed(time, context)));
        List<SourceReader> readers = opens.apply(ofGiven);
        List<SourceReader> computing = new ArrayList<>();
        try {
            for (SourceReader reader : readers) {
                computing.add(new GeneratedReader(reader, computing.size() + 1, rows, context));
            }
        } catch (RuntimeException | Error e) {
            List<SourceReader> all = new ArrayList<>(computing);
            all.addAll(readers.subList(computing.size(), readers.size()));
            Closing.all(all);
            throw e;
        }
        return List.copyOf(computing);
    }

    /** The same time of the source's own rows. Where one of a batch cannot be computed, none is known. */
    private EventTime computed(EventTime time, SourceContext context) {
        BitSet read = new BitSet();
        time.columns().forEach(column -> Expressions.addColumns(columns.get(column), read));
        List<Integer> needed = read.stream().boxed().toList();
        GeneratedRows rows = new GeneratedRows(
                stream,
                given.schema().select(needed),
                time.columns().stream()
                        .map(column -> Expressions.renumber(columns.get(column), needed::indexOf))
                        .toList(),
                schema.select(time.columns()),
                time.columns().size());
        return new EventTime(
                needed,
                batch -> computed(rows, batch, time.first(), context),
                batch -> computed(rows, batch, time.latest(), context));
    }

    private static OptionalLong computed(
            GeneratedRows rows, Batch batch, Function<Batch, OptionalLong> time, SourceContext context) {
        try {
            Optional<Batch> computed = DirectCalc.compute(rows.calc(), batch, context.allocator(), context.clock());
            OptionalLong found = computed.map(time).orElseGet(OptionalLong::empty);
            computed.ifPresent(Batch::close);
            return found;
        } catch (MillraceException e) {
            return OptionalLong.empty();
        }
    }
}
