package dev.millrace.engine.runtime;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.connector.Sink;
import dev.millrace.engine.channel.Outlet;
import dev.millrace.engine.epoch.EpochOutput;
import dev.millrace.engine.group.MemberChanges;
import dev.millrace.engine.group.MemberViews;
import dev.millrace.engine.relation.Fanout;
import dev.millrace.engine.relation.KeptOutput;
import dev.millrace.engine.sink.QuerySinks;
import dev.millrace.engine.statistic.LatencyCounter;
import dev.millrace.engine.statistic.LatencyHistogram;
import dev.millrace.engine.statistic.SubscriberStatistics;
import dev.millrace.engine.subscription.ChangeHistory;
import dev.millrace.engine.subscription.LocalSubscription;
import dev.millrace.engine.task.TaskOutput;
import dev.millrace.engine.view.VersionedView;
import dev.millrace.engine.watermark.LowWatermark;
import dev.millrace.error.MillraceException;
import dev.millrace.operator.Operator;
import dev.millrace.scheduler.Signal;
import dev.millrace.time.Clock;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Where a standing query's rows go. Sinks get them at once; what others see, they see by epochs: queries that read this
 * one when the epoch is complete here, the view and subscribers when it is complete everywhere. What an epoch needs of memory
 * it takes before any of these has the whole of it: with too little the query fails, and the epoch is nowhere.
 *
 * <p>The query's last tasks have a {@link Port} each. One that ended an epoch waits until all have: who comes last
 * completes the epoch; it goes on when all {@link QuerySinks} have committed it. Committing threads call
 * {@link #stamp} and {@link #publish}; view, sinks and subscribers are added while the epochs are at rest.
 *
 * <p>Long because each step of an epoch's end, and who may take it when, hangs on the others.
 */
final class QueryOutput implements TaskOutput, EpochOutput.Publisher {
    private static final LongConsumer NOTHING = version -> {};

    /** @param stamp has what is staged of the rows take effect from a version on */
    private record Sealed(long epoch, List<Batch> rows, LongConsumer stamp) {}

    private final Supplier<String> name;
    private final Fanout fanout;
    private final Optional<VersionedView> view;
    private final Optional<KeptOutput> kept;
    private final Clock clock;
    private final LongFunction<Optional<MillraceException>> stopAt;
    private final Consumer<Throwable> onFailure;
    private final Runnable onFinished;
    private final boolean isConcurrent; // the sinks there were first
    private final QuerySinks sinks;
    private volatile List<LocalSubscription> subscriptions = List.of(); // replaced under the lock, read by all

    // Set once, before the tasks run.
    @SuppressWarnings("NullAway.Init")
    private EpochOutput epochs;

    private Runnable wakeTasks = () -> {};
    private LongConsumer beforeGoingOn = epoch -> {};
    private Optional<MemberChanges> members = Optional.empty(); // of a group's query
    private Optional<MemberViews> memberViews = Optional.empty(); // likewise, where members are views
    private List<Port> ports = List.of();
    private LowWatermark watermark = new LowWatermark(0); // then used by who completes an epoch

    @GuardedBy("arrival") private int open; // ports that have not ended

    @GuardedBy("arrival") private int arrived; // of those, how many are at the epoch's end

    @GuardedBy("arrival") private long endingEpoch; // the epoch they are at the end of

    private final Object arrival = new Object();

    @GuardedBy("sealed") private final ArrayDeque<Sealed> sealed = new ArrayDeque<>();

    @GuardedBy("sealed") private long lastSealed = Long.MIN_VALUE; // an epoch

    @GuardedBy("sealed") private boolean ended;

    @GuardedBy("sealed") private boolean discarded;

    private final LatencyCounter latencies = new LatencyCounter();
    private final LongAdder rowsOut = new LongAdder();
    private final ChangeHistory history;
    private volatile boolean passesSinks; // written by who makes a checkpoint, read by tasks
    private long lastMicros; // of the newest epoch; written by committing threads, read at rest
    private volatile long publishedEpoch; // written by committing threads, read by statistics

    /**
     * @param signal raised when an epoch's end was passed on to those that read the query
     * @param sinkThreads call the sinks that may wait
     * @param sinkQueueBytes of rows for one of them, beyond which the query waits
     * @param mostSinkNanos that one of them may take nothing while the query waits, before it fails
     * @param alarm runs something at a time of the clock, in nanoseconds
     * @param stopAt why rows of what the query reads stop it at an epoch's end: sinks get no epoch that lacks them
     */
    QueryOutput(
            Supplier<String> name,
            Optional<VersionedView> view,
            Optional<KeptOutput> kept,
            ChangeHistory history,
            List<Sink> firstSinks,
            Executor sinkThreads,
            long sinkQueueBytes,
            long mostSinkNanos,
            BiConsumer<Long, Runnable> alarm,
            Clock clock,
            Signal signal,
            LongFunction<Optional<MillraceException>> stopAt,
            Consumer<Throwable> onFailure,
            Runnable onFinished) {
        this.name = name;
        this.fanout = new Fanout(signal);
        this.view = view;
        this.kept = kept;
        this.history = history;
        this.clock = clock;
        this.stopAt = stopAt;
        this.onFailure = onFailure;
        this.onFinished = onFinished;
        this.isConcurrent = firstSinks.stream().allMatch(Sink::isConcurrent);
        this.sinks = new QuerySinks(
                sinkThreads,
                sinkQueueBytes,
                mostSinkNanos,
                clock,
                alarm,
                () -> {
                    wakeTasks.run();
                    signal.raise();
                },
                onFailure);
        firstSinks.forEach(sinks::add);
    }

    void attach(EpochOutput newEpochs, Runnable newWakeTasks) {
        epochs = newEpochs;
        view.ifPresent(rows -> rows.follow(newEpochs::version));
        wakeTasks = newWakeTasks;
    }

    /** Has something called when sinks have been given all of an epoch, before they are given any of the next. Before the tasks run. */
    void beforeGoingOn(LongConsumer action) {
        beforeGoingOn = action;
    }

    /** The rows are those of a group's members, who are told of them, too, and have them in their answers. Before the tasks run; closed with this. */
    void tellMembers(MemberChanges changes, Optional<MemberViews> views) {
        members = Optional.of(changes);
        memberViews = views;
    }

    /** Several tasks may write as long as all sinks let them. */
    @Override
    public boolean takesSeveral() {
        return isConcurrent;
    }

    @Override
    public List<Outlet> outlets(int tasks) {
        ports = Stream.generate(Port::new).limit(tasks).toList();
        watermark = new LowWatermark(tasks);
        synchronized (arrival) {
            open = tasks;
        }
        return List.copyOf(ports);
    }

    EpochOutput epochs() {
        return epochs;
    }

    Fanout fanout() {
        return fanout;
    }

    Optional<VersionedView> view() {
        return view;
    }

    Optional<MemberViews> memberViews() {
        return memberViews;
    }

    long rowsOut() {
        return rowsOut.sum();
    }

    LatencyHistogram latencies() {
        return latencies.histogram();
    }

    SubscriberStatistics subscribers() {
        return LocalSubscription.statistics(subscriptions, clock.epochMicros());
    }

    long publishedEpoch() {
        return publishedEpoch;
    }

    /** The time of that epoch; by committing threads, or while at rest. */
    long publishedMicros() {
        return lastMicros;
    }

    /** Goes on where another was; before it is attached. */
    void goOnAfter(long epoch, long micros) {
        publishedEpoch = epoch;
        lastMicros = micros;
    }

    QuerySinks sinks() {
        return sinks;
    }

    synchronized void add(LocalSubscription subscription) {
        List<LocalSubscription> more = new ArrayList<>(subscriptions);
        more.add(subscription);
        subscriptions = List.copyOf(more);
    }

    synchronized void remove(LocalSubscription subscription) {
        List<LocalSubscription> fewer = new ArrayList<>(subscriptions);
        fewer.remove(subscription);
        subscriptions = List.copyOf(fewer);
    }

    /** A time after that of the newest epoch, and before that of the next; by committing threads, or while at rest. */
    long nextMicros() {
        lastMicros = Math.max(clock.epochMicros(), lastMicros + 1);
        return lastMicros;
    }

    /** Keeps epochs from now on. While at rest. */
    void beginHistory() {
        history.begin(lastMicros);
    }

    /** The newest epochs, kept from the first subscriber on. */
    ChangeHistory history() {
        return history;
    }

    /** Lets the subscribers go without an end, to another output. */
    synchronized List<LocalSubscription> releaseSubscriptions() {
        List<LocalSubscription> released = subscriptions;
        subscriptions = List.of();
        return released;
    }

    /** Where one of the query's last tasks leaves its rows; that task's, but for the end of an epoch. */
    private final class Port implements Outlet {
        private List<Batch> staged = new ArrayList<>(); // of the epoch under way
        private boolean sinksWritten;
        private long lastWatermark = Operator.NO_WATERMARK;
        private volatile boolean idle; // written by the task, read by who completes an epoch
        private volatile boolean ahead; // at the end of an epoch that others are not: nothing of it is the task's

        @Override
        public void rows(Batch batch) {
            idle = false;
            rowsOut.add(batch.rowCount());
            try (batch) {
                sinksWritten |= sinks.write(batch, ports.size() > 1);
                if (view.isPresent()
                        || kept.isPresent()
                        || fanout.hasReaders()
                        || !subscriptions.isEmpty()
                        || history.hasBegun()
                        || memberViews.isPresent()
                        || members.isPresent() && members.get().isHeard()) {
                    staged.add(batch.retain());
                }
            }
        }

        @Override
        public void watermark(long micros) {
            idle = false;
            lastWatermark = micros;
        }

        @Override
        public void idle() {
            idle = true;
            if (ports.stream().allMatch(port -> port.idle)) {
                fanout.idle();
            }
        }

        @Override
        public void epochEnd(long epoch) {
            boolean last;
            synchronized (arrival) {
                ahead = true;
                endingEpoch = epoch;
                last = ++arrived == open;
            }
            if (last) {
                complete(epoch);
            }
        }

        @Override
        public void end() {
            boolean last;
            boolean lastOfEpoch;
            long epoch;
            synchronized (arrival) {
                epoch = endingEpoch;
                last = --open == 0;
                lastOfEpoch = !last && arrived == open;
            }
            if (lastOfEpoch) {
                complete(epoch);
            }
            if (last) {
                QueryOutput.this.end();
            }
        }

        @Override
        public void flush() {}

        @Override
        public boolean isFull() {
            return ahead || QueryOutput.this.isFull();
        }

        /** Frees the rows of the epoch under way. */
        @Override
        public void close() {
            List<Batch> rows = staged;
            staged = new ArrayList<>();
            Closing.all(rows);
        }
    }

    /** Ends an epoch that no task has rows for. Only while the tasks are paused. */
    void epochEnd(long epoch) {
        complete(epoch);
    }

    /** All rows of the epoch are here, and no task adds to them meanwhile. */
    private void complete(long epoch) {
        boolean sinksWritten = false;
        List<Batch> rows = new ArrayList<>();
        for (int i = 0; i < ports.size(); i++) {
            Port port = ports.get(i);
            sinksWritten |= port.sinksWritten;
            port.sinksWritten = false;
            rows.addAll(port.staged);
            port.staged.clear();
            watermark.advance(i, port.lastWatermark);
            if (port.idle) {
                watermark.idle(i);
            }
        }
        LongConsumer stamp;
        try {
            if (sinksWritten) {
                stopAt.apply(epoch).ifPresent(why -> {
                    throw why.again();
                });
            }
            stamp = rows.isEmpty() ? NOTHING : stage(rows);
        } catch (RuntimeException | Error e) {
            Closing.all(rows);
            throw e;
        }
        if (sinksWritten && passesSinks) {
            sinks.commit(epoch, rows, (committed, later) -> seal(epoch, committed, stamp, later || ports.size() > 1));
            sinks.goOnWithoutCommit();
            return;
        }
        if (sinksWritten && rows.isEmpty() && view.isEmpty() && sinks.isOneQueue()) {
            sinks.commitApart(epoch); // nobody sees this query but its sink, and nobody waits for that
        } else if (sinksWritten) {
            sinks.commit(epoch, rows, (committed, later) -> seal(epoch, committed, stamp, later || ports.size() > 1));
            return;
        }
        seal(epoch, rows, stamp, ports.size() > 1);
    }

    private LongConsumer stage(List<Batch> rows) {
        if (view.isPresent()) {
            VersionedView.Staged staged = view.get().stage(rows);
            return version -> view.get().stamp(staged, version);
        }
        return memberViews.map(views -> views.stage(rows)).orElse(NOTHING);
    }

    /** The sinks have the epoch: passes it on, and has the tasks go on. */
    private void seal(long epoch, List<Batch> rows, LongConsumer stamp, boolean tasksWait) {
        beforeGoingOn.accept(epoch);
        try {
            pass(epoch, rows);
        } catch (RuntimeException | Error e) { // as of a query that is left meanwhile
            Closing.all(rows);
            throw e;
        }
        synchronized (sealed) {
            lastSealed = epoch;
            if (discarded) {
                Closing.all(rows); // what is staged went with the view
            } else {
                sealed.add(new Sealed(epoch, rows, stamp));
            }
        }
        synchronized (arrival) {
            arrived = 0;
            ports.forEach(port -> port.ahead = false);
        }
        epochs.done(epoch);
        if (tasksWait) {
            wakeTasks.run();
        }
    }

    private void pass(long epoch, List<Batch> rows) {
        for (Batch batch : rows) {
            fanout.rows(batch.retain());
        }
        if (watermark.micros() > fanout.lastWatermark()) {
            fanout.watermark(watermark.micros());
        }
        if (watermark.isIdle()) {
            fanout.idle(); // again: rows and watermarks make a reader wait for more
        }
        fanout.epochEnd(epoch);
    }

    /** Of no effect for an epoch that is not sealed. */
    @Override
    public void stamp(long epoch, long version) {
        List<Sealed> ready;
        synchronized (sealed) {
            ready = sealed.stream().filter(each -> each.epoch <= epoch).toList();
        }
        for (Sealed each : ready) {
            each.stamp.accept(version);
        }
    }

    /** Tells subscribers of everything up to the epoch; of no effect for one not sealed. */
    @Override
    public void publish(long epoch, OptionalLong sinceNanos) {
        try {
            for (Optional<Sealed> next = firstSealed(epoch); next.isPresent(); next = firstSealed(epoch)) {
                publish(next.get());
                if (sinceNanos.isPresent() && next.get().epoch == epoch) {
                    latencies.observe(clock.nanoTime() - sinceNanos.getAsLong());
                }
            }
            view.ifPresent(rows -> rows.followers().published(epoch));
            view.ifPresent(VersionedView::reclaim);
            memberViews.ifPresent(MemberViews::reclaim);
        } catch (RuntimeException | Error e) {
            onFailure.accept(e);
        }
        boolean finished;
        synchronized (sealed) {
            finished = ended && sealed.isEmpty();
        }
        if (finished) {
            sinks.whenDrained(onFinished);
        }
    }

    private Optional<Sealed> firstSealed(long epoch) {
        synchronized (sealed) {
            return Optional.ofNullable(sealed.peek()).filter(first -> first.epoch <= epoch);
        }
    }

    private void publish(Sealed next) {
        try {
            long now = nextMicros(); // tells epochs apart
            if (!next.rows.isEmpty()) {
                kept.ifPresent(rows -> rows.append(next.epoch, now, next.rows));
            }
            for (LocalSubscription subscription : subscriptions) {
                subscription.deliver(next.epoch, now, next.rows, false);
            }
            history.add(next.epoch, now, next.rows);
            members.ifPresent(changes -> changes.publish(next.epoch, now, next.rows));
            publishedEpoch = next.epoch;
        } finally {
            synchronized (sealed) {
                sealed.remove();
            }
            Closing.all(next.rows);
        }
    }

    private void end() {
        fanout.end();
        boolean finished;
        long last;
        synchronized (sealed) {
            ended = true;
            finished = sealed.isEmpty();
            last = lastSealed;
        }
        view.ifPresent(rows -> rows.followers().ended(last));
        epochs.leave();
        if (finished) {
            sinks.whenDrained(onFinished);
        }
    }

    /**
     * The query will not go on. What is complete everywhere later is still published. If it failed, so do the queries that
     * read it, before they complete an epoch that lacks rows of this one.
     */
    void abandon(Optional<MillraceException> why) {
        if (epochs != null) {
            epochs.leave();
        }
        why.ifPresentOrElse(failure -> fanout.fail(failure.in("query \"" + name.get() + "\" failed")), fanout::end);
        endSubscriptions(why);
    }

    void stopSubscriptions(MillraceException why) {
        subscriptions.forEach(subscription -> subscription.stop(why));
    }

    void endSubscriptions(Optional<MillraceException> why) {
        subscriptions.forEach(subscription -> subscription.end(why));
        members.ifPresent(changes -> changes.end(why));
    }

    /**
     * Whether the query goes on though a sink takes nothing, for as long as a checkpoint needs to come to its cut: what waits for the
     * sink is more than it may be then, by what came before the cut.
     */
    void passSinks(boolean pass) {
        passesSinks = pass;
        if (pass) {
            sinks.goOnWithoutCommit();
            wakeTasks.run();
        }
    }

    private boolean isFull() {
        if (fanout.isFull() || sinks.isFull() && !passesSinks) {
            return true;
        }
        List<LocalSubscription> current = subscriptions;
        for (int i = 0; i < current.size(); i++) {
            if (current.get(i).isFull() && !epochs.isHeld()) {
                return true;
            }
        }
        return members.isPresent() && members.get().isFull() && !epochs.isHeld();
    }

    /** Frees the answer. Nothing may be published meanwhile or after. */
    void discard() {
        List<AutoCloseable> all = new ArrayList<>(sinks.takeCommitting());
        synchronized (sealed) {
            discarded = true;
            sealed.forEach(epoch -> all.addAll(epoch.rows));
            sealed.clear();
        }
        view.ifPresent(all::add);
        all.add(history);
        members.ifPresent(all::add);
        memberViews.ifPresent(all::add);
        Closing.all(all);
    }
}
