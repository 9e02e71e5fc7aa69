package dev.millrace.engine.join;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.aggregate.KeyFinder;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.memory.Memory;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/** What reads the batches of one input: splits off rows with NULL keys and late rows, and the others by window. */
final class JoinSide implements AutoCloseable {
    private final int[] keys;
    private final int[] columns;
    private final RowCodec codec;
    private final KeyFinder finder;
    private int[] nulls = new int[0];
    private int nullCount;
    private int[] late = new int[0];
    private int lateCount;
    private final List<Long> ends = new ArrayList<>();
    private final List<int[]> rows = new ArrayList<>();
    private int[] counts = new int[4];
    private long[] matched = new long[0];

    JoinSide(Schema schema, KeyLayout layout, List<Integer> keys, BufferAllocator allocator) {
        this.keys = keys.stream().mapToInt(Integer::intValue).toArray();
        this.columns = new int[schema.size()];
        Arrays.setAll(columns, column -> column);
        this.codec = new RowCodec(schema.fields().stream().map(Field::type).toList(), false, allocator);
        this.finder = new KeyFinder(schema, layout, allocator);
    }

    static Schema notNull(Schema schema) {
        return new Schema(schema.fields().stream()
                .map(field -> new Field(field.name(), field.type(), false))
                .toList());
    }

    /**
     * Splits the rows of a batch.
     *
     * @param windowEnd the column of the window's end, if rows have one
     * @param byWindow whether to split by it; else all rows are of window 0
     */
    void split(Batch batch, Optional<Integer> windowEnd, boolean byWindow, long watermark) {
        int count = batch.rowCount();
        if (nulls.length < count) {
            nulls = new int[count];
            late = new int[count];
        }
        nullCount = 0;
        lateCount = 0;
        ends.clear();
        long endData = windowEnd.map(batch::dataAddress).orElse(0L);
        long endValidity = windowEnd.map(batch::validityAddress).orElse(0L);
        int group = -1;
        for (int row = 0; row < count; row++) {
            if (windowEnd.isPresent()
                    && (endValidity != 0 && !Memory.getBit(endValidity, row)
                            || Memory.getLong(endData + 8L * row) <= watermark)) {
                late[lateCount++] = row;
                continue;
            }
            if (hasNullKey(batch, row)) {
                nulls[nullCount++] = row;
                continue;
            }
            long end = byWindow ? Memory.getLong(endData + 8L * row) : 0;
            if (group < 0 || ends.get(group) != end) {
                group = group(end, count);
            }
            rows.get(group)[counts[group]++] = row;
        }
    }

    private boolean hasNullKey(Batch batch, int row) {
        for (int key : keys) {
            long validity = batch.validityAddress(key);
            if (validity != 0 && !Memory.getBit(validity, row)) {
                return true;
            }
        }
        return false;
    }

    private int group(long end, int count) {
        int known = ends.indexOf(end);
        if (known >= 0) {
            return known;
        }
        int group = ends.size();
        ends.add(end);
        if (rows.size() == group) {
            rows.add(new int[count]);
        } else if (rows.get(group).length < count) {
            rows.set(group, new int[count]);
        }
        if (counts.length == group) {
            counts = Arrays.copyOf(counts, 2 * group);
        }
        counts[group] = 0;
        return group;
    }

    int groups() {
        return ends.size();
    }

    long windowEnd(int group) {
        return ends.get(group);
    }

    int[] rows(int group) {
        return rows.get(group);
    }

    int count(int group) {
        return counts[group];
    }

    int[] nulls() {
        return nulls;
    }

    int nullCount() {
        return nullCount;
    }

    int[] late() {
        return late;
    }

    int lateCount() {
        return lateCount;
    }

    /** The batch's columns, all of them. */
    int[] columns() {
        return columns;
    }

    RowCodec codec() {
        return codec;
    }

    KeyFinder finder() {
        return finder;
    }

    long weight(Batch batch, int row) {
        long weights = batch.weightsAddress();
        return weights == 0 ? 1 : Memory.getLong(weights + 8L * row);
    }

    /** Zeros, for the weights that rows match. */
    long[] matched(int count) {
        if (matched.length < count) {
            matched = new long[count];
        }
        Arrays.fill(matched, 0, count, 0);
        return matched;
    }

    @Override
    public void close() {
        Closing.all(List.of(codec, finder));
    }
}
