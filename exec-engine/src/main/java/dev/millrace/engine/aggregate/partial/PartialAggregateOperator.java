package dev.millrace.engine.aggregate.partial;

import dev.millrace.batch.Batch;
import dev.millrace.batch.NestedImages;
import dev.millrace.batch.Owned;
import dev.millrace.engine.aggregate.AggregateLayout;
import dev.millrace.engine.aggregate.ChangeLog;
import dev.millrace.engine.aggregate.GroupKernels;
import dev.millrace.engine.aggregate.GroupState;
import dev.millrace.engine.aggregate.number.Wide;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.Rows;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.plan.node.PlanNode.Aggregate;
import dev.millrace.type.Schema;
import java.util.Optional;

/**
 * The first phase of an updating aggregation: emits what rows add to each group's states, and the distinct values among
 * them, and forgets it, at the end of an epoch or when there is much. Where that hardly makes rows fewer it passes them on
 * as they come. So nothing is kept from one epoch to the next.
 */
public final class PartialAggregateOperator implements Operator {
    /** Rows whose distinct values are collected at most, so that those of an epoch do not grow without bounds. */
    private static final int MOST_ROWS_WITH_VALUES = 1 << 18;

    private final Aggregate node;
    private final PartialLimit limit;
    private final PartialGain gain;
    private final Owned owned = new Owned();
    private OperatorContext context;
    private NestedImages images;
    private ChangeLog noLog;
    private GroupState state;
    private PartialRows rows;
    private Optional<SingleRows> singleRows = Optional.empty();
    private boolean hasValues;
    private int rowsCollected;
    private boolean isEmitting;

    public PartialAggregateOperator(Aggregate node) {
        this(node, new PartialLimit(), new PartialGain());
    }

    public PartialAggregateOperator(Aggregate node, PartialLimit limit, PartialGain gain) {
        this.node = node;
        this.limit = limit;
        this.gain = gain;
    }

    /** The generated code of a node. */
    private static GroupKernels kernels(Aggregate node) {
        Schema input = node.input().schema();
        KeyLayout keys = new KeyLayout(input, node.keys());
        return GroupKernels.addingWithValues(
                new AggregateLayout(keys, node.calls(), input, !node.appendOnlyInput(), false), input);
    }

    @Override
    public void open(OperatorContext newContext) {
        context = newContext;
        GroupKernels kernels = kernels(node);
        AggregateLayout layout = kernels.layout();
        images = owned.own(new NestedImages(context.allocator()));
        noLog = owned.own(new ChangeLog(layout, context.allocator()));
        state = owned.own(new GroupState(kernels, context.allocator()));
        rows = owned.own(new PartialRows(state, node.schema(), context.batchRows(), context.allocator()));
        hasValues = !layout.distinctSets().isEmpty();
        if (SingleRows.suits(layout)) {
            singleRows = Optional.of(new SingleRows(layout, node.schema(), context.allocator()));
        }
    }

    @Override
    public void process(int port, Batch batch, Output output) {
        int count = batch.rowCount();
        gain.in(count);
        if (gain.isPassing() && singleRows.isPresent() && batch.weights().isEmpty()) {
            try (batch) {
                output.emit(singleRows.get().of(batch));
            }
            return;
        }
        collect(batch);
        rowsCollected += count;
        boolean isMuch = limit.isReached(count, state.table().size());
        if (isMuch || hasValues && rowsCollected >= MOST_ROWS_WITH_VALUES) {
            if (isMuch) {
                limit.passedOn(state.table().size());
            }
            rows.start();
            for (Optional<Batch> made = rows.next(); made.isPresent(); made = rows.next()) {
                emit(made.get(), output);
            }
            clear();
        }
        context.metrics().stateSize(state.bytes(), state.table().size());
    }

    private void collect(Batch batch) {
        int count = batch.rowCount();
        try (batch) {
            state.add(batch, images, Rows.all(count), count, noLog);
        } catch (ArithmeticException e) {
            throw Wide.outOfRange();
        } finally {
            images.clear();
        }
    }

    private void emit(Batch made, Output output) {
        gain.out(made.rowCount());
        output.emit(made);
    }

    private void clear() {
        rowsCollected = 0;
        state.clear();
        gain.emptied();
    }

    @Override
    public boolean onEpochEnd(long epoch, Output output) {
        if (!isEmitting) {
            rows.start();
            isEmitting = true;
        }
        while (true) {
            if (output.isFull()) {
                return false;
            }
            Optional<Batch> made = rows.next();
            if (made.isEmpty()) {
                break;
            }
            emit(made.get(), output);
        }
        isEmitting = false;
        limit.restart();
        clear();
        return true;
    }

    @Override
    public void close() {
        owned.close();
    }
}
