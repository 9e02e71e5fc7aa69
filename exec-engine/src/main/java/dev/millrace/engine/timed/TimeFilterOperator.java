package dev.millrace.engine.timed;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.Owned;
import dev.millrace.engine.calc.Gather;
import dev.millrace.engine.checkpoint.StateFormats;
import dev.millrace.engine.state.RowTable;
import dev.millrace.engine.state.WeightedRows;
import dev.millrace.engine.task.Alarm;
import dev.millrace.memory.Memory;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.node.PlanNode.TimeFilter;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;

/**
 * Lets rows come or leave as a bound passes their times. What changed is emitted at the end of an epoch, by one time for all
 * who filter in it; in between the bound of the epoch before is what counts.
 *
 * <pre>
 *   leaving    rows above the bound are passed on and kept; when it reaches them they are taken back and forgotten
 *   coming     rows above the bound are kept; when it reaches them they are passed on and forgotten
 * </pre>
 *
 * It is linear in weights at each moment: a retraction goes where its row went, wherever the bound was then.
 */
public final class TimeFilterOperator implements Operator, Alarm {

    /** How often rows are let go at most, so that many times close to each other are one epoch. */
    private static final long LEAST_PAUSE_NANOS = 100_000_000;

    private final TimeFilter node;
    private final Schema schema;
    private final boolean limitIsBelow; // whether rows at the bound are above it, as it were
    private final Owned owned = new Owned();
    private OperatorContext context;
    private DueRows due;
    private MovingBound bound;
    private long nowMicros = Long.MIN_VALUE;
    private long limit; // rows of greater times are yet to change
    private int[] above = new int[0];
    private int[] passed = new int[0];
    private boolean emitting;
    private long dueNanos = Long.MAX_VALUE;
    private long pausedUntilNanos;
    private boolean awaitsEpochEnd;

    public TimeFilterOperator(TimeFilter node) {
        this.node = node;
        this.schema = node.schema();
        this.limitIsBelow = node.leaving() == node.atBound();
    }

    @Override
    public void open(OperatorContext newContext) {
        context = newContext;
        due = owned.own(new DueRows(schema, node.timeColumn(), context));
        bound = owned.own(new MovingBound(node.bound(), context.allocator()));
        advance(context.clock().epochMicros());
        pausedUntilNanos = context.clock().nanoTime();
    }

    /** The bound never falls, even if the clock does. */
    private void advance(long newNowMicros) {
        if (newNowMicros > nowMicros) {
            nowMicros = newNowMicros;
            long at = bound.at(nowMicros);
            limit = at == Long.MIN_VALUE || !limitIsBelow ? at : at - 1;
        }
    }

    // ---- rows

    @Override
    public void process(int port, Batch batch, Output output) {
        try (batch) {
            int rows = batch.rowCount();
            if (above.length < rows) {
                above = new int[rows];
                passed = new int[rows];
            }
            int aboveCount = 0;
            int passedCount = 0;
            long times = batch.dataAddress(node.timeColumn());
            long validity = batch.validityAddress(node.timeColumn());
            for (int row = 0; row < rows; row++) {
                if (validity != 0 && !Memory.getBit(validity, row)) {
                    continue; // no time, no comparison
                }
                boolean isAbove = Memory.getLong(times + 8L * row) > limit;
                if (isAbove) {
                    above[aboveCount++] = row;
                }
                if (isAbove == node.leaving()) {
                    passed[passedCount++] = row;
                }
            }
            if (aboveCount > 0) {
                due.add(batch, above, aboveCount);
            }
            if (passedCount == rows) {
                output.emit(batch.retain());
            } else if (passedCount > 0) {
                output.emit(chosen(batch, passedCount));
            }
        }
    }

    private Batch chosen(Batch batch, int count) {
        List<AutoCloseable> made = new ArrayList<>();
        boolean done = false;
        try {
            FieldVector[] vectors = new FieldVector[schema.size()];
            for (int column = 0; column < vectors.length; column++) {
                vectors[column] =
                        Gather.column(batch, column, schema.field(column), passed, count, context.allocator());
                made.add(vectors[column]);
            }
            Optional<BigIntVector> weights = batch.weights();
            if (weights.isPresent()) {
                weights = Optional.of(Gather.weights(batch, passed, count, context.allocator()));
                made.add(weights.get());
            }
            done = true;
            return Batch.view(schema, vectors, count, weights, made);
        } finally {
            if (!done) {
                Closing.all(made);
            }
        }
    }

    // ---- time

    @Override
    public boolean onEpochEnd(long epoch, Output output) {
        if (!emitting) {
            advance(context.epochMicros(epoch));
            emitting = true;
        }
        long[] rows = new long[context.batchRows()];
        for (int count = due.collectDue(limit, rows); count > 0; count = due.collectDue(limit, rows)) {
            if (output.isFull()) {
                return false;
            }
            output.emit(batch(rows, count));
            due.remove(rows, count);
        }
        emitting = false;
        awaitsEpochEnd = false;
        due.reportSize();
        setAlarm();
        return true;
    }

    private void setAlarm() {
        long least = due.leastTime(limit);
        long first = least == Long.MAX_VALUE ? least : bound.firstAtLeast(limitIsBelow ? least + 1 : least, nowMicros);
        long now = context.clock().nanoTime();
        pausedUntilNanos = now + LEAST_PAUSE_NANOS;
        long waitMicros = first == Long.MAX_VALUE
                ? Long.MAX_VALUE
                : first - context.clock().epochMicros();
        dueNanos = waitMicros > Long.MAX_VALUE / 2_000
                ? Long.MAX_VALUE
                : Math.max(pausedUntilNanos, now + 1_000 * waitMicros);
    }

    private Batch batch(long[] rows, int count) {
        int sign = node.leaving() ? -1 : 1;
        long[] weights = Arrays.stream(rows, 0, count)
                .map(row -> sign * RowTable.weight(row))
                .toArray();
        return WeightedRows.batch(schema, due.decode(rows, count), count, weights, 0, context.allocator());
    }

    @Override
    public long dueNanos() {
        return awaitsEpochEnd ? Long.MAX_VALUE : dueNanos;
    }

    @Override
    public void awaitEpochEnd() {
        awaitsEpochEnd = true;
    }

    // ---- snapshots

    /** Any task may keep any row: those of an instance are written as those of its first key group. */
    @Override
    public void snapshot(StateWriter writer) throws IOException {
        due.snapshot(writer.keyGroup(StateFormats.DUE, context.keyGroups().first()));
        writer.keyGroup(StateFormats.CLOCK, -1).writeLong(nowMicros);
    }

    /** Rows are where the bound was, which the clock of another process need not have reached. */
    @Override
    public void restore(StateReader reader) {
        reader.keyGroups(StateFormats.CLOCK, (in, group) -> advance(in.readLong()));
        reader.keyGroups(StateFormats.DUE, (in, group) -> due.restore(in));
        setAlarm();
    }

    @Override
    public void close() {
        owned.close();
    }
}
