package dev.millrace.engine.topn;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Owned;
import dev.millrace.engine.aggregate.KeyFinder;
import dev.millrace.engine.checkpoint.StateFormats;
import dev.millrace.engine.state.Forgetful;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.Rows;
import dev.millrace.memory.Memory;
import dev.millrace.operator.Freezing;
import dev.millrace.operator.FrozenState;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.operator.Replay;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.node.PlanNode.Rank;
import dev.millrace.plan.node.PlanNode.TopN;
import dev.millrace.type.Field;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The first rows of each partition by ROW_NUMBER when no row is ever taken back: what others have pushed out of the first
 * rows cannot return and is forgotten, and a row that is no better than the last of them is not even kept.
 */
public final class AppendedTopNOperator implements Forgetful, Replay, Freezing {
    private static final long LARGEST_LIMIT = 1 << 28;

    private final TopN node;
    private final Owned owned = new Owned();
    private final int[] columns;
    private OperatorContext context;
    private KeyFinder finder;
    private RowCodec codec;
    private BestRows rows;
    private BestChanges changes;

    public AppendedTopNOperator(TopN node) {
        this.node = node;
        this.columns = new int[node.input().schema().size()];
        Arrays.setAll(columns, column -> column);
    }

    /** Whether this operator does for a node. */
    public static boolean suits(TopN node) {
        return node.appendOnlyInput()
                && node.windowEnd().isEmpty()
                && node.rank() == Rank.ROW_NUMBER
                && node.limit() > 0
                && node.limit() <= LARGEST_LIMIT
                && node.offset() <= LARGEST_LIMIT;
    }

    @Override
    public void open(OperatorContext newContext) {
        context = newContext;
        KeyLayout keys = new KeyLayout(node.input().schema(), node.partition());
        List<Field> fields = node.input().schema().fields();
        codec = owned.own(new RowCodec(fields.stream().map(Field::type).toList(), false, context.allocator()));
        finder = owned.own(new KeyFinder(node.input().schema(), keys, context.allocator()));
        TotalOrder order = new TotalOrder(node, codec, BestRows::length);
        int lastRank = Math.toIntExact(node.offset() + node.limit());
        rows = owned.own(new BestRows(keys, order, lastRank, context.allocator()));
        changes = owned.own(new BestChanges(node, StateFormats.BEST, StateFormats.BEST_SINCE, rows, codec, context));
    }

    // ---- rows

    @Override
    public void process(int port, Batch batch, Output output) {
        try (batch) {
            int count = batch.rowCount();
            codec.encode(batch, columns, Rows.all(count), count);
            long[] partitions = finder.find(rows.table(), batch, Rows.all(count), count);
            long weights = batch.weightsAddress();
            for (int i = 0; i < count; i++) {
                long times = weights == 0 ? 1 : Memory.getLong(weights + 8L * i);
                assert times > 0 : "a row is taken back";
                changes.beforeChange(partitions[i]);
                while (times-- > 0 && rows.offer(partitions[i], codec.address(i), codec.length(i))) {
                    changes.touch(partitions[i]);
                }
            }
        }
        changes.reportSize();
    }

    @Override
    public void forget(long like) {
        long partition = rows.find(like);
        if (partition >= 0) {
            changes.beforeChange(partition);
            rows.empty(partition);
            changes.touch(partition);
        }
    }

    @Override
    public boolean onEpochEnd(long epoch, Output output) {
        return changes.emit(output);
    }

    @Override
    public void snapshot(StateWriter writer) throws IOException {
        changes.snapshot(writer);
    }

    @Override
    public Optional<FrozenState> freeze(Kept kept) {
        return changes.freeze(kept);
    }

    @Override
    public void restore(StateReader reader) {
        changes.restore(reader);
    }

    @Override
    public void replay() {
        changes.replay();
    }

    @Override
    public void close() {
        owned.close();
    }
}
