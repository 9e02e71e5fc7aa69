package dev.millrace.engine.runtime;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.connector.Sink;
import dev.millrace.engine.channel.Outlet;
import dev.millrace.engine.epoch.EpochOutput;
import dev.millrace.engine.relation.Fanout;
import dev.millrace.engine.view.View;
import dev.millrace.error.MillraceException;
import dev.millrace.operator.Operator;
import dev.millrace.time.Clock;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Where a standing query's rows go. Sinks get them at once; what others see, they see by epochs: queries that read this
 * one when the epoch is complete here, the view and subscribers when it is complete everywhere.
 *
 * <p>The task at the query's end calls the {@link Outlet} methods; a committing thread calls {@link #publish}; view,
 * sinks and subscribers are added while the epochs are at rest.
 */
final class QueryOutput implements Outlet {
    private record Sealed(long epoch, List<Batch> rows) {}

    private final Fanout fanout = new Fanout();
    private final Optional<View> view;
    private final Clock clock;
    private final Consumer<Throwable> onFailure;
    private final Runnable onFinished;
    private volatile List<Sink> sinks; // replaced while at rest, read by the task
    private volatile List<LocalSubscription> subscriptions = List.of(); // replaced under the lock, read by all
    private EpochOutput epochs; // set once, before the task runs
    private List<Batch> staged = new ArrayList<>(); // of the epoch under way; the task's
    private boolean sinksWritten;
    private long watermark = Operator.NO_WATERMARK;
    private final ArrayDeque<Sealed> sealed = new ArrayDeque<>(); // guarded by itself
    private boolean ended; // guarded by sealed
    private volatile long rowsOut; // written by the task, read by statistics
    private volatile long publishedEpoch; // written by committing threads, read by statistics

    QueryOutput(
            Optional<View> view, List<Sink> sinks, Clock clock, Consumer<Throwable> onFailure, Runnable onFinished) {
        this.view = view;
        this.sinks = List.copyOf(sinks);
        this.clock = clock;
        this.onFailure = onFailure;
        this.onFinished = onFinished;
    }

    void attach(EpochOutput newEpochs) {
        epochs = newEpochs;
    }

    EpochOutput epochs() {
        return epochs;
    }

    Fanout fanout() {
        return fanout;
    }

    Optional<View> view() {
        return view;
    }

    long rowsOut() {
        return rowsOut;
    }

    long publishedEpoch() {
        return publishedEpoch;
    }

    void addSink(Sink sink) {
        List<Sink> more = new ArrayList<>(sinks);
        more.add(sink);
        sinks = List.copyOf(more);
    }

    List<Sink> sinks() {
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

    @Override
    public void rows(Batch batch) {
        rowsOut += batch.rowCount();
        try (batch) {
            for (Sink sink : sinks) {
                sink.write(batch);
                sinksWritten = true;
            }
            if (view.isPresent() || fanout.hasReaders() || !subscriptions.isEmpty()) {
                staged.add(batch.retain());
            }
        }
    }

    @Override
    public void watermark(long micros) {
        watermark = micros;
    }

    @Override
    public void idle() {
        fanout.idle();
    }

    @Override
    public void epochEnd(long epoch) {
        if (sinksWritten) {
            sinksWritten = false;
            sinks.forEach(sink -> sink.commit(epoch));
        }
        for (Batch batch : staged) {
            fanout.rows(batch.retain());
        }
        if (watermark > fanout.lastWatermark()) {
            fanout.watermark(watermark);
        }
        fanout.epochEnd(epoch);
        List<Batch> rows = staged;
        staged = new ArrayList<>();
        synchronized (sealed) {
            sealed.add(new Sealed(epoch, rows));
        }
        epochs.done(epoch);
    }

    /** Shows everything up to the epoch to readers of the view and to subscribers; of no effect for one not sealed. */
    void publish(long epoch) {
        try {
            for (Optional<Sealed> next = takeSealed(epoch); next.isPresent(); next = takeSealed(epoch)) {
                publish(next.get());
            }
        } catch (RuntimeException | Error e) {
            onFailure.accept(e);
        }
        boolean finished;
        synchronized (sealed) {
            finished = ended && sealed.isEmpty();
        }
        if (finished) {
            onFinished.run();
        }
    }

    private Optional<Sealed> takeSealed(long epoch) {
        synchronized (sealed) {
            return sealed.isEmpty() || sealed.peek().epoch > epoch ? Optional.empty() : Optional.of(sealed.remove());
        }
    }

    private void publish(Sealed next) {
        try {
            if (view.isPresent()) {
                next.rows.forEach(view.get()::apply);
            }
            long now = clock.epochMicros();
            for (LocalSubscription subscription : subscriptions) {
                subscription.deliver(next.epoch, now, next.rows, false);
            }
            publishedEpoch = next.epoch;
        } finally {
            Closing.all(next.rows);
        }
    }

    @Override
    public void end() {
        fanout.end();
        boolean finished;
        synchronized (sealed) {
            ended = true;
            finished = sealed.isEmpty();
        }
        epochs.leave();
        if (finished) {
            onFinished.run();
        }
    }

    /** The query will not go on. What is complete everywhere later is still published. */
    void abandon(Optional<MillraceException> why) {
        if (epochs != null) {
            epochs.leave();
        }
        fanout.end();
        endSubscriptions(why);
    }

    void endSubscriptions(Optional<MillraceException> why) {
        subscriptions.forEach(subscription -> subscription.end(why));
    }

    @Override
    public void flush() {}

    @Override
    public boolean isFull() {
        if (fanout.isFull()) {
            return true;
        }
        List<LocalSubscription> current = subscriptions;
        for (int i = 0; i < current.size(); i++) {
            if (current.get(i).isFull() && !epochs.isHeld()) {
                return true;
            }
        }
        return false;
    }

    /** Frees the rows of the epoch under way. */
    @Override
    public void close() {
        List<Batch> rows = staged;
        staged = new ArrayList<>();
        Closing.all(rows);
    }

    /** Frees the answer. Nothing may be published meanwhile or after. */
    void discard() {
        List<AutoCloseable> all = new ArrayList<>();
        synchronized (sealed) {
            sealed.forEach(epoch -> all.addAll(epoch.rows));
            sealed.clear();
        }
        view.ifPresent(all::add);
        Closing.all(all);
    }
}
