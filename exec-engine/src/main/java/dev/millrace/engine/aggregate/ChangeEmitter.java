package dev.millrace.engine.aggregate;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.aggregate.AggregateLayout.Collected;
import dev.millrace.engine.state.ByteSlots;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.Rows;
import dev.millrace.engine.state.Scratch;
import dev.millrace.engine.state.ValuesEqual;
import dev.millrace.engine.state.WeightedRows;
import dev.millrace.error.FailureText;
import dev.millrace.error.MillraceException;
import dev.millrace.expressions.kernel.RowFailures;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.memory.Memory;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/**
 * Makes the rows that say how groups changed: the old row with weight -1, the new one with +1, neighbours; nothing when
 * both are equal. Old results come from the copies of the states in the log, and for calls that keep their values from
 * what was last emitted. A group whose result cannot be computed is no row, and noted where the host keeps failures: it is taken
 * back like a row.
 */
final class ChangeEmitter implements AutoCloseable {
    private static final long[] NOTHING = {};
    private final GroupState state;
    private final AggregateLayout layout;
    private final ChangeLog log;
    private final Schema schema;
    private final OperatorContext context;
    private final BufferAllocator allocator;
    private final List<RowCodec> codecs = new ArrayList<>(); // per collection: of its one value
    private final FailedGroups told; // whose collected results failed when they were last emitted
    private final Map<Long, MillraceException> failing = new HashMap<>(); // and do now, by entry

    // The rows under way: whose keys, where their states lie, their weights, and per collection their encoded values.
    // Lent for the length of a call.
    private long[] entries = NOTHING;
    private long[] images = NOTHING;
    private long[] weights = NOTHING;
    private final long[][] values;
    private final int[][] lengths;
    private int count;

    ChangeEmitter(GroupState state, ChangeLog log, Schema schema, OperatorContext context) {
        this.state = state;
        this.layout = state.layout();
        this.log = log;
        this.schema = schema;
        this.context = context;
        this.allocator = context.allocator();
        for (Collected collected : layout.collections()) {
            codecs.add(new RowCodec(List.of(field(collected.call()).type()), false, allocator));
        }
        told = new FailedGroups(state.table().memory(), layout.failureOffset());
        values = new long[codecs.size()][];
        lengths = new int[codecs.size()][];
    }

    private Field field(int call) {
        return schema.field(layout.keys().keys().size() + call);
    }

    /**
     * Emits the changes of the log's groups {@code from} to {@code to - 1}, marks the groups unchanged and removes those
     * that have no rows left.
     *
     * @param always whether groups count as existing without rows: before if {@code existed}, and in any case now
     * @param mostRows of a batch
     */
    void emit(int from, int to, boolean existed, boolean always, int mostRows, Output output) {
        borrow(2 * (to - from));
        try {
            collect(from, to, existed, always);
            emitCollected(mostRows, output);
            settle(from, to, always);
        } finally {
            failing.clear();
            giveBack();
        }
    }

    private void borrow(int most) {
        entries = Scratch.longs(most);
        images = Scratch.longs(most);
        weights = Scratch.longs(most);
        Arrays.setAll(values, c -> Scratch.longs(most));
        Arrays.setAll(lengths, c -> Scratch.ints(most));
    }

    private void giveBack() {
        Scratch.free(entries);
        Scratch.free(images);
        Scratch.free(weights);
        entries = NOTHING;
        images = NOTHING;
        weights = NOTHING;
        for (int c = 0; c < codecs.size(); c++) {
            Scratch.free(values[c]);
            Scratch.free(lengths[c]);
        }
        Arrays.fill(values, null);
        Arrays.fill(lengths, null);
    }

    private void emitCollected(int mostRows, Output output) {
        FieldVector[] results = simpleResults();
        if (dropUnchanged(results) || count > mostRows) {
            Closing.all(Arrays.asList(results));
            for (int first = 0; first < count; first += mostRows) {
                int end = Math.min(count, first + mostRows);
                output.emit(batch(simpleResults(first, end), first, end));
            }
        } else if (count > 0) {
            output.emit(batch(results, 0, count));
        } else {
            Closing.all(Arrays.asList(results));
        }
    }

    /** Of all rows that have results; the others are dropped, and noted. */
    private FieldVector[] simpleResults() {
        try {
            return simpleResults(0, count);
        } catch (RuntimeException failure) {
            RowFailures.kept(failure, context);
            count = dropFailed(0, count, 0);
            return simpleResults(0, count);
        }
    }

    /**
     * Drops the rows {@code from} to {@code to - 1} that have no results, by halves, and moves the others behind the first {@code
     * kept} ones.
     *
     * @return how many rows are there then
     */
    private int dropFailed(int from, int to, int kept) {
        Interrupt.checkCurrent();
        try {
            Closing.all(Arrays.asList(simpleResults(from, to)));
        } catch (RuntimeException failure) {
            MillraceException why = RowFailures.kept(failure, context);
            if (to - from > 1) {
                int middle = (from + to) >>> 1;
                return dropFailed(middle, to, dropFailed(from, middle, kept));
            }
            note(why, entries[from], weights[from]);
            return kept;
        }
        for (int row = from; row < to; row++) {
            move(row, kept + row - from);
        }
        return kept + to - from;
    }

    private void note(MillraceException why, long entry, long weight) {
        context.failedRow(state.named(why, schema, entry), weight);
    }

    private void move(int row, int to) {
        entries[to] = entries[row];
        images[to] = images[row];
        weights[to] = weights[row];
        for (int c = 0; c < codecs.size(); c++) {
            values[c][to] = values[c][row];
            lengths[c][to] = lengths[c][row];
        }
    }

    private void collect(int from, int to, boolean existed, boolean always) {
        encodeNewValues(from, to, always);
        count = 0;
        int alive = 0;
        for (int i = from; i < to; i++) {
            long entry = log.entry(i);
            long before = log.before(i);
            boolean wasThere = always ? existed : Memory.getLong(before + layout.rowsOffset()) > 0;
            if (wasThere && told.has(entry)) {
                note(told.why(entry), entry, -1);
            } else if (wasThere) {
                for (int c = 0; c < codecs.size(); c++) {
                    long slot = entry + layout.collections().get(c).emitted().getAsInt();
                    values[c][count] = ByteSlots.address(slot);
                    lengths[c][count] = ByteSlots.length(slot);
                }
                put(entry, before, -1);
            }
            boolean isThere = exists(entry, always);
            if (isThere && isFailing(entry)) {
                note(Objects.requireNonNull(failing.get(entry)), entry, 1);
            } else if (isThere) {
                for (int c = 0; c < codecs.size(); c++) {
                    values[c][count] = codecs.get(c).address(alive);
                    lengths[c][count] = codecs.get(c).length(alive);
                }
                alive++;
                put(entry, entry, 1);
            }
        }
    }

    private boolean exists(long entry, boolean always) {
        return always || Memory.getLong(entry + layout.rowsOffset()) > 0;
    }

    private boolean isFailing(long entry) {
        return !failing.isEmpty() && failing.containsKey(entry);
    }

    private void put(long entry, long image, long weight) {
        entries[count] = entry;
        images[count] = image;
        weights[count++] = weight;
    }

    private void encodeNewValues(int from, int to, boolean always) {
        if (codecs.isEmpty()) {
            return;
        }
        long[] alive = new long[to - from];
        int found = 0;
        for (int i = from; i < to; i++) {
            if (exists(log.entry(i), always)) {
                alive[found++] = log.entry(i);
            }
        }
        try {
            encode(alive, found);
        } catch (RuntimeException failure) {
            RowFailures.kept(failure, context);
            encode(alive, leaveOutFailing(alive, 0, found, 0));
        }
    }

    private void encode(long[] groups, int found) {
        for (int c = 0; c < codecs.size(); c++) {
            Field field = field(layout.collections().get(c).call());
            FieldVector vector = state.collections().get(c).results(field, groups, found);
            try (Batch batch = Batch.of(Schema.of(field), new FieldVector[] {vector}, found)) {
                codecs.get(c).encode(batch, new int[] {0}, Rows.all(found), found);
            }
        }
    }

    /** As {@link #dropFailed}, of groups whose collected results fail. */
    private int leaveOutFailing(long[] groups, int from, int to, int kept) {
        Interrupt.checkCurrent();
        long[] some = Arrays.copyOfRange(groups, from, to);
        try {
            for (int c = 0; c < codecs.size(); c++) {
                Field field = field(layout.collections().get(c).call());
                state.collections().get(c).results(field, some, to - from).close();
            }
        } catch (RuntimeException failure) {
            MillraceException why = RowFailures.kept(failure, context);
            if (to - from > 1) {
                int middle = (from + to) >>> 1;
                return leaveOutFailing(groups, middle, to, leaveOutFailing(groups, from, middle, kept));
            }
            failing.put(groups[from], FailureText.shortened(why));
            return kept;
        }
        System.arraycopy(some, 0, groups, kept, to - from);
        return kept + to - from;
    }

    /** The results of the calls that are computed from states, of some rows; keys and others are left out. */
    private FieldVector[] simpleResults(int from, int to) {
        long[] groups = from == 0 ? images : Arrays.copyOfRange(images, from, to);
        List<FieldVector> results = new ArrayList<>();
        try {
            for (int call = 0; call < layout.calls().size(); call++) {
                if (layout.collected(call).isEmpty()) {
                    results.add(state.simpleResults(call, field(call), groups, to - from));
                }
            }
            return results.toArray(FieldVector[]::new);
        } catch (RuntimeException | Error e) {
            Closing.all(results);
            throw e;
        }
    }

    /** Drops pairs of equal rows; returns whether there were any. */
    private boolean dropUnchanged(FieldVector[] results) {
        int kept = 0;
        for (int i = 0; i < count; i++) {
            boolean isPair = weights[i] < 0 && i + 1 < count && entries[i + 1] == entries[i];
            if (isPair && equal(results, i)) {
                i++;
                continue;
            }
            for (int row = i; row <= i + (isPair ? 1 : 0); row++) {
                move(row, kept++);
            }
            i += isPair ? 1 : 0;
        }
        boolean dropped = kept < count;
        count = kept;
        return dropped;
    }

    private boolean equal(FieldVector[] results, int row) {
        for (int c = 0; c < codecs.size(); c++) {
            if (lengths[c][row] != lengths[c][row + 1]
                    || !Memory.equal(values[c][row], values[c][row + 1], lengths[c][row])) {
                return false;
            }
        }
        for (FieldVector result : results) {
            if (!ValuesEqual.equal(result, row, row + 1)) {
                return false;
            }
        }
        return true;
    }

    /** A batch of the rows {@code from} to {@code to - 1}, whose simple results are given and taken over. */
    private Batch batch(FieldVector[] results, int from, int to) {
        List<FieldVector> made = new ArrayList<>(List.of(results)); // what to close on a failure
        try {
            FieldVector[] columns = columns(results, from, to, made);
            int rows = to - from;
            return WeightedRows.batch(schema, columns, rows, weights, from, allocator);
        } catch (RuntimeException | Error e) {
            Closing.all(made);
            throw e;
        }
    }

    private FieldVector[] columns(FieldVector[] results, int from, int to, List<FieldVector> made) {
        int rows = to - from;
        long[] groups = from == 0 ? entries : Arrays.copyOfRange(entries, from, to);
        FieldVector[] columns = new FieldVector[schema.size()];
        int keys = layout.keys().keys().size();
        for (int key = 0; key < keys; key++) {
            columns[key] = layout.keys().vector(key, schema.field(key), groups, rows, allocator);
            made.add(columns[key]);
        }
        int simple = 0;
        for (int call = 0; call < layout.calls().size(); call++) {
            Optional<Collected> collected = layout.collected(call);
            if (collected.isEmpty()) {
                columns[keys + call] = results[simple++];
                continue;
            }
            int c = layout.collections().indexOf(collected.get());
            long[] encoded = Arrays.copyOfRange(values[c], from, to);
            columns[keys + call] = codecs.get(c).decode(0, field(call), encoded, rows, allocator);
            made.add(columns[keys + call]);
        }
        return columns;
    }

    /** Remembers what is emitted now, and forgets groups without rows. */
    private void settle(int from, int to, boolean always) {
        int alive = 0;
        for (int i = from; i < to; i++) {
            long entry = log.entry(i);
            boolean isThere = exists(entry, always);
            boolean hasValues = isThere && !isFailing(entry);
            for (int c = 0; c < codecs.size(); c++) {
                long slot = entry + layout.collections().get(c).emitted().getAsInt();
                ByteSlots.free(state.table().memory(), slot);
                Memory.putLong(slot, 0);
                Memory.putLong(slot + 8, 0);
                if (hasValues) {
                    RowCodec codec = codecs.get(c);
                    ByteSlots.store(state.table().memory(), slot, codec.address(alive), codec.length(alive));
                }
            }
            alive += hasValues ? 1 : 0;
            told.put(
                    entry,
                    isThere && !hasValues
                            ? Optional.of(Objects.requireNonNull(failing.get(entry)))
                            : Optional.empty()); // before it goes
            Memory.putLong(entry + GroupTable.LINK, 0);
            if (!isThere && Memory.getLong(entry + layout.rowsOffset()) == 0) {
                log.gone(entry);
                state.remove(entry);
            }
        }
    }

    @Override
    public void close() {
        Closing.all(codecs);
    }
}
