package dev.millrace.server.query;

import dev.millrace.batch.Batch;
import dev.millrace.engine.calc.DirectCalc;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.server.planning.UserCalls;
import dev.millrace.server.result.FixedRows;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.transaction.OwnRows;
import dev.millrace.sql.statement.Query;
import dev.millrace.time.Clock;
import dev.millrace.type.Schema;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Reads a query over what is at hand, and nothing else, as often as is asked for: it is planned once, and what only computes is compiled
 * once and starts no task. Belongs to the session's thread.
 */
final class OverHand implements Recursions.Reading {
    static final int MOST_COMPUTED_DIRECTLY = 4096; // rows; a task for more can be cancelled

    /** Runs a plan with rows in the place of relations. */
    interface InPlace {
        /** @param fill puts the rows there, which are taken over */
        StatementResult.Rows run(PlanNode plan, Schema schema, Map<String, OwnRows> shown, Runnable fill);
    }

    private final Query query;
    private final PlanNode plan;
    private final Map<String, Batch> atHand;
    private final BufferAllocator allocator;
    private final Clock clock;
    private final InPlace inPlace;
    private final boolean direct;
    private Optional<DirectCalc.KeptPlan> kept = Optional.empty();

    OverHand(
            Query query,
            PlanNode plan,
            Map<String, Batch> atHand,
            BufferAllocator allocator,
            Clock clock,
            InPlace inPlace) {
        this.query = query;
        this.plan = plan;
        this.atHand = atHand;
        this.allocator = allocator;
        this.clock = clock;
        this.inPlace = inPlace;
        this.direct = !UserCalls.isIn(plan);
    }

    @Override
    public StatementResult.Rows rows() {
        Optional<Batch> only = atHand.entrySet().stream()
                .filter(named -> direct && DirectCalc.suits(plan, named.getKey()))
                .map(Map.Entry::getValue)
                .filter(rows -> rows.rowCount() <= MOST_COMPUTED_DIRECTLY)
                .findFirst();
        if (only.isPresent()) {
            return FixedRows.of(query.schema(), computed(only.get()));
        }
        Map<String, OwnRows> shown = new LinkedHashMap<>();
        return inPlace.run(
                plan, query.schema(), shown, () -> atHand.forEach((name, rows) -> shown.put(name, new OwnRows(rows))));
    }

    private Optional<Batch> computed(Batch rows) {
        kept = kept.or(() -> DirectCalc.KeptPlan.of(plan, allocator, clock));
        return kept.isPresent() ? kept.get().compute(rows) : DirectCalc.compute(plan, rows, allocator, clock);
    }

    @Override
    public void close() {
        kept.ifPresent(DirectCalc.KeptPlan::close);
    }
}
