package dev.millrace.engine.forget;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Owned;
import dev.millrace.engine.aggregate.KeyFinder;
import dev.millrace.engine.checkpoint.StateFormats;
import dev.millrace.engine.rows.RowBuffer;
import dev.millrace.engine.state.Forgetful;
import dev.millrace.engine.state.KeyGroupPart;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.Rows;
import dev.millrace.memory.Memory;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.OperatorMetrics;
import dev.millrace.operator.Output;
import dev.millrace.operator.Replay;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.node.Forgetting;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.util.List;

/**
 * Has an operator forget the groups whose rows stopped coming, as {@link Forgetting} says. A row that comes later than its
 * group lasts ends the group before it is added, in whatever batch it comes; the others end when the watermark says so,
 * with the epoch.
 */
public final class ForgettingOperator implements Replay {

    private final Forgetful inner;
    private final Schema input;
    private final List<Integer> keyColumns;
    private final Forgetting rule;
    private final Owned owned = new Owned();
    private final OperatorMetrics innerMetrics = new OperatorMetrics();
    private OperatorContext context;
    private KeyFinder finder;
    private LastSeen seen;
    private long watermark = NO_WATERMARK;

    /** @param keyColumns the keys of the inner operator's groups, which are input columns; in its order */
    public ForgettingOperator(Forgetful inner, Schema input, List<Integer> keyColumns, Forgetting rule) {
        this.inner = inner;
        this.input = input;
        this.keyColumns = List.copyOf(keyColumns);
        this.rule = rule;
    }

    @Override
    public void open(OperatorContext newContext) {
        context = newContext;
        owned.own(inner);
        inner.open(new InnerContext(newContext, innerMetrics));
        KeyLayout keys = new KeyLayout(input, keyColumns);
        finder = new KeyFinder(input, keys, context.allocator());
        owned.own(finder);
        seen = new LastSeen(keys, rule.ttlMicros(), context.allocator());
        owned.own(seen);
    }

    @Override
    public void process(int port, Batch batch, Output output) {
        int count = batch.rowCount();
        long[] entries = finder.find(seen.table(), batch, Rows.all(count), count);
        long times = batch.dataAddress(rule.timeColumn());
        long validity = batch.validityAddress(rule.timeColumn());
        int passed = 0;
        for (int row = 0; row < count; row++) {
            if (validity != 0 && !Memory.getBit(validity, row)) {
                continue; // who has no time renews nothing
            }
            long micros = Memory.getLong(times + 8L * row);
            long last = seen.time(entries[row]);
            if (last != LastSeen.NEVER && micros - last > rule.ttlMicros()) {
                pass(port, batch, passed, row, output);
                passed = row;
                inner.forget(entries[row]);
                context.metrics().addForgotten(1);
            }
            seen.see(entries[row], micros);
        }
        if (passed == 0) {
            inner.process(port, batch, output);
        } else {
            pass(port, batch, passed, count, output);
            batch.close();
        }
        reportSize();
    }

    /** Passes a copy of some rows on; the batch stays this operator's. */
    private void pass(int port, Batch batch, int from, int to, Output output) {
        if (from == to) {
            return;
        }
        try (RowBuffer rows = new RowBuffer(input, to - from, context.allocator())) {
            rows.append(batch, Rows.all(to), from, to);
            inner.process(port, rows.take(), output);
        }
    }

    @Override
    public boolean onWatermark(long watermarkMicros, Output output) {
        if (watermarkMicros < END_OF_INPUT - 1) { // who ended forgets nothing any more
            watermark = watermarkMicros;
        }
        return inner.onWatermark(watermarkMicros, output);
    }

    @Override
    public long passedWatermark(long watermarkMicros) {
        return inner.passedWatermark(watermarkMicros);
    }

    @Override
    public boolean onEpochEnd(long epoch, Output output) {
        if (watermark != NO_WATERMARK) {
            context.metrics().addForgotten(seen.takeUntil(watermark, inner::forget));
        }
        boolean all = inner.onEpochEnd(epoch, output);
        reportSize();
        return all;
    }

    private void reportSize() {
        context.metrics().stateSize(innerMetrics.stateBytes() + seen.bytes(), innerMetrics.stateEntries());
    }

    @Override
    public void snapshot(StateWriter writer) throws IOException {
        inner.snapshot(writer);
        writer.keyGroup(StateFormats.LAST_SEEN, -1).writeLong(watermark);
        KeyGroupPart.of(seen.table(), seen::write).write(writer, StateFormats.LAST_SEEN);
    }

    @Override
    public void restore(StateReader reader) {
        inner.restore(reader);
        reader.keyGroups(StateFormats.LAST_SEEN, (in, group) -> {
            if (group == -1) {
                watermark = Math.max(watermark, in.readLong());
            } else {
                seen.read(in);
            }
        });
        reportSize();
    }

    @Override
    public void replay() {
        if (inner instanceof Replay told) {
            told.replay();
        }
    }

    @Override
    public void close() {
        owned.close();
    }
}
