package dev.millrace.engine.runtime;

import dev.millrace.engine.channel.Channel;
import dev.millrace.engine.channel.Item;
import dev.millrace.engine.epoch.EpochDomain;
import dev.millrace.engine.epoch.EpochInput;
import dev.millrace.engine.epoch.EpochOutput;
import dev.millrace.engine.epoch.Epochs;
import dev.millrace.engine.relation.Scannable;
import dev.millrace.engine.runtime.QueryTasks.FeedScan;
import dev.millrace.engine.runtime.QueryTasks.PlacedSource;
import dev.millrace.engine.runtime.QueryTasks.SharedJoin;
import dev.millrace.engine.task.PipelineTask;
import dev.millrace.operator.Operator;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.scheduler.ScheduledTask;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * A query's part in the epochs of what it reads: the inputs by which its sources end them, its output, and the first epoch, which
 * is one of its own if nobody else begins one. What changes it is called while the domain is new, or at rest, or between epochs.
 */
final class QueryEpochs {
    private final Epochs epochs;
    private final QueryTasks tasks;
    private final QueryOutput output;
    private final List<EpochInput> inputs =
            new CopyOnWriteArrayList<>(); // who fails it leaves them while there come more
    private Optional<EpochInput> relay = Optional.empty(); // while paused
    private OptionalLong ownEpoch = OptionalLong.empty(); // the first, if nobody else has it; as firstEpoch
    private volatile long firstEpoch = Epochs.NONE; // written by whoever starts the query, read by all
    private volatile long since; // as firstEpoch
    private volatile boolean begun; // written by whoever finds out, read by all

    QueryEpochs(Epochs epochs, QueryTasks tasks, QueryOutput output) {
        this.epochs = epochs;
        this.tasks = tasks;
        this.output = output;
    }

    EpochDomain domain() {
        return epochs.domainOf(output.epochs());
    }

    /**
     * Joins a domain that is new, or at rest, or between epochs where the query reads no rows that are kept.
     *
     * @param isSeen of a leaf of the plan: whether the query has its rows already
     * @param paused whether it is from the start
     * @param restored whether its answer is that of a whole epoch, and its tasks wait for their state
     */
    void attach(
            EpochDomain domain,
            EpochOutput.Publisher publisher,
            Predicate<PlanNode> isSeen,
            boolean paused,
            boolean restored) {
        begun = restored;
        since = epochs.atomically(() -> epochs.journal().appended());
        output.attach(epochs.addOutput(domain, publisher, tasks::wakeAll), tasks::wakeAll);
        if (restored) {
            relay(PipelineTask::pauseForState);
        } else if (paused) {
            pause();
        }
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
            if (join.operator().isAllShared() && !join.scans().stream().allMatch(isSeen)) {
                join.operator().replay();
            }
        }
        for (FeedScan scan : tasks.feeds) {
            boolean withRows = !isSeen.test(scan.scan()) && !tasks.isShared(scan.scan());
            if (!isSeen.test(scan.scan())) {
                scan.feed().requireCurrent();
            }
            List<Item> first = first(scan.feed(), withRows);
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

    /** What a feed's new reader sees first: the rows there are, and how far event time is. */
    private List<Item> first(Scannable.Feed feed, boolean withRows) {
        List<Item> first = new ArrayList<>();
        feed.view()
                .filter(view -> withRows)
                .ifPresent(
                        view -> view.snapshot(tasks.memory().own()).forEach(batch -> first.add(new Item.Rows(batch))));
        if (feed.fanout().lastWatermark() != Operator.NO_WATERMARK) {
            first.add(new Item.Watermark(feed.fanout().lastWatermark()));
        }
        if (feed.fanout().isIdle()) {
            first.add(Item.IDLE);
        }
        return first;
    }

    /** For a relation that came to its end while this query was built: nobody else ends an epoch on the channel. */
    private EpochInput endAfterOneEpoch(Channel channel, EpochDomain domain) {
        EpochInput[] self = new EpochInput[1];
        self[0] = epochs.addInput(
                domain,
                () -> self[0].takeClosing().ifPresent(epoch -> {
                    channel.put(new Item.EpochEnd(epoch));
                    channel.put(Item.END);
                    self[0].leave();
                }));
        return self[0];
    }

    /** Called once, when the tasks have started: what relations held at the start is an epoch of its own. */
    void beginFirst() {
        firstEpoch = ownEpoch.orElseGet(() -> epochs.touch(output.epochs()));
    }

    /** Its number; {@link Epochs#NONE} before the query has started. Any thread. */
    long firstEpoch() {
        return firstEpoch;
    }

    /** What the journal had come to when the query was attached; any thread. */
    long since() {
        return since;
    }

    /** Whether the answer is that of a whole epoch, or none will come; any thread. */
    boolean hasBegun() {
        if (!begun) {
            long epoch = firstEpoch;
            begun = epoch != Epochs.NONE && epochs.isPublished(output.epochs(), epoch);
        }
        return begun;
    }

    /** Has the open epoch closed soon; any thread. @return its number */
    long touch() {
        return epochs.touch(output.epochs());
    }

    /** Has the tasks keep what comes; meanwhile epochs are ended at the output. */
    void pause() {
        relay(PipelineTask::pause);
    }

    /** The tasks have their state, and are paused as before. */
    void stayPaused() {
        tasks.tasks.forEach(PipelineTask::pause);
    }

    private void relay(Consumer<PipelineTask> pausing) {
        tasks.tasks.forEach(pausing);
        EpochInput[] self = new EpochInput[1];
        self[0] = epochs.addInput(domain(), () -> {
            for (OptionalLong epoch = self[0].takeClosing(); epoch.isPresent(); epoch = self[0].takeClosing()) {
                output.epochEnd(epoch.getAsLong());
            }
        });
        relay = Optional.of(self[0]);
        inputs.add(self[0]);
    }

    /** They come through the tasks again. */
    void resume() {
        for (FeedScan scan : tasks.feeds) {
            if (scan.input().takeEnd()) {
                inputs.add(endAfterOneEpoch(scan.channel(), domain()));
            }
        }
        relay.ifPresent(EpochInput::leave);
    }

    /** Nobody waits for what the query reads any more. */
    void leaveInputs() {
        inputs.forEach(EpochInput::leave);
    }

    /** Whether the output has shown all that it was part of, and left. */
    boolean isDrained() {
        return epochs.isDrained(output.epochs());
    }

    /** Runs an action while nothing of this query is published. */
    void exclusively(Runnable action) {
        output.epochs().exclusively(action);
    }
}
