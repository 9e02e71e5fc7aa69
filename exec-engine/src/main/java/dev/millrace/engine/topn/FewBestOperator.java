package dev.millrace.engine.topn;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Owned;
import dev.millrace.engine.aggregate.KeyFinder;
import dev.millrace.engine.checkpoint.StateFormats;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.PackedCodec;
import dev.millrace.memory.Memory;
import dev.millrace.operator.Freezing;
import dev.millrace.operator.FrozenState;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.operator.Replay;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.node.PlanNode.TopN;
import dev.millrace.type.DataType;
import java.io.IOException;
import java.util.Optional;

/**
 * The first few rows of each partition by ROW_NUMBER when no row is ever taken back: what others have pushed out of them
 * cannot return and is forgotten, and a row that is no better than the last of them is not even copied.
 */
public final class FewBestOperator implements Replay, Freezing {

    private final TopN node;
    private final Owned owned = new Owned();
    private OperatorContext context;
    private KeyFinder finder;
    private PackedCodec codec;
    private OrderWords words;
    private BestOfBatch best;
    private FewBestRows rows;
    private BestChanges changes;
    private int[] candidates = new int[0]; // rows of a batch that may be among the best

    public FewBestOperator(TopN node) {
        this.node = node;
    }

    /** Whether this operator does for a node. */
    public static boolean suits(TopN node) {
        return AppendedTopNOperator.suits(node)
                && node.offset() + node.limit() <= FewBestRows.MOST
                && !node.order().isEmpty()
                && OrderWords.suits(firstKey(node));
    }

    private static DataType firstKey(TopN node) {
        return node.input().schema().type(node.order().get(0).column());
    }

    @Override
    public void open(OperatorContext newContext) {
        context = newContext;
        KeyLayout keys = new KeyLayout(node.input().schema(), node.partition());
        codec = owned.own(new PackedCodec(node.input().schema(), context.allocator()));
        finder = owned.own(new KeyFinder(node.input().schema(), keys, context.allocator()));
        words = new OrderWords(node.order().get(0), firstKey(node));
        TotalOrder order = new TotalOrder(node, codec.plain(), row -> {
            throw new IllegalStateException("lengths are given");
        });
        int limit = Math.toIntExact(node.offset() + node.limit());
        rows = owned.own(new FewBestRows(keys, codec, order, limit, context.allocator()));
        best = owned.own(new BestOfBatch(node.input().schema(), node.partition(), limit, context.allocator()));
        changes = owned.own(
                new BestChanges(node, StateFormats.FEW_BEST, StateFormats.FEW_BEST_SINCE, rows, codec, context));
    }

    // ---- rows

    @Override
    public void process(int port, Batch batch, Output output) {
        try (batch) {
            int count = batch.rowCount();
            long[] word = words.of(batch);
            if (candidates.length < count) {
                candidates = new int[count];
            }
            int left = best.find(batch, word, candidates);
            long[] partitions = finder.find(rows.table(), batch, candidates, left);
            int found = rows.candidates(partitions, word, candidates, left);
            codec.prepare(batch, candidates, found);
            long weights = batch.weightsAddress();
            for (int i = 0; i < found; i++) {
                int row = candidates[i];
                long times = weights == 0 ? 1 : Memory.getLong(weights + 8L * row);
                assert times > 0 : "a row is taken back";
                changes.beforeChange(partitions[i]);
                while (times-- > 0 && rows.offer(partitions[i], i, word[row])) {
                    changes.touch(partitions[i]);
                }
            }
        }
        changes.reportSize();
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
