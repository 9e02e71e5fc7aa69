package dev.millrace.engine.join;

import dev.millrace.batch.Batch;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.RowLog;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.memory.Memory;
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.StateFormat;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.type.Field;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.vector.FieldVector;

/** The rows of one side of an inner join by key, packed, as long as none is taken back: as {@link AppendedRows} has both. */
final class PackedSide implements AutoCloseable {
    private static final int LOOK_ROWS = 4095; // a mask: how often a walk over rows of one key asks whether to stop

    private final Join node;
    private final int port;
    private final OperatorContext context;
    private final List<AppendedSide> sides;
    private final AppendedRows rows;

    PackedSide(Join node, int port, KeyLayout keys, OperatorContext context) {
        this.node = node;
        this.port = port;
        this.context = context;
        this.sides = AppendedSide.both(node, keys, Optional.empty(), context.allocator());
        this.rows = new AppendedRows(keys, sides, context.allocator());
    }

    /** Keeps the rows of a batch, each of which is there once. */
    void keep(Batch batch) {
        AppendedSide side = sides.get(port);
        int count = side.begin(batch, Operator.NO_WATERMARK, context);
        if (count > 0) {
            rows.keep(port, side.finder().find(rows.table(), batch, side.rows(), count));
        }
    }

    /** Takes a row that another one may meet; returns whether to go on. */
    interface Taker {
        void take(int position, long row);
    }

    /** Gives the rows that have the keys of some rows of the other side; looks whether to stop, as they may be many. */
    void find(Batch batch, int[] chosen, int count, Taker taker) {
        long[] entries = sides.get(1 - port).finder().find(rows.table(), batch, chosen, count);
        RowLog log = sides.get(port).log();
        int head = rows.head(port);
        Interrupt interrupt = Interrupt.current();
        int walked = 0;
        for (int i = 0; i < count; i++) {
            if ((i & 31) == 0) {
                interrupt.check();
            }
            long row;
            for (long at = Memory.getLong(entries[i] + head); at >= log.begin(); at = log.before(at, row)) {
                row = log.address(at);
                if ((++walked & LOOK_ROWS) == 0) {
                    interrupt.check();
                }
                taker.take(i, row + RowLog.HEADER);
            }
        }
        rows.removeEmpty(entries, count);
    }

    /** A column of kept rows, those that are keys from the rows of the other side that have the same. */
    FieldVector decode(int column, Field field, long[] kept, int count, long[] others, RowColumns other) {
        int place = sides.get(port).place(column);
        List<Integer> otherKeys = port == 0 ? node.rightKeys() : node.leftKeys();
        return place < 0
                ? other.of(otherKeys.get(-1 - place), field, others, count)
                : sides.get(port).codec().decode(place, field, kept, count, context.allocator());
    }

    /** Gives all rows to a state that can take them back. */
    void moveTo(JoinState state, JoinSide reader) {
        rows.forEach(port, context.batchRows(), batch -> {
            try (batch) {
                state.addAll(port, reader, batch, row -> {});
            }
        });
    }

    long bytes() {
        return rows.bytes();
    }

    long size() {
        return rows.size();
    }

    void write(StateFormat state, StateWriter writer) throws IOException {
        rows.write(state, writer);
    }

    void read(StateFormat state, StateReader reader) {
        reader.keyGroups(state, (in, group) -> rows.read(in));
    }

    @Override
    public void close() {
        rows.close();
    }
}
