package dev.millrace.engine.forget;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.Owned;
import dev.millrace.engine.aggregate.KeyFinder;
import dev.millrace.engine.checkpoint.StateFormats;
import dev.millrace.engine.rows.RowBuffer;
import dev.millrace.engine.state.Forgetful;
import dev.millrace.engine.state.KeyGroupPart;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.Rows;
import dev.millrace.engine.state.frozen.ChangedEntries;
import dev.millrace.memory.Memory;
import dev.millrace.operator.Freezing;
import dev.millrace.operator.FrozenState;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.OperatorMetrics;
import dev.millrace.operator.Output;
import dev.millrace.operator.Replay;
import dev.millrace.operator.StateFormat;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.node.Forgetting;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/**
 * Has an operator forget the groups whose rows stopped coming, as {@link Forgetting} says. A row that comes later than its
 * group lasts ends the group before it is added, in whatever batch it comes; the others end when the watermark says so,
 * with the epoch.
 */
public final class ForgettingOperator implements Replay, Freezing {

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
    private Optional<FrozenState> frozen = Optional.empty();

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

    /** What the inner operator has, and when its groups were seen: all of both, or what changed of both. */
    @Override
    public Optional<FrozenState> freeze(Kept kept) {
        if (!(inner instanceof Freezing freezing)) {
            return Optional.empty();
        }
        ChangedEntries.Further times = seen.changes();
        Optional<FrozenState> groups = freezing.freeze(times.isKnown() ? kept : Kept.NOTHING);
        if (groups.isEmpty()) {
            return Optional.empty();
        }
        if (kept == Kept.ALL) {
            times.unmark(false);
        }
        boolean isWhole = groups.get().isWhole();
        if (isWhole) {
            times.unmark(true);
        } else {
            times.movePending();
        }
        frozen = Optional.of(new FrozenTimes(groups.get(), seen.freeze(isWhole), watermark));
        return frozen;
    }

    /** The state of the inner operator and the times of its groups, some of each at a time. */
    private static final class FrozenTimes implements FrozenState {
        private final FrozenState groups;
        private final FrozenState times;
        private final long watermark;
        private boolean isBegun;
        private boolean areGroupsWritten;
        private boolean areTimesWritten;

        FrozenTimes(FrozenState groups, FrozenState times, long watermark) {
            this.groups = groups;
            this.times = times;
            this.watermark = watermark;
        }

        @Override
        public boolean isWhole() {
            return groups.isWhole();
        }

        @Override
        public boolean writeMore(StateWriter writer) throws IOException {
            if (!isBegun) {
                StateFormat format = isWhole() ? StateFormats.LAST_SEEN : StateFormats.LAST_SEEN_SINCE;
                writer.keyGroup(format, -1).writeLong(watermark);
                isBegun = true;
            }
            areGroupsWritten = areGroupsWritten || groups.writeMore(writer);
            areTimesWritten = areTimesWritten || times.writeMore(writer);
            return areGroupsWritten && areTimesWritten;
        }

        @Override
        public void close() {
            Closing.all(List.of(groups, times));
        }
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
        reader.keyGroups(StateFormats.LAST_SEEN_SINCE, (in, group) -> {
            if (group == -1) {
                watermark = Math.max(watermark, in.readLong());
            } else {
                seen.readChanges(in);
            }
        });
        seen.readAll();
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
        frozen.ifPresent(FrozenState::close);
        owned.close();
    }
}
