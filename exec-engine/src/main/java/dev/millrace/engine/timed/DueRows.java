package dev.millrace.engine.timed;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Owned;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.RowTable;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;
import dev.millrace.operator.OperatorContext;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;
import org.apache.arrow.vector.FieldVector;

/**
 * Rows with weights by a time of theirs, equal ones once: in lists of a tenth of a second, so that those that are due are
 * found without looking at the others, and one that is taken back is found in its list. One thread.
 */
final class DueRows implements AutoCloseable {
    private static final long LIST_MICROS = 100_000;
    private static final int BYTES_PER_LIST = RowTable.LIST_BYTES + 80; // and what the map keeps for it

    private final Schema schema;
    private final int timeColumn;
    private final OperatorContext context;
    private final Owned owned = new Owned();
    private final int[] columns;
    private final RowCodec codec;
    private final RowTable rows;
    private final StateMemory listMemory;
    private final NavigableMap<Long, Long> lists = new TreeMap<>(); // by time / LIST_MICROS
    private long least = Long.MIN_VALUE; // at most the least time of all

    DueRows(Schema schema, int timeColumn, OperatorContext context) {
        this.schema = schema;
        this.timeColumn = timeColumn;
        this.context = context;
        this.columns = new int[schema.size()];
        Arrays.setAll(columns, column -> column);
        this.codec =
                owned.own(new RowCodec(schema.fields().stream().map(Field::type).toList(), false, context.allocator()));
        this.rows = owned.own(new RowTable(context.allocator()));
        this.listMemory = owned.own(new StateMemory(context.allocator()));
    }

    /** Adds some rows of a batch, which have a time. */
    void add(Batch batch, int[] some, int count) {
        codec.encode(batch, columns, some, count);
        long weights = batch.weightsAddress();
        for (int i = 0; i < count; i++) {
            long weight = weights == 0 ? 1 : Memory.getLong(weights + 8L * some[i]);
            add(codec.address(i), codec.length(i), weight);
        }
    }

    private void add(long row, int length, long weight) {
        long time = time(row);
        long key = Math.floorDiv(time, LIST_MICROS);
        long list = list(key);
        rows.add(list, row, length, weight);
        forgetIfEmpty(key, list);
        least = Math.min(least, time);
    }

    private long list(long key) {
        Long known = lists.get(key);
        if (known != null) {
            return known;
        }
        long list = listMemory.allocate(RowTable.LIST_BYTES);
        RowTable.initList(list);
        lists.put(key, list);
        return list;
    }

    private void forgetIfEmpty(long key, long list) {
        if (RowTable.first(list) == 0) {
            lists.remove(key);
            listMemory.free(list, RowTable.LIST_BYTES);
        }
    }

    private long time(long row) {
        return Memory.getLong(row + codec.slot(timeColumn));
    }

    /**
     * At most the least time of all, but greater than {@code limit} if that is; {@code Long.MAX_VALUE} if there are none. The
     * rows of a list, which may be many, are looked at only when one of them could be due.
     */
    long leastTime(long limit) {
        if (lists.isEmpty()) {
            least = Long.MAX_VALUE;
        } else if (least <= limit) {
            least = Long.MAX_VALUE;
            for (long row = RowTable.first(lists.firstEntry().getValue()); row != 0; row = RowTable.next(row)) {
                least = Math.min(least, time(row));
            }
        }
        return least;
    }

    /** Collects rows whose time is at most {@code limit}, of the first list that has any; returns how many. */
    int collectDue(long limit, long[] into) {
        for (Map.Entry<Long, Long> list : lists.entrySet()) {
            if (list.getKey() > Math.floorDiv(limit, LIST_MICROS)) {
                return 0;
            }
            int count = 0;
            for (long row = RowTable.first(list.getValue());
                    row != 0 && count < into.length;
                    row = RowTable.next(row)) {
                if (time(row) <= limit) {
                    into[count++] = row;
                }
            }
            if (count > 0) {
                return count;
            }
        }
        return 0;
    }

    /** The columns of collected rows, which are the caller's. */
    FieldVector[] decode(long[] some, int count) {
        FieldVector[] vectors = new FieldVector[columns.length];
        try {
            for (int column : columns) {
                vectors[column] = codec.decode(column, schema.field(column), some, count, context.allocator());
            }
        } catch (RuntimeException | Error e) {
            for (FieldVector vector : vectors) {
                if (vector != null) {
                    vector.close();
                }
            }
            throw e;
        }
        return vectors;
    }

    /** Removes rows of one list that were collected. */
    void remove(long[] some, int count) {
        long key = Math.floorDiv(time(some[0]), LIST_MICROS);
        for (int i = 0; i < count; i++) {
            rows.removeRow(some[i]);
        }
        forgetIfEmpty(key, Objects.requireNonNull(lists.get(key)));
    }

    void reportSize() {
        context.metrics().stateSize(rows.bytes() + (long) lists.size() * BYTES_PER_LIST, rows.size());
    }

    /** Writes all as one part of an operator's state. */
    void snapshot(DataOutput out) throws IOException {
        out.writeInt(lists.size());
        for (long list : lists.values()) {
            rows.writeList(list, out);
        }
    }

    /** Adds what {@link #snapshot} wrote. */
    void restore(DataInput in) throws IOException {
        for (int left = in.readInt(); left > 0; left--) {
            long read = listMemory.allocate(RowTable.LIST_BYTES);
            RowTable.initList(read);
            rows.readList(read, in, false);
            for (long row = RowTable.first(read); row != 0; row = RowTable.next(row)) {
                add(row, RowTable.length(row), RowTable.weight(row));
            }
            rows.clear(read);
            listMemory.free(read, RowTable.LIST_BYTES);
        }
    }

    @Override
    public void close() {
        owned.close();
    }
}
