package dev.millrace.server.lookup;

import dev.millrace.batch.Batch;
import dev.millrace.engine.view.ViewLookup;
import dev.millrace.time.Clock;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/** A {@link KeyPlan} with what was made to run it, which is kept for other values. Belongs to the session's thread. */
public final class KeyQuery implements AutoCloseable {
    private final KeyPlan plan;
    private final Optional<List<Integer>> columns;
    private final boolean isShort;
    private Optional<ViewLookup> lookup = Optional.empty();
    private Optional<PreparedCalc> rest = Optional.empty();
    private Optional<PreparedCalc> whole = Optional.empty();

    public KeyQuery(KeyPlan plan) {
        this.plan = plan;
        this.columns = plan.columns();
        this.isShort = plan.isShort();
    }

    public KeyPlan plan() {
        return plan;
    }

    /** As {@link KeyPlan#isShort}. */
    public boolean isShort() {
        return isShort;
    }

    /** As {@link KeyPlan#columns}. */
    Optional<List<Integer>> columns() {
        return columns;
    }

    /** The way to the rows that was found last, if it was. */
    public Optional<ViewLookup> lookup() {
        return lookup;
    }

    public void lookup(Optional<ViewLookup> found) {
        lookup = found;
    }

    /** What is left to do with rows that were found. */
    Optional<Batch> rest(Batch rows, GivenValues values, BufferAllocator allocator, Clock clock) {
        if (rest.isEmpty()) {
            rest = Optional.of(new PreparedCalc(plan.rest().orElseThrow(), allocator, clock));
        }
        return rest.get().compute(rows, values);
    }

    /** All that the query does with rows. */
    public Optional<Batch> whole(Batch rows, GivenValues values, BufferAllocator allocator, Clock clock) {
        if (whole.isEmpty()) {
            whole = Optional.of(new PreparedCalc(plan.whole(), allocator, clock));
        }
        return whole.get().compute(rows, values);
    }

    @Override
    public void close() {
        rest.ifPresent(PreparedCalc::close);
        whole.ifPresent(PreparedCalc::close);
        rest = Optional.empty();
        whole = Optional.empty();
    }
}
