package dev.millrace.engine.runtime;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.operators.FiniteRun;
import dev.millrace.engine.relation.RelationRegistry;
import dev.millrace.engine.statistic.LatencyHistogram;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.engine.statistic.QueryStatistics;
import dev.millrace.engine.statistic.SubscriberStatistics;
import dev.millrace.engine.task.MemoryLimits;
import dev.millrace.engine.task.MemoryScope;
import dev.millrace.engine.task.Resources;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.constant.ConstantRows;
import dev.millrace.operator.Operator;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.time.Clock;
import dev.millrace.type.Schema;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
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

    /** A query whose rows are known: no task has to run for it. */
    private static final class ConstantResult implements Result {
        private final Schema schema;
        private final Queue<Batch> batches;
        private final long rows;
        private volatile boolean cancelled; // written by any thread, read by the reader

        /** @param batches taken over */
        ConstantResult(Schema schema, List<Batch> batches) {
            this.schema = schema;
            this.batches = new ArrayDeque<>(batches);
            this.rows = batches.stream().mapToLong(Batch::rowCount).sum();
        }

        @Override
        public Schema schema() {
            return schema;
        }

        @Override
        public Optional<Batch> next() {
            if (cancelled) {
                throw MillraceException.user(SqlState.QUERY_CANCELED, "canceling statement due to user request");
            }
            return Optional.ofNullable(batches.poll());
        }

        @Override
        public double progress() {
            return 1;
        }

        @Override
        public long rowsRead() {
            return 0;
        }

        @Override
        public void cancel() {
            cancelled = true;
        }

        @Override
        public QueryStatistics statistics() {
            return new QueryStatistics(
                    "select",
                    QueryState.FINISHED,
                    0,
                    rows,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    LatencyHistogram.EMPTY,
                    SubscriberStatistics.NONE,
                    List.of(),
                    List.of(),
                    List.of(),
                    List.of());
        }

        @Override
        public void close() {
            Closing.all(batches);
            batches.clear();
        }
    }
}
