package dev.millrace.engine.runtime;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.batch.Closing;
import dev.millrace.engine.operators.FiniteRun;
import dev.millrace.engine.relation.RelationRegistry;
import dev.millrace.engine.task.MemoryLimits;
import dev.millrace.engine.task.MemoryScope;
import dev.millrace.engine.task.Resources;
import dev.millrace.expressions.constant.ConstantRows;
import dev.millrace.operator.Operator;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.time.Clock;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;

/** Runs plans that come to an end, over what relations keep, and knows those whose results are open. Safe on any thread. */
final class PullQueries implements AutoCloseable {
    private final Resources resources;
    private final RelationRegistry relations;
    private final EngineOptions options;
    private final Function<PlanNode, Operator> operators;

    @GuardedBy("results") private final Set<LocalResult> results = new HashSet<>();

    PullQueries(
            Resources resources,
            RelationRegistry relations,
            EngineOptions options,
            Function<PlanNode, Operator> operators) {
        this.resources = resources;
        this.relations = relations;
        this.options = options;
        this.operators = operators;
    }

    /**
     * See {@link Engine#run(PlanNode, long, long)}.
     *
     * @param awaitBegin waits until what the plan reads has an answer
     */
    Result run(PlanNode plan, long nowMicros, long mostBytes, Consumer<Set<PlanNode.Scan>> awaitBegin) {
        if (plan instanceof PlanNode.Values values && values.rows().size() <= resources.batchRows()) {
            return new ConstantResult(
                    plan.schema(),
                    ConstantRows.of(
                            values, resources.batchRows(), resources.memory().root()));
        }
        LocalResult result = new LocalResult(plan.schema(), options.channelHighBytes(), this::free);
        MemoryScope scope = resources.memory().newScope("a SELECT", MemoryLimits.NONE.withMostBytes(mostBytes));
        scope.mayGiveWay(result::giveWay);
        QueryTasks tasks = new QueryTasks(
                () -> "select",
                0,
                scope,
                resources,
                Clock.standingAt(nowMicros, resources.clock()),
                Optional.of(result.failedRows()),
                result);
        result.attach(tasks, FiniteRun.mayRetract(plan));
        synchronized (results) {
            results.add(result);
        }
        try {
            awaitBegin.accept(LocalEngine.scans(plan));
            new TaskBuilder(
                            tasks,
                            plan,
                            relations,
                            options.workers(),
                            false,
                            operators,
                            result,
                            Optional.empty(),
                            leaf -> false)
                    .build();
            tasks.start();
            return result;
        } catch (RuntimeException | Error e) {
            result.close();
            throw QueryTasks.explain(e);
        }
    }

    private void free(LocalResult result) {
        synchronized (results) {
            results.remove(result);
        }
        QueryTasks tasks = result.tasks();
        tasks.late().close(); // nobody asks
        tasks.stop(() -> Closing.all(List.<AutoCloseable>of(
                result::free, tasks, () -> resources.memory().release(tasks.memory()))));
    }

    /** Ends those that are open, as the engine closes. */
    @Override
    public void close() {
        List<AutoCloseable> all = new ArrayList<>();
        synchronized (results) {
            results.forEach(result -> all.add(() -> {
                result.shutDown();
                result.close();
            }));
        }
        Closing.all(all);
    }
}
