package dev.millrace.server.history;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.engine.subscription.Subscription;
import dev.millrace.engine.subscription.SubscriptionOptions;
import dev.millrace.engine.view.View;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.host.Host;
import dev.millrace.server.storage.KnownLog;
import dev.millrace.storage.batch.BatchBytes;
import dev.millrace.storage.log.LogImage;
import dev.millrace.time.Clock;
import dev.millrace.type.Schema;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.arrow.memory.BufferAllocator;

/**
 * The changes of one query that subscribers may come again for. A thread takes them from the engine, has them written, and shows what is
 * on disk. All other methods are for any thread.
 *
 * <pre>
 *   engine -- epoch --> written -- on disk --> shown to readers -- acknowledged, and not of the newest --> forgotten
 * </pre>
 *
 * While rows that failed stop the query, what comes is written, and shown when the query is resumed.
 */
final class QueryHistory implements AutoCloseable {
    private static final long ENGINE_BYTES = 16L << 20; // may wait to be written
    private static final long GROUP_BYTES = 4L << 20; // are written together
    private static final long AHEAD_MICROS =
            10_000_000; // of what may have been told, so that it is seldom written down
    private static final long LOOK_MICROS = 100_000;
    private static final long CLOSE_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long FIRST_MICROS = TimeUnit.SECONDS.toMicros(60);

    private final String query;
    private final Supplier<Optional<StandingQuery>> standing;
    private final Schema schema;
    private final HistoryLog log;
    private final KeptChanges kept;
    private final Clock clock;
    private final BufferAllocator allocator;
    private final int batchRows;
    private final Optional<Thread> thread; // none where work() is called

    // Of the thread, or of who begins it:
    private Optional<Subscription> from = Optional.empty();
    private long lastMicros; // written or shown
    private long ceilingMicros; // on disk: none later was told
    private long baseBytes;
    private long baseRecord; // where the newest base begins

    QueryHistory(
            String query,
            StandingQuery now,
            Supplier<Optional<StandingQuery>> standing,
            HistoryLog log,
            Clock clock,
            Host host,
            BufferAllocator allocator,
            int batchRows) {
        this.query = query;
        this.standing = standing;
        this.schema = now.schema();
        this.log = log;
        this.kept = new KeptChanges(query, log, host.newestChangesBytes());
        this.clock = clock;
        this.allocator = allocator;
        this.batchRows = batchRows;
        this.thread = Optional.of("millrace-history")
                .filter(name -> host.hasThreads())
                .map(name -> new Thread(this::run, name));
        thread.ifPresent(own -> own.setDaemon(true));
    }

    /** What is shown, to whom, and for whom it is kept. */
    KeptChanges kept() {
        return kept;
    }

    Schema schema() {
        return schema;
    }

    /** What definitions are to know of its log; none where nothing is kept. */
    Optional<KnownLog> known() {
        return log.known();
    }

    /** Its log as it is on disk now; none where nothing is kept. To be closed. */
    Optional<LogImage> image() {
        return log.image();
    }

    // ---- beginning -------------------------------------------------------------------------------------------------

    /** Begins a history with what the query has now. By one thread, before anybody has this. */
    void begin() {
        lastMicros = clock.epochMicros();
        long epoch = 0;
        List<ByteBuffer> rows = List.of();
        try (EpochChanges first = open()) {
            lastMicros = Math.max(lastMicros, first.epochMicros());
            epoch = first.epoch();
            rows = HistoryRecords.bytes(first.batches());
        }
        ceilingMicros = lastMicros;
        kept.begin(lastMicros, epoch);
        writeBase(rows);
        log.await();
        log.isBegun();
        thread.ifPresent(Thread::start);
    }

    /** Goes on with what an earlier process left. By one thread, before anybody has this. */
    void goOn(HistoryContents left) {
        HistoryContents.Base base = left.base().orElseThrow();
        lastMicros = left.toldMicros();
        ceilingMicros = lastMicros;
        baseBytes = base.rows().stream().mapToLong(ByteBuffer::remaining).sum();
        baseRecord = base.firstRecord();
        long epoch;
        List<ByteBuffer> difference;
        try (EpochChanges first = open()) {
            epoch = first.epoch();
            difference = difference(first.batches(), base, left.epochs());
        }
        kept.goOn(left, epoch);
        kept.stopped(standing.get().flatMap(StandingQuery::whyStopped));
        if (!difference.isEmpty()) {
            long micros = nextMicros(clock.epochMicros());
            show(List.of(log.epoch(epoch, micros, difference)), epoch);
        }
        log.isBegun();
        thread.ifPresent(Thread::start);
    }

    /** Subscribes to the query; returns its answer. */
    private EpochChanges open() {
        Subscription opened = standing.get()
                .orElseThrow(() -> MillraceException.user(
                        SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, "\"" + query + "\" does not run"))
                .subscribe(new SubscriptionOptions(
                                true, true, ENGINE_BYTES, SubscriptionOptions.WhenFull.WAIT, OptionalLong.empty())
                        .goingThroughStops());
        from.ifPresent(Subscription::close);
        from = Optional.of(opened);
        return opened.next(FIRST_MICROS)
                .orElseThrow(() -> MillraceException.user(
                        SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, "\"" + query + "\" gives no answer"));
    }

    /** What is to be told so that who knows the base and all changes knows the answer. */
    private List<ByteBuffer> difference(List<Batch> answer, HistoryContents.Base base, List<KeptEpoch> since) {
        List<Batch> now = new ArrayList<>();
        List<Batch> told = new ArrayList<>();
        answer.forEach(batch -> now.add(batch.retain()));
        try {
            base.rows().forEach(bytes -> told.add(BatchBytes.read(bytes.duplicate(), schema, allocator)));
            for (KeptEpoch epoch : since) {
                if (epoch.micros() > base.micros()) {
                    told.addAll(read(epoch));
                }
            }
        } catch (RuntimeException | Error e) {
            Closing.all(now);
            Closing.all(told);
            throw e;
        }
        List<Batch> difference = View.difference(schema, now, told, batchRows, allocator);
        try {
            return HistoryRecords.bytes(difference);
        } finally {
            Closing.all(difference);
        }
    }

    /** The rows of an epoch, the caller's. */
    List<Batch> read(KeptEpoch epoch) {
        List<Batch> batches = new ArrayList<>();
        try {
            epoch.batches().forEach(bytes -> batches.add(BatchBytes.read(bytes.duplicate(), schema, allocator)));
            return batches;
        } catch (RuntimeException | Error e) {
            Closing.all(batches);
            throw e;
        }
    }

    // ---- the thread ------------------------------------------------------------------------------------------------

    private void run() {
        try {
            boolean more = true;
            while (more) {
                kept.awaitReaders();
                more = step(LOOK_MICROS) != Step.LAST;
            }
        } catch (RuntimeException | Error e) {
            failed(e);
        } finally {
            from.ifPresent(Subscription::close);
        }
    }

    private void failed(Throwable why) {
        kept.fail(
                why instanceof MillraceException known
                        ? known
                        : MillraceException.internal("the history of \"" + query + "\" has ended: " + why, why));
    }

    /** What the thread does, as far as there is something to do, for a history without one: by who makes use of it. */
    void work() {
        if (thread.isPresent() || from.isEmpty() || kept.hasFailed()) {
            return;
        }
        try {
            Step step = Step.SOME;
            while (step == Step.SOME) {
                step = step(0);
            }
        } catch (RuntimeException e) {
            failed(e);
        }
    }

    /** What was done of the history. */
    private enum Step {
        SOME,
        NOTHING,
        /** Nothing comes any more. */
        LAST
    }

    /** Writes and shows what has come, or comes within a time. */
    private Step step(long waitMicros) {
        boolean last = kept.isClosing(); // then what is there is taken, and no more
        Subscription source = from.orElseThrow();
        List<KeptEpoch> written = new ArrayList<>();
        long bytes = 0;
        long epoch = 0;
        Optional<EpochChanges> next = source.next(last ? 0 : waitMicros);
        boolean any = next.isPresent();
        while (next.isPresent()) {
            try (EpochChanges changes = next.get()) {
                epoch = changes.epoch();
                long micros = nextMicros(changes.epochMicros());
                List<ByteBuffer> rows = HistoryRecords.bytes(changes.batches());
                if (!rows.isEmpty()) {
                    KeptEpoch kept = log.epoch(epoch, micros, rows);
                    written.add(kept);
                    bytes += kept.bytes();
                }
            }
            next = bytes < GROUP_BYTES ? source.next(0) : Optional.empty();
        }
        Optional<MillraceException> stopped = standing.get().flatMap(StandingQuery::whyStopped);
        kept.stopped(stopped);
        if (any) {
            show(written, epoch);
            rewriteIfLong();
            return Step.SOME;
        }
        if (source.isFinished() && stopped.isEmpty()) {
            kept.end();
            return Step.LAST;
        }
        if (source.isFinished() && !last) {
            kept.awaitChange(waitMicros);
        }
        return last ? Step.LAST : Step.NOTHING;
    }

    private long nextMicros(long micros) {
        lastMicros = Math.max(micros, lastMicros + 1);
        return lastMicros;
    }

    /** Shows what was written, as soon as it is on disk. */
    private void show(List<KeptEpoch> written, long epoch) {
        if (lastMicros > ceilingMicros) {
            ceilingMicros = lastMicros + AHEAD_MICROS;
            log.told(ceilingMicros);
        }
        log.await();
        kept.show(written, lastMicros, epoch);
    }

    /** Begins the log anew when most of it is not needed. */
    private void rewriteIfLong() {
        if (log.bytes() <= Math.max(kept.newestBytes(), 2 * (baseBytes + kept.retainedBytes()))) {
            return;
        }
        List<ByteBuffer> rows;
        Subscription before = from.orElseThrow();
        from = Optional.empty();
        try (before;
                EpochChanges answer = open()) {
            List<KeptEpoch> written = new ArrayList<>();
            long epoch = 0;
            for (Optional<EpochChanges> next = before.next(0); next.isPresent(); next = before.next(0)) {
                try (EpochChanges changes = next.get()) {
                    if (changes.epoch() > answer.epoch()) {
                        break; // which comes by the new subscription
                    }
                    epoch = changes.epoch();
                    List<ByteBuffer> changed = HistoryRecords.bytes(changes.batches());
                    long micros = nextMicros(changes.epochMicros());
                    if (!changed.isEmpty()) {
                        written.add(log.epoch(epoch, micros, changed));
                    }
                }
            }
            if (epoch > 0) {
                show(written, epoch);
            }
            rows = HistoryRecords.bytes(answer.batches());
        }
        writeBase(rows);
        log.told(ceilingMicros); // what said so before goes
        log.await();
        log.forgetBefore(Math.min(baseRecord, kept.oldestRecord()));
    }

    private void writeBase(List<ByteBuffer> rows) {
        long first = log.baseRows(rows);
        baseBytes = rows.stream().mapToLong(ByteBuffer::remaining).sum();
        long number = kept.appendBase(BatchBytes.hash(schema), lastMicros, rows);
        baseRecord = first == 0 ? number : first;
    }

    // ---- readers ---------------------------------------------------------------------------------------------------

    /**
     * Begins to read: behind a time, or with what comes from now on, or with the answer.
     *
     * @param name of the subscription that is read; none for a reader of its own
     * @throws MillraceException 72000 if not all behind the time is here, 55000 if the subscription is broken
     */
    Subscription subscribe(Optional<String> name, SubscriptionOptions options) {
        work();
        if (options.afterMicros().isPresent() && name.isPresent()) {
            kept.acknowledge(name.get(), options.afterMicros().getAsLong());
        }
        if (options.snapshot()) {
            return withAnswer(name, options);
        }
        return kept.read(this, name, options);
    }

    private HistoryReader withAnswer(Optional<String> name, SubscriptionOptions options) {
        EpochChanges answer;
        try (Subscription once = standing.get()
                .orElseThrow(() -> MillraceException.user(
                        SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, "\"" + query + "\" does not run"))
                .subscribe(SubscriptionOptions.withSnapshot())) {
            answer = once.next(FIRST_MICROS).orElseThrow();
        }
        work(); // the answer is shown when its epoch is
        try {
            return kept.read(this, name, options, answer);
        } catch (RuntimeException | Error e) {
            answer.close();
            throw e;
        }
    }

    /** Keeps what comes from now on for a subscription; it is on disk when the log is. */
    void add(String name, String owner, long limitBytes) {
        work();
        kept.add(name, owner, limitBytes);
    }

    /** Closes this, which does not go on: all subscriptions are gone. */
    void drop() {
        try {
            kept.dropAll();
        } finally {
            close();
        }
    }

    /** Returns when what is known of subscriptions is on disk. */
    void awaitLog() {
        log.await();
    }

    /** Writes what has come, if it has a thread, and ends. The query runs on, until the engine is closed. */
    @Override
    public void close() {
        kept.beginClosing();
        boolean interrupted = false;
        long until = clock.nanoTime() + CLOSE_NANOS;
        try {
            while (thread.isPresent() && thread.get().isAlive()) {
                try {
                    thread.get().join(TimeUnit.MICROSECONDS.toMillis(LOOK_MICROS));
                    log.beginClosing();
                    if (clock.nanoTime() > until) {
                        log.close(); // it takes nothing, and who waits for it waits no more
                    }
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            if (ceilingMicros > lastMicros && !kept.hasFailed()) {
                log.told(lastMicros);
            }
        } finally {
            from.ifPresent(Subscription::close);
            log.close();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
