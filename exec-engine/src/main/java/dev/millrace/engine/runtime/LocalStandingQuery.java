package dev.millrace.engine.runtime;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.alteration.Alteration;
import dev.millrace.engine.alteration.Rescaling;
import dev.millrace.engine.epoch.EpochDomain;
import dev.millrace.engine.epoch.EpochOutput;
import dev.millrace.engine.epoch.Epochs;
import dev.millrace.engine.graph.PlanGraph;
import dev.millrace.engine.heap.HeapBudget;
import dev.millrace.engine.intake.QueryIntakes;
import dev.millrace.engine.intake.Schedule;
import dev.millrace.engine.relation.KeptOutput;
import dev.millrace.engine.relation.SavedQuery;
import dev.millrace.engine.relation.Scannable;
import dev.millrace.engine.runtime.QueryTasks.PlacedStage;
import dev.millrace.engine.sink.SinkCheckpoint;
import dev.millrace.engine.statistic.LateRow;
import dev.millrace.engine.statistic.QueryLife;
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
import dev.millrace.engine.task.Restores;
import dev.millrace.engine.view.VersionedView;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.user.UserCode;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.operator.Replay;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Scan;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/**
 * A standing query's life around its tasks and its output.
 *
 * <p>Tasks that fail or end are freed by a thread that calls sinks, by way of the timer thread: a worker cannot wait for
 * other workers to leave them, and a sink may take its time to close.
 *
 * <p>Long because how it begins, pauses, fails, gives way and ends each touch tasks, epochs and output in an order that is to be seen in one
 * place.
 */
final class LocalStandingQuery implements StandingQuery, QueryTasks.Listener {
    private volatile String name; // these two are written while it is at rest, and read by all
    private volatile PlanNode plan;
    private final LocalEngine engine;
    private final Resources resources;
    private final FailedRows failedRows;
    private final QueryTasks tasks;
    private Predicate<PlanNode> isSeen; // of a leaf: whether its rows were seen before the snapshot
    private final QueryOutput output;
    private final QueryLife life;
    private final QueryEpochs epochs;
    private final QueryCheckpoint checkpoint;
    private final int parallelism;
    private final Optional<KeptOutput> kept;

    private static final long LOOK_NANOS = 1_000_000;

    private boolean restored; // its tasks wait for their state; of who holds the lock of changes
    private volatile Optional<HeapBudget.Taken> taken = Optional.empty(); // set once, by who starts it, when it runs

    /** @param workers of the engine */
    LocalStandingQuery(
            String name, PlanNode plan, QueryOptions options, int workers, LocalEngine engine, Resources resources) {
        this.name = name;
        this.plan = plan;
        this.kept = options.kept();
        this.life = new QueryLife(this::name);
        this.failedRows = new FailedRows(true, !options.materialized());
        this.parallelism = options.restore()
                .filter(saved -> !Rescaling.isExact(plan))
                .map(SavedQuery::tasks)
                .orElse(workers);
        this.engine = engine;
        this.resources = resources;
        MemoryScope memory = resources.memory().newScope(scopeOf(name), options.memory());
        memory.mayGiveWay(this::giveWay);
        this.tasks = new QueryTasks(
                this::name,
                options.priority(),
                memory,
                resources,
                resources.clock(),
                options.sinks().isEmpty() ? Optional.of(failedRows) : Optional.empty(),
                this);
        tasks.limitRows(options.mostRowNanos());
        tasks.take(new QueryIntakes(options.schedule(), resources.intakeBytes(), intakesHost()));
        boolean isRestored = options.restore().isPresent();
        this.isSeen = scan -> isRestored;
        Optional<VersionedView> view = options.materialized()
                ? Optional.of(new VersionedView(
                        plan.schema(), resources.batchRows(), tasks.memory().newChild("view")))
                : Optional.empty();
        this.output = new QueryOutput(
                this::name,
                view,
                options.kept(),
                new ChangeHistory(plan.schema(), tasks.memory().newChildForSpare("history")),
                options.sinks(),
                resources.sinkThreads(),
                resources.sinkQueueBytes(),
                options.mostSinkNanos(),
                resources.workers()::schedule,
                resources.clock(),
                resources.signal(),
                failedRows::stoppedAt,
                cause -> failed(QueryTasks.explain(cause)),
                this::finished);
        this.epochs = new QueryEpochs(resources.epochs(), tasks, output);
        SinkCheckpoint sinks =
                new SinkCheckpoint(this::name, output.sinks(), options.restore().flatMap(SavedQuery::sink));
        this.checkpoint = new QueryCheckpoint(this::plan, parallelism, life, tasks, output, epochs, failedRows, sinks);
        output.beforeGoingOn(epoch -> resources.barriers().at(epoch).ifPresent(sinks::prepareFor));
        options.restore().ifPresent(this::goOnWith);
    }

    /** Goes on with rows that failed while it was a member of a group. Before its tasks begin. */
    void goOnWith(FailedRows failures) {
        failures.copyTo(failedRows);
    }

    private QueryIntakes.Host intakesHost() {
        return new QueryIntakes.Host() {
            @Override
            public long nanoTime() {
                return resources.clock().nanoTime();
            }

            @Override
            public boolean isNeeded(long epoch) {
                return tasks.isCut(epoch) || output.epochs().isHeld();
            }

            @Override
            public void wakeAt(long nanos) {
                resources.workers().schedule(nanos, LocalStandingQuery.this::timeIsUp);
            }
        };
    }

    private void timeIsUp() {
        if (tasks.intakes().timeIsUp() && life.isAlive()) {
            touch();
        }
    }

    private void goOnWith(SavedQuery saved) {
        if (saved.paused()) {
            life.beginPaused();
        }
        output.goOnAfter(saved.epoch(), saved.micros());
    }

    /** Reads the answer that it goes on with, and which rows of it failed; before anybody has the query. On any thread. */
    void restoreAnswer(SavedQuery saved) {
        output.view().ifPresent(saved::restoreAnswer);
        saved.restoreFailures(failedRows);
    }

    /**
     * Its answer and state are read while it is there, and its tasks wait for them: before it is attached. What reads the rows of others
     * where they are kept begins to do so when it is attached, and needs its state before.
     */
    void beginRestored() {
        if (tasks.sharedJoins.isEmpty()) {
            restored = true;
            output.view().ifPresent(view -> view.beginWith(tasks.restores.get(0)::await));
        } else {
            tasks.restores.forEach(Restores.Part::await);
        }
    }

    /** Whether its state is being read. By who holds the lock of changes. */
    boolean isRestored() {
        return restored;
    }

    /** Its state is there, and its epochs are about to come to rest. */
    void prepareToGoOn() {
        tasks.tasks.forEach(PipelineTask::keepAll);
        tasks.wakeAll();
    }

    /** Its state is there. While its epochs are at rest. */
    void goOn() {
        restored = false;
        if (life.state() == QueryState.RUNNING) {
            letTasksGo();
        } else {
            epochs.stayPaused();
        }
        beginFirstEpoch();
    }

    private void letTasksGo() {
        tasks.intakes().ask();
        tasks.tasks.forEach(PipelineTask::prepareToResume);
        epochs.resume();
        tasks.tasks.forEach(PipelineTask::resume);
    }

    /**
     * Has another name from now on. While it is at rest, and no checkpoint is made.
     *
     * @param newPlan the same plan, but for the names of what it reads
     */
    void rename(String newName, PlanNode newPlan) {
        name = newName;
        renameRead(newPlan);
        tasks.memory().rename(scopeOf(newName));
        tasks.stages.forEach(stage -> stage.chain().forget()); // checkpoints have its state under the other name
    }

    /** What it reads has other names from now on. While no checkpoint is made. @param newPlan the same plan by these */
    void renameRead(PlanNode newPlan) {
        plan = newPlan;
        Map<Integer, PlanNode> named = new HashMap<>();
        new PlanGraph(newPlan, 1, scan -> false, true).nodes().forEach(node -> named.put(node.id(), node.plan()));
        tasks.stages.forEach(
                stage -> Optional.ofNullable(named.get(stage.node().id())).ifPresent(stage.node()::rename));
    }

    private static String scopeOf(String name) {
        return "query \"" + name + "\"";
    }

    QueryTasks tasks() {
        return tasks;
    }

    /** Its part in checkpoints. */
    QueryCheckpoint checkpoint() {
        return checkpoint;
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

    /** What keeps its rows, if its answer is none. */
    Optional<KeptOutput> kept() {
        return kept;
    }

    Scannable.Feed feed() {
        return new Scannable.Feed(
                plan.schema(),
                output.fanout(),
                epochs::domain,
                Optional.of(output.epochs()),
                output.view(),
                tasks::wakeAll,
                failedRows);
    }

    EpochDomain domain() {
        return epochs.domain();
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
                    && alteration.isRetold(placed.node().plan())
                    && stage.operator() instanceof Replay told) {
                told.replay();
            }
        }
    }

    /** Joins a domain that is new, or at rest, or between epochs where the query reads no rows that are kept. */
    void attach(EpochDomain domain) {
        tasks.feeds.forEach(scan ->
                failedRows.reads(((Scan) scan.scan()).relation(), scan.feed().failedRows()));
        epochs.attach(domain, publisher(), isSeen, life.state() == QueryState.PAUSED, restored);
    }

    private EpochOutput.Publisher publisher() {
        return new EpochOutput.Publisher() {
            @Override
            public void stamp(long epoch, long version) {
                output.stamp(epoch, version);
            }

            @Override
            public void publish(long epoch, OptionalLong sinceNanos) {
                Optional<MillraceException> why = failedRows.publish(epoch);
                failedRows.stoppedAt(epoch).ifPresent(output::stopSubscriptions);
                output.publish(epoch, sinceNanos);
                tasks.intakes().published(epoch);
                why.ifPresent(life::log);
                why.ifPresent(stop -> resources.signal().raise());
                resources.barriers().at(epoch).ifPresent(checkpoint::keepFor);
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
        if (!life.isAlive() || !life.fail(why)) {
            return;
        }
        tasks.interrupt().stop(why); // those of its tasks that are on a long step
        leaveEpochs();
        freeTasksSoon(!output.sinks().goOnShowing());
        resources.signal().raise();
    }

    /**
     * Others need the memory that it holds, its answer included. Not from a worker. What the tasks have goes first: that needs no
     * lock that somebody may hold who waits for memory.
     */
    private void giveWay(MillraceException why) {
        life.fail(why);
        tasks.interrupt().stop(why);
        tasks.stop(() -> {
            try {
                synchronized (tasks.freeing) {
                    tasks.close();
                }
            } finally {
                epochs.leaveInputs();
                output.abandon(Optional.of(why));
                freeTasks();
                epochs.exclusively(this::discard);
                resources.signal().raise();
            }
        });
    }

    @Override
    public void ended() {
        boolean areClosed = !output.sinks().goByCheckpoints(); // else what they have is still to be shown
        output.sinks().whenDrained(() -> freeTasksSoon(areClosed)); // closing them forgets what waits
    }

    private void finished() {
        if (!life.finish()) {
            return;
        }
        output.endSubscriptions(Optional.empty());
        resources.signal().raise();
    }

    private void freeTasksSoon(boolean withSinks) {
        resources
                .workers()
                .schedule(
                        resources.clock().nanoTime(),
                        () -> resources.sinkThreads().execute(() -> tasks.stop(() -> freeTasks(withSinks))));
    }

    /** Frees the tasks, which have stopped, and closes the sinks; not from a worker, nor with this locked: a task on its last step needs it. */
    private void freeTasks(boolean withSinks) {
        List<AutoCloseable> all = new ArrayList<>(List.of(tasks));
        all.addAll(withSinks ? output.sinks().closeables() : List.of());
        try {
            synchronized (tasks.freeing) {
                Closing.all(all);
            }
        } catch (RuntimeException | Error e) {
            life.failAtEnd(QueryTasks.explain(e));
        }
    }

    private void freeTasks() {
        freeTasks(true);
    }

    /** Frees everything of a query that was not started. */
    void abandon() {
        life.drop();
        epochs.leaveInputs();
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
        epochs.beginFirst();
        if (life.state() == QueryState.FAILED) {
            leaveEpochs(); // it may have failed before it was among those that epochs wait for
        }
    }

    /** Nobody waits for what a query that failed reads and shows; any number of times. */
    private void leaveEpochs() {
        epochs.leaveInputs();
        output.abandon(life.failure());
    }

    /** Whether its answer is that of a whole epoch, or none will come; any thread. */
    boolean hasBegun() {
        return epochs.hasBegun();
    }

    /** Whether it shows all that it has up to an epoch; any thread. */
    boolean hasPublished(long epoch) {
        return resources.epochs().isPublished(output.epochs(), epoch);
    }

    @Override
    public long since() {
        return epochs.since();
    }

    @Override
    public long firstEpoch() {
        return epochs.firstEpoch();
    }

    @Override
    public boolean waitsForCheckpoint() {
        return checkpoint.sinks().waits();
    }

    @Override
    public long awaitReaders(BooleanSupplier read) {
        BooleanSupplier enough = () -> life.state() != QueryState.RUNNING || isStopped() || read.getAsBoolean();
        while (!enough.getAsBoolean()) {
            Interrupt.checkCurrent();
            engine.await(enough, LOOK_NANOS); // a reader that has nothing tells nobody
        }
        return takeIn();
    }

    @Override
    public Schedule schedule() {
        return tasks.intakes().schedule();
    }

    @Override
    public void schedule(Schedule schedule) {
        engine.atRest(this, () -> tasks.intakes().change(schedule));
        tasks.wakeAll();
        touch();
    }

    @Override
    public long takeIn() {
        return takeAllIn(List.of(this));
    }

    /**
     * Has several take what has come now, those that read others what these have of it.
     *
     * @return an epoch in which that is, and up to which they need be awaited
     */
    static long takeAllIn(List<LocalStandingQuery> queries) {
        long through = Epochs.NONE;
        queries.forEach(query -> query.tasks.intakes().beginAsking());
        try {
            for (LocalStandingQuery query : queries) {
                through = Math.max(through, query.epochs.touch());
            }
        } finally {
            long last = through;
            queries.forEach(query -> query.tasks.intakes().endAsking(last));
        }
        return through;
    }

    @Override
    public void touch() {
        epochs.touch();
    }

    /** Has the open epoch closed soon. @return its number */
    long touchEpoch() {
        return epochs.touch();
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
        QueryState now = life.state();
        return now != QueryState.DROPPED && failedRows.stopped().isPresent() ? QueryState.FAILED : now;
    }

    /** Where its tasks are, which go on when rows that failed stop it. */
    QueryState lifeState() {
        return life.state();
    }

    @Override
    public Optional<MillraceException> failure() {
        return life.failure().or(failedRows::stopped).or(failedRows::failure);
    }

    @Override
    public boolean isStopped() {
        QueryState now = life.state();
        return failedRows.isStopped() && now != QueryState.FAILED && now != QueryState.DROPPED;
    }

    @Override
    public Optional<MillraceException> whyStopped() {
        return failedRows.stopped();
    }

    @Override
    public Optional<MillraceException> failureOfRows() {
        return failedRows.failure();
    }

    @Override
    public long leaveOutFailedRows() {
        long[] rows = new long[1];
        engine.atRest(this, () -> rows[0] = failedRows.leaveOut());
        return rows[0];
    }

    @Override
    public List<FailedRows.LeftOut> rowsLeftOut() {
        return failedRows.leftOut();
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
            if (options.comesAgain()) {
                output.beginHistory();
            }
            Optional<MillraceException> stop = failedRows.stopped();
            if (stop.isPresent() && !options.throughStops() && life.state() != QueryState.FAILED) {
                subscription.end(stop);
                return;
            }
            options.afterMicros().ifPresent(after -> output.history().replay(name, after, subscription));
            if (options.snapshot()) {
                List<Batch> rows = viewForSnapshot().snapshot(tasks.memory().own());
                try {
                    subscription.deliver(output.publishedEpoch(), output.nextMicros(), rows, true);
                } finally {
                    Closing.all(rows);
                }
            }
            if (life.isAlive()) {
                output.add(subscription);
            } else {
                subscription.end(life.failure());
            }
        });
        return subscription;
    }

    @Override
    public void pause() {
        engine.atRest(this, () -> {
            if (!failedRows.isStopped() && life.change(QueryState.RUNNING, QueryState.PAUSED) && !restored) {
                epochs.pause();
            }
        });
    }

    @Override
    public OptionalLong resume() {
        engine.atRest(this, () -> {
            if (isStopped()) {
                failedRows.goOn().ifPresent(why -> {
                    throw why.again();
                });
            } else if (life.change(QueryState.PAUSED, QueryState.RUNNING) && !restored) {
                resources.barriers().current().ifPresent(checkpoint::resumed);
                letTasksGo();
            }
        });
        if (life.state() != QueryState.RUNNING) {
            return OptionalLong.empty();
        }
        tasks.wakeAll();
        return OptionalLong.of(takeIn());
    }

    @Override
    public void drop() {
        if (!life.drop()) {
            return;
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
        life.drop();
        free();
    }

    /** Runs an action while nothing of this query is published. */
    void exclusively(Runnable action) {
        epochs.exclusively(action);
    }

    private void free() {
        epochs.leaveInputs();
        output.abandon(Optional.empty());
        tasks.stop(() -> {
            freeTasks();
            resources.abandoned().when(output.sinks().areCalled(), output.sinks()::whenLeft, () -> {
                epochs.exclusively(this::discard);
                resources.memory().release(tasks.memory());
                resources.signal().raise();
            });
        });
        resources.signal().raise();
    }

    @Override
    public QueryState await() {
        engine.await(() -> !life.isAlive() || failedRows.stopped().isPresent());
        return state();
    }

    @Override
    public QuerySnapshot snapshot() {
        QuerySnapshot[] taken = new QuerySnapshot[1];
        engine.atRest(this, () -> {
            requireNoFailedRows();
            QueryState state = life.state();
            if (state == QueryState.FAILED || state == QueryState.DROPPED) {
                throw MillraceException.user(
                        SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, "query \"" + name + "\" is " + state);
            }
            taken[0] = OperatorSnapshots.of(output, tasks, parallelism, state == QueryState.FINISHED);
        });
        return taken[0];
    }

    @Override
    public Optional<String> stuckIn() {
        return UserCode.stuckIn(tasks.interrupt());
    }

    @Override
    public QueryStatistics statistics() {
        return Statistics.of(tasks, state(), output);
    }

    @Override
    public List<LateRow> lateRows() {
        return tasks.late().rows();
    }
}
