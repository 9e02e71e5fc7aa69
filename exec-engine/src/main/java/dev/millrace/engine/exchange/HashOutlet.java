package dev.millrace.engine.exchange;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.NestedImages;
import dev.millrace.engine.channel.Channel;
import dev.millrace.engine.channel.Item;
import dev.millrace.engine.rows.RowBuffer;
import dev.millrace.engine.state.Hashing;
import dev.millrace.engine.state.Scratch;
import dev.millrace.memory.Memory;
import dev.millrace.operator.KeyGroups;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import dev.millrace.type.Schema;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Sends each row to the owner of its key's group. Rows are collected until a target's batch is full, the epoch ends, or
 * nothing follows for a while; a watermark waits with them (Neptune, dissertation ch. 4: application-level buffering).
 */
final class HashOutlet extends TargetsOutlet {
    private static final ConcurrentMap<Integer, int[]> OWNERS = new ConcurrentHashMap<>(); // by the number of targets

    private final int[] keys;
    private final boolean longKey; // one column of eight bytes that hashes by its bits
    private final RowBuffer[] buffers;
    private final int batchRows;
    private final NestedImages nested;
    private final int[] ownerOfGroup; // shared
    private final int[] counts;
    private final int[][] rowsOf; // only while a batch is distributed
    private int rowsSinceFlush;

    HashOutlet(Schema schema, List<Integer> keys, List<Channel> channels, int batchRows, BufferAllocator allocator) {
        super(channels);
        this.keys = keys.stream().mapToInt(Integer::intValue).toArray();
        this.longKey = this.keys.length == 1 && isLong(schema.type(this.keys[0]));
        this.batchRows = batchRows;
        this.nested = new NestedImages(allocator);
        this.counts = new int[channels.size()];
        this.buffers = new RowBuffer[channels.size()];
        Arrays.setAll(buffers, i -> new RowBuffer(schema, batchRows, allocator));
        this.rowsOf = new int[channels.size()][];
        this.ownerOfGroup = OWNERS.computeIfAbsent(channels.size(), HashOutlet::owners);
    }

    private static int[] owners(int targets) {
        int[] owners = new int[KeyGroups.COUNT];
        Arrays.setAll(owners, group -> KeyGroups.owner(group, targets));
        return owners;
    }

    private static boolean isLong(DataType type) {
        return type.kind() == Kind.BIGINT || type.isTimestamp() || type.kind() == Kind.TIME;
    }

    @Override
    public void rows(Batch batch) {
        try (batch) {
            int rows = batch.rowCount();
            Arrays.setAll(rowsOf, target -> Scratch.ints(rows));
            try {
                distribute(batch, rows);
                for (int target = 0; target < targets.count(); target++) {
                    collect(batch, target);
                }
            } finally {
                for (int[] positions : rowsOf) {
                    Scratch.free(positions);
                }
                Arrays.fill(rowsOf, null);
            }
            rowsSinceFlush += rows;
        }
    }

    private void distribute(Batch batch, int rows) {
        Arrays.fill(counts, 0);
        if (longKey && !batch.hasNulls(keys[0])) {
            distributeByLong(batch.dataAddress(keys[0]), rows);
            return;
        }
        nested.clear();
        long[] hashes = Scratch.longs(rows);
        try {
            Hashing.hash(batch, keys, rows, hashes, nested);
            for (int row = 0; row < rows; row++) {
                int target = ownerOfGroup[KeyGroups.of(hashes[row])];
                rowsOf[target][counts[target]++] = row;
            }
        } finally {
            Scratch.free(hashes);
        }
    }

    /** The common key in one pass: as {@link Hashing} defines it for one column of eight bytes. */
    private void distributeByLong(long data, int rows) {
        for (int row = 0; row < rows; row++) {
            long hash = Hashing.finish(Hashing.step(Hashing.SEED, Memory.getLong(data + 8L * row)));
            int target = ownerOfGroup[KeyGroups.of(hash)];
            rowsOf[target][counts[target]++] = row;
        }
    }

    private void collect(Batch batch, int target) {
        int count = counts[target];
        if (count == batch.rowCount() && buffers[target].count() == 0) {
            targets.put(target, new Item.Rows(batch.retain()));
            return;
        }
        for (int from = 0; from < count; ) {
            int to = Math.min(count, from + buffers[target].room());
            buffers[target].append(batch, rowsOf[target], from, to);
            from = to;
            if (buffers[target].room() == 0) {
                send(target);
            }
        }
    }

    private void send(int target) {
        if (buffers[target].count() > 0) {
            targets.put(target, new Item.Rows(buffers[target].take()));
        }
    }

    @Override
    boolean isWatermarkDue() {
        return rowsSinceFlush >= (long) batchRows * targets.count();
    }

    @Override
    void sendRows() {
        for (int target = 0; target < targets.count(); target++) {
            send(target);
        }
        rowsSinceFlush = 0;
    }

    @Override
    public void close() {
        Closing.all(List.of(buffers));
        nested.close();
    }
}
