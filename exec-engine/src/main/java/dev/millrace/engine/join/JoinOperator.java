package dev.millrace.engine.join;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.Owned;
import dev.millrace.engine.checkpoint.StateFormats;
import dev.millrace.engine.state.KeyGroupPart;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.RowTable;
import dev.millrace.engine.state.frozen.Parts;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.memory.Memory;
import dev.millrace.operator.Freezing;
import dev.millrace.operator.FrozenState;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.operator.Replay;
import dev.millrace.operator.RowByRow;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.node.JoinTime;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.type.Schema;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Joins incrementally: each row meets the rows that the other side has so far, weights multiply (DBSP, section 4).
 * Where a row's existence in the result depends on whether it has partners (outer, SEMI and ANTI), it carries the weight
 * of its partners, and what is emitted changes when that becomes or ceases to be zero.
 *
 * <p>With window ends that are keys of both sides there is a state per window, dropped as a whole; with others the rows
 * that ended are looked for. With bounds on the difference of times each row goes when the watermark says that no partner
 * can come. In both cases a row without a partner is emitted when it goes, and nothing is ever taken back. Rows that are
 * kept for a time only are forgotten in silence: what they were joined into stays.
 */
public final class JoinOperator implements Replay, RowByRow, Freezing {

    private final Join node;
    private long rowsDone; // of both sides; the last ones' pairs may be under way
    private final boolean leftWaits; // left rows are emitted or not depending on their partners
    private final boolean rightWaits;
    private final boolean isSemi;
    private final boolean isAnti;
    private final boolean deferred; // rows without a partner are emitted when none can come any more
    private final Optional<JoinTime.Bounds> bounds;
    private final boolean keeps; // forgets rows after a time
    private final Optional<Integer> windowKey; // the key that is the window's end
    private final NavigableMap<Long, JoinState> states = new TreeMap<>(); // by window end
    private final Deque<JoinState> spare = new ArrayDeque<>();
    private final Owned owned = new Owned();
    private OperatorContext context;
    private JoinSides sides;
    private JoinOutput joined;
    private Optional<Residual> residual = Optional.empty();
    private Optional<RangeCondition> ranges = Optional.empty(); // of the residual and of time
    private long watermark = NO_WATERMARK;
    private Optional<RowLifetimes> lifetimes = Optional.empty(); // of a join with time bounds
    private long compared; // pairs, by time
    private @Nullable TimeBounds limit; // of time, if it is to be asked for each pair, else null: hot
    private Pairs pairs;
    private Optional<JoinAnswer> untold = Optional.empty();
    private Optional<FrozenState> frozen = Optional.empty();

    /** Rows on their way in. */
    private record Arrival(int port, JoinSide side, Batch batch, int[] rows, long[] matched, Output output) {
        long weight(int position) {
            return side.weight(batch, rows[position]);
        }
    }

    public JoinOperator(Join node) {
        this.node = node;
        JoinKind kind = node.kind();
        this.isSemi = kind == JoinKind.SEMI;
        this.isAnti = kind == JoinKind.ANTI;
        this.leftWaits = kind == JoinKind.LEFT || kind == JoinKind.FULL || isSemi || isAnti;
        this.rightWaits = kind == JoinKind.RIGHT || kind == JoinKind.FULL;
        this.keeps = node.time().filter(JoinTime.Kept.class::isInstance).isPresent();
        this.deferred = node.time().isPresent() && !keeps;
        this.bounds = node.time().filter(JoinTime.Bounds.class::isInstance).map(JoinTime.Bounds.class::cast);
        this.windowKey = windowKey(node);
    }

    private static Optional<Integer> windowKey(Join node) {
        if (node.windowEnds().isPresent()) {
            for (int key = 0; key < node.leftKeys().size(); key++) {
                if (node.leftKeys().get(key) == node.windowEnds().get().left()
                        && node.rightKeys().get(key) == node.windowEnds().get().right()) {
                    return Optional.of(key);
                }
            }
        }
        return Optional.empty();
    }

    @Override
    public void open(OperatorContext newContext) {
        context = newContext;
        Schema left = node.left().schema();
        Schema right = node.right().schema();
        sides = owned.own(new JoinSides(node, context.allocator()));
        joined = new JoinOutput(
                node.schema(),
                sides.get(0).codec(),
                sides.get(1).codec(),
                !isSemi && !isAnti,
                context.batchRows(),
                context.allocator());
        residual = node.residual().map(condition -> owned.own(new Residual(condition, left, right, context)));
        lifetimes =
                RowLifetimes.of(node.time(), sides.get(0).codec(), sides.get(1).codec());
        limit = lifetimes.map(RowLifetimes::times).filter(TimeBounds::isLimited).orElse(null);
        ranges = RangeCondition.of(
                node.residual(),
                Optional.ofNullable(limit).map(TimeBounds::bounds),
                sides.get(0).codec(),
                sides.get(1).codec());
        pairs = new Pairs(context.batchRows(), residual);
    }

    // ---- rows

    @Override
    public void process(int port, Batch batch, Output output) {
        JoinSide side = sides.get(port);
        try (batch) {
            tell(output, true);
            // a row at the watermark is not late, a window that ends there is over
            side.split(
                    batch,
                    timeColumn(port),
                    windowKey.isPresent(),
                    bounds.isPresent() && watermark != NO_WATERMARK ? watermark - 1 : watermark);
            if (side.lateCount() > 0) {
                context.metrics().addLateRows(side.lateCount());
                context.lateRows(batch, side.late(), side.lateCount(), watermark);
            }
            if (side.nullCount() > 0 && waits(port) && !isSemi) {
                emitPartnerless(port, side, batch, output);
            }
            for (int i = 0; i < side.groups(); i++) {
                join(port, side, state(side.windowEnd(i)), batch, side.rows(i), side.count(i), output);
            }
            joined.flush(output);
        }
    }

    private Optional<Integer> windowEnd(int port) {
        return node.windowEnds().map(ends -> port == 0 ? ends.left() : ends.right());
    }

    /** The column by which rows are late. */
    private Optional<Integer> timeColumn(int port) {
        return bounds.map(both -> port == 0 ? both.left() : both.right()).or(() -> windowEnd(port));
    }

    private boolean waits(int port) {
        return port == 0 ? leftWaits : rightWaits;
    }

    private JoinState state(long end) {
        JoinState known = states.get(end);
        if (known == null) {
            known = spare.isEmpty() ? new JoinState(sides.keys(), ranges, context.allocator()) : spare.pop();
            states.put(end, known);
        }
        return known;
    }

    /** Rows with a NULL key equal nothing. */
    private void emitPartnerless(int port, JoinSide side, Batch batch, Output output) {
        side.codec().encode(batch, side.columns(), side.nulls(), side.nullCount());
        for (int i = 0; i < side.nullCount(); i++) {
            emitAlone(port, side.codec().address(i), side.weight(batch, side.nulls()[i]), output);
        }
        joined.flush(output);
    }

    private void emitAlone(int port, long row, long weight, Output output) {
        if (port == 0) {
            joined.add(row, sides.nullRow(1), weight, output);
        } else {
            joined.add(sides.nullRow(0), row, weight, output);
        }
    }

    private void join(int port, JoinSide side, JoinState state, Batch batch, int[] rows, int count, Output output) {
        RowCodec codec = side.codec();
        codec.encode(batch, side.columns(), rows, count);
        long[] entries = side.finder().find(state.table(), batch, rows, count);
        state.changing(entries, count);
        long[] matched = side.matched(count);
        Arrival arrival = new Arrival(port, side, batch, rows, matched, output);
        Interrupt interrupt = Interrupt.current();
        long before = rowsDone;
        for (int i = 0; i < count; i++) {
            rowsDone = before + i;
            if ((i & 31) == 0) { // each may meet many
                interrupt.check();
            }
            if (state.isHot(entries[i], 1 - port)) {
                int position = i;
                long row = codec.address(i);
                state.find(entries[i], 1 - port, row, other -> pair(arrival, position, row, other));
            } else {
                long list = state.list(entries[i], 1 - port);
                for (long other = RowTable.first(list); other != 0; other = RowTable.next(other)) {
                    pair(arrival, i, codec.address(i), other);
                }
            }
        }
        meet(arrival);
        for (int i = 0; i < count; i++) {
            if ((i & 31) == 0) { // each may be among many equal ones
                interrupt.check();
            }
            long weight = side.weight(batch, rows[i]);
            if (waits(port) && (isSemi ? matched[i] != 0 : matched[i] == 0 && !deferred)) {
                emitAlone(port, codec.address(i), weight, output);
            }
            long row = state.addRow(port, entries[i], codec.address(i), codec.length(i), weight);
            if (row != 0) {
                RowTable.setNote(row, matched[i]);
                if (lifetimes.isPresent() && RowTable.weight(row) == weight) { // else an equal row is there already
                    lifetimes.get().add(port, row);
                }
            }
        }
        joined.flush(output); // what was added refers to the encoded rows
        state.removeEmpty(entries, count);
        rowsDone = before + count;
    }

    @Override
    public long rowsDone() {
        return rowsDone;
    }

    private void pair(Arrival arrival, int position, long row, long other) {
        if (limit != null) {
            compared++;
            if (!(arrival.port == 0 ? limit.meet(row, other) : limit.meet(other, row))) {
                return;
            }
        }
        if (pairs.add(position, row, other)) {
            meet(arrival);
        }
    }

    /** Joins the candidate pairs that pass the residual condition. */
    private void meet(Arrival arrival) {
        int port = arrival.port;
        int passed = pairs.select(port, sides.columns(port), sides.columns(1 - port), i -> weight(arrival, i));
        for (int i = 0; i < passed; i++) {
            long other = pairs.their(i);
            long weight = arrival.weight(pairs.position(i));
            long otherWeight = RowTable.weight(other);
            arrival.matched[pairs.position(i)] += otherWeight;
            if (!isSemi && !isAnti) {
                joined.add(
                        port == 0 ? pairs.our(i) : other,
                        port == 0 ? other : pairs.our(i),
                        weight(arrival, i),
                        arrival.output);
            }
            if (waits(1 - port)) {
                long before = RowTable.note(other);
                RowTable.setNote(other, before + weight);
                if ((before == 0) != (before + weight == 0) && (isSemi || !deferred)) {
                    boolean appears = (before + weight == 0) != isSemi;
                    emitAlone(1 - port, other, appears ? otherWeight : -otherWeight, arrival.output);
                }
            }
        }
        joined.flush(arrival.output);
        pairs.clear();
    }

    private long weight(Arrival arrival, int pair) {
        return Math.multiplyExact(arrival.weight(pairs.position(pair)), RowTable.weight(pairs.their(pair)));
    }

    /** Pairs of rows whose times were compared, or for which the residual condition was evaluated, so far. */
    long evaluated() {
        return compared + residual.map(Residual::evaluated).orElse(0L);
    }

    /** Takes rows over from another operator, where they met all that are there. */
    void adopt(int port, Batch batch) {
        try (batch) {
            state(0).addAll(port, sides.get(port), batch, row -> lifetimes.ifPresent(all -> all.add(port, row)));
        }
    }

    void adopt(long watermarkMicros) {
        watermark = watermarkMicros;
    }

    private void reportSize() {
        long bytes = 0;
        long rows = 0;
        for (JoinState state : states.values()) {
            bytes += state.bytes();
            rows += state.size();
        }
        for (JoinState state : spare) {
            bytes += state.bytes();
        }
        bytes += lifetimes.map(RowLifetimes::bytes).orElse(0L);
        context.metrics().stateSize(bytes, rows);
    }

    // ---- windows

    @Override
    public boolean onWatermark(long watermarkMicros, Output output) {
        watermark = Math.max(watermark, watermarkMicros); // one that was restored may be ahead of the input
        if (keeps && watermarkMicros >= END_OF_INPUT - 1) {
            return true; // who ended forgets nothing any more
        } else if (lifetimes.isPresent()) {
            dropUnreachable(watermarkMicros, output);
        } else if (windowKey.isPresent()) {
            while (!states.isEmpty() && states.firstKey() <= watermarkMicros) {
                if (output.isFull()) {
                    return false;
                }
                close(states.pollFirstEntry().getValue(), watermarkMicros, output);
            }
        } else if (node.windowEnds().isPresent()) {
            for (JoinState state : states.values()) {
                for (int side = 0; side < 2; side++) {
                    int slot = sides.get(side).codec().slot(windowEnd(side).get());
                    emitWaiting(state, side, slot, watermarkMicros, output);
                    state.expire(side, slot, watermarkMicros);
                }
            }
        } else {
            return true;
        }
        reportSize();
        return true;
    }

    @Override
    public long passedWatermark(long watermarkMicros) {
        if (lifetimes.isEmpty() || watermarkMicros == END_OF_INPUT || watermarkMicros == NO_WATERMARK) {
            return watermarkMicros;
        }
        long held = bounds.map(JoinTime.Bounds::heldMicros)
                .orElseGet(() -> lifetimes.get().times().reach(0));
        return Math.max(NO_WATERMARK + 1 + held, watermarkMicros) - held;
    }

    private void close(JoinState state, long end, Output output) {
        for (int side = 0; side < 2; side++) {
            emitWaiting(
                    state, side, sides.get(side).codec().slot(windowEnd(side).get()), end, output);
        }
        if (spare.size() < 2 && state.table().mask() < 1 << 16) {
            state.clear();
            spare.push(state);
        } else {
            state.close();
        }
    }

    /** Emits the rows of windows that ended and had no partner. */
    private void emitWaiting(JoinState state, int side, int slot, long end, Output output) {
        if (waits(side) && !isSemi) {
            state.forEach(side, row -> {
                if (RowTable.note(row) == 0 && Memory.getLong(row + slot) <= end) {
                    emitAlone(side, row, RowTable.weight(row), output);
                }
            });
            joined.flush(output);
        }
    }

    /** Drops, and emits if they had no partner, the rows that none can reach any more. */
    private void dropUnreachable(long watermarkMicros, Output output) {
        JoinState state = state(0);
        for (int port = 0; port < 2; port++) {
            int side = port;
            int ended = lifetimes.get().end(side, watermarkMicros, row -> {
                if (deferred && waits(side) && !isSemi && RowTable.note(row) == 0) {
                    emitAlone(side, row, RowTable.weight(row), output);
                }
            });
            joined.flush(output);
            for (int i = 0; i < ended; i++) {
                state.drop(side, lifetimes.get().ended(i));
            }
            if (keeps) {
                context.metrics().addForgotten(ended);
            }
        }
    }

    @Override
    public boolean onEpochEnd(long epoch, Output output) {
        reportSize();
        return tell(output, false);
    }

    /** What {@link JoinAnswer#isKept} says is required. */
    @Override
    public void replay() {
        untold = Optional.of(new JoinAnswer(node.kind(), state(0), sides, pairs, joined));
    }

    /** Goes on with {@link #replay}; returns whether nothing is left to be told. */
    boolean tell(Output output, boolean atOnce) {
        if (untold.isPresent() && untold.get().tell(output, atOnce)) {
            untold = Optional.empty();
        }
        return untold.isEmpty();
    }

    // ---- snapshots

    /** Per key group: the number of windows, then each one's end, number of entries, and per entry its rows, left, right. */
    @Override
    public void snapshot(StateWriter writer) throws IOException {
        writer.keyGroup(StateFormats.JOIN, -1).writeLong(watermark);
        states.values().forEach(JoinState::writesAll);
        KeyGroupPart.write(states, state -> KeyGroupPart.of(state.table(), state::write), writer, StateFormats.JOIN);
    }

    /** Without windows that go as a whole: what {@link #snapshot} writes, or keys with all their rows of which any changed. */
    @Override
    public Optional<FrozenState> freeze(Kept kept) {
        if (windowKey.isPresent()) {
            return Optional.empty();
        }
        Parts all = (to, group) -> {
            DataOutput out = to.keyGroup(StateFormats.JOIN, group);
            out.writeInt(1);
            out.writeLong(0);
            return out;
        };
        Optional<FrozenState> rows = state(0).freeze(all, Parts.of(StateFormats.JOIN_SINCE), kept);
        frozen = rows.map(
                some -> FrozenJoin.of(some, some.isWhole() ? StateFormats.JOIN : StateFormats.JOIN_SINCE, watermark));
        return frozen;
    }

    @Override
    public void restore(StateReader reader) {
        reader.keyGroups(StateFormats.JOIN, (in, group) -> {
            if (group == -1) {
                watermark = Math.max(watermark, in.readLong());
            } else {
                read(in);
            }
        });
        reader.keyGroups(StateFormats.JOIN_SINCE, (in, group) -> {
            if (group == -1) {
                watermark = Math.max(watermark, in.readLong());
            } else {
                state(0).readChanges(in);
            }
        });
        lifetimes.ifPresent(rows -> rows.readAll(state(0)));
        reportSize();
    }

    private void read(DataInput in) throws IOException {
        for (int windows = in.readInt(); windows > 0; windows--) {
            state(in.readLong()).read(in, entry -> {});
        }
    }

    @Override
    public void close() {
        List<AutoCloseable> all = new ArrayList<>();
        frozen.ifPresent(all::add);
        all.addAll(states.values());
        all.addAll(spare);
        all.add(owned);
        states.clear();
        spare.clear();
        Closing.all(all);
    }
}
