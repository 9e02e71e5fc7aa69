package dev.millrace.engine.join;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.Owned;
import dev.millrace.engine.calc.Gather;
import dev.millrace.engine.checkpoint.StateFormats;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.RowLog;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.memory.Memory;
import dev.millrace.operator.Freezing;
import dev.millrace.operator.FrozenState;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.operator.Replay;
import dev.millrace.operator.RowByRow;
import dev.millrace.operator.StateFormat;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.node.JoinTime;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.arrow.vector.FieldVector;

/**
 * An INNER join that keeps its rows in as little as they need as long as none is taken back: all of them, or with bounds on
 * times those that the watermark has not passed, and some more: rows that none can meet are not noticed until their memory
 * is used for others. With the first weight that is not 1 a {@link JoinOperator} takes over what there is,
 * and so it does when rows meet many that time or a residual condition with ranges turns away, which it would not look at.
 */
public final class AppendedJoinOperator implements Replay, RowByRow, Freezing {
    private static final int LOOK_ROWS = 4095; // a mask: how often a walk over rows of one key asks whether to stop

    /** Pairs that are turned away, per row and per pair that is not, that are worth an order of the rows. */
    private static final int MANY_IN_VAIN = 64;

    private long rowsDone; // of both sides; the last ones' pairs may be under way
    private final Join node;
    private final Optional<JoinTime.Bounds> bounds;
    private final boolean isTimed;
    private final boolean hasRanges;
    private final Owned owned = new Owned();
    private OperatorContext context;
    private List<AppendedSide> sides;
    private AppendedRows state;
    private List<Schema> keptFields; // of the output, that rows of a side keep
    private Optional<Residual> residual = Optional.empty();
    private Optional<FrozenState> frozen = Optional.empty();
    private Optional<JoinOperator> general = Optional.empty(); // since a row was taken back
    private Optional<JoinOperator> teller = Optional.empty(); // with the same rows, until it has told them again
    private long watermark = NO_WATERMARK;
    private long compared; // pairs, by time
    private long passed; // pairs

    // Pairs that meet: rows of the batch at hand, and the other side's.
    private static final int FIRST_PAIRS = 64; // most queries are small

    private int[] ours;
    private long[] theirs;
    private int pairs;

    public AppendedJoinOperator(Join node) {
        this.node = node;
        this.bounds = node.time().map(JoinTime.Bounds.class::cast);
        this.isTimed = bounds.isPresent();
        this.hasRanges = node.residual()
                .filter(condition ->
                        RangeCondition.isIn(condition, node.left().schema().size()))
                .isPresent();
    }

    /** Whether this operator does for a node. */
    public static boolean suits(Join node) {
        return node.kind() == JoinKind.INNER
                && node.time()
                        .filter(time -> !(time instanceof JoinTime.Bounds))
                        .isEmpty();
    }

    @Override
    public void open(OperatorContext newContext) {
        context = newContext;
        Schema left = node.left().schema();
        Schema right = node.right().schema();
        KeyLayout keys = new KeyLayout(JoinSide.notNull(left), node.leftKeys());
        sides = AppendedSide.both(node, keys, bounds, context.allocator());
        state = owned.own(new AppendedRows(keys, sides, context.allocator()));
        residual = node.residual().map(condition -> owned.own(new Residual(condition, left, right, context)));
        keptFields = List.of(keptFields(0, 0), keptFields(1, left.size()));
        int first = Math.min(FIRST_PAIRS, context.batchRows());
        ours = new int[first];
        theirs = new long[first];
    }

    /** Whether more pairs fit, for which room is made until there are as many as a batch has rows. */
    private boolean hasRoom() {
        if (ours.length == context.batchRows()) {
            return false;
        }
        int more = Math.min(4 * ours.length, context.batchRows());
        ours = Arrays.copyOf(ours, more);
        theirs = Arrays.copyOf(theirs, more);
        return true;
    }

    private Schema keptFields(int port, int first) {
        return node.schema()
                .select(IntStream.of(sides.get(port).kept())
                        .map(column -> first + column)
                        .boxed()
                        .toList());
    }

    // ---- rows

    @Override
    public void process(int port, Batch batch, Output output) {
        try {
            tell(output, true);
            if (general.isEmpty() && !isOnce(batch)) {
                generalize();
            }
        } catch (RuntimeException | Error e) {
            batch.close();
            throw e;
        }
        if (general.isPresent()) {
            general.get().process(port, batch, output);
            return;
        }
        AppendedSide side = sides.get(port);
        try (batch) {
            int count = side.begin(batch, watermark, context);
            if (count == 0) {
                return;
            }
            long[] entries = side.finder().find(state.table(), batch, side.rows(), count);
            int done = pair(port, entries, count, batch, output);
            meet(port, batch, output);
            if (done < count) {
                generalize();
                general.get().adopt(port, part(port, batch, 0, done));
                general.get().process(port, part(port, batch, done, count), output);
                return;
            }
            state.keep(port, entries);
        }
        if (isInVain()) {
            generalize();
        }
    }

    private boolean isInVain() {
        return (hasRanges || isTimed) && evaluated() > MANY_IN_VAIN * (passed + pairs + state.size() + 1_000);
    }

    /** Some of the rows at hand, as a batch of their own. */
    private Batch part(int port, Batch batch, int from, int to) {
        int[] rows = Arrays.copyOfRange(sides.get(port).rows(), from, to);
        List<FieldVector> columns = new ArrayList<>();
        try {
            for (Field field : batch.schema().fields()) {
                columns.add(Gather.column(batch, columns.size(), field, rows, rows.length, context.allocator()));
            }
        } catch (RuntimeException | Error e) {
            Closing.all(columns);
            throw e;
        }
        return Batch.of(batch.schema(), columns.toArray(FieldVector[]::new), rows.length);
    }

    /** Pairs the rows of the batch at hand with the other side's; returns how many, all unless it is in vain. */
    private int pair(int port, long[] entries, int count, Batch batch, Output output) {
        int[] rows = sides.get(port).rows();
        RowLog log = sides.get(1 - port).log();
        int head = state.head(1 - port);
        Interrupt interrupt = Interrupt.current();
        long before = rowsDone;
        for (int i = 0; i < count; i++) {
            rowsDone = before + i;
            if ((i & 31) == 0) { // each may meet many
                interrupt.check();
            }
            long walked = 0;
            long row;
            for (long at = Memory.getLong(entries[i] + head); at >= log.begin(); at = log.before(at, row)) {
                row = log.address(at);
                if ((++walked & LOOK_ROWS) == 0) {
                    interrupt.check();
                }
                if (!isTimed || inTime(port, rows[i], row)) {
                    ours[pairs] = rows[i];
                    theirs[pairs] = row + RowLog.HEADER;
                    if (++pairs == ours.length && !hasRoom()) {
                        meet(port, batch, output);
                    }
                }
            }
            if (isTimed) {
                compared += walked;
                if (isInVain()) {
                    rowsDone = before + i + 1;
                    return i + 1;
                }
            }
        }
        rowsDone = before + count;
        return count;
    }

    @Override
    public long rowsDone() {
        return rowsDone;
    }

    private boolean inTime(int port, int our, long their) {
        AppendedSide side = sides.get(port);
        AppendedSide other = sides.get(1 - port);
        return TimeBounds.distance(other.timeOf(their), side.until(our)) <= side.reach()
                && TimeBounds.distance(side.time(our), other.untilOf(their)) <= other.reach();
    }

    /** Pairs of rows whose times were compared, or for which the residual condition was evaluated, so far. */
    long evaluated() {
        return compared
                + residual.map(Residual::evaluated).orElse(0L)
                + general.map(JoinOperator::evaluated).orElse(0L);
    }

    private static boolean isOnce(Batch batch) {
        long weights = batch.weightsAddress();
        if (weights != 0) {
            for (int row = 0; row < batch.rowCount(); row++) {
                if (Memory.getLong(weights + 8L * row) != 1) {
                    return false;
                }
            }
        }
        return true;
    }

    /** Emits the pairs that pass the residual condition. */
    private void meet(int port, Batch batch, Output output) {
        int count = pairs;
        pairs = 0;
        if (count > 0 && residual.isPresent()) {
            int found = count;
            Residual.Source our =
                    (column, field) -> Gather.column(batch, column, field, ours, found, context.allocator());
            Residual.Source their = (column, field) -> their(port, batch, column, field, found);
            count = residual.get().select(port == 0 ? our : their, port == 0 ? their : our, found, pair -> 1);
            int[] selected = residual.get().selected();
            for (int i = 0; i < count; i++) {
                ours[i] = ours[selected[i]];
                theirs[i] = theirs[selected[i]];
            }
        }
        passed += count;
        if (count > 0) {
            output.emit(joined(port, batch, count));
        }
    }

    /** A column of the rows of the other side. */
    private FieldVector their(int port, Batch batch, int column, Field field, int count) {
        AppendedSide side = sides.get(1 - port);
        int place = side.place(column);
        return place < 0
                ? Gather.column(batch, ourKeys(port).get(-1 - place), field, ours, count, context.allocator())
                : side.codec().decode(place, field, theirs, count, context.allocator());
    }

    private List<Integer> ourKeys(int port) {
        return port == 0 ? node.leftKeys() : node.rightKeys();
    }

    private Batch joined(int port, Batch batch, int count) {
        int leftColumns = node.left().schema().size();
        int our = port == 0 ? 0 : leftColumns;
        int their = port == 0 ? leftColumns : 0;
        FieldVector[] vectors = new FieldVector[node.schema().size()];
        List<FieldVector> made = new ArrayList<>();
        try {
            for (int column = 0; column < batch.columnCount(); column++) {
                Field field = node.schema().field(our + column);
                vectors[our + column] = Gather.column(batch, column, field, ours, count, context.allocator());
                made.add(vectors[our + column]);
            }
            int[] kept = sides.get(1 - port).kept();
            int first = made.size();
            sides.get(1 - port).codec().decode(keptFields.get(1 - port), 0, theirs, count, made, context.allocator());
            for (int place = 0; place < kept.length; place++) {
                vectors[their + kept[place]] = made.get(first + place);
            }
            for (int at = their; at < their + vectors.length - batch.columnCount(); at++) {
                if (vectors[at] == null) {
                    vectors[at] = their(port, batch, at - their, node.schema().field(at), count);
                    made.add(vectors[at]);
                }
            }
            return Batch.of(node.schema(), vectors, count);
        } catch (RuntimeException | Error e) {
            Closing.all(made);
            throw e;
        }
    }

    /** Hands all rows over to the operator that can take them back. */
    private void generalize() {
        general = Optional.of(general());
        owned.disown(state);
        state.close();
    }

    private JoinOperator general() {
        JoinOperator operator = owned.own(new JoinOperator(node));
        operator.open(context);
        operator.adopt(watermark);
        for (int port = 0; port < 2; port++) {
            int side = port;
            state.forEach(port, context.batchRows(), batch -> operator.adopt(side, batch));
        }
        return operator;
    }

    @Override
    public void replay() {
        teller = Optional.of(general.orElseGet(this::general));
        teller.get().replay();
    }

    private boolean tell(Output output, boolean atOnce) {
        if (teller.isEmpty() || !teller.get().tell(output, atOnce)) {
            return teller.isEmpty();
        }
        if (general.isEmpty()) {
            owned.disown(teller.get());
            teller.get().close();
        }
        teller = Optional.empty();
        return true;
    }

    // ---- signals

    @Override
    public boolean onWatermark(long watermarkMicros, Output output) {
        watermark = Math.max(watermark, watermarkMicros); // one that was restored may be ahead of the input
        if (general.isPresent()) {
            return general.get().onWatermark(watermarkMicros, output);
        }
        if (isTimed) {
            state.forget(watermarkMicros);
            reportSize();
        }
        return true;
    }

    @Override
    public long passedWatermark(long watermarkMicros) {
        if (!isTimed || watermarkMicros == END_OF_INPUT || watermarkMicros == NO_WATERMARK) {
            return watermarkMicros;
        }
        long held = bounds.get().heldMicros();
        return Math.max(NO_WATERMARK + 1 + held, watermarkMicros) - held;
    }

    @Override
    public boolean onEpochEnd(long epoch, Output output) {
        if (!tell(output, false)) {
            return false;
        }
        if (general.isPresent()) {
            return general.get().onEpochEnd(epoch, output);
        }
        reportSize();
        return true;
    }

    private void reportSize() {
        context.metrics().stateSize(state.bytes(), state.size());
    }

    // ---- snapshots

    /** The watermark of a join with bounds, and what {@link AppendedRows#write} says. */
    @Override
    public void snapshot(StateWriter writer) throws IOException {
        if (general.isPresent()) {
            general.get().snapshot(writer);
            return;
        }
        writer.keyGroup(StateFormats.APPENDED_JOIN, -1).writeLong(watermark);
        state.write(StateFormats.APPENDED_JOIN, writer);
    }

    @Override
    public Optional<FrozenState> freeze(Kept kept) {
        if (general.isPresent()) {
            return general.get().freeze(kept); // whose first one is whole, whatever is kept
        }
        FrozenState rows = state.freeze(StateFormats.APPENDED_JOIN, StateFormats.APPENDED_JOIN_SINCE, kept, watermark);
        StateFormat format = rows.isWhole() ? StateFormats.APPENDED_JOIN : StateFormats.APPENDED_JOIN_SINCE;
        frozen = Optional.of(FrozenJoin.of(rows, format, watermark));
        return frozen;
    }

    @Override
    public void restore(StateReader reader) {
        reader.keyGroups(StateFormats.APPENDED_JOIN, (in, group) -> {
            if (group == -1) {
                watermark = Math.max(watermark, in.readLong());
            } else {
                state.read(in);
            }
        });
        reader.keyGroups(StateFormats.APPENDED_JOIN_SINCE, (in, group) -> {
            if (group == -1) {
                watermark = Math.max(watermark, in.readLong());
            } else {
                state.readChanges(in);
            }
        });
        boolean[] isGeneral = new boolean[1];
        reader.keyGroups(StateFormats.JOIN, (in, group) -> isGeneral[0] = true);
        if (isGeneral[0]) { // in one of the tasks whose state comes together here
            generalize();
            general.orElseThrow().restore(reader);
        } else {
            reportSize();
        }
    }

    @Override
    public void close() {
        frozen.ifPresent(FrozenState::close);
        owned.close();
    }
}
