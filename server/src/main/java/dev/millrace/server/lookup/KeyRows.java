package dev.millrace.server.lookup;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.view.LookupScratch;
import dev.millrace.engine.view.VersionedView;
import dev.millrace.engine.view.View;
import dev.millrace.engine.view.ViewLookup;
import dev.millrace.error.MillraceException;
import dev.millrace.expressions.constant.ConstantFolder;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.result.FixedRows;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.rows.RowCopier;
import dev.millrace.server.transaction.Transaction;
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
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/**
 * Finds rows by the keys that {@link KeyPlan}s say, on the thread that asks: no task is made. Belongs to the session's thread.
 * Whatever it cannot find is left to who asks, errors included.
 */
public final class KeyRows implements AutoCloseable {
    // Of more rows, or copies of rows, a task is made, which can be cancelled.
    private static final int MOST_ROWS = 1_000;
    private static final long MOST_COPIES = 10_000;
    private static final int BATCH_ROWS = 4096;

    private final Instance database;
    private final Clock clock;
    private Optional<LookupScratch> scratch = Optional.empty();

    /** @param clock of the statement under way */
    public KeyRows(Instance database, Clock clock) {
        this.database = database;
        this.clock = clock;
    }

    /** How a query is answered by a key, if it can be. */
    public Optional<KeyPlan> plan(PlanNode plan) {
        return KeyPlan.of(
                plan,
                name -> database.catalog()
                        .object(name)
                        .filter(object ->
                                object.kind() == ObjectKind.TABLE || object.kind() == ObjectKind.MATERIALIZED_VIEW));
    }

    /** The rows of a query as a transaction sees them, if they are to be had by a key. */
    public Optional<StatementResult.Rows> rows(Query query, PlanNode plan, Optional<Transaction> own) {
        Optional<KeyPlan> byKey = plan(plan);
        if (byKey.isEmpty()) {
            return Optional.empty();
        }
        try (KeyQuery found = new KeyQuery(byKey.get())) {
            return find(found, GivenValues.none())
                    ? found(found, query.schema(), GivenValues.none(), own)
                    : Optional.empty();
        }
    }

    /**
     * Finds the rows, for {@link #rows(KeyQuery, Schema, GivenValues, Optional)}.
     *
     * @return false if there are too many, or no way to find them
     */
    public boolean find(KeyQuery query, GivenValues values) {
        Optional<List<List<Literal>>> keys = keys(query.plan(), values);
        if (keys.isEmpty()) {
            return false;
        }
        Optional<VersionedView> view = database.engine().kept(query.plan().relation());
        Optional<ViewLookup> way = query.lookup()
                .filter(lookup -> view.isPresent() && !lookup.isClosed())
                .or(() -> view.filter(kept -> query.plan().scan().fits(kept.schema())) // else it was altered
                        .flatMap(kept -> lookup(kept, query.plan())))
                .filter(lookup -> lookup.find(scratch(), keys.get(), MOST_ROWS));
        query.lookup(way);
        return way.isPresent();
    }

    /** None if the relation has its rows elsewhere by now. */
    private static Optional<ViewLookup> lookup(VersionedView kept, KeyPlan plan) {
        try {
            return Optional.of(kept.lookup(plan.key()));
        } catch (MillraceException e) {
            if (kept.isClosed()) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /**
     * The answer of the rows that were found last, as a transaction sees them.
     *
     * @return none if a row cannot be computed: with its values as constants the statement says why in other words; or if one is there
     *     too often
     */
    public Optional<StatementResult.Rows> rows(
            KeyQuery query, Schema schema, GivenValues values, Optional<Transaction> own) {
        try {
            return found(query, schema, values, own);
        } catch (MillraceException e) {
            Interrupt.checkCurrent();
            return Optional.empty();
        }
    }

    private Optional<StatementResult.Rows> found(
            KeyQuery query, Schema schema, GivenValues values, Optional<Transaction> own) {
        List<Batch> changes = own.map(
                        transaction -> transaction.changes(query.plan().relation()))
                .orElse(List.of());
        return changes.isEmpty() ? Optional.of(committed(query, schema, values)) : over(query, schema, values, changes);
    }

    private StatementResult.Rows committed(KeyQuery query, Schema schema, GivenValues values) {
        ViewLookup lookup = query.lookup().orElseThrow();
        if (lookup.count(scratch()) == 0) {
            return FixedRows.none(schema);
        }
        Optional<List<Integer>> columns = query.columns();
        if (columns.isPresent()) {
            return FixedRows.of(schema, Optional.of(lookup.rows(scratch(), columns.get(), schema, allocator())));
        }
        try (Batch rows = scanned(query)) {
            return FixedRows.of(schema, query.rest(rows, values, allocator(), clock));
        }
    }

    /** The same with changes that are not committed: all of them pass the condition, as the rows that were found do. */
    private Optional<StatementResult.Rows> over(
            KeyQuery query, Schema schema, GivenValues values, List<Batch> changes) {
        PlanNode.Scan scan = query.plan().scan();
        try (View net = new View(schema, BATCH_ROWS, allocator())) {
            if (query.lookup().orElseThrow().count(scratch()) > 0) {
                try (Batch rows = scanned(query)) {
                    apply(net, query.whole(rows, values, allocator(), clock));
                }
            }
            for (Batch change : changes) {
                try (Batch rows = Batch.view(
                        scan.schema(),
                        scan.columns().stream().map(change::column).toArray(FieldVector[]::new),
                        change.rowCount(),
                        change.weights(),
                        List.of(change.retain()))) {
                    apply(net, query.whole(rows, values, allocator(), clock));
                }
            }
            return once(schema, net.snapshot(allocator())).map(FixedRows::of);
        }
    }

    private static void apply(View net, Optional<Batch> rows) {
        rows.ifPresent(batch -> {
            try (batch) {
                net.apply(batch);
            }
        });
    }

    /** A row of weight three as three rows, all in one batch; none if those are too many. */
    private Optional<Batch> once(Schema schema, List<Batch> batches) {
        int[] places = IntStream.range(0, schema.size()).toArray();
        try (RowCopier copier = new RowCopier(schema, allocator())) {
            for (Batch batch : batches) {
                for (int row = 0; row < batch.rowCount(); row++) {
                    long weight =
                            batch.weights().isPresent() ? batch.weights().get().get(row) : 1;
                    if (weight > MOST_COPIES - copier.rowCount()) {
                        return Optional.empty();
                    }
                    for (long copy = weight; copy > 0; copy--) {
                        copier.copy(batch, places, row, 1);
                    }
                }
            }
            return Optional.of(copier.build());
        } finally {
            Closing.all(batches);
        }
    }

    private Batch scanned(KeyQuery query) {
        PlanNode.Scan scan = query.plan().scan();
        return query.lookup().orElseThrow().rows(scratch(), scan.columns(), scan.schema(), allocator());
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
    private static Optional<List<List<Literal>>> keys(KeyPlan plan, GivenValues given) {
        Set<List<Literal>> keys = new LinkedHashSet<>();
        keys.add(List.of());
        try {
            for (int i = 0; i < plan.equal().size(); i++) {
                DataType type = plan.type(i);
                Set<List<Literal>> longer = new LinkedHashSet<>();
                for (Expression expression : plan.equal().get(i)) {
                    if (ConstantFolder.evaluate(given.in(expression)) instanceof Literal value) {
                        Literal ofColumn =
                                new Literal(value.value(), type); // an INTEGER and a BIGINT of one value are one key
                        for (List<Literal> key : keys) {
                            List<Literal> more = new ArrayList<>(key);
                            more.add(ofColumn);
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

    @Override
    public void close() {
        scratch.ifPresent(LookupScratch::close);
        scratch = Optional.empty();
    }
}
