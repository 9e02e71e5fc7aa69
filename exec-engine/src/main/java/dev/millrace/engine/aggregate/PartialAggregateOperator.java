package dev.millrace.engine.aggregate;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.state.EntryCursor;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.NestedImages;
import dev.millrace.engine.state.Rows;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.plan.node.PlanNode.Aggregate;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.vector.FieldVector;

/**
 * The first phase of an updating aggregation: emits what rows add to each group's states, and forgets it, at the end of an
 * epoch or when there are many groups.
 */
public final class PartialAggregateOperator implements Operator {
    private final Aggregate node;
    private final PartialLimit limit;
    private final List<AutoCloseable> owned = new ArrayList<>();
    private OperatorContext context;
    private NestedImages images;
    private ChangeLog noLog;
    private GroupState state;
    private Optional<EntryCursor> emitting = Optional.empty();

    public PartialAggregateOperator(Aggregate node) {
        this(node, new PartialLimit());
    }

    PartialAggregateOperator(Aggregate node, PartialLimit limit) {
        this.node = node;
        this.limit = limit;
    }

    /** The generated code of a node. */
    public static GroupKernels kernels(Aggregate node) {
        Schema input = node.input().schema();
        KeyLayout keys = new KeyLayout(input, node.keys());
        return GroupKernels.adding(
                new AggregateLayout(keys, node.calls(), input, !node.appendOnlyInput(), false), input, false);
    }

    @Override
    public void open(OperatorContext newContext) {
        context = newContext;
        GroupKernels kernels = kernels(node);
        images = new NestedImages(context.allocator());
        owned.add(images);
        noLog = new ChangeLog(kernels.layout(), context.allocator());
        owned.add(noLog);
        state = new GroupState(kernels, context.allocator());
        owned.add(state);
    }

    @Override
    public void process(int port, Batch batch, Output output) {
        int rows = batch.rowCount();
        try (batch) {
            state.add(batch, images, Rows.all(rows), rows, noLog);
        } catch (ArithmeticException e) {
            throw Wide.outOfRange();
        } finally {
            images.clear();
        }
        if (limit.isReached(rows, state.table().size())) {
            limit.passedOn(state.table().size());
            EntryCursor cursor = new EntryCursor(state.table(), context.batchRows());
            for (int count = cursor.advance(); count > 0; count = cursor.advance()) {
                output.emit(batch(cursor.entries(), count));
            }
            state.clear();
        }
        context.metrics().stateSize(state.bytes(), state.table().size());
    }

    @Override
    public boolean onEpochEnd(long epoch, Output output) {
        if (emitting.isEmpty()) {
            emitting = Optional.of(new EntryCursor(state.table(), context.batchRows()));
        }
        EntryCursor cursor = emitting.get();
        while (true) {
            if (output.isFull()) {
                return false;
            }
            int count = cursor.advance();
            if (count == 0) {
                break;
            }
            output.emit(batch(cursor.entries(), count));
        }
        emitting = Optional.empty();
        limit.restart();
        state.clear();
        return true;
    }

    private Batch batch(long[] entries, int count) {
        List<FieldVector> vectors = new ArrayList<>();
        Schema schema = node.schema();
        try {
            for (int key = 0; key < node.keys().size(); key++) {
                vectors.add(state.key(key, schema.field(key), entries, count));
            }
            vectors.addAll(state.states(schema, node.keys().size(), entries, count));
            return Batch.of(schema, vectors.toArray(FieldVector[]::new), count);
        } catch (RuntimeException | Error e) {
            Closing.all(vectors);
            throw e;
        }
    }

    @Override
    public void close() {
        List<AutoCloseable> all = List.copyOf(owned);
        owned.clear();
        Closing.all(all);
    }
}
