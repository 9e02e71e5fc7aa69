package dev.millrace.engine.runtime;

import dev.millrace.engine.epoch.Journal;
import dev.millrace.engine.heap.HeapBudget;
import dev.millrace.operator.Operator;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.scheduler.SteppedWorkers;
import dev.millrace.time.Clock;
import java.util.function.Function;

/** The engine without threads. */
final class SteppedLocalEngine extends LocalEngine implements SteppedEngine {
    private final SteppedWorkers workers;

    SteppedLocalEngine(
            EngineOptions options, Clock clock, SteppedWorkers workers, Function<PlanNode, Operator> operators) {
        this(options, clock, workers, operators, Journal.NONE);
    }

    SteppedLocalEngine(
            EngineOptions options,
            Clock clock,
            SteppedWorkers workers,
            Function<PlanNode, Operator> operators,
            Journal journal) {
        super(options, clock, workers, Runnable::run, operators, journal, HeapBudget.ofProcess());
        this.workers = workers;
    }

    @Override
    public boolean step() {
        return workers.step();
    }

    @Override
    public long nextTimerNanos() {
        return workers.nextTimerNanos();
    }
}
