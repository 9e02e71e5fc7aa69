package dev.millrace.engine.topn;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.Memory;
import dev.millrace.engine.aggregate.KeyFinder;
import dev.millrace.engine.state.EntryCursor;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyGroupEntries;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.PackedCodec;
import dev.millrace.engine.state.Rows;
import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.operator.Retelling;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.node.PlanNode.TopN;
import dev.millrace.type.DataType;
import java.io.DataOutput;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The first few rows of each partition by ROW_NUMBER when no row is ever taken back: what others have pushed out of them
 * cannot return and is forgotten, and a row that is no better than the last of them is not even copied.
 */
public final class FewBestOperator implements Retelling {
    private static final String STATE = "few";

    private final TopN node;
    private final List<AutoCloseable> owned = new ArrayList<>();
    private OperatorContext context;
    private KeyFinder finder;
    private PackedCodec codec;
    private OrderWords words;
    private FewBestRows rows;
    private RankChanges changes;
    private int[] candidates = new int[0]; // rows of a batch that may be among the best
    private long[] touched = new long[256];
    private int touchedCount;
    private int next; // of the touched, while emitting

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
        codec = own(new PackedCodec(node.input().schema(), context.allocator()));
        finder = own(new KeyFinder(node.input().schema(), keys, context.allocator()));
        words = new OrderWords(node.order().get(0), firstKey(node));
        TotalOrder order = new TotalOrder(node, codec.plain(), row -> {
            throw new IllegalStateException("lengths are given");
        });
        rows = own(new FewBestRows(
                keys, codec, order, Math.toIntExact(node.offset() + node.limit()), context.allocator()));
        changes = new RankChanges(node, codec, context.batchRows(), context.allocator());
    }

    private <T extends AutoCloseable> T own(T resource) {
        owned.add(resource);
        return resource;
    }

    // ---- rows

    @Override
    public void process(int port, Batch batch, Output output) {
        try (batch) {
            int count = batch.rowCount();
            long[] partitions = finder.find(rows.table(), batch, Rows.all(count), count);
            long[] word = words.of(batch);
            if (candidates.length < count) {
                candidates = new int[count];
            }
            int found = 0;
            for (int i = 0; i < count; i++) {
                candidates[found] = i;
                found += rows.mayEnter(partitions[i], word[i]) ? 1 : 0;
            }
            codec.prepare(batch, candidates, found);
            long weights = batch.weightsAddress();
            for (int i = 0; i < found; i++) {
                int row = candidates[i];
                long times = weights == 0 ? 1 : Memory.getLong(weights + 8L * row);
                assert times > 0 : "a row is taken back";
                while (times-- > 0 && rows.offer(partitions[row], i, word[row])) {
                    touch(partitions[row]);
                }
            }
        }
        reportSize();
    }

    private void touch(long partition) {
        if (Memory.getLong(partition + GroupTable.LINK) == 0) {
            Memory.putLong(partition + GroupTable.LINK, 1);
            if (touchedCount == touched.length) {
                touched = Arrays.copyOf(touched, 2 * touchedCount);
            }
            touched[touchedCount++] = partition;
        }
    }

    // ---- changes

    @Override
    public boolean onEpochEnd(long epoch, Output output) {
        while (next < touchedCount) {
            if (changes.fillBatch() && !changes.emit(output)) {
                return false;
            }
            update(touched[next++]);
        }
        if (touchedCount > 0) { // once: then they are taken back
            touchedCount = 0;
            next = 0;
            for (int i = 0; i < rows.leavingCount(); i++) {
                long place = rows.leaving(i);
                changes.add(FewBestRows.row(place), FewBestRows.emitted(place), -1);
            }
        }
        if (!changes.emit(output)) {
            return false;
        }
        rows.freeLeaving();
        reportSize();
        return true;
    }

    /** Notes how the ranks of a partition's rows differ from what was emitted. */
    private void update(long partition) {
        Memory.putLong(partition + GroupTable.LINK, 0);
        int count = rows.count(partition);
        for (int i = 0; i < count; i++) {
            long place = rows.place(partition, i);
            int before = FewBestRows.emitted(place);
            int rank = i < node.offset() ? 0 : node.emitRank() ? i + 1 : 1;
            if (before == rank) {
                continue;
            }
            if (before != 0) {
                changes.add(FewBestRows.row(place), before, -1);
            }
            if (rank != 0) {
                changes.add(FewBestRows.row(place), rank, 1);
            }
            rows.setEmitted(partition, i, rank);
        }
    }

    private void reportSize() {
        context.metrics().stateSize(rows.bytes(), rows.size());
    }

    // ---- snapshots

    /** Per key group: the number of partitions, then each. */
    @Override
    public void snapshot(StateWriter writer) {
        KeyGroupEntries entries = new KeyGroupEntries(rows.table());
        try {
            for (int group = 0; group < KeyGroups.COUNT; group++) {
                int count = entries.count(group);
                if (count > 0) {
                    DataOutput out = writer.keyGroup(STATE, group);
                    out.writeInt(count);
                    for (int i = 0; i < count; i++) {
                        rows.write(entries.entry(group, i), out);
                    }
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void restore(StateReader reader) {
        reader.keyGroups(STATE, (in, group) -> {
            try {
                for (int left = in.readInt(); left > 0; left--) {
                    rows.read(in);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        reportSize();
    }

    @Override
    public void retell() {
        EntryCursor all = new EntryCursor(rows.table(), 256);
        for (int count = all.advance(); count > 0; count = all.advance()) {
            for (int i = 0; i < count; i++) {
                long partition = all.entries()[i];
                for (int row = 0; row < rows.count(partition); row++) {
                    rows.setEmitted(partition, row, 0);
                }
                touch(partition);
            }
        }
    }

    @Override
    public void close() {
        List<AutoCloseable> all = List.copyOf(owned);
        owned.clear();
        Closing.all(all);
    }
}
