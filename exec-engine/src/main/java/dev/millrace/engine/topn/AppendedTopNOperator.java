package dev.millrace.engine.topn;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.Memory;
import dev.millrace.engine.aggregate.KeyFinder;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyGroupEntries;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.RowTable;
import dev.millrace.engine.state.Rows;
import dev.millrace.engine.state.StateMemory;
import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.node.PlanNode.Rank;
import dev.millrace.plan.node.PlanNode.TopN;
import dev.millrace.type.Field;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The first rows of each partition by ROW_NUMBER when no row is ever taken back: what others have pushed out of the first
 * rows cannot return and is forgotten, and a row that is no better than the last of them is not even kept.
 *
 * <pre>
 *   partition: hash | link, 1 if touched in this epoch | keys | list of its rows | their number | the last of the first
 *   rows, 0 before there are that many
 *   note of a row: the rank under which it was emitted last, 0 if it was not
 * </pre>
 *
 * With a small limit there are never more rows than that; with a large one up to twice as many, so that not every new row
 * costs a search for the last.
 */
public final class AppendedTopNOperator implements Operator {
    private static final String STATE = "best";
    private static final long SMALL_LIMIT = 64;
    private static final long LARGEST_LIMIT = 1 << 28;

    private final TopN node;
    private final List<AutoCloseable> owned = new ArrayList<>();
    private final int[] columns;
    private final int limit; // the last rank of interest
    private final int most; // rows of a partition
    private OperatorContext context;
    private KeyLayout keys;
    private KeyFinder finder;
    private RowCodec codec;
    private TotalOrder order;
    private GroupTable table;
    private RowTable rows;
    private RankChanges changes;
    private long leaving; // a list of rows that were emitted and are no more
    private long[] touched = new long[256];
    private int touchedCount;
    private int next; // of the touched, while emitting
    private long[] sorted = new long[64];

    public AppendedTopNOperator(TopN node) {
        this.node = node;
        this.columns = new int[node.input().schema().size()];
        Arrays.setAll(columns, column -> column);
        this.limit = Math.toIntExact(node.offset() + node.limit());
        this.most = limit <= SMALL_LIMIT ? limit : 2 * limit;
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
        keys = new KeyLayout(node.input().schema(), node.partition());
        List<Field> fields = node.input().schema().fields();
        codec = own(new RowCodec(fields.stream().map(Field::type).toList(), false, context.allocator()));
        finder = own(new KeyFinder(node.input().schema(), keys, context.allocator()));
        order = new TotalOrder(node, codec);
        int words = (keys.end() - GroupTable.BODY + RowTable.LIST_BYTES) / 8 + 2;
        table = own(new GroupTable(context.allocator(), new long[words]));
        rows = own(new RowTable(context.allocator()));
        StateMemory lists = own(new StateMemory(context.allocator()));
        leaving = lists.allocate(RowTable.LIST_BYTES);
        RowTable.initList(leaving);
        changes = new RankChanges(node, codec, context.batchRows(), context.allocator());
    }

    private <T extends AutoCloseable> T own(T resource) {
        owned.add(resource);
        return resource;
    }

    private long list(long partition) {
        return partition + keys.end();
    }

    private long count(long partition) {
        return partition + keys.end() + RowTable.LIST_BYTES;
    }

    private long last(long partition) {
        return partition + keys.end() + RowTable.LIST_BYTES + 8;
    }

    // ---- rows

    @Override
    public void process(int port, Batch batch, Output output) {
        try (batch) {
            int count = batch.rowCount();
            codec.encode(batch, columns, Rows.all(count), count);
            long[] partitions = finder.find(table, batch, Rows.all(count), count);
            long weights = batch.weightsAddress();
            for (int i = 0; i < count; i++) {
                long times = weights == 0 ? 1 : Math.min(limit, Memory.getLong(weights + 8L * i));
                assert times > 0 : "a row is taken back";
                for (long time = 0; time < times; time++) {
                    offer(partitions[i], codec.address(i), codec.length(i));
                }
            }
        }
        reportSize();
    }

    private void offer(long partition, long row, int length) {
        int count = (int) Memory.getLong(count(partition));
        long last = Memory.getLong(last(partition));
        if (last != 0 && order.compare(row, length, last, RowTable.length(last)) >= 0) {
            return;
        }
        long kept = rows.append(list(partition), row, length, 1);
        Memory.putLong(count(partition), ++count);
        touch(partition);
        if (limit == 1) {
            if (last != 0) {
                leave(partition, last);
            }
            Memory.putLong(last(partition), kept);
        } else if (count > most) {
            if (most == limit) {
                leave(partition, last);
                Memory.putLong(last(partition), findLast(partition));
            } else {
                keepFirst(partition);
            }
        } else if (count == limit) {
            Memory.putLong(last(partition), findLast(partition));
        }
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

    /** Takes a row out of its partition; what was emitted stays until that is taken back. */
    private void leave(long partition, long row) {
        Memory.putLong(count(partition), Memory.getLong(count(partition)) - 1);
        if (RowTable.note(row) == 0) {
            rows.removeRow(row);
        } else {
            rows.move(row, leaving);
        }
    }

    private long findLast(long partition) {
        long last = RowTable.first(list(partition));
        for (long row = RowTable.next(last); row != 0; row = RowTable.next(row)) {
            if (order.compare(row, RowTable.length(row), last, RowTable.length(last)) > 0) {
                last = row;
            }
        }
        return last;
    }

    /** Sorts a partition's rows into {@link #sorted} and drops those beyond the limit; returns how many are left. */
    private int keepFirst(long partition) {
        int count = (int) Memory.getLong(count(partition));
        if (sorted.length < count) {
            sorted = new long[2 * count];
        }
        RowTable.collect(RowTable.first(list(partition)), sorted);
        order.sort(sorted, count);
        for (int i = limit; i < count; i++) {
            leave(partition, sorted[i]);
        }
        if (count >= limit) {
            Memory.putLong(last(partition), sorted[limit - 1]);
        }
        return Math.min(count, limit);
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
            for (long row = RowTable.first(leaving); row != 0; row = RowTable.next(row)) {
                changes.add(row, RowTable.note(row), -1);
            }
        }
        if (!changes.emit(output)) {
            return false;
        }
        rows.clear(leaving);
        reportSize();
        return true;
    }

    /** Notes how the ranks of a partition's rows differ from what was emitted. */
    private void update(long partition) {
        Memory.putLong(partition + GroupTable.LINK, 0);
        boolean ranksMatter = node.emitRank() || node.offset() > 0;
        if (ranksMatter || Memory.getLong(count(partition)) > limit) {
            int count = keepFirst(partition);
            for (int i = 0; i < count; i++) {
                change(sorted[i], i < node.offset() ? 0 : node.emitRank() ? i + 1 : 1);
            }
        } else {
            for (long row = RowTable.first(list(partition)); row != 0; row = RowTable.next(row)) {
                change(row, 1);
            }
        }
    }

    private void change(long row, long rank) {
        long before = RowTable.note(row);
        if (before == rank) {
            return;
        }
        if (before != 0) {
            changes.add(row, before, -1);
        }
        if (rank != 0) {
            changes.add(row, rank, 1);
        }
        RowTable.setNote(row, rank);
    }

    private void reportSize() {
        context.metrics().stateSize(table.bytes() + rows.bytes(), rows.size());
    }

    // ---- snapshots

    /** Per key group: the number of partitions, then of each its keys and rows. */
    @Override
    public void snapshot(StateWriter writer) {
        KeyGroupEntries entries = new KeyGroupEntries(table);
        try {
            for (int group = 0; group < KeyGroups.COUNT; group++) {
                int count = entries.count(group);
                if (count > 0) {
                    DataOutput out = writer.keyGroup(STATE, group);
                    out.writeInt(count);
                    for (int i = 0; i < count; i++) {
                        keys.write(entries.entry(group, i), out);
                        rows.writeList(list(entries.entry(group, i)), out);
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
                read(in);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        reportSize();
    }

    private void read(DataInput in) throws IOException {
        for (int left = in.readInt(); left > 0; left--) {
            long partition = keys.read(table, in);
            rows.readList(list(partition), in, false);
            int count = 0;
            for (long row = RowTable.first(list(partition)); row != 0; row = RowTable.next(row)) {
                count++;
            }
            Memory.putLong(count(partition), count);
            if (count >= limit) {
                Memory.putLong(last(partition), findLast(partition));
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
