package dev.millrace.server.generated;

import dev.millrace.batch.Batch;
import dev.millrace.connector.EventTime;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceContext;
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
    public List<SourceReader> open(ScanRequest request, SourceContext context) {
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
        List<SourceReader> readers = given.open(ofGiven, context);
        List<SourceReader> computing = new ArrayList<>();
        for (SourceReader reader : readers) {
            computing.add(new GeneratedReader(reader, computing.size() + 1, rows, context));
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
        return new EventTime(needed, batch -> {
            try {
                Optional<Batch> computed = DirectCalc.compute(rows.calc(), batch, context.allocator(), context.clock());
                OptionalLong first = computed.map(time.first()).orElseGet(OptionalLong::empty);
                computed.ifPresent(Batch::close);
                return first;
            } catch (MillraceException e) {
                return OptionalLong.empty();
            }
        });
    }
}
