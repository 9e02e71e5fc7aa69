package dev.millrace.engine.runtime;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SourceReader;
import dev.millrace.engine.channel.Channel;
import dev.millrace.engine.channel.Outlet;
import dev.millrace.engine.epoch.Cut;
import dev.millrace.engine.epoch.EpochOutput;
import dev.millrace.engine.exchange.Exchanges;
import dev.millrace.engine.graph.PlanGraph;
import dev.millrace.engine.graph.PlanGraph.Node;
import dev.millrace.engine.graph.PlanPrint;
import dev.millrace.engine.graph.ScanTime;
import dev.millrace.engine.intake.HeldItems;
import dev.millrace.engine.intake.QueryIntakes;
import dev.millrace.engine.join.SharedJoinOperator;
import dev.millrace.engine.join.SharedSide;
import dev.millrace.engine.operators.BatchesReader;
import dev.millrace.engine.operators.PassingFailures;
import dev.millrace.engine.operators.UnionOperator;
import dev.millrace.engine.operators.ViewReader;
import dev.millrace.engine.relation.RelationRegistry;
import dev.millrace.engine.relation.SavedQuery;
import dev.millrace.engine.relation.Scannable;
import dev.millrace.engine.runtime.QueryTasks.FeedScan;
import dev.millrace.engine.runtime.QueryTasks.PlacedSource;
import dev.millrace.engine.runtime.QueryTasks.PlacedStage;
import dev.millrace.engine.runtime.QueryTasks.SharedJoin;
import dev.millrace.engine.task.ChannelInput;
import dev.millrace.engine.task.EntryStage;
import dev.millrace.engine.task.OperatorStage;
import dev.millrace.engine.task.OutletStage;
import dev.millrace.engine.task.PipelineTask;
import dev.millrace.engine.task.Resources;
import dev.millrace.engine.task.Restores;
import dev.millrace.engine.task.SourceInput;
import dev.millrace.engine.task.SourcePace;
import dev.millrace.engine.task.Stage;
import dev.millrace.engine.task.TaskInput;
import dev.millrace.engine.task.TaskOutput;
import dev.millrace.engine.view.VersionedView;
import dev.millrace.engine.watermark.WatermarkOperator;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.constant.ConstantRows;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.Operator;
import dev.millrace.operator.StateReader;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Exchange;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.Scan;
import dev.millrace.plan.node.PlanNode.Union;
import dev.millrace.plan.node.PlanNode.Values;
import dev.millrace.plan.node.PlanNode.Watermark;
import dev.millrace.plan.node.SharedSides;
import dev.millrace.scheduler.ScheduledTask;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.function.Predicate;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Makes the tasks of a query: opens sources and operators and connects them by channels. What is shared with other
 * queries, its relations' feeds and epochs, is attached later, by the engine, when their epochs are at rest.
 *
 * <p>Long because every kind of leaf, exchange and operator is connected here to the tasks that share it.
 */
final class TaskBuilder {
    private record Built(PipelineTask task, ScheduledTask scheduled) {}

    private final QueryTasks query;
    private final Resources resources;
    private final PlanGraph graph;
    private final SharedSides shared;
    private final RelationRegistry relations;
    private final int workers;
    private final boolean standing;
    private final PassingFailures passing;
    private final Function<PlanNode, Operator> operators;
    private final TaskOutput output;
    private final Optional<? extends SavedQuery> restore;
    private final Predicate<PlanNode> isSeen;

    private final Map<Node, List<SourceReader>> readers = new HashMap<>();
    private final Map<Node, List<SourceInput>> wakeable = new HashMap<>();
    private final Map<Node, Scannable.Feed> feeds = new HashMap<>();
    private final Map<Node, Channel[][]> channels = new HashMap<>(); // of an exchange: [from][to]
    private final Map<Node, Long> schemaHashes = new HashMap<>();
    private final Map<Integer, Integer> instances = new HashMap<>(); // of a pipeline
    private final Map<Long, Runnable> wakes = new HashMap<>(); // of a pipeline's instance
    private final Map<Long, Built> built = new HashMap<>(); // of a pipeline's instance
    private final Set<Node> meeting; // scans
    private final SourcePace pace = new SourcePace();
    private final QueryIntakes flowing = QueryIntakes.always(); // between tasks
    private final List<Runnable> restores = new ArrayList<>();
    private List<Outlet> outlets = List.of(); // of the last pipeline's instances

    /**
     * @param restore the states to begin with
     * @param isSeen whether these states have the rows of a leaf of the plan
     */
    TaskBuilder(
            QueryTasks query,
            PlanNode plan,
            RelationRegistry relations,
            int workers,
            boolean standing,
            Function<PlanNode, Operator> operators,
            TaskOutput output,
            Optional<? extends SavedQuery> restore,
            Predicate<PlanNode> isSeen) {
        this.query = query;
        this.restore = restore;
        this.isSeen = isSeen;
        this.resources = query.resources();
        this.relations = relations;
        this.workers = workers;
        this.standing = standing;
        this.passing = new PassingFailures(standing, relations);
        this.operators = operators;
        this.output = output;
        this.graph = new PlanGraph(
                plan, workers, scan -> scannable(scan) instanceof Scannable.Replay, output.takesSeveral());
        this.meeting = standing ? graph.scansThatMeetByTime() : Set.of();
        this.shared = standing
                ? SharedSides.of(plan, relation -> keepsRows(relations.scannable(relation)))
                : SharedSides.NONE;
    }

    private Scannable scannable(Scan scan) {
        return standing ? relations.scannable(scan.relation()) : relations.finite(scan.relation());
    }

    private static boolean keepsRows(Scannable scannable) {
        return scannable instanceof Scannable.Feed feed && feed.view().isPresent();
    }

    PlanGraph graph() {
        return graph;
    }

    /** Has something else be restored beside the operators' states. */
    TaskBuilder besides(Runnable restore) {
        restores.add(restore);
        return this;
    }

    /**
     * Builds all tasks, and has the states read that they begin with. If it fails, closing the {@link QueryTasks} frees what was made.
     *
     * @return bytes of the Java heap that other threads allocated for it
     */
    long build() {
        buildTasks();
        Restores all = Restores.ofCaller(workers, resources.sinkThreads());
        restores.forEach(all::add);
        return all.finish();
    }

    /**
     * The same, but the states are read later: before that none of the tasks may be at a row.
     *
     * @param later which closing the {@link QueryTasks} cancels
     */
    void build(Restores later) {
        buildTasks();
        restores.forEach(part -> query.restores.add(later.add(part)));
    }

    private void buildTasks() {
        try {
            openReaders();
            connect();
            outlets = output.outlets(instancesOf(graph.root().pipeline()));
            for (int pipeline : graph.pipelines()) {
                for (int instance = 0; instance < instancesOf(pipeline); instance++) {
                    buildTask(pipeline, instance);
                }
            }
            linkTasks();
        } finally {
            readers.values().forEach(Closing::all); // those no task took over
        }
    }

    /** Tells policies who takes a task's rows: of several alike one that may stand for them. */
    private void linkTasks() {
        for (Node node : graph.nodes()) {
            if (node.isCut()) {
                int from = node.inputs().get(0).pipeline();
                for (int instance = 0; instance < instancesOf(from); instance++) {
                    int to = instance % instancesOf(node.pipeline());
                    Built consumer = Objects.requireNonNull(built.get(key(node.pipeline(), to)));
                    Objects.requireNonNull(built.get(key(from, instance)))
                            .task()
                            .feeds(consumer.scheduled());
                }
            }
        }
    }

    private void openReaders() {
        for (Node node : graph.nodes()) {
            if (node.plan() instanceof Scan scan) {
                open(node, scan);
            } else if (node.plan() instanceof Values values) {
                addReaders(node, List.of(new BatchesReader(rowsOf(values))));
            }
        }
        if (!standing) {
            readViews();
        }
        for (int pipeline : graph.pipelines()) {
            int count = 1;
            for (Node node : graph.nodesOf(pipeline)) {
                if (node.isCut() && graph.isParallel(pipeline)) {
                    count = workers;
                }
                count = Math.max(count, readers.getOrDefault(node, List.of()).size());
            }
            instances.put(pipeline, count);
        }
    }

    private List<Batch> rowsOf(Values values) {
        return isSeen.test(values)
                ? List.of()
                : ConstantRows.of(values, resources.batchRows(), query.memory().own());
    }

    private void open(Node node, Scan scan) {
        Scannable scannable = scannable(scan);
        if (!scan.fits(scannable.schema())) {
            throw Scannable.altered(); // what is compiled for other types must not read these rows
        }
        if (scannable instanceof Scannable.Replay replay) {
            ScanRequest request = new ScanRequest(
                    scan.columns(),
                    scan.predicates(),
                    graph.isParallel(node.pipeline()) ? workers : 1,
                    ScanTime.of(graph, node, scan),
                    scan.condensation());
            List<SourceInput> inputs = new CopyOnWriteArrayList<>();
            wakeable.put(node, inputs);
            BufferAllocator memory = query.memory().newChild("scan of " + scan.relation());
            Runnable wakeUp = () -> inputs.forEach(SourceInput::wakeUp);
            List<SourcePosition> positions =
                    restore.map(saved -> saved.positions(node.id())).orElse(List.of());
            addReaders(
                    node,
                    positions.isEmpty()
                            ? replay.stream().open(request, memory, resources.clock(), resources.batchRows(), wakeUp)
                            : replay.stream()
                                    .reopen(
                                            request,
                                            positions,
                                            memory,
                                            resources.clock(),
                                            resources.batchRows(),
                                            wakeUp));
        } else if (scannable instanceof Scannable.Feed feed) {
            feeds.put(node, feed);
        }
    }

    private void addReaders(Node node, List<? extends SourceReader> opened) {
        readers.put(node, new ArrayList<>(opened));
    }

    /** Views are read as they are now, all as of one epoch: nothing that follows is to be read. */
    private void readViews() {
        Set<EpochOutput> outputs = new LinkedHashSet<>();
        feeds.values().forEach(feed -> feed.output().ifPresent(outputs::add));
        if (outputs.size() <= 1) {
            readViewsNow();
            return;
        }
        try (Cut cut = resources.epochs().cut(outputs)) {
            Interrupt interrupt = Interrupt.current();
            resources
                    .workers()
                    .await(resources.signal(), () -> interrupt.isStopped() || cut.isReached(), Long.MAX_VALUE);
            interrupt.check();
            readViewsNow();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw MillraceException.user(SqlState.QUERY_CANCELED, "canceling statement due to user request");
        }
    }

    private void readViewsNow() {
        resources.epochs().atOneInstant(() -> {
            feeds.forEach((node, feed) -> addReaders(node, List.of(reader((Scan) node.plan(), feed))));
            return feeds.size();
        });
        feeds.values().forEach(Scannable.Feed::requireCurrent);
        feeds.clear();
    }

    private ViewReader reader(Scan scan, Scannable.Feed feed) {
        VersionedView view = feed.view().orElseThrow(() -> LocalEngine.keepsNothing(scan.relation()));
        return new ViewReader(view, view.scan(scan.columns()), query.memory().own());
    }

    private int instancesOf(int pipeline) {
        return Objects.requireNonNull(instances.get(pipeline));
    }

    private void connect() {
        for (Node node : graph.nodes()) {
            if (node.isCut()) {
                int from = instancesOf(node.inputs().get(0).pipeline());
                int to = instancesOf(node.pipeline());
                Channel[][] matrix = new Channel[from][to];
                for (int i = 0; i < from; i++) {
                    for (int j = 0; j < to; j++) {
                        Channel channel = connected(resources.newChannel(), node.pipeline(), j);
                        int producer = i;
                        channel.onRoom(() -> wake(node.inputs().get(0).pipeline(), producer));
                        matrix[i][j] = channel;
                    }
                }
                channels.put(node, matrix);
            }
        }
    }

    private Channel connected(Channel channel, int pipeline, int instance) {
        query.channels.add(channel);
        channel.onItem(() -> wake(pipeline, instance));
        return channel;
    }

    private void wake(int pipeline, int instance) {
        // A plan that failed while it was built has channels, whose closing wakes, but not all of its tasks.
        wakes.getOrDefault(key(pipeline, instance), () -> {}).run();
    }

    private static long key(int pipeline, int instance) {
        return (long) pipeline << 32 | instance;
    }

    private void buildTask(int pipeline, int instance) {
        Interrupt.checkCurrent();
        Map<Node, Stage> stages = new HashMap<>();
        List<Stage> order = new ArrayList<>();
        List<TaskInput> inputs = new ArrayList<>();
        List<SourceInput> sources = new ArrayList<>();
        for (Node node : graph.nodes()) {
            if (node.pipeline() == pipeline) {
                stages.put(node, stage(node, instance, stages, order, inputs, sources));
            }
            if (node.isCut() && node.inputs().get(0).pipeline() == pipeline) {
                Outlet outlet = Exchanges.outlet(
                        ((Exchange) node.plan()).distribution(),
                        node.plan().schema(),
                        List.of(Objects.requireNonNull(channels.get(node))[instance]),
                        resources.batchRows(),
                        query.memory().newChild("exchange " + node.id()));
                addOutlet(
                        node,
                        instance,
                        outlet,
                        Objects.requireNonNull(stages.get(node.inputs().get(0))),
                        order);
            }
        }
        if (graph.root().pipeline() == pipeline) {
            addOutlet(
                    graph.root(),
                    instance,
                    outlets.get(instance),
                    Objects.requireNonNull(stages.get(graph.root())),
                    order);
        }
        PipelineTask task = new PipelineTask(query, order, inputs);
        restore.ifPresent(saved -> goOn(pipeline, instance, stages, saved));
        ScheduledTask scheduled = query.add(task);
        built.put(key(pipeline, instance), new Built(task, scheduled));
        Runnable wake = scheduled::wake;
        wakes.put(key(pipeline, instance), wake);
        sources.forEach(source -> source.start(Optional.empty(), wake));
    }

    /** Has event time go on where it was. */
    private void goOn(int pipeline, int instance, Map<Node, Stage> stages, SavedQuery saved) {
        Set<Stage> begun = new HashSet<>();
        stages.forEach((node, stage) -> {
            if (begun.add(stage)) { // an exchange that is no cut has the stage of its input
                stage.goOnAt(saved.mark(node.id(), instance, instancesOf(pipeline)));
            }
        });
    }

    private void addOutlet(Node node, int instance, Outlet outlet, Stage from, List<Stage> order) {
        OutletStage stage = new OutletStage(outlet);
        from.feed(stage);
        order.add(stage);
        query.stages.add(new PlacedStage(node, instance, stage, 0));
    }

    private Stage stage(
            Node node,
            int instance,
            Map<Node, Stage> stages,
            List<Stage> order,
            List<TaskInput> inputs,
            List<SourceInput> sources) {
        if (node.plan() instanceof Exchange && !node.isCut()) {
            return Objects.requireNonNull(stages.get(node.inputs().get(0)));
        }
        Stage stage;
        if (node.isCut()) {
            EntryStage entry = new EntryStage(node.plan().schema());
            for (Channel[] from : Objects.requireNonNull(channels.get(node))) {
                inputs.add(new ChannelInput(entry, from[instance], held(flowing)));
            }
            stage = entry;
        } else if (node.plan() instanceof Scan || node.plan() instanceof Values) {
            stage = entry(node, instance, inputs, sources);
        } else {
            stage = operator(node, instance);
            for (Node input : node.inputs()) {
                Objects.requireNonNull(stages.get(input)).feed(stage);
            }
            if (node.plan() instanceof Join join) {
                ignoreTimeless(join, stage);
            }
        }
        order.add(stage);
        query.stages.add(new PlacedStage(node, instance, stage, schemaHash(node)));
        return stage;
    }

    /** Of what stands: the rest is in no checkpoint. */
    private long schemaHash(Node node) {
        return standing ? schemaHashes.computeIfAbsent(node, each -> PlanPrint.ofNode(each.plan())) : 0;
    }

    private static void ignoreTimeless(Join join, Stage stage) {
        for (int side = 0; side < 2; side++) {
            int port = side;
            if (join.time().filter(time -> !time.hasTime(port)).isPresent()) {
                stage.ignoreTimeOf(port);
            }
        }
    }

    private EntryStage entry(Node node, int instance, List<TaskInput> inputs, List<SourceInput> sources) {
        Scannable.Feed feed = feeds.get(node);
        if (feed != null) {
            EntryStage entry = new EntryStage(node.plan().schema(), ((Scan) node.plan()).columns());
            if (instance == 0) {
                Channel channel = connected(resources.newSharedChannel(), node.pipeline(), instance);
                channel.onRoom(feed.onRoom());
                ChannelInput input =
                        new ChannelInput(entry, channel, resources.mostWaitingBytes(), held(query.intakes()));
                inputs.add(input);
                query.feeds.add(new FeedScan(node.plan(), feed, channel, input));
                restore.ifPresent(saved -> input.begin(
                        saved.waiting(node.id(), feed.schema(), query.memory().own(), resources.mostWaitingBytes())));
            }
            return entry;
        }
        EntryStage entry = new EntryStage(node.plan().schema());
        List<SourceReader> left = readers.getOrDefault(node, List.of());
        if (!left.isEmpty()) {
            SourceInput input =
                    new SourceInput(entry, left.remove(0), query, node.plan() instanceof Values, held(query.intakes()));
            query.failedRows().filter(failed -> standing).ifPresent(failed -> input.noteRejected(failed.newPart(true)));
            if (meeting.contains(node)) {
                input.keepPace(pace);
            }
            inputs.add(input);
            sources.add(input);
            wakeable.getOrDefault(node, new ArrayList<>()).add(input);
            query.sources.add(new PlacedSource(node, instance, isBounded(node), input));
        }
        return entry;
    }

    private HeldItems held(QueryIntakes intakes) {
        return new HeldItems(intakes, resources.clock());
    }

    private boolean isBounded(Node node) {
        return !(node.plan() instanceof Scan scan
                && scannable(scan) instanceof Scannable.Replay replay
                && !replay.stream().bounded());
    }

    private OperatorStage operator(Node node, int instance) {
        String name = node.plan().getClass().getSimpleName() + " " + node.id();
        BufferAllocator memory = query.memory().newChild(name);
        Operator operator = newOperator(node, instance, memory);
        boolean byKey = graph.isParallel(node.pipeline()) && readersOf(node.pipeline()) == 0;
        KeyGroups groups = byKey ? KeyGroups.ownedBy(instance, instancesOf(node.pipeline())) : KeyGroups.ALL;
        OperatorStage stage = new OperatorStage(operator, query, memory, groups);
        query.opened.add(operator);
        boolean returns = passing.failuresOf(node.plan());
        if (returns || standing && PassingFailures.canBeNoted(node.plan())) {
            query.failedRows().ifPresent(failed -> stage.keepFailedRows(failed.newPart(!returns)));
        }
        stage.open();
        restore.ifPresent(saved -> {
            StateReader states =
                    saved.states(node.id(), schemaHash(node), instance, instancesOf(node.pipeline()), groups);
            restores.add(() -> operator.restore(states));
        });
        return stage;
    }

    private Operator newOperator(Node node, int instance, BufferAllocator memory) {
        if (node.plan() instanceof Watermark watermark) {
            return new WatermarkOperator(watermark);
        }
        if (node.plan() instanceof Join join && (shared.isShared(join, 0) || shared.isShared(join, 1))) {
            return sharedJoin(join, () -> wake(node.pipeline(), instance), memory);
        }
        return node.plan() instanceof Union union ? new UnionOperator(union) : operators.apply(node.plan());
    }

    private Operator sharedJoin(Join join, Runnable wake, BufferAllocator memory) {
        List<PlanNode> scans = new ArrayList<>();
        List<Optional<SharedSide>> sides = new ArrayList<>();
        try {
            for (int side = 0; side < 2; side++) {
                if (shared.isShared(join, side)) {
                    Scan scan = shared.scan(join, side);
                    scans.add(scan);
                    sides.add(Optional.of(sharedSide(join, side, scan, wake, memory)));
                } else {
                    sides.add(Optional.empty());
                }
            }
        } catch (RuntimeException | Error e) {
            Closing.all(sides.stream().flatMap(Optional::stream).toList());
            throw e;
        }
        SharedJoinOperator operator = new SharedJoinOperator(join, sides.get(0), sides.get(1));
        query.sharedJoins.add(new SharedJoin(operator, scans));
        return operator;
    }

    private SharedSide sharedSide(Join join, int side, Scan scan, Runnable wake, BufferAllocator memory) {
        Node node = graph.nodes().stream()
                .filter(each -> each.plan().equals(scan))
                .findFirst()
                .orElseThrow();
        List<Integer> keys = side == 0 ? join.leftKeys() : join.rightKeys();
        List<Integer> columns = keys.stream().map(scan.columns()::get).toList();
        VersionedView view = Objects.requireNonNull(feeds.get(node)).view().orElseThrow();
        return new SharedSide(
                        side,
                        view.followers().follow(columns, memory, wake),
                        scan.columns(),
                        keys,
                        shared.spread(join, side))
                .when(query.intakes()::isIntake);
    }

    private long readersOf(int pipeline) {
        return graph.nodesOf(pipeline).stream().filter(wakeable::containsKey).count();
    }
}
