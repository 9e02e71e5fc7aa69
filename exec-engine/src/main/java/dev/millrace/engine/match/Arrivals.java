package dev.millrace.engine.match;

import dev.millrace.batch.Batch;
import dev.millrace.engine.aggregate.KeyFinder;
import dev.millrace.engine.state.KeyGroupPart;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.RowOrder;
import dev.millrace.engine.state.RowTable;
import dev.millrace.engine.state.Rows;
import dev.millrace.memory.Memory;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.type.Schema;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;

/** Rows from their arrival until they are due: until the watermark has passed them, or all at the end of a finite input. */
final class Arrivals implements AutoCloseable {
    private final Partitions partitions;
    private final RowCodec codec;
    private final KeyFinder finder;
    private final PendingRows pending;
    private final OperatorContext context;
    private final int[] columns;
    private final int timeColumn;
    private final List<Long> waitingAgain = new ArrayList<>(); // while restoring
    private final List<Long> withdrawn = new ArrayList<>(); // rows that a finite input took back

    /** @param timeColumn -1 if rows are due at the end only */
    Arrivals(
            Schema schema,
            KeyLayout keys,
            RowCodec codec,
            RowOrder order,
            Partitions partitions,
            int timeColumn,
            OperatorContext context) {
        this.partitions = partitions;
        this.codec = codec;
        this.context = context;
        this.timeColumn = timeColumn;
        this.finder = new KeyFinder(schema, keys, context.allocator());
        this.pending = new PendingRows(order, codec, timeColumn);
        this.columns = new int[schema.size()];
        Arrays.setAll(columns, column -> column);
    }

    /** Keeps the rows of a batch that are in time, and reports the others. */
    void add(Batch batch, long watermark) {
        int[] selected = Rows.all(batch.rowCount());
        int count = batch.rowCount();
        if (watermark != Operator.NO_WATERMARK && watermark != Operator.END_OF_INPUT) {
            selected = new int[count];
            count = selectInTime(batch, watermark, selected);
        }
        codec.encode(batch, columns, selected, count);
        long[] entries = finder.find(partitions.table(), batch, selected, count);
        long weights = batch.weightsAddress();
        long[] stored = new long[count];
        int storedCount = 0;
        for (int i = 0; i < count; i++) {
            long weight = weights == 0 ? 1 : Memory.getLong(weights + 8L * selected[i]);
            for (long times = Math.abs(weight); times > 0; times--) {
                long row = partitions.rows().store(codec.address(i), codec.length(i));
                StoredRows.setWord(row, entries[i]);
                if (weight < 0) {
                    withdrawn.add(row);
                    continue;
                }
                if (storedCount == stored.length) {
                    stored = Arrays.copyOf(stored, 2 * storedCount);
                }
                partitions.addPending(entries[i], 1);
                stored[storedCount++] = row;
            }
        }
        pending.add(stored, storedCount);
    }

    private int selectInTime(Batch batch, long watermark, int[] selected) {
        int[] late = new int[batch.rowCount()];
        int lateCount = 0;
        int count = 0;
        long times = batch.dataAddress(timeColumn);
        long validity = batch.validityAddress(timeColumn);
        for (int row = 0; row < batch.rowCount(); row++) {
            boolean isNull = validity != 0 && !Memory.getBit(validity, row);
            if (isNull || Memory.getLong(times + 8L * row) < watermark) {
                late[lateCount++] = row;
            } else {
                selected[count++] = row;
            }
        }
        if (lateCount > 0) {
            context.metrics().addLateRows(lateCount);
            context.lateRows(batch, late, lateCount, watermark);
        }
        return count;
    }

    /** Links the rows that are due to their partitions, and names these. */
    void takeDue(long watermark, boolean ended, LongConsumer partition) {
        Map<Long, List<Long>> byHash = new HashMap<>();
        for (long row : withdrawn) {
            byHash.computeIfAbsent(hash(row), absent -> new ArrayList<>()).add(row);
        }
        withdrawn.clear();
        pending.takeBefore(watermark, ended, row -> {
            long entry = StoredRows.word(row);
            if (!byHash.isEmpty() && isWithdrawn(row, byHash)) {
                partitions.addPending(entry, -1);
                partitions.rows().free(row);
                return;
            }
            partitions.addDue(entry, row);
            partition.accept(entry);
        });
    }

    private static long hash(long row) {
        return RowTable.hash(StoredRows.word(row), row, StoredRows.length(row));
    }

    private boolean isWithdrawn(long row, Map<Long, List<Long>> byHash) {
        List<Long> equal = byHash.getOrDefault(hash(row), List.of());
        for (int i = 0; i < equal.size(); i++) {
            long other = equal.get(i);
            if (StoredRows.word(other) == StoredRows.word(row) && StoredRows.equal(row, other)) {
                partitions.rows().free(other);
                equal.remove(i);
                return true;
            }
        }
        return false;
    }

    // ---- snapshots -------------------------------------------------------------------------------------------------

    /** What writes the rows of a partition to an output. */
    KeyGroupPart.EntryWriter writer() {
        Map<Long, List<Long>> waiting = new HashMap<>();
        pending.forEach(row -> byPartition(waiting, row));
        Map<Long, List<Long>> gone = new HashMap<>();
        withdrawn.forEach(row -> byPartition(gone, row));
        return (entry, out) -> {
            write(waiting.getOrDefault(entry, List.of()), out);
            write(gone.getOrDefault(entry, List.of()), out);
        };
    }

    private static void byPartition(Map<Long, List<Long>> rows, long row) {
        rows.computeIfAbsent(StoredRows.word(row), entry -> new ArrayList<>()).add(row);
    }

    private static void write(List<Long> rows, DataOutput out) throws IOException {
        out.writeInt(rows.size());
        for (long row : rows) {
            StoredRows.write(row, out);
        }
    }

    /** Reads what {@link #writer} wrote of a partition; {@link #restored} follows when all are read. */
    void read(long entry, DataInput in) throws IOException {
        for (int left = in.readInt(); left > 0; left--) {
            waitingAgain.add(readRow(entry, in));
            partitions.addPending(entry, 1);
        }
        for (int left = in.readInt(); left > 0; left--) {
            withdrawn.add(readRow(entry, in));
        }
    }

    void restored() {
        pending.add(waitingAgain.stream().mapToLong(Long::longValue).toArray(), waitingAgain.size());
        waitingAgain.clear();
    }

    private long readRow(long entry, DataInput in) throws IOException {
        long row = partitions.rows().read(in);
        StoredRows.setWord(row, entry);
        return row;
    }

    @Override
    public void close() {
        withdrawn.clear();
        pending.clear();
        finder.close();
    }
}
