package dev.millrace.engine.join;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Owned;
import dev.millrace.engine.checkpoint.StateFormats;
import dev.millrace.engine.state.EntryCursor;
import dev.millrace.engine.state.KeyGroupPart;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.RowTable;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.operator.Replay;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.MultiJoin;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * An inner join of several inputs on one key: each row meets the product of the rows that the other inputs have of its key,
 * weights multiply. It keeps the rows of its inputs and nothing of what joins of two of them would have between them. A
 * row whose key another input does not have costs a look at each.
 */
public final class MultiJoinOperator implements Replay {
    private static final int NO_PORT = -1; // no row is chosen

    private final MultiJoin node;
    private final int width; // inputs
    private final Owned owned = new Owned();
    private OperatorContext context;
    private List<JoinSide> sides;
    private JoinState state;
    private JoinOutput joined;
    private final long[] row; // of each input, one that is joined
    private Optional<EntryCursor> untold = Optional.empty(); // entries whose rows are to be told again

    public MultiJoinOperator(MultiJoin node) {
        this.node = node;
        this.width = node.inputs().size();
        this.row = new long[width];
    }

    @Override
    public void open(OperatorContext newContext) {
        context = newContext;
        KeyLayout keys = new KeyLayout(
                JoinSide.notNull(node.inputs().get(0).schema()), node.keys().get(0));
        sides = new ArrayList<>();
        for (int side = 0; side < width; side++) {
            PlanNode input = node.inputs().get(side);
            List<Integer> columns = node.keys().get(side);
            Schema schema = input.schema();
            JoinSide made = new JoinSide(schema, side == 0 ? keys : keys.over(columns), columns, context.allocator());
            owned.own(made);
            sides.add(made);
        }
        state = new JoinState(keys, width, Optional.empty(), context.allocator());
        owned.own(state);
        joined = new JoinOutput(
                node.schema(), sides.stream().map(JoinSide::codec).toList(), context.batchRows(), context.allocator());
    }

    @Override
    public void process(int port, Batch batch, Output output) {
        JoinSide side = sides.get(port);
        try (batch) {
            tell(output, true);
            side.split(batch, Optional.empty(), false, NO_WATERMARK);
            if (side.groups() == 0) {
                return;
            }
            int[] rows = side.rows(0);
            int count = side.count(0);
            RowCodec codec = side.codec();
            codec.encode(batch, side.columns(), rows, count);
            long[] entries = side.finder().find(state.table(), batch, rows, count);
            for (int i = 0; i < count; i++) {
                if (isMet(entries[i], port)) {
                    row[port] = codec.address(i);
                    join(entries[i], port, 0, side.weight(batch, rows[i]), output);
                }
            }
            joined.flush(output); // what was added refers to the encoded rows
            for (int i = 0; i < count; i++) {
                state.addRow(port, entries[i], codec.address(i), codec.length(i), side.weight(batch, rows[i]));
            }
            state.removeEmpty(entries, count);
        }
    }

    /** Whether all other inputs have the key. */
    private boolean isMet(long entry, int port) {
        for (int side = 0; side < width; side++) {
            if (side != port && RowTable.first(state.list(entry, side)) == 0) {
                return false;
            }
        }
        return true;
    }

    /** Joins {@link #row}, which is chosen up to an input, with the rows of the inputs from there on. */
    private void join(long entry, int port, int side, long weight, Output output) {
        if (side == width) {
            joined.add(row, weight, output);
        } else if (side == port) {
            join(entry, port, side + 1, weight, output);
        } else {
            for (long each = RowTable.first(state.list(entry, side)); each != 0; each = RowTable.next(each)) {
                row[side] = each;
                join(entry, port, side + 1, Math.multiplyExact(weight, RowTable.weight(each)), output);
            }
        }
    }

    @Override
    public boolean onWatermark(long watermarkMicros, Output output) {
        return true;
    }

    @Override
    public boolean onEpochEnd(long epoch, Output output) {
        reportSize();
        return tell(output, false);
    }

    @Override
    public void replay() {
        untold = Optional.of(new EntryCursor(state.table(), 64));
    }

    private boolean tell(Output output, boolean atOnce) {
        while (untold.isPresent() && (atOnce || !output.isFull())) {
            int count = untold.get().advance();
            for (int i = 0; i < count; i++) {
                join(untold.get().entries()[i], NO_PORT, 0, 1, output);
            }
            joined.flush(output);
            if (count == 0) {
                untold = Optional.empty();
            }
        }
        return untold.isEmpty();
    }

    private void reportSize() {
        context.metrics().stateSize(state.bytes(), state.size());
    }

    /** Per key group what {@link JoinState#write} writes. */
    @Override
    public void snapshot(StateWriter writer) throws IOException {
        KeyGroupPart.of(state.table(), state::write).write(writer, StateFormats.MULTI_JOIN);
    }

    @Override
    public void restore(StateReader reader) {
        reader.keyGroups(StateFormats.MULTI_JOIN, (in, group) -> {
            state.read(in, entry -> {});
        });
        reportSize();
    }

    @Override
    public void close() {
        owned.close();
    }
}
