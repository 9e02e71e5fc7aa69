package dev.millrace.engine.join;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.Owned;
import dev.millrace.engine.calc.Gather;
import dev.millrace.engine.checkpoint.StateFormats;
import dev.millrace.engine.state.KeyGroupPart;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.RowTable;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.node.JoinTime;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.type.Field;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.vector.FieldVector;

/**
 * Joins each left row once with the right rows there are at the end of its epoch ({@link JoinTime.Current}): the order of
 * rows within an epoch does not matter, and what becomes of right rows later changes nothing. Left rows wait for the end of
 * the epoch, and the watermark with them.
 */
public final class LookupJoinOperator implements Operator {
    private static final int FIRST_PAIRS = 64; // most queries are small

    private final Join node;
    private final boolean isLeft;
    private final Deque<Batch> waiting = new ArrayDeque<>(); // left rows of this epoch
    private final Owned owned = new Owned();
    private OperatorContext context;
    private KeyLayout keys;
    private JoinSide left;
    private JoinSide right;
    private JoinState state;
    private JoinOutput joined;
    private Optional<Residual> residual = Optional.empty();
    private long nullRow;
    private long watermark = NO_WATERMARK;
    private long released = NO_WATERMARK;
    private int[] known = new int[0]; // rows of a batch that have entries
    private int[] met = known; // rows of the batch under way
    private long[] matched = new long[0]; // weights that they met
    private boolean isEncoded; // whether all of those are, or only those of pairs that pass
    private int[] positions; // of pairs, in the rows that are met
    private int[] places; // likewise, of rows in the batch or of rows that are encoded
    private int[] passed;
    private long[] ours;
    private long[] theirs;
    private int pairs;

    public LookupJoinOperator(Join node) {
        if (node.kind() != JoinKind.INNER && node.kind() != JoinKind.LEFT) {
            throw new IllegalArgumentException("a " + node.kind() + " join does not look rows up");
        }
        this.node = node;
        this.isLeft = node.kind() == JoinKind.LEFT;
    }

    @Override
    public void open(OperatorContext newContext) {
        context = newContext;
        keys = new KeyLayout(JoinSide.notNull(node.left().schema()), node.leftKeys());
        left = owned.own(new JoinSide(node.left().schema(), keys, node.leftKeys(), context.allocator()));
        right = owned.own(new JoinSide(
                node.right().schema(), keys.over(node.rightKeys()), node.rightKeys(), context.allocator()));
        state = owned.own(new JoinState(
                keys,
                RangeCondition.of(node.residual(), Optional.empty(), left.codec(), right.codec()),
                context.allocator()));
        StateMemory nulls = owned.own(new StateMemory(context.allocator()));
        nullRow = nulls.allocate(right.codec().fixedBytes());
        right.codec().writeNulls(nullRow);
        joined = new JoinOutput(
                node.schema(), left.codec(), right.codec(), true, context.batchRows(), context.allocator());
        residual = node.residual()
                .map(condition -> owned.own(new Residual(
                        condition, node.left().schema(), node.right().schema(), context)));
        positions = new int[FIRST_PAIRS];
        places = new int[FIRST_PAIRS];
        passed = new int[FIRST_PAIRS];
        ours = new long[FIRST_PAIRS];
        theirs = new long[FIRST_PAIRS];
    }

    /** Whether more pairs fit, for which room is made until there are as many as a batch has rows. */
    private boolean hasRoom() {
        if (positions.length >= context.batchRows()) {
            return false;
        }
        int more = Math.min(4 * positions.length, context.batchRows());
        positions = Arrays.copyOf(positions, more);
        places = Arrays.copyOf(places, more);
        passed = Arrays.copyOf(passed, more);
        ours = Arrays.copyOf(ours, more);
        theirs = Arrays.copyOf(theirs, more);
        return true;
    }

    @Override
    public void process(int port, Batch batch, Output output) {
        if (port == 0) {
            waiting.add(batch);
            return;
        }
        try (batch) {
            right.split(batch, Optional.empty(), false, NO_WATERMARK); // a NULL key is no row's partner
            for (int group = 0; group < right.groups(); group++) {
                int[] rows = right.rows(group);
                int count = right.count(group);
                RowCodec codec = right.codec();
                codec.encode(batch, right.columns(), rows, count);
                long[] entries = right.finder().find(state.table(), batch, rows, count);
                for (int i = 0; i < count; i++) {
                    state.addRow(1, entries[i], codec.address(i), codec.length(i), right.weight(batch, rows[i]));
                }
                state.removeEmpty(entries, count);
            }
        }
    }

    @Override
    public boolean onWatermark(long watermarkMicros, Output output) {
        watermark = Math.max(watermark, watermarkMicros); // one that was restored may be ahead of the input
        return watermarkMicros != END_OF_INPUT || lookUp(output);
    }

    @Override
    public boolean onEpochEnd(long epoch, Output output) {
        return lookUp(output);
    }

    @Override
    public long passedWatermark(long watermarkMicros) {
        return released;
    }

    private boolean lookUp(Output output) {
        while (!waiting.isEmpty()) {
            if (output.isFull()) {
                return false;
            }
            try (Batch batch = waiting.poll()) {
                lookUp(batch, output);
            }
        }
        released = watermark;
        context.metrics().stateSize(state.bytes(), state.size());
        return true;
    }

    private void lookUp(Batch batch, Output output) {
        left.split(batch, Optional.empty(), false, NO_WATERMARK);
        if (isLeft && left.nullCount() > 0) {
            left.codec().encode(batch, left.columns(), left.nulls(), left.nullCount());
            for (int i = 0; i < left.nullCount(); i++) {
                joined.add(left.codec().address(i), nullRow, left.weight(batch, left.nulls()[i]), output);
            }
            joined.flush(output);
        }
        for (int group = 0; group < left.groups(); group++) {
            lookUp(batch, left.rows(group), left.count(group), output);
        }
    }

    private void lookUp(Batch batch, int[] rows, int count, Output output) {
        long[] entries = keys.keys().isEmpty()
                ? left.finder().find(state.table(), batch, rows, count)
                : left.finder().known(state.table(), batch, rows, count);
        int those = isLeft ? count : known(rows, entries, count);
        met = isLeft ? rows : known;
        isEncoded = isLeft || isAnyHot(entries, those);
        RowCodec codec = left.codec();
        if (isEncoded) {
            codec.encode(batch, left.columns(), met, those);
        }
        matched = left.matched(those);
        for (int i = 0; i < those; i++) {
            if (entries[i] == 0) {
                continue;
            }
            if (state.isHot(entries[i], 1)) {
                findHot(i, entries[i], batch, output);
            } else {
                for (long row = RowTable.first(state.list(entries[i], 1)); row != 0; row = RowTable.next(row)) {
                    pair(i, row, batch, output);
                }
            }
        }
        meet(batch, output);
        for (int i = 0; i < those; i++) {
            if (isLeft && matched[i] == 0) {
                joined.add(codec.address(i), nullRow, left.weight(batch, met[i]), output);
            }
        }
        joined.flush(output);
        if (keys.keys().isEmpty()) {
            state.removeEmpty(entries, count);
        }
    }

    /** Only rows that may have partners, and their entries. */
    private int known(int[] rows, long[] entries, int count) {
        if (known.length < count) {
            known = new int[count];
        }
        int those = 0;
        for (int i = 0; i < count; i++) {
            if (entries[i] != 0) {
                known[those] = rows[i];
                entries[those++] = entries[i];
            }
        }
        return those;
    }

    private boolean isAnyHot(long[] entries, int count) {
        for (int i = 0; i < count; i++) {
            if (state.isHot(entries[i], 1)) {
                return true;
            }
        }
        return false;
    }

    private void findHot(int i, long entry, Batch batch, Output output) {
        state.find(entry, 1, left.codec().address(i), row -> pair(i, row, batch, output));
    }

    /** A row of the left with one of the right: they are looked at when there are many. */
    private void pair(int i, long row, Batch batch, Output output) {
        positions[pairs] = i;
        theirs[pairs] = row;
        if (++pairs == positions.length && !hasRoom()) {
            meet(batch, output);
        }
    }

    private void meet(Batch batch, Output output) {
        int passed = pairs;
        if (residual.isPresent() && pairs > 0) {
            passed = residual.get()
                    .select(
                            (column, field) -> isEncoded ? encoded(column, field) : gathered(batch, column, field),
                            (column, field) -> right.codec().decode(column, field, theirs, pairs, context.allocator()),
                            pairs,
                            pair -> weight(batch, pair));
            keep(residual.get().selected(), passed);
        }
        if (!isEncoded) {
            encodePassed(batch, passed);
        }
        for (int pair = 0; pair < passed; pair++) {
            matched[positions[pair]] += RowTable.weight(theirs[pair]);
            long ours = left.codec().address(isEncoded ? positions[pair] : places[pair]);
            joined.add(ours, theirs[pair], weight(batch, pair), output);
        }
        joined.flush(output);
        pairs = 0;
    }

    private FieldVector encoded(int column, Field field) {
        for (int pair = 0; pair < pairs; pair++) {
            ours[pair] = left.codec().address(positions[pair]);
        }
        return left.codec().decode(column, field, ours, pairs, context.allocator());
    }

    private FieldVector gathered(Batch batch, int column, Field field) {
        for (int pair = 0; pair < pairs; pair++) {
            places[pair] = met[positions[pair]];
        }
        return Gather.column(batch, column, field, places, pairs, context.allocator());
    }

    /** Of the pairs those that pass. */
    private void keep(int[] selected, int count) {
        for (int pair = 0; pair < count; pair++) {
            positions[pair] = positions[selected[pair]];
            theirs[pair] = theirs[selected[pair]];
        }
    }

    /** Encodes the left rows of the first so many pairs, each once: {@link #places} are their numbers. */
    private void encodePassed(Batch batch, int count) {
        int rows = 0;
        for (int pair = 0; pair < count; pair++) {
            if (pair == 0 || positions[pair] != positions[pair - 1]) {
                passed[rows++] = met[positions[pair]];
            }
            places[pair] = rows - 1;
        }
        left.codec().encode(batch, left.columns(), passed, rows);
    }

    private long weight(Batch batch, int pair) {
        return Math.multiplyExact(left.weight(batch, met[positions[pair]]), RowTable.weight(theirs[pair]));
    }

    /** Per key group the number of entries, and of each its key and rows; the watermark in group -1. */
    @Override
    public void snapshot(StateWriter writer) throws IOException {
        writer.keyGroup(StateFormats.CURRENT_JOIN, -1).writeLong(watermark);
        KeyGroupPart.of(state.table(), (entry, out) -> {
                    keys.write(entry, out);
                    state.rows(1).writeList(state.list(entry, 1), out);
                })
                .write(writer, StateFormats.CURRENT_JOIN);
    }

    @Override
    public void restore(StateReader reader) {
        reader.keyGroups(StateFormats.CURRENT_JOIN, (in, group) -> {
            if (group == -1) {
                watermark = Math.max(watermark, in.readLong());
                released = watermark;
            } else {
                for (int count = in.readInt(); count > 0; count--) {
                    long entry = keys.read(state.table(), in);
                    state.readRows(entry, 1, in);
                }
            }
        });
    }

    @Override
    public void close() {
        List<AutoCloseable> all = new ArrayList<>(waiting);
        all.add(owned);
        waiting.clear();
        Closing.all(all);
    }
}
