package dev.millrace.engine.join;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.aggregate.KeyFinder;
import dev.millrace.engine.checkpoint.SectionInput;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.PackedCodec;
import dev.millrace.engine.state.RowLog;
import dev.millrace.memory.Memory;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.plan.node.JoinTime;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.DataInput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/**
 * The rows of one side of an {@link AppendedJoinOperator}, packed, without the columns that a row has in common with those
 * it is joined with; and what reads this side's batches.
 */
final class AppendedSide implements AutoCloseable {
    private final Schema schema;
    private final BufferAllocator allocator;
    private final JoinSide arrivals;
    private final int[] kept; // columns
    private final int[] places; // of each column among the kept, or -1 - the key that it is
    private final PackedCodec codec;
    private RowLog log;

    // Of a join with time bounds
    private final boolean isTimed;
    private int time; // column
    private int until; // column
    private int timeSlot; // in a row
    private int untilSlot;
    private long reach; // how far behind that others may be

    // The batch at hand
    @SuppressWarnings("NullAway.Init") // by begin, for each batch
    private Batch batch;

    @SuppressWarnings("NullAway.Init") // by begin, for each batch
    private int[] rows;

    private int count;
    private long times;
    private long untils;

    /** Both sides of a join whose entries are laid out by the left one's columns. */
    static List<AppendedSide> both(
            Join node, KeyLayout keys, Optional<JoinTime.Bounds> bounds, BufferAllocator allocator) {
        Schema left = node.left().schema();
        Schema right = node.right().schema();
        KeyLayout rightKeys = keys.over(node.rightKeys());
        return List.of(
                new AppendedSide(0, left, keys, right, node.rightKeys(), bounds, allocator),
                new AppendedSide(1, right, rightKeys, left, node.leftKeys(), bounds, allocator));
    }

    /**
     * @param keys the layout of entries over this side's columns
     * @param others the other side's columns, and {@code otherKeys} its keys
     */
    AppendedSide(
            int port,
            Schema schema,
            KeyLayout keys,
            Schema others,
            List<Integer> otherKeys,
            Optional<JoinTime.Bounds> bounds,
            BufferAllocator allocator) {
        this.schema = schema;
        this.allocator = allocator;
        List<Integer> ourKeys = keys.keys().stream().map(KeyLayout.Key::column).toList();
        this.arrivals = new JoinSide(schema, keys, ourKeys, allocator);
        this.isTimed = bounds.isPresent();
        bounds.ifPresent(both -> {
            time = port == 0 ? both.left() : both.right();
            until = port == 0 ? both.leftUntil() : both.rightUntil();
            reach = port == 0 ? both.upperMicros() : -both.lowerMicros();
        });
        this.places = new int[schema.size()];
        for (int key = 0; key < ourKeys.size(); key++) {
            int column = ourKeys.get(key);
            boolean isRead = isTimed && (column == time || column == until);
            if (!isRead && areSame(schema.type(column), others.type(otherKeys.get(key)))) {
                places[column] = -1 - key;
            }
        }
        this.kept = IntStream.range(0, places.length)
                .filter(column -> places[column] == 0)
                .toArray();
        for (int place = 0; place < kept.length; place++) {
            places[kept[place]] = place;
        }
        BitSet still = new BitSet();
        if (isTimed) {
            still.set(places[time]);
            still.set(places[until]);
        }
        this.codec = new PackedCodec(schema, kept, still, allocator);
        this.log = new RowLog(allocator);
        if (isTimed) {
            timeSlot = RowLog.HEADER + codec.slot(places[time]);
            untilSlot = RowLog.HEADER + codec.slot(places[until]);
        }
    }

    /** Whether values of a type that are equal are the same. */
    private static boolean areSame(DataType type, DataType other) {
        return type.equals(other)
                && switch (type.kind()) {
                    case SMALLINT, INTEGER, BIGINT, DATE, TIME, TIMESTAMP, TIMESTAMPTZ, UUID -> true;
                    default -> false;
                };
    }

    PackedCodec codec() {
        return codec;
    }

    RowLog log() {
        return log;
    }

    /** Where a column is among those that rows keep; or -1 - the key that it is. */
    int place(int column) {
        return places[column];
    }

    /** The columns that rows keep. */
    int[] kept() {
        return kept;
    }

    /**
     * Rows as they came, in a batch that is the caller's to close.
     *
     * @param newKeys the layout of entries
     * @param entries those of the rows' keys
     */
    Batch unpacked(KeyLayout newKeys, long[] entries, long[] packed, int rowCount) {
        List<FieldVector> vectors = new ArrayList<>();
        try {
            for (int column = 0; column < schema.size(); column++) {
                int place = places[column];
                Field field = schema.field(column);
                vectors.add(
                        place < 0
                                ? newKeys.vector(-1 - place, field, entries, rowCount, allocator)
                                : codec.decode(place, field, packed, rowCount, allocator));
            }
            return Batch.of(schema, vectors.toArray(FieldVector[]::new), rowCount);
        } catch (RuntimeException | Error e) {
            Closing.all(vectors);
            throw e;
        }
    }

    KeyFinder finder() {
        return arrivals.finder();
    }

    // ---- the batch at hand

    /** Chooses the rows of a batch that can meet others; returns how many. Late ones are counted. */
    int begin(Batch newBatch, long watermark, OperatorContext context) {
        batch = newBatch;
        boolean mayBeLate = isTimed && watermark != Operator.NO_WATERMARK;
        // a row at the watermark is not late
        arrivals.split(
                batch, isTimed ? Optional.of(time) : Optional.empty(), false, mayBeLate ? watermark - 1 : watermark);
        if (arrivals.lateCount() > 0) {
            context.metrics().addLateRows(arrivals.lateCount());
            context.lateRows(batch, arrivals.late(), arrivals.lateCount(), watermark);
        }
        if (arrivals.groups() == 0) {
            return 0;
        }
        rows = arrivals.rows(0);
        count = arrivals.count(0);
        if (isTimed) {
            times = batch.dataAddress(time);
            untils = batch.dataAddress(until);
            dropEndless(batch.validityAddress(until));
        }
        return count;
    }

    /** Rows without an end meet none. */
    private void dropEndless(long validity) {
        if (validity != 0) {
            int left = 0;
            for (int i = 0; i < count; i++) {
                rows[left] = rows[i];
                left += Memory.getBit(validity, rows[i]) ? 1 : 0;
            }
            count = left;
        }
    }

    /** The rows that {@link #begin} chose. */
    int[] rows() {
        return rows;
    }

    /** How far behind a row's {@link #until} the time of the rows may be that it meets. */
    long reach() {
        return reach;
    }

    long time(int row) {
        return Memory.getLong(times + 8L * row);
    }

    long until(int row) {
        return Memory.getLong(untils + 8L * row);
    }

    /**
     * Keeps the chosen rows, each at the head of its entry's chain, which is {@code head} bytes behind the entry.
     *
     * @param entries of the rows; after it those come first that had no row from position {@code since} on
     * @return how many these are
     */
    int keep(long[] entries, int head, long since) {
        codec.prepare(batch, rows, count);
        int first = 0;
        for (int i = 0; i < count; i++) {
            long to = log.room(codec.bytes(i));
            codec.write(i, to + RowLog.HEADER);
            long entry = entries[i];
            long before = Memory.getLong(entry + head);
            long position = log.add(codec.bytes(i), before, isTimed ? until(rows[i]) : Long.MAX_VALUE);
            Memory.putLong(entry + head, position);
            entries[first] = entry;
            first += before < since ? 1 : 0;
        }
        return first;
    }

    // ---- rows that are kept

    /** The time of a kept row, whose address the log gave. */
    long timeOf(long row) {
        return Memory.getLong(row + timeSlot);
    }

    long untilOf(long row) {
        return Memory.getLong(row + untilSlot);
    }

    /** Adds a packed row to a chain; returns its position, which is the chain's new head. */
    long add(long row, int length, long head) {
        long to = log.room(length);
        Memory.copy(row, to + RowLog.HEADER, length);
        return log.add(length, head, isTimed ? untilOf(to) : Long.MAX_VALUE);
    }

    /** Adds a packed row, given by its length and bytes, to a chain; returns its position. */
    long read(DataInput in, long head) throws IOException {
        int length = SectionInput.readLength(in);
        long to = log.room(length);
        SectionInput.readBytes(in, to + RowLog.HEADER, length);
        return log.add(length, head, isTimed ? untilOf(to) : Long.MAX_VALUE);
    }

    /** The time before which rows go when the watermark is there. */
    private long due(long watermark) {
        long behind = Math.max(0, reach);
        return watermark == Operator.END_OF_INPUT || watermark < Operator.NO_WATERMARK + behind
                ? watermark
                : watermark - behind;
    }

    /** Forgets rows that none can reach any more, if they are the oldest. */
    void forget(long watermark) {
        log.forget(due(watermark));
    }

    /** Begins a new log, and returns the old one, whose rows are to be added that are not {@link #isOver}. */
    RowLog renew() {
        RowLog old = log;
        log = new RowLog(allocator);
        return old;
    }

    /** Whether none can reach a row any more. */
    boolean isOver(long row, long watermark) {
        return isTimed && untilOf(row) < due(watermark);
    }

    long bytes() {
        return log.bytes() + codec.bytes();
    }

    @Override
    public void close() {
        Closing.all(List.of(arrivals, codec, log));
    }
}
