package dev.millrace.engine.runtime;

import dev.millrace.engine.checkpoint.Barrier;
import dev.millrace.engine.checkpoint.QueryMeta;
import dev.millrace.engine.checkpoint.StateSteps;
import dev.millrace.engine.graph.PlanPrint;
import dev.millrace.engine.runtime.QueryTasks.PlacedStage;
import dev.millrace.engine.sink.SinkCheckpoint;
import dev.millrace.engine.statistic.QueryLife;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.engine.task.FailedRows;
import dev.millrace.engine.task.OperatorStage;
import dev.millrace.engine.task.PipelineTask;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.node.PlanNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * A query's part in checkpoints: what is expected of it, its answer, and what its tasks cannot write by themselves because they ended.
 * Tasks that run write at the barrier, see {@link QueryTasks#save}. By the thread that makes the checkpoint, but for {@link #keepFor}.
 */
final class QueryCheckpoint {
    private final Supplier<PlanNode> plan;
    private final int parallelism;
    private final QueryLife life;
    private final QueryTasks tasks;
    private final QueryOutput output;
    private final QueryEpochs epochs;
    private final FailedRows failedRows;
    private final SinkCheckpoint sinks;

    @SuppressWarnings("NullAway.Init")
    private QueryState expected; // when a checkpoint was cut

    private boolean endedFirst; // before it was cut
    private volatile long
            commitsAtCut; // of sinks; written by who publishes that epoch, read by who makes the checkpoint

    QueryCheckpoint(
            Supplier<PlanNode> plan,
            int parallelism,
            QueryLife life,
            QueryTasks tasks,
            QueryOutput output,
            QueryEpochs epochs,
            FailedRows failedRows,
            SinkCheckpoint sinks) {
        this.plan = plan;
        this.parallelism = parallelism;
        this.life = life;
        this.tasks = tasks;
        this.output = output;
        this.epochs = epochs;
        this.failedRows = failedRows;
        this.sinks = sinks;
    }

    /** The part of its sink. */
    SinkCheckpoint sinks() {
        return sinks;
    }

    /** The query is to be in a checkpoint, of which nothing has come yet. While nobody alters or pauses it. */
    void expect(Barrier barrier) {
        expected = life.state();
        endedFirst = expected == QueryState.FINISHED;
        tasks.waitsForShared = false;
        tasks.lostState = false;
        if (expected == QueryState.RUNNING || expected == QueryState.PAUSED) {
            tasks.tasks.forEach(barrier::expect);
        }
        if (expected != QueryState.DROPPED) {
            barrier.expect(this);
            sinks.expect(barrier);
        }
    }

    /** Pins the answer that a checkpoint is to have, which is current now. By who publishes it, or while nothing is published. */
    void keepFor(Barrier barrier) {
        if (barrier.begin(this)) {
            try {
                commitsAtCut = output.sinks().commitsBegun();
                SavedAnswer.keep(tasks.name(), output, failedRows, barrier);
                sinks.prepareFor(barrier); // if no task had rows of that epoch
                barrier.done(0);
            } catch (IOException | RuntimeException | Error e) {
                barrier.failed(e);
            }
        }
    }

    /** Looks after what a checkpoint is not to wait for: what failed, was dropped, or came to its end before the cut. */
    void settle(Barrier barrier) {
        QueryState now = life.state();
        if (now == QueryState.DROPPED) {
            tasks.tasks.forEach(barrier::forget);
            barrier.forget(this);
            barrier.forget(sinks);
        } else if (now == QueryState.FAILED) {
            tasks.tasks.forEach(barrier::forget);
            epochs.exclusively(() -> keepFor(barrier));
        } else if (now == QueryState.FINISHED || epochs.isDrained()) {
            epochs.exclusively(() -> {
                endedFirst |= barrier.toCome().contains(this);
                keepFor(barrier);
            });
        }
        if (now != QueryState.DROPPED && now != QueryState.FAILED) {
            saveDone(barrier);
        }
    }

    /** Whether its sinks have what came before the cut of the checkpoint in which it is expected, or it has none that ever will. */
    boolean sinksHaveAll() {
        QueryState now = life.state();
        return now == QueryState.DROPPED
                || now == QueryState.FAILED
                || output.sinks().hasCommitted(commitsAtCut);
    }

    /** Is about to be resumed: what it was at the cut would not be known any more. */
    void resumed(Barrier barrier) {
        if (barrier.toCome().stream().anyMatch(tasks.tasks::contains)) {
            barrier.fail(changedMeanwhile(tasks.name(), "resumed"));
        }
    }

    /** Why a checkpoint failed that cannot have what a query was when it was cut. */
    static MillraceException changedMeanwhile(String name, String how) {
        return MillraceException.user(
                        SqlState.SERIALIZATION_FAILURE,
                        "query \"" + name + "\" was " + how + " while the checkpoint was made")
                .withHint("try again");
    }

    /** Tasks that ended before the cut, or are paused, write nothing by themselves. */
    private void saveDone(Barrier barrier) {
        synchronized (tasks.freeing) {
            for (PipelineTask task : tasks.tasks) {
                if (endedFirst) {
                    barrier.forget(task);
                } else if (tasks.isClosed()) {
                    if (barrier.toCome().contains(task)) {
                        barrier.fail(MillraceException.user(
                                        SqlState.SERIALIZATION_FAILURE,
                                        "query \"" + tasks.name() + "\" came to its end while the checkpoint was cut")
                                .withHint("try again"));
                    }
                } else if (task.isDone()) {
                    task.whileStill(() -> tasks.save(task, barrier));
                } else if (life.state() == QueryState.PAUSED) {
                    task.whileStill(() -> {
                        if (task.isPausedPast(tasks::isCut)) {
                            tasks.save(task, barrier);
                        }
                    });
                }
            }
        }
    }

    /**
     * What a checkpoint in which it was expected, and which is complete, says of it; nothing of one that was dropped.
     *
     * @param number of the checkpoint
     */
    Optional<QueryMeta> meta(long number) {
        QueryState now = life.state();
        if (now == QueryState.DROPPED || expected == QueryState.DROPPED) {
            return Optional.empty();
        }
        if (tasks.lostState && now != QueryState.FAILED) {
            throw changedMeanwhile(tasks.name(), "stopped");
        }
        QueryMeta.Kind kind = endedFirst
                ? QueryMeta.Kind.FINISHED
                : now == QueryState.FAILED
                        ? QueryMeta.Kind.FAILED
                        : expected == QueryState.PAUSED ? QueryMeta.Kind.PAUSED : QueryMeta.Kind.RUNNING;
        boolean lacksRows = kind == QueryMeta.Kind.PAUSED && tasks.waitsForShared;
        boolean lacksSink = kind != QueryMeta.Kind.FAILED && !sinksHaveAll();
        kind = lacksRows || lacksSink ? QueryMeta.Kind.ANEW : kind;
        return Optional.of(new QueryMeta(
                tasks.name(),
                PlanPrint.of(plan.get()),
                kind,
                parallelism,
                tasks.tasks.size(),
                lacksRows
                        ? "it was paused, and joins rows where they are kept"
                        : lacksSink ? "a sink of it had not taken all rows when the checkpoint was made" : "",
                List.copyOf(tasks.formats),
                kind == QueryMeta.Kind.FAILED ? life.failure() : Optional.empty(),
                kind == QueryMeta.Kind.RUNNING || kind == QueryMeta.Kind.PAUSED ? states(number) : List.of()));
    }

    private List<StateSteps> states(long number) {
        List<StateSteps> states = new ArrayList<>();
        for (PlacedStage placed : tasks.stages) {
            if (placed.stage() instanceof OperatorStage) {
                if (!placed.chain().isOf(number)) {
                    throw MillraceException.internal(
                            "a checkpoint has not all state of query \"" + tasks.name() + "\"");
                }
                states.add(new StateSteps(
                        placed.node().id(), placed.instance(), placed.chain().steps()));
            }
        }
        return states;
    }
}
