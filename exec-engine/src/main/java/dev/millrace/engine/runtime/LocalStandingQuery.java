package dev.millrace.engine.runtime;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.alteration.Alteration;
import dev.millrace.engine.alteration.Rescaling;
import dev.millrace.engine.channel.Channel;
import dev.millrace.engine.channel.Item;
import dev.millrace.engine.checkpoint.Barrier;
import dev.millrace.engine.checkpoint.QueryMeta;
import dev.millrace.engine.epoch.EpochDomain;
import dev.millrace.engine.epoch.EpochInput;
import dev.millrace.engine.epoch.EpochOutput;
import dev.millrace.engine.epoch.Epochs;
import dev.millrace.engine.heap.HeapBudget;
import dev.millrace.engine.relation.Scannable;
import dev.millrace.engine.runtime.QuerySnapshot.Part;
import dev.millrace.engine.runtime.QueryTasks.FeedScan;
import dev.millrace.engine.runtime.QueryTasks.PlacedSource;
import dev.millrace.engine.runtime.QueryTasks.PlacedStage;
import dev.millrace.engine.runtime.QueryTasks.SharedJoin;
import dev.millrace.engine.statistic.LateRow;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.engine.statistic.QueryStatistics;
import dev.millrace.engine.subscription.ChangeHistory;
import dev.millrace.engine.subscription.LocalSubscription;
import dev.millrace.engine.subscription.Subscription;
import dev.millrace.engine.subscription.SubscriptionOptions;
import dev.millrace.engine.task.FailedRows;
import dev.millrace.engine.task.MemoryScope;
import dev.millrace.engine.task.OperatorStage;
import dev.millrace.engine.task.PipelineTask;
import dev.millrace.engine.task.Resources;
import dev.millrace.engine.view.VersionedView;
import dev.millrace.engine.view.View;
import dev.millrace.engine.view.ViewScan;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.user.UserCode;
import dev.millrace.operator.Replay;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.scheduler.ScheduledTask;
import dev.millrace.type.Schema;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Predicate;

/**
 * A standing query's life around its tasks and its output.
 *
 * <p>Tasks that fail or end are freed by a thread that calls sinks, by way of the timer thread: a worker cannot wait for
 * other workers to leave them, and a sink may take its time to close.
 *
 * <p>Long because it has all that may happen to a query, from any thread, and the order of each step matters to the others.
 */
final class LocalStandingQuery implements StandingQuery, QueryTasks.Listener {
    private static final System.Logger LOG = System.getLogger(LocalStandingQuery.class.getPackageName());

    private final String name;
    private final PlanNode plan;
    private final LocalEngine engine;
    private final Resources resources;
    private final FailedRows failedRows = new FailedRows(true);
    private final QueryTasks tasks;
    private Predicate<PlanNode> isSeen; // of a leaf: whether its rows were seen before the snapshot
    private final QueryOutput output;
    private final Object freeing = new Object(); // held while tasks are stopped; never together with this
    private final List<EpochInput> inputs = new ArrayList<>();
    private Optional<EpochInput> relay = Optional.empty(); // while paused
    private volatile QueryState state = QueryState.RUNNING; // written under the lock, read by all
    private volatile Optional<MillraceException> failure = Optional.empty(); // likewise
    private OptionalLong ownEpoch = OptionalLong.empty(); // the first, if nobody else has it; as firstEpoch
    private volatile long firstEpoch = Epochs.NONE; // written by whoever starts the query, read by all
    private volatile boolean begun; // written by whoever finds out, read by all
    private final int parallelism;

    @SuppressWarnings("NullAway.Init")
    private QueryState expected; // when a checkpoint was cut; by the thread that makes it

    private boolean endedFirst; // before the checkpoint was cut; likewise
    private volatile Optional<HeapBudget.Taken> taken = Optional.empty(); // set once, by who starts it, when it runs

    /** @param workers of the engine */
    LocalStandingQuery(
            String name, PlanNode plan, QueryOptions options, int workers, LocalEngine engine, Resources resources) {
        this.name = name;
        this.plan = plan;
        this.parallelism = options.restore()
                .filter(saved -> !Rescaling.isExact(plan))
                .map(SavedQuery::tasks)
                .orElse(workers);
        this.engine = engine;
        this.resources = resources;
        MemoryScope memory = resources.memory().newScope("query \"" + name + "\"", options.mostBytes());
        memory.mayGiveWay(this::giveWay);
        this.tasks = new QueryTasks(
                name,
                options.priority(),
                memory,
                resources,
                resources.clock(),
                options.materialized() && options.sinks().isEmpty() ? Optional.of(failedRows) : Optional.empty(),
                this);
        tasks.limitRows(options.mostRowNanos());
        boolean isRestored = options.restore().isPresent();
        this.isSeen = scan -> isRestored;
        Optional<VersionedView> view = options.materialized()
                ? Optional.of(new VersionedView(
                        plan.schema(), resources.batchRows(), tasks.memory().newChild("view")))
                : Optional.empty();
        this.output = new QueryOutput(
                name,
                view,
                new ChangeHistory(plan.schema(), tasks.memory().newChildForSpare("history")),
                options.sinks(),
                resources.sinkThreads(),
                resources.sinkQueueBytes(),
                options.mostSinkNanos(),
                resources.workers()::schedule,
                resources.clock(),
                resources.signal(),
                cause -> failed(QueryTasks.explain(cause)),
                this::finished);
        options.restore().ifPresent(saved -> goOnWith(saved, view));
    }

    private void goOnWith(SavedQuery saved, Optional<VersionedView> view) {
        try {
            view.ifPresent(saved::restoreAnswer);
        } catch (RuntimeException | Error e) {
            view.ifPresent(VersionedView::close);
            resources.memory().release(tasks.memory());
            throw QueryTasks.explain(e);
        }
        saved.restoreFailures(failedRows);
        output.goOnAfter(saved.epoch(), saved.micros());
    }

    QueryTasks tasks() {
        return tasks;
    }

    // ---- in checkpoints --------------------------------------------------------------------------------------------

    /** It is to be in a checkpoint, of which nothing has come yet. While nobody alters or pauses it. */
    void expect(Barrier barrier) {
        expected = state;
        endedFirst = state == QueryState.FINISHED;
        if (state == QueryState.RUNNING) {
            tasks.tasks.forEach(barrier::expect);
        }
        if (state != QueryState.DROPPED && state != QueryState.PAUSED) {
            barrier.expect(this);
        }
    }

    /** Pins the answer that a checkpoint is to have, which is current now. */
    private void keepFor(Barrier barrier) {
        if (barrier.begin(this)) {
            try {
                barrier.later(new SavedAnswer(name, output, failedRows));
                barrier.done(0);
            } catch (IOException | RuntimeException | Error e) {
                barrier.failed(e);
            }
        }
    }

    /** Looks after what a checkpoint is not to wait for: what failed, was dropped, or came to its end before the cut. */
    void settle(Barrier barrier) {
        QueryState now = state;
        if (now == QueryState.DROPPED) {
            tasks.tasks.forEach(barrier::forget);
            barrier.forget(this);
        } else if (now == QueryState.FAILED) {
            tasks.tasks.forEach(barrier::forget);
            exclusively(() -> keepFor(barrier));
        } else if (now == QueryState.FINISHED || resources.epochs().isDrained(output.epochs())) {
            exclusively(() -> {
                endedFirst |= barrier.toCome().contains(this);
                keepFor(barrier);
            });
        }
        if (now != QueryState.DROPPED && now != QueryState.FAILED) {
            saveDone(barrier);
        }
    }

    /** Tasks that ended before the cut write nothing by themselves. */
    private void saveDone(Barrier barrier) {
        synchronized (freeing) {
            for (PipelineTask task : tasks.tasks) {
                if (endedFirst) {
                    barrier.forget(task);
                } else if (tasks.isClosed()) {
                    if (barrier.toCome().contains(task)) {
                        barrier.fail(MillraceException.user(
                                        SqlState.OBJECT_IN_USE,
                                        "query \"" + name + "\" came to its end while the checkpoint was cut")
                                .withHint("try again"));
                    }
                } else if (task.isDone()) {
                    task.whileStill(() -> tasks.save(task, barrier));
                }
            }
        }
    }

    /** What a checkpoint in which it was expected, and which is complete, says of it; nothing of one that was dropped. */
    Optional<QueryMeta> meta() {
        if (state == QueryState.DROPPED || expected == QueryState.DROPPED) {
            return Optional.empty();
        }
        QueryMeta.Kind kind = expected == QueryState.PAUSED
                ? QueryMeta.Kind.ANEW
                : endedFirst
                        ? QueryMeta.Kind.FINISHED
                        : state == QueryState.FAILED ? QueryMeta.Kind.FAILED : QueryMeta.Kind.RUNNING;
        return Optional.of(new QueryMeta(
                name,
                PlanPrint.of(plan),
                kind,
                parallelism,
                tasks.tasks.size(),
                kind == QueryMeta.Kind.ANEW ? "it was paused" : "",
                kind == QueryMeta.Kind.FAILED ? failure : Optional.empty()));
    }

    /** How many tasks work side by side where they can. */
    int parallelism() {
        return parallelism;
    }

    /** Of the Java heap. */
    void took(HeapBudget.Taken heap) {
        taken = Optional.of(heap);
    }

    Optional<HeapBudget.Taken> taken() {
        return taken;
    }

    /** For a query that had finished: its answer is all there is of it. */
    void endAtOnce() {
        output.outlets(1).get(0).end();
    }

    QueryOutput output() {
        return output;
    }

    Scannable.Feed feed() {
        return new Scannable.Feed(
                plan.schema(),
                output.fanout(),
                this::domain,
                Optional.of(output.epochs()),
                output.view(),
                tasks::wakeAll,
                failedRows::failure);
    }

    EpochDomain domain() {
        return resources.epochs().domainOf(output.epochs());
    }

    /** Whether the states it began with have the rows of a leaf of its plan. */
    boolean isSeen(PlanNode leaf) {
        return isSeen.test(leaf);
    }

    /** Is to go on with part of another query's state: before its tasks are built. */
    void goOnWith(Alteration alteration) {
        isSeen = alteration::isKept;
    }

    /** Has what is kept tell its answer: before it is attached. */
    void replay(Alteration alteration) {
        for (PlacedStage placed : tasks.stages) {
            if (placed.stage() instanceof OperatorStage stage
                    && alteration.isRetold(placed.node().plan)
                    && stage.operator() instanceof Replay told) {
                told.replay();
            }
        }
    }

    /** Takes the place of another query for its subscribers, who see the difference. While both are at rest. */
    void takeOver(LocalStandingQuery other) {
        List<LocalSubscription> moved = other.output.releaseSubscriptions();
        boolean same = schema().types().equals(other.schema().types());
        if (moved.isEmpty() || !same) {
            Optional<MillraceException> why = Optional.of(MillraceException.user(
                            SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                            "\"" + name + "\" was altered and has other columns now")
                    .withHint("subscribe again"));
            moved.forEach(subscription -> subscription.end(why));
            return;
        }
        List<Batch> difference = materialized() && other.materialized() ? since(other) : List.of();
        try {
            for (LocalSubscription subscription : moved) {
                subscription.deliver(output.publishedEpoch(), resources.clock().epochMicros(), difference, false);
                subscription.moveTo(tasks::wakeAll, () -> output.remove(subscription));
                output.add(subscription);
            }
        } finally {
            Closing.all(difference);
        }
    }

    /** How this answer differs from another's. */
    private List<Batch> since(LocalStandingQuery other) {
        List<Batch> now = output.view().orElseThrow().snapshot(tasks.memory().own());
        List<Batch> before =
                other.output.view().orElseThrow().snapshot(tasks.memory().own());
        return View.difference(
                schema(), now, before, resources.batchRows(), tasks.memory().own());
    }

    /** Joins a domain that is new, or at rest, or between epochs where the query reads no rows that are kept. */
    void attach(EpochDomain domain) {
        Epochs epochs = resources.epochs();
        output.attach(epochs.addOutput(domain, publisher(), tasks::wakeAll), tasks::wakeAll);
        for (int i = 0; i < tasks.tasks.size(); i++) {
            ScheduledTask scheduled = tasks.scheduled.get(i);
            for (PlacedSource source : tasks.sources) {
                if (tasks.tasks.get(i).inputs().contains(source.input())) {
                    EpochInput input = epochs.addInput(domain, scheduled::wake);
                    inputs.add(input);
                    source.input().start(Optional.of(input), scheduled::wake);
                }
            }
        }
        if (inputs.isEmpty()) {
            ownEpoch = epochs.beginAlone(output.epochs());
            ownEpoch.ifPresent(output.fanout()::beginWith);
        }
        for (SharedJoin join : tasks.sharedJoins) {
            join.operator().begin();
            if (join.operator().isAllShared() && !join.scans().stream().allMatch(this::isSeen)) {
                join.operator().replay();
            }
        }
        for (FeedScan scan : tasks.feeds) {
            boolean withRows = !isSeen(scan.scan()) && !tasks.isShared(scan.scan());
            List<Item> first = TaskBuilder.first(scan.feed(), tasks, withRows);
            ownEpoch.ifPresent(epoch -> first.add(new Item.EpochEnd(epoch)));
            scan.input().begin(first);
            if (!scan.feed().fanout().add(scan.channel())) {
                if (ownEpoch.isPresent()) {
                    scan.input().begin(List.of(Item.END));
                } else {
                    inputs.add(endAfterOneEpoch(scan.channel(), domain));
                }
            }
        }
    }

    /** For a relation that came to its end while this query was built: nobody else ends an epoch on the channel. */
    private EpochInput endAfterOneEpoch(Channel channel, EpochDomain domain) {
        EpochInput[] self = new EpochInput[1];
        self[0] = resources
                .epochs()
                .addInput(
                        domain,
                        () -> self[0].takeClosing().ifPresent(epoch -> {
                            channel.put(new Item.EpochEnd(epoch));
                            channel.put(Item.END);
                            self[0].leave();
                        }));
        return self[0];
    }

    private EpochOutput.Publisher publisher() {
        return new EpochOutput.Publisher() {
            @Override
            public void stamp(long epoch, long version) {
                output.stamp(epoch, version);
            }

            @Override
            public void publish(long epoch, OptionalLong sinceNanos) {
                output.publish(epoch, sinceNanos);
                failedRows.publish(epoch);
                resources.barriers().at(epoch).ifPresent(LocalStandingQuery.this::keepFor);
            }
        };
    }

    /** What is kept of its state does not say which rows failed. */
    void requireNoFailedRows() {
        failedRows.failure().ifPresent(why -> {
            throw MillraceException.user(
                            SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                            "\"" + name + "\" has rows that cannot be computed: " + why.getMessage())
                    .withHint("change or delete those rows first; or DROP it and CREATE it anew");
        });
    }

    @Override
    public void failed(MillraceException why) {
        if (!state.isAlive() || !fail(why)) {
            return;
        }
        tasks.interrupt().stop(why); // those of its tasks that are on a long step
        inputs.forEach(EpochInput::leave);
        output.abandon(failure);
        freeTasksSoon();
        resources.signal().raise();
    }

    /** Once, and without the message, which may quote values of rows: who may read the query finds it with the query. */
    private void log(MillraceException why) {
        LOG.log(
                System.Logger.Level.WARNING,
                "query \"" + name + "\" failed: SQLSTATE " + why.sqlState().code());
    }

    /** Returns whether it had neither failed before nor been dropped. */
    private boolean fail(MillraceException why) {
        synchronized (this) {
            if (state == QueryState.FAILED || state == QueryState.DROPPED) {
                return false;
            }
            failure = Optional.of(why); // before the state: who sees that asks why
            state = QueryState.FAILED;
        }
        log(why);
        return true;
    }

    /**
     * Others need the memory that it holds, its answer included. Not from a worker. What the tasks have goes first: that needs no
     * lock that somebody may hold who waits for memory.
     */
    private void giveWay(MillraceException why) {
        fail(why);
        tasks.interrupt().stop(why);
        tasks.stop(() -> {
            try {
                synchronized (freeing) {
                    tasks.close();
                }
            } finally {
                inputs.forEach(EpochInput::leave);
                output.abandon(Optional.of(why));
                freeTasks();
                exclusively(this::discard);
                resources.signal().raise();
            }
        });
    }

    @Override
    public void ended() {
        output.sinks().whenDrained(this::freeTasksSoon); // closing them forgets what waits
    }

    private void finished() {
        synchronized (this) {
            if (!state.isAlive()) {
                return;
            }
            state = QueryState.FINISHED;
        }
        output.endSubscriptions(Optional.empty());
        resources.signal().raise();
    }

    private void freeTasksSoon() {
        resources
                .workers()
                .schedule(
                        resources.clock().nanoTime(),
                        () -> resources.sinkThreads().execute(() -> tasks.stop(this::freeTasks)));
    }

    /** Frees the tasks, which have stopped, and closes the sinks; not from a worker, nor with this locked: a task on its last step needs it. */
    private void freeTasks() {
        List<AutoCloseable> all = new ArrayList<>(List.of(tasks));
        all.addAll(output.sinks().closeables());
        try {
            synchronized (freeing) {
                Closing.all(all);
            }
        } catch (RuntimeException | Error e) {
            MillraceException why = QueryTasks.explain(e);
            synchronized (this) {
                if (state != QueryState.RUNNING && state != QueryState.FINISHED) {
                    return;
                }
                state = QueryState.FAILED;
                failure = Optional.of(why);
            }
            log(why);
        }
    }

    /** Frees everything of a query that was not started. */
    void abandon() {
        state = QueryState.DROPPED;
        inputs.forEach(EpochInput::leave);
        output.abandon(Optional.empty());
        tasks.stop(() -> {
            freeTasks();
            discard();
        });
    }

    /** Frees what remains of a query after its tasks. */
    private void discard() {
        Closing.all(List.<AutoCloseable>of(output::discard, tasks.late()));
    }

    /** Called once, when the tasks have started: what relations held at the start is an epoch of its own. */
    void beginFirstEpoch() {
        firstEpoch = ownEpoch.orElseGet(() -> resources.epochs().touch(domain()));
    }

    /** Whether its answer is that of a whole epoch, or none will come; any thread. */
    boolean hasBegun() {
        if (!begun) {
            long epoch = firstEpoch;
            begun = epoch != Epochs.NONE && resources.epochs().isPublished(output.epochs(), epoch);
        }
        return begun;
    }

    @Override
    public long firstEpoch() {
        return firstEpoch;
    }

    @Override
    public void touch() {
        resources.epochs().touch(domain());
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public PlanNode plan() {
        return plan;
    }

    @Override
    public Schema schema() {
        return plan.schema();
    }

    @Override
    public boolean materialized() {
        return output.view().isPresent();
    }

    @Override
    public QueryState state() {
        return state;
    }

    @Override
    public Optional<MillraceException> failure() {
        return failure.or(failedRows::failure);
    }

    private VersionedView viewForSnapshot() {
        return output.view()
                .orElseThrow(() -> MillraceException.user(
                        SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                        "\"" + name + "\" keeps no answer to begin with: it is not materialized"));
    }

    @Override
    public Subscription subscribe(SubscriptionOptions options) {
        LocalSubscription[] self = new LocalSubscription[1];
        LocalSubscription subscription = new LocalSubscription(
                schema(), options, resources.workers(), tasks::wakeAll, () -> output.remove(self[0]));
        self[0] = subscription;
        engine.atRest(this, () -> {
            output.beginHistory();
            options.afterMicros().ifPresent(after -> output.history().replay(name, after, subscription));
            if (options.snapshot()) {
                List<Batch> rows = viewForSnapshot().snapshot(tasks.memory().own());
                try {
                    subscription.deliver(output.publishedEpoch(), output.nextMicros(), rows, true);
                } finally {
                    Closing.all(rows);
                }
            }
            if (state.isAlive()) {
                output.add(subscription);
            } else {
                subscription.end(failure);
            }
        });
        return subscription;
    }

    @Override
    public void pause() {
        engine.atRest(this, () -> {
            if (changeState(QueryState.RUNNING, QueryState.PAUSED)) {
                tasks.tasks.forEach(PipelineTask::pause);
                relay = Optional.of(relayEpochs());
                inputs.add(relay.get());
            }
        });
    }

    /** Ends the query's epochs at its output while nothing comes through its tasks. */
    private EpochInput relayEpochs() {
        EpochInput[] self = new EpochInput[1];
        self[0] = resources.epochs().addInput(domain(), () -> {
            for (OptionalLong epoch = self[0].takeClosing(); epoch.isPresent(); epoch = self[0].takeClosing()) {
                output.epochEnd(epoch.getAsLong());
            }
        });
        return self[0];
    }

    @Override
    public void resume() {
        engine.atRest(this, () -> {
            if (changeState(QueryState.PAUSED, QueryState.RUNNING)) {
                tasks.tasks.forEach(PipelineTask::prepareToResume);
                for (FeedScan scan : tasks.feeds) {
                    if (scan.input().takeEnd()) {
                        inputs.add(endAfterOneEpoch(scan.channel(), domain()));
                    }
                }
                relay.ifPresent(EpochInput::leave);
                tasks.tasks.forEach(PipelineTask::resume);
            }
        });
        if (state == QueryState.RUNNING) {
            tasks.wakeAll();
            touch();
        }
    }

    private synchronized boolean changeState(QueryState from, QueryState to) {
        boolean changes = state == from;
        state = changes ? to : state;
        return changes;
    }

    @Override
    public void drop() {
        synchronized (this) {
            if (state == QueryState.DROPPED) {
                return;
            }
            state = QueryState.DROPPED;
        }
        tasks.interrupt().stop(MillraceException.user(SqlState.QUERY_CANCELED, "query \"" + name + "\" was dropped"));
        engine.forget(this);
        free();
    }

    /** Is about to be dropped, with many others: none of its tasks runs on until then, nor begins a call of its sinks. Returns at once. */
    void halt() {
        tasks.halt();
        output.sinks().beginClosing();
    }

    /** Stops a query in whose place another runs under its name. */
    void retire() {
        synchronized (this) {
            state = QueryState.DROPPED;
        }
        free();
    }

    /** Runs an action while nothing of this query is published. */
    void exclusively(Runnable action) {
        output.epochs().exclusively(action);
    }

    private void free() {
        inputs.forEach(EpochInput::leave);
        output.abandon(Optional.empty());
        tasks.stop(() -> {
            freeTasks();
            exclusively(this::discard);
            resources.memory().release(tasks.memory());
            resources.signal().raise();
        });
        resources.signal().raise();
    }

    @Override
    public QueryState await() {
        engine.await(() -> !state.isAlive());
        return state;
    }

    @Override
    public QuerySnapshot snapshot() {
        QuerySnapshot[] taken = new QuerySnapshot[1];
        engine.atRest(this, () -> {
            requireNoFailedRows();
            if (state == QueryState.FAILED || state == QueryState.DROPPED) {
                throw MillraceException.user(
                        SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, "query \"" + name + "\" is " + state);
            }
            List<Part> view = output.view()
                    .map(rows -> List.of(new Part("rows", -1, saved(rows))))
                    .orElse(List.of());
            synchronized (freeing) {
                boolean finished = state == QueryState.FINISHED || tasks.isClosed();
                taken[0] = new QuerySnapshot(
                        output.publishedEpoch(),
                        parallelism,
                        finished,
                        finished ? Map.of() : OperatorSnapshots.take(tasks),
                        view);
            }
        });
        return taken[0];
    }

    private static byte[] saved(VersionedView rows) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ViewScan scan = rows.scanToSave()) {
            scan.save(new DataOutputStream(bytes), () -> {});
        } catch (IOException e) {
            throw new UncheckedIOException("memory is written to", e);
        }
        return bytes.toByteArray();
    }

    @Override
    public Optional<String> stuckIn() {
        return UserCode.stuckIn(tasks.interrupt());
    }

    @Override
    public QueryStatistics statistics() {
        return Statistics.of(tasks, state, output);
    }

    @Override
    public List<LateRow> lateRows() {
        return tasks.late().rows();
    }
}
