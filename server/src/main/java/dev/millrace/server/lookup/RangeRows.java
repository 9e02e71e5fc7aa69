package dev.millrace.server.lookup;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.view.IndexRange;
import dev.millrace.engine.view.IndexScan;
import dev.millrace.engine.view.VersionedView;
import dev.millrace.error.MillraceException;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.rows.RowCopier;
import dev.millrace.time.Clock;
import dev.millrace.type.Schema;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.OutOfMemoryException;

/**
 * Reads ordered indexes as {@link RangePlan}s say, on the thread that asks. Whoever would read much of a relation reads all of it
 * by tasks instead, and so does who has no memory for an index. Belongs to the session's thread.
 */
public final class RangeRows {
    private static final int BATCH_ROWS = 1_024;
    private static final long FEW_ROWS = 10_000;
    private static final long MANY_ROWS = 200_000;

    private final Instance database;
    private final Clock clock;

    /** @param clock of the statement under way */
    public RangeRows(Instance database, Clock clock) {
        this.database = database;
        this.clock = clock;
    }

    /** How a query is answered by an index, if it can be. */
    public Optional<RangePlan> plan(PlanNode plan) {
        return RangePlan.of(
                plan,
                database.catalog(),
                name -> database.engine()
                        .kept(name)
                        .map(VersionedView::rowCount)
                        .orElse(0L));
    }

    /** The answer to a query that is nothing but what the index gives; none if it would read too much, or a value cannot be computed. */
    public Optional<StatementResult.Rows> answer(RangePlan plan, Schema schema, GivenValues values) {
        RangePlan.Answer answer = plan.answer().orElseThrow();
        Schema below = plan.calc().map(PlanNode.Calc::schema).orElse(plan.scan().schema());
        List<Batch> found = new ArrayList<>();
        Cut cut = new Cut(below, answer, found);
        boolean done = false;
        try (Calc calc = new Calc(plan.calc(), values)) {
            boolean whole = read(
                    plan,
                    plan.scan().columns(),
                    values,
                    batchRows(answer),
                    batch -> calc.compute(batch).ifPresent(cut::take),
                    cut);
            if (whole && answer.top().isPresent()) {
                try (Calc top = new Calc(answer.top(), values)) {
                    for (int i = 0; i < found.size(); i++) {
                        Batch batch = found.get(i);
                        found.set(i, top.compute(batch).orElseThrow());
                        batch.close();
                    }
                }
            }
            done = whole;
        } finally {
            if (!done) {
                Closing.all(found);
            }
        }
        return done ? Optional.of(new Gathered(schema, found)) : Optional.empty();
    }

    private static int batchRows(RangePlan.Answer answer) {
        return answer.limit() < 0
                ? BATCH_ROWS
                : (int) Math.max(1, Math.min(BATCH_ROWS, answer.limit()) + Math.min(BATCH_ROWS, answer.offset()));
    }

    /** What is done with each batch of a scan; compiled when the first comes. */
    private final class Calc implements AutoCloseable {
        private final Optional<PlanNode.Calc> node;
        private final GivenValues values;
        private Optional<PreparedCalc> prepared = Optional.empty();

        Calc(Optional<PlanNode.Calc> node, GivenValues values) {
            this.node = node;
            this.values = values;
        }

        Optional<Batch> compute(Batch rows) {
            if (node.isEmpty()) {
                return Optional.of(rows.retain());
            }
            if (prepared.isEmpty()) {
                prepared = Optional.of(new PreparedCalc(node.get(), allocator(), clock));
            }
            return prepared.get().compute(rows, values);
        }

        @Override
        public void close() {
            prepared.ifPresent(PreparedCalc::close);
        }
    }

    /** All rows of the relation that the query may need, with all columns, in the caller's batch; none as for {@link #answer}. */
    public Optional<Batch> rows(RangePlan plan, GivenValues values) {
        if (!plan.isBounded()) {
            return Optional.empty();
        }
        Schema schema =
                database.catalog().object(plan.scan().relation()).orElseThrow().schema();
        List<Integer> columns = IntStream.range(0, schema.size()).boxed().toList();
        RangePlan.Answer all = new RangePlan.Answer(-1, 0, Optional.empty());
        List<Batch> found = new ArrayList<>();
        Cut cut = new Cut(schema, all, found);
        try (RowCopier copier = new RowCopier(schema, allocator())) {
            if (!read(plan, columns, values, BATCH_ROWS, batch -> cut.take(batch.retain()), cut)) {
                return Optional.empty();
            }
            int[] places = columns.stream().mapToInt(column -> column).toArray();
            found.forEach(batch -> copier.copyAll(batch, places));
            return Optional.of(copier.build());
        } finally {
            Closing.all(found);
        }
    }

    /** Gives the rows of a plan's ranges until the cut is done; false if they are too many, or cannot be had. */
    private boolean read(
            RangePlan plan, List<Integer> columns, GivenValues values, int batchRows, Consumer<Batch> use, Cut cut) {
        Optional<VersionedView> view = database.engine().kept(plan.scan().relation());
        Optional<List<IndexRange>> ranges = plan.ranges(values);
        if (view.isEmpty() || ranges.isEmpty() || !plan.scan().fits(view.get().schema())) {
            return false;
        }
        if (ranges.get().isEmpty()) {
            return true;
        }
        long most = Math.max(FEW_ROWS, Math.min(view.get().rowCount() / 8, MANY_ROWS));
        Interrupt interrupt = Interrupt.current();
        try (IndexScan scan = view.get().indexes().scan(plan.key(), ranges.get(), plan.backward(), columns)) {
            int size = batchRows;
            while (!cut.isDone()) {
                interrupt.check();
                Optional<Batch> next = scan.next(size, allocator());
                size = Math.max(size, Math.min(BATCH_ROWS, 2 * size)); // few rows pass the rest of the condition
                if (next.isEmpty()) {
                    return true;
                }
                try (Batch batch = next.get()) {
                    if (scan.touched() > most) {
                        return false;
                    }
                    use.accept(batch);
                }
                if (cut.isTooMuch()) {
                    return false;
                }
            }
            return true;
        } catch (OutOfMemoryException e) {
            return false;
        } catch (MillraceException e) {
            if (view.get().isClosed()) { // the relation has its rows elsewhere by now
                return false;
            }
            throw e;
        }
    }

    private BufferAllocator allocator() {
        return database.engine().allocator();
    }

    /** Takes rows as often as they are there, from an offset on, as far as a limit, unless those are too many to be made here. */
    private final class Cut {
        private final Schema schema;
        private final int[] places;
        private final List<Batch> into;
        private long skip;
        private long left;
        private long copied; // rows of which there are several

        Cut(Schema schema, RangePlan.Answer answer, List<Batch> into) {
            this.schema = schema;
            this.places = IntStream.range(0, schema.size()).toArray();
            this.into = into;
            this.skip = answer.offset();
            this.left = answer.limit() < 0 ? Long.MAX_VALUE : answer.limit();
        }

        boolean isDone() {
            return left == 0;
        }

        /** Whether there are more copies of rows than one thread should make before anybody can stop it; what was taken is not all. */
        boolean isTooMuch() {
            return copied > MANY_ROWS;
        }

        /** Takes a batch over. */
        void take(Batch batch) {
            try (batch) {
                if (batch.weights().isEmpty() && skip == 0 && batch.rowCount() <= left) {
                    left -= batch.rowCount();
                    into.add(batch.retain());
                    return;
                }
                try (RowCopier copier = new RowCopier(schema, allocator())) {
                    for (int row = 0; row < batch.rowCount() && left > 0 && !isTooMuch(); row++) {
                        long copies = batch.weights().isPresent()
                                ? batch.weights().get().get(row)
                                : 1;
                        long skipped = Math.min(skip, copies);
                        skip -= skipped;
                        for (long copy = copies - skipped; copy > 0 && left > 0 && !isTooMuch(); copy--) {
                            copier.copy(batch, places, row, 1);
                            left--;
                            copied++;
                        }
                    }
                    if (copier.rowCount() > 0) {
                        into.add(copier.build());
                    }
                }
            }
        }
    }

    /** Batches that are there already. */
    private static final class Gathered implements StatementResult.Rows {
        private final Schema schema;
        private final Deque<Batch> left;

        Gathered(Schema schema, List<Batch> batches) {
            this.schema = schema;
            this.left = new ArrayDeque<>(batches);
        }

        @Override
        public Schema schema() {
            return schema;
        }

        @Override
        public Optional<Batch> next() {
            return Optional.ofNullable(left.poll());
        }

        @Override
        public void close() {
            Closing.all(left);
            left.clear();
        }
    }
}
