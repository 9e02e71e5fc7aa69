package dev.millrace.engine.join;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Owned;
import dev.millrace.engine.checkpoint.StateFormats;
import dev.millrace.engine.state.EntryCursor;
import dev.millrace.engine.state.KeyGroupPart;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.RowTable;
import dev.millrace.engine.task.Settling;
import dev.millrace.engine.view.FollowedRows;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.memory.Memory;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.operator.Replay;
import dev.millrace.operator.RowByRow;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/**
 * A join by keys of which one side, or both, is all rows of a table or a view: those are read where they are kept ({@link
 * SharedSide}), and this operator keeps the rows of the other side alone, if that is another. As in {@link JoinOperator} each row
 * meets the rows that the other side has so far, and weights multiply.
 *
 * <p>The rows that a relation had at the beginning are not sent here. If both sides are read where they are, the join of those is
 * told before the first change is met ({@link #replay}).
 */
public final class SharedJoinOperator implements Replay, Settling, RowByRow {
    private static final int TOLD_TOGETHER = 256;
    private static final int NONE = -1;
    private static final int LOOK_ROWS = 4095; // a mask: how often a walk over rows of one key asks whether to stop

    private final Join node;
    private final List<Optional<SharedSide>> shared; // left, right
    private final int ownPort; // of the side whose rows are kept here
    private final boolean isSemi;
    private final boolean isAnti;
    private final boolean ownWaits; // own rows are emitted or not depending on their partners
    private final Owned owned = new Owned();
    private OperatorContext context;
    private JoinSides sides;
    private Optional<PackedSide> packed = Optional.empty(); // own rows of an inner join, until one is taken back
    private Optional<JoinState> state = Optional.empty(); // else they are here
    private FoundPairs pairs;
    private JoinOutput alone;
    private long[] weights = new long[0]; // of pairs
    private long rowsBefore; // that were done with before those at hand
    private long rowsDone; // of both sides, and of those that are told; the last one's pairs may be under way
    private boolean untold;
    private Optional<EntryCursor> entries = Optional.empty(); // of the state, while it is told
    private long[] told = new long[TOLD_TOGETHER];
    private long[] toldWeights = new long[TOLD_TOGETHER];

    /** Rows that look for others. */
    private record Arrival(
            int port, RowColumns our, long[] rows, long[] weights, int count, long[] matched, Output output) {}

    /**
     * Sides are given where they are shared; one at least is, none whose rows are emitted or not depending on their partners. They are
     * the operator's to close.
     */
    public SharedJoinOperator(Join node, Optional<SharedSide> left, Optional<SharedSide> right) {
        this.node = node;
        this.shared = List.of(left, right);
        this.ownPort = left.isEmpty() ? 0 : right.isEmpty() ? 1 : NONE;
        JoinKind kind = node.kind();
        this.isSemi = kind == JoinKind.SEMI;
        this.isAnti = kind == JoinKind.ANTI;
        this.ownWaits = kind != JoinKind.INNER;
        left.ifPresent(owned::own);
        right.ifPresent(owned::own);
    }

    @Override
    public void open(OperatorContext newContext) {
        context = newContext;
        Schema left = node.left().schema();
        Schema right = node.right().schema();
        sides = owned.own(new JoinSides(node, context.allocator()));
        for (int port = 0; port < 2; port++) {
            JoinSide side = sides.get(port);
            shared.get(port).ifPresent(there -> there.open(context, sides.keys(), side));
        }
        alone = new JoinOutput(
                node.schema(),
                sides.get(0).codec(),
                sides.get(1).codec(),
                !isSemi && !isAnti,
                context.batchRows(),
                context.allocator());
        Optional<Residual> residual =
                node.residual().map(condition -> owned.own(new Residual(condition, left, right, context)));
        pairs = new FoundPairs(node.schema(), left.size(), residual, context);
        if (ownPort != NONE && ownWaits) {
            state = Optional.of(newState());
        } else if (ownPort != NONE) {
            packed = Optional.of(owned.own(new PackedSide(node, ownPort, sides.keys(), context)));
        }
    }

    private JoinState newState() {
        return owned.own(new JoinState(sides.keys(), Optional.empty(), context.allocator()));
    }

    /** Relations are at rest: what they have now is what was there before all that comes. Before the task runs. */
    public void begin() {
        shared.forEach(side -> side.ifPresent(there -> there.kept().begin()));
    }

    /** Whether the join of what is there at the beginning has to be told, because none of it comes. */
    public boolean isAllShared() {
        return ownPort == NONE;
    }

    // ---- rows

    @Override
    public void process(int port, Batch batch, Output output) {
        try (batch) {
            tell(output, true);
            if (port == ownPort && packed.isPresent() && !isOnce(batch)) {
                generalize();
            }
            JoinSide side = sides.get(port);
            side.split(batch, Optional.empty(), false, NO_WATERMARK);
            if (port == ownPort && ownWaits && !isSemi && side.nullCount() > 0) {
                emitPartnerless(side, batch, output);
            }
            if (side.groups() > 0) {
                join(port, side, batch, output);
            }
        }
    }

    private static boolean isOnce(Batch batch) {
        long all = batch.weightsAddress();
        for (int row = 0; all != 0 && row < batch.rowCount(); row++) {
            if (Memory.getLong(all + 8L * row) != 1) {
                return false;
            }
        }
        return true;
    }

    private void generalize() {
        JoinState rows = newState();
        packed.orElseThrow().moveTo(rows, sides.get(ownPort));
        state = Optional.of(rows);
        owned.disown(packed.get());
        packed.get().close();
        packed = Optional.empty();
    }

    /** Rows with a NULL key equal nothing. */
    private void emitPartnerless(JoinSide side, Batch batch, Output output) {
        side.codec().encode(batch, side.columns(), side.nulls(), side.nullCount());
        for (int i = 0; i < side.nullCount(); i++) {
            emitAlone(side.codec().address(i), side.weight(batch, side.nulls()[i]), output);
        }
        alone.flush(output);
    }

    private void emitAlone(long row, long weight, Output output) {
        if (ownPort == 0) {
            alone.add(row, sides.nullRow(1), weight, output);
        } else {
            alone.add(sides.nullRow(0), row, weight, output);
        }
    }

    private void join(int port, JoinSide side, Batch batch, Output output) {
        int[] chosen = side.rows(0);
        int count = side.count(0);
        RowCodec codec = side.codec();
        codec.encode(batch, side.columns(), chosen, count);
        long[] rows = new long[count];
        long[] ourWeights = new long[count];
        for (int i = 0; i < count; i++) {
            rows[i] = codec.address(i);
            ourWeights[i] = side.weight(batch, chosen[i]);
        }
        RowColumns our = sides.columns(port);
        Arrival arrival = new Arrival(port, our, rows, ourWeights, count, side.matched(count), output);
        if (1 - port != ownPort) {
            SharedSide other = shared.get(1 - port).orElseThrow();
            findKept(other, codec, port == 0 ? node.leftKeys() : node.rightKeys(), arrival);
            for (JoinState changes : other.changes()) {
                find(changes, side.finder().find(changes.table(), batch, chosen, count), false, arrival);
            }
        } else if (packed.isPresent()) {
            PackedSide other = packed.get();
            RowColumns their =
                    (column, field, found, all) -> other.decode(column, field, found, all, pairs.ours(), our);
            other.find(batch, chosen, count, (i, row) -> {
                rowsDone = rowsBefore + i;
                add(i, row, 1, their, false, arrival);
            });
            meet(arrival, their, false);
        } else {
            JoinState other = state.orElseThrow();
            find(other, side.finder().find(other.table(), batch, chosen, count), ownWaits, arrival);
        }
        if (port == ownPort) {
            keep(batch, side, arrival);
        } else {
            shared.get(port).orElseThrow().add(batch);
        }
        done(count);
    }

    private void done(int count) {
        rowsBefore += count;
        rowsDone = rowsBefore;
    }

    @Override
    public long rowsDone() {
        return rowsDone;
    }

    /** Finds partners where the relation keeps them. */
    private void findKept(SharedSide other, RowCodec codec, List<Integer> ourKeys, Arrival arrival) {
        FollowedRows kept = other.kept();
        Interrupt interrupt = Interrupt.current();
        for (int from = 0; from < arrival.count; from += kept.most()) {
            interrupt.check();
            int some = Math.min(kept.most(), arrival.count - from);
            kept.find(codec, ourKeys, arrival.rows, from, some);
            int next = 0;
            for (int i = 0; i < some; i++) {
                rowsDone = rowsBefore + from + i;
                for (; next < kept.end(i); next++) {
                    if ((next & LOOK_ROWS) == LOOK_ROWS) {
                        interrupt.check();
                    }
                    long row = kept.row(next);
                    add(from + i, row, FollowedRows.weight(row), other::decode, false, arrival);
                }
            }
        }
        meet(arrival, other::decode, false);
    }

    /** Finds partners among rows by key, whose entries these are; some may have been made to look. */
    private void find(JoinState others, long[] found, boolean theyWait, Arrival arrival) {
        int port = 1 - arrival.port;
        RowColumns their = sides.columns(port);
        Interrupt interrupt = Interrupt.current();
        int walked = 0;
        for (int i = 0; i < arrival.count; i++) {
            rowsDone = rowsBefore + i;
            if ((i & 31) == 0) { // each may meet many
                interrupt.check();
            }
            long list = others.list(found[i], port);
            for (long row = RowTable.first(list); row != 0; row = RowTable.next(row)) {
                if ((++walked & LOOK_ROWS) == 0) {
                    interrupt.check();
                }
                add(i, row, RowTable.weight(row), their, theyWait, arrival);
            }
        }
        meet(arrival, their, theyWait);
        others.removeEmpty(found, arrival.count);
    }

    private void add(int i, long their, long weight, RowColumns columns, boolean theyWait, Arrival arrival) {
        if (pairs.add(i, arrival.rows[i], their, weight)) {
            meet(arrival, columns, theyWait);
        }
    }

    /** Joins the candidate pairs that pass the residual condition. */
    private void meet(Arrival arrival, RowColumns their, boolean theyWait) {
        int passed = pairs.select(arrival.port, arrival.our, their, i -> weight(arrival, i));
        if (weights.length < passed) {
            weights = new long[Math.max(passed, 2 * weights.length)];
        }
        for (int i = 0; i < passed; i++) {
            long weight = arrival.weights[pairs.position(i)];
            long other = pairs.weight(i);
            arrival.matched[pairs.position(i)] += other;
            weights[i] = weight(arrival, i);
            if (theyWait) {
                long row = pairs.their(i);
                long before = RowTable.note(row);
                RowTable.setNote(row, before + weight);
                if ((before == 0) != (before + weight == 0)) {
                    boolean appears = (before + weight == 0) != isSemi;
                    emitAlone(row, appears ? other : -other, arrival.output);
                }
            }
        }
        if (!isSemi && !isAnti) {
            pairs.emit(arrival.port, arrival.our, their, weights, arrival.output);
        }
        alone.flush(arrival.output);
        pairs.clear();
    }

    private long weight(Arrival arrival, int pair) {
        return Math.multiplyExact(arrival.weights[pairs.position(pair)], pairs.weight(pair));
    }

    private void keep(Batch batch, JoinSide side, Arrival arrival) {
        if (packed.isPresent()) {
            packed.get().keep(batch);
            return;
        }
        JoinState own = state.orElseThrow();
        long[] found = side.finder().find(own.table(), batch, side.rows(0), arrival.count);
        for (int i = 0; i < arrival.count; i++) {
            if (ownWaits && (arrival.matched[i] != 0) == isSemi) {
                emitAlone(arrival.rows[i], arrival.weights[i], arrival.output);
            }
            int length = side.codec().length(i);
            long row = own.addRow(ownPort, found[i], arrival.rows[i], length, arrival.weights[i]);
            if (row != 0) {
                RowTable.setNote(row, arrival.matched[i]);
            }
        }
        alone.flush(arrival.output); // what was added refers to the encoded rows
        own.removeEmpty(found, arrival.count);
    }

    // ---- signals

    @Override
    public boolean onWatermark(long watermarkMicros, Output output) {
        return true;
    }

    @Override
    public boolean onEpochEnd(long epoch, Output output) {
        if (!tell(output, false)) {
            return false;
        }
        shared.forEach(side -> side.ifPresent(there -> there.endEpoch(epoch)));
        reportSize();
        return true;
    }

    @Override
    public void settle() {
        if (!untold) {
            shared.forEach(side -> side.ifPresent(SharedSide::settle));
            reportSize();
        }
    }

    private void reportSize() {
        long bytes = state.map(JoinState::bytes).orElse(0L)
                + packed.map(PackedSide::bytes).orElse(0L);
        long rows = state.map(JoinState::size).orElse(0L)
                + packed.map(PackedSide::size).orElse(0L);
        for (Optional<SharedSide> side : shared) {
            bytes += side.map(SharedSide::bytes).orElse(0L);
            rows += side.map(SharedSide::size).orElse(0L);
        }
        context.metrics().stateSize(bytes, rows);
    }

    // ---- the whole answer

    /** What {@link JoinAnswer#isKept} says is required. */
    @Override
    public void replay() {
        if (packed.isPresent()) {
            generalize();
        }
        entries = state.map(rows -> new EntryCursor(rows.table(), TOLD_TOGETHER));
        untold = true;
    }

    /** Goes on telling; returns whether nothing is left to be told. */
    private boolean tell(Output output, boolean atOnce) {
        Interrupt interrupt = Interrupt.current();
        while (untold && (atOnce || !output.isFull())) {
            interrupt.check();
            untold = entries.isPresent() ? tellEntries(entries.get(), output) : tellKept(output);
        }
        return !untold;
    }

    /** Joins, and emits, some more of the left relation's rows, for a consumer that comes later; false at the end. */
    private boolean tellKept(Output output) {
        SharedSide left = shared.get(0).orElseThrow();
        int found = left.kept().next(told);
        int count = 0;
        for (int i = 0; i < found; i++) {
            if (left.isOurs(told[i])) {
                toldWeights[count] = FollowedRows.weight(told[i]);
                told[count++] = told[i];
            }
        }
        SharedSide right = shared.get(1).orElseThrow();
        findKept(
                right,
                left.kept().codec(),
                left.keyColumns(),
                new Arrival(0, left::decode, told, toldWeights, count, new long[count], output));
        done(count);
        return found > 0;
    }

    /** Joins, and emits, the own rows of some more keys, for a consumer that comes later; false at the end. */
    private boolean tellEntries(EntryCursor cursor, Output output) {
        JoinState own = state.orElseThrow();
        int keysFound = cursor.advance();
        for (int i = 0; i < keysFound; i++) {
            int count = 0;
            for (long row = RowTable.first(own.list(cursor.entries()[i], ownPort));
                    row != 0;
                    row = RowTable.next(row)) {
                told[count] = row;
                toldWeights[count++] = RowTable.weight(row);
                if (count == TOLD_TOGETHER) {
                    tellOwn(count, output);
                    count = 0;
                }
            }
            tellOwn(count, output);
        }
        return keysFound > 0;
    }

    private void tellOwn(int count, Output output) {
        RowCodec codec = sides.get(ownPort).codec();
        if (!isSemi && !isAnti) {
            findKept(
                    shared.get(1 - ownPort).orElseThrow(),
                    codec,
                    ownPort == 0 ? node.leftKeys() : node.rightKeys(),
                    new Arrival(ownPort, sides.columns(ownPort), told, toldWeights, count, new long[count], output));
        }
        done(count);
        for (int i = 0; ownWaits && i < count; i++) {
            if ((RowTable.note(told[i]) != 0) == isSemi) {
                emitAlone(told[i], toldWeights[i], output);
            }
        }
        alone.flush(output);
    }

    // ---- snapshots

    /** Own rows alone: what is read elsewhere is there, as of the same epoch, when all is at rest. */
    @Override
    public void snapshot(StateWriter writer) throws IOException {
        if (packed.isPresent()) {
            packed.get().write(StateFormats.SHARED_JOIN_PACKED, writer);
        } else if (state.isPresent()) {
            KeyGroupPart.of(state.get().table(), state.get()::write).write(writer, StateFormats.SHARED_JOIN);
        }
    }

    @Override
    public void restore(StateReader reader) {
        if (ownPort == NONE) {
            return;
        }
        packed.ifPresent(rows -> rows.read(StateFormats.SHARED_JOIN_PACKED, reader));
        boolean[] isGeneral = new boolean[1];
        reader.keyGroups(StateFormats.SHARED_JOIN, (in, group) -> isGeneral[0] = true);
        if (isGeneral[0]) {
            if (packed.isPresent()) { // in one of the tasks whose state comes together here
                generalize();
            }
            reader.keyGroups(
                    StateFormats.SHARED_JOIN, (in, group) -> state.orElseThrow().read(in, entry -> {}));
        }
        reportSize();
    }

    @Override
    public void close() {
        owned.close();
    }
}
