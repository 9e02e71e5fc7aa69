package dev.millrace.engine.window;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.Owned;
import dev.millrace.engine.aggregate.partial.PartialLimit;
import dev.millrace.engine.state.EntryCursor;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.node.PlanNode.Phase;
import dev.millrace.plan.node.PlanNode.WindowAggregate;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.vector.FieldVector;

/**
 * The first phase of {@link SessionAggregateOperator}: what a task sees of sessions goes on as their first and last time and the states of their aggregates, so that rows
 * of a busy key are not exchanged one by one. All go on at an epoch's end, when there are many, and before a watermark under which one of them could belong to a session
 * that is emitted: one that begins at least a gap before it. Nothing is kept from one epoch to the next.
 */
public final class PartialSessionsOperator implements Operator {
    private final WindowAggregate node;
    private final long gapMicros;
    private final PartialLimit limit;
    private OperatorContext context;
    private final Owned owned = new Owned();
    private SessionRows rows;
    private KeySessions sessions;
    private Optional<EntryCursor> emitting = Optional.empty();
    private long watermark = NO_WATERMARK;

    public PartialSessionsOperator(WindowAggregate node) {
        this(node, new PartialLimit());
    }

    PartialSessionsOperator(WindowAggregate node, PartialLimit limit) {
        if (!(node.window() instanceof WindowSpec.Session session) || node.phase() != Phase.PARTIAL) {
            throw new IllegalArgumentException("not the first phase of a session aggregation: " + node);
        }
        this.node = node;
        this.gapMicros = session.gapMicros();
        this.limit = limit;
    }

    @Override
    public void open(OperatorContext newContext) {
        context = newContext;
        rows = new SessionRows(context, gapMicros);
        sessions = owned.own(new KeySessions(node, context.allocator()));
    }

    @Override
    public void process(int port, Batch batch, Output output) {
        try (batch) {
            int count = rows.select(batch, node.timeColumn(), watermark);
            long times = batch.dataAddress(node.timeColumn());
            sessions.add(batch, rows.rows(), count, times, times);
            if (limit.isReached(count, sessions.size())) {
                limit.passedOn(sessions.size());
                EntryCursor all = cursor();
                for (int found = all.advance(); found > 0; found = all.advance()) {
                    output.emit(batch(all.entries(), found));
                }
                sessions.clear();
            }
        }
    }

    @Override
    public boolean onWatermark(long watermarkMicros, Output output) {
        watermark = Math.max(watermark, watermarkMicros);
        boolean isDue = sessions.size() > 0 && sessions.earliest() + gapMicros <= watermark;
        return !isDue || passOn(output);
    }

    @Override
    public boolean onEpochEnd(long epoch, Output output) {
        if (sessions.size() > 0 && !passOn(output)) {
            return false;
        }
        context.metrics().stateSize(sessions.bytes(), 0);
        return true;
    }

    private boolean passOn(Output output) {
        EntryCursor all = emitting.orElseGet(this::cursor);
        emitting = Optional.of(all);
        while (!output.isFull()) {
            int count = all.advance();
            if (count == 0) {
                emitting = Optional.empty();
                sessions.clear();
                limit.restart();
                return true;
            }
            output.emit(batch(all.entries(), count));
        }
        return false;
    }

    private EntryCursor cursor() {
        return new EntryCursor(sessions.state().table(), context.batchRows());
    }

    private Batch batch(long[] entries, int count) {
        List<FieldVector> vectors = new ArrayList<>();
        Schema schema = node.schema();
        int keys = node.keys().size();
        try {
            for (int key = 0; key < keys; key++) {
                vectors.add(sessions.state().key(key, schema.field(key), entries, count));
            }
            vectors.add(TimeColumns.words(
                    schema.field(keys), entries, sessions.startOffset(), 0, count, context.allocator()));
            vectors.add(TimeColumns.words(
                    schema.field(keys + 1), entries, sessions.lastOffset(), 0, count, context.allocator()));
            vectors.addAll(sessions.state().states(schema, keys + 2, entries, count));
            return Batch.of(schema, vectors.toArray(FieldVector[]::new), count);
        } catch (RuntimeException | Error e) {
            Closing.all(vectors);
            throw e;
        }
    }

    /** Nothing: at an epoch's end all went on. */
    @Override
    public void snapshot(StateWriter writer) {}

    @Override
    public void restore(StateReader reader) {}

    @Override
    public void close() {
        owned.close();
    }
}
