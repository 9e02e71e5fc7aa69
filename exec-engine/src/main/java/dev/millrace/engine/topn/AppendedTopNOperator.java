package dev.millrace.engine.topn;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.Memory;
import dev.millrace.engine.aggregate.KeyFinder;
import dev.millrace.engine.state.EntryCursor;
import dev.millrace.engine.state.Forgetful;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyGroupEntries;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.Rows;
import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.operator.Retelling;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.node.PlanNode.Rank;
import dev.millrace.plan.node.PlanNode.TopN;
import dev.millrace.type.Field;
import java.io.DataOutput;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The first rows of each partition by ROW_NUMBER when no row is ever taken back: what others have pushed out of the first
 * rows cannot return and is forgotten, and a row that is no better than the last of them is not even kept.
 */
public final class AppendedTopNOperator implements Forgetful, Retelling {
    private static final String STATE = "best";
    private static final long LARGEST_LIMIT = 1 << 28;

    private final TopN node;
    private final List<AutoCloseable> owned = new ArrayList<>();
    private final int[] columns;
    private OperatorContext context;
    private KeyFinder finder;
    private RowCodec codec;
    private BestRows rows;
    private RankChanges changes;
    private long[] touched = new long[256];
    private int touchedCount;
    private int next; // of the touched, while emitting

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
        codec = own(new RowCodec(fields.stream().map(Field::type).toList(), false, context.allocator()));
        finder = own(new KeyFinder(node.input().schema(), keys, context.allocator()));
        TotalOrder order = new TotalOrder(node, codec, BestRows::length);
        int lastRank = Math.toIntExact(node.offset() + node.limit());
        rows = own(new BestRows(keys, order, lastRank, context.allocator()));
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
            codec.encode(batch, columns, Rows.all(count), count);
            long[] partitions = finder.find(rows.table(), batch, Rows.all(count), count);
            long weights = batch.weightsAddress();
            for (int i = 0; i < count; i++) {
                long times = weights == 0 ? 1 : Memory.getLong(weights + 8L * i);
                assert times > 0 : "a row is taken back";
                while (times-- > 0 && rows.offer(partitions[i], codec.address(i), codec.length(i))) {
                    touch(partitions[i]);
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

    @Override
    public void forget(long like) {
        long partition = rows.find(like);
        if (partition >= 0) {
            rows.empty(partition);
            touch(partition);
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
                changes.add(rows.leaving(i), BestRows.emitted(rows.leaving(i)), -1);
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
        rows.sort(partition);
        int count = rows.count(partition);
        for (int i = 0; i < count; i++) {
            change(rows.row(partition, i), i < node.offset() ? 0 : node.emitRank() ? i + 1 : 1);
        }
        if (count == 0) {
            rows.remove(partition);
        }
    }

    private void change(long row, int rank) {
        int before = BestRows.emitted(row);
        if (before == rank) {
            return;
        }
        if (before != 0) {
            changes.add(row, before, -1);
        }
        if (rank != 0) {
            changes.add(row, rank, 1);
        }
        BestRows.setEmitted(row, rank);
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
                    BestRows.setEmitted(rows.row(partition, row), 0);
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
