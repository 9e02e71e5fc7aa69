package dev.millrace.server.session;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.calc.ConstantFolder;
import dev.millrace.engine.calc.DirectCalc;
import dev.millrace.engine.view.LookupScratch;
import dev.millrace.engine.view.VersionedView;
import dev.millrace.engine.view.View;
import dev.millrace.engine.view.ViewLookup;
import dev.millrace.error.MillraceException;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Cast;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.Expression.Null;
import dev.millrace.plan.expression.ParameterPlace;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.server.rows.RowCopier;
import dev.millrace.server.transaction.Transaction;
import dev.millrace.sql.bind.Parameters;
import dev.millrace.sql.statement.Query;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.time.Clock;
import dev.millrace.type.DataType;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/**
 * Finds rows by the keys that {@link KeyPlan}s say, on the thread that asks: no task is made. Belongs to the session's thread.
 * Whatever it cannot find is left to who asks, errors included.
 */
final class KeyRows implements AutoCloseable {
    private static final int MOST_ROWS = 1_000; // more are read by tasks, which can be cancelled
    private static final int BATCH_ROWS = 4096;

    private final Database database;
    private final Supplier<Clock> clock;
    private Optional<LookupScratch> scratch = Optional.empty();

    /** @param clock of the statement under way */
    KeyRows(Database database, Supplier<Clock> clock) {
        this.database = database;
        this.clock = clock;
    }

    /** How a query is answered by a key, if it can be. */
    Optional<KeyPlan> plan(PlanNode plan) {
        return KeyPlan.of(
                plan,
                name -> database.catalog()
                        .object(name)
                        .filter(object ->
                                object.kind() == ObjectKind.TABLE || object.kind() == ObjectKind.MATERIALIZED_VIEW));
    }

    /** The rows of a query as a transaction sees them, if they are to be had by a key. */
    Optional<StatementResult.Rows> rows(Query query, PlanNode plan, Optional<Transaction> own) {
        Optional<KeyPlan> byKey = plan(plan);
        if (byKey.isEmpty()) {
            return Optional.empty();
        }
        KeyPlan found = byKey.get();
        List<Batch> changes =
                own.map(transaction -> transaction.changes(found.relation())).orElse(List.of());
        return find(found, Parameters.none(), Optional.empty())
                .map(lookup -> changes.isEmpty()
                        ? answer(found, query.schema(), Parameters.none(), lookup)
                        : over(found, query.schema(), lookup, changes));
    }

    /**
     * Finds the rows, for {@link #answer}.
     *
     * @param before the way that was returned before, if it was
     * @return none if there are too many, or no way to find them
     */
    Optional<ViewLookup> find(KeyPlan plan, Parameters parameters, Optional<ViewLookup> before) {
        Optional<List<List<Literal>>> keys = keys(plan, parameters);
        if (keys.isEmpty()) {
            return Optional.empty();
        }
        Optional<VersionedView> view = database.engine().kept(plan.relation());
        return before.filter(lookup -> view.isPresent() && !lookup.isClosed())
                .or(() -> view.map(kept -> kept.lookup(plan.key())))
                .filter(lookup -> lookup.find(scratch(), keys.get(), MOST_ROWS));
    }

    /** The answer of the rows that were found last. */
    StatementResult.Rows answer(KeyPlan plan, Schema schema, Parameters parameters, ViewLookup lookup) {
        if (lookup.count(scratch()) == 0) {
            return FixedRows.none(schema);
        }
        Optional<List<Integer>> columns = plan.columns();
        if (columns.isPresent()) {
            return FixedRows.of(schema, Optional.of(lookup.rows(scratch(), columns.get(), schema, allocator())));
        }
        try (Batch rows = scanned(plan, lookup)) {
            return FixedRows.of(schema, compute(plan.rest().orElseThrow(), rows, parameters));
        }
    }

    /** The same with changes that are not committed: all of them pass the condition, as the rows that were found do. */
    private StatementResult.Rows over(KeyPlan plan, Schema schema, ViewLookup lookup, List<Batch> changes) {
        List<Integer> columns = plan.scan().columns();
        try (View net = new View(schema, BATCH_ROWS, allocator())) {
            if (lookup.count(scratch()) > 0) {
                try (Batch rows = scanned(plan, lookup)) {
                    apply(net, compute(plan.whole(), rows, Parameters.none()));
                }
            }
            for (Batch change : changes) {
                try (Batch rows = Batch.view(
                        plan.scan().schema(),
                        columns.stream().map(change::column).toArray(FieldVector[]::new),
                        change.rowCount(),
                        change.weights(),
                        List.of(change.retain()))) {
                    apply(net, compute(plan.whole(), rows, Parameters.none()));
                }
            }
            return FixedRows.of(once(schema, net.snapshot(allocator())));
        }
    }

    private static void apply(View net, Optional<Batch> rows) {
        rows.ifPresent(batch -> {
            try (batch) {
                net.apply(batch);
            }
        });
    }

    /** A row of weight three as three rows, all in one batch. */
    private Batch once(Schema schema, List<Batch> batches) {
        int[] places = IntStream.range(0, schema.size()).toArray();
        try (RowCopier copier = new RowCopier(schema, allocator())) {
            for (Batch batch : batches) {
                for (int row = 0; row < batch.rowCount(); row++) {
                    long weight =
                            batch.weights().isPresent() ? batch.weights().get().get(row) : 1;
                    for (long copy = weight; copy > 0; copy--) {
                        copier.copy(batch, places, row, 1);
                    }
                }
            }
            return copier.build();
        } finally {
            Closing.all(batches);
        }
    }

    private Batch scanned(KeyPlan plan, ViewLookup lookup) {
        return lookup.rows(scratch(), plan.scan().columns(), plan.scan().schema(), allocator());
    }

    /** Computes over rows that have just the columns that are scanned. */
    private Optional<Batch> compute(PlanNode.Calc calc, Batch rows, Parameters parameters) {
        PlanNode.Scan scan = (PlanNode.Scan) calc.input();
        List<Integer> all = IntStream.range(0, scan.columns().size()).boxed().toList();
        PlanNode.Calc over = new PlanNode.Calc(
                new PlanNode.Scan(scan.relation(), all, List.of(), scan.schema()),
                calc.condition().map(condition -> filled(condition, parameters)),
                calc.projections().stream()
                        .map(projection -> filled(projection, parameters))
                        .toList(),
                calc.schema());
        return DirectCalc.compute(over, rows, allocator(), clock.get());
    }

    private BufferAllocator allocator() {
        return database.engine().allocator();
    }

    private LookupScratch scratch() {
        if (scratch.isEmpty()) {
            scratch = Optional.of(new LookupScratch(allocator()));
        }
        return scratch.get();
    }

    // ---- values ----------------------------------------------------------------------------------------------------

    /** The keys to look for, each once, none where a value is NULL; no list where one cannot be computed. */
    private static Optional<List<List<Literal>>> keys(KeyPlan plan, Parameters parameters) {
        Set<List<Literal>> keys = new LinkedHashSet<>();
        keys.add(List.of());
        try {
            for (List<Expression> values : plan.equal()) {
                Set<List<Literal>> longer = new LinkedHashSet<>();
                for (Expression expression : values) {
                    if (ConstantFolder.evaluate(filled(expression, parameters)) instanceof Literal value) {
                        for (List<Literal> key : keys) {
                            List<Literal> more = new ArrayList<>(key);
                            more.add(value);
                            longer.add(more);
                        }
                    }
                }
                keys = longer;
            }
            return Optional.of(List.copyOf(keys));
        } catch (MillraceException e) {
            return Optional.empty(); // told by who executes it
        }
    }

    /** An expression with the values of its parameters. */
    private static Expression filled(Expression expression, Parameters parameters) {
        return parameters.values().filter(values -> !values.isEmpty()).isEmpty()
                ? expression
                : Expressions.transform(
                        expression,
                        part -> ParameterPlace.number(part)
                                .map(number -> value(parameters, number, part.type()))
                                .orElse(part));
    }

    private static Expression value(Parameters parameters, int number, DataType type) {
        Optional<String> text = parameters.values().orElseThrow().get(number);
        if (text.isEmpty()) {
            return new Null(type);
        }
        if (type.kind() == DataType.Kind.BIGINT || type.kind() == DataType.Kind.INTEGER) {
            Optional<Literal> quick = integer(text.get(), type);
            if (quick.isPresent()) {
                return quick.get();
            }
        }
        return ConstantFolder.evaluate(new Cast(new Literal(text.get(), DataType.TEXT), type));
    }

    /** A number of few digits. */
    private static Optional<Literal> integer(String text, DataType type) {
        int begin = text.startsWith("-") ? 1 : 0;
        int most = type.kind() == DataType.Kind.INTEGER ? 9 : 18;
        if (text.length() == begin || text.length() - begin > most) {
            return Optional.empty();
        }
        long value = 0;
        for (int at = begin; at < text.length(); at++) {
            int digit = text.charAt(at) - '0';
            if (digit < 0 || digit > 9) {
                return Optional.empty();
            }
            value = 10 * value + digit;
        }
        return Optional.of(new Literal(begin == 1 ? -value : value, type));
    }

    @Override
    public void close() {
        scratch.ifPresent(LookupScratch::close);
        scratch = Optional.empty();
    }
}
