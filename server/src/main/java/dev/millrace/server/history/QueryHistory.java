package dev.millrace.server.history;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.engine.subscription.Subscription;
import dev.millrace.engine.subscription.SubscriptionOptions;
import dev.millrace.engine.view.View;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.log.EventLog;
import dev.millrace.storage.batch.BatchBytes;
import dev.millrace.time.Clock;
import dev.millrace.type.Schema;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.apache.arrow.memory.BufferAllocator;

/**
 * The changes of one query that subscribers may come again for. A thread takes them from the engine, has them written, and shows what is
 * on disk. All other methods are for any thread.
 *
 * <pre>
 *   engine -- epoch --> written -- on disk --> shown to readers -- acknowledged, and not of the newest --> forgotten
 * </pre>
 */
final class QueryHistory implements AutoCloseable {
    static final long NEWEST_BYTES = 16L << 20; // are kept in any case
    private static final EventLog LOG = EventLog.named("storage");
    private static final long ENGINE_BYTES = 16L << 20; // may wait to be written
    private static final long GROUP_BYTES = 4L << 20; // are written together
    private static final long AHEAD_MICROS =
            10_000_000; // of what may have been told, so that it is seldom written down
    private static final long LOOK_MICROS = 100_000;
    private static final long CLOSE_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long FIRST_MICROS = TimeUnit.SECONDS.toMicros(60);

    /** An epoch, with bytes and rows of all up to it. */
    record Placed(KeptEpoch epoch, long endBytes, long endRows) {}

    private final String query;
    private final Supplier<Optional<StandingQuery>> standing;
    private final Schema schema;
    private final HistoryLog log;
    private final Clock clock;
    private final BufferAllocator allocator;
    private final int batchRows;
    private final Thread thread;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    @GuardedBy("lock") private final TreeMap<Long, Placed> epochs = new TreeMap<>(); // shown, by time

    @GuardedBy("lock") private final Map<String, NamedSubscription> subscriptions = new LinkedHashMap<>();

    @GuardedBy("lock") private final Set<HistoryReader> readers = new LinkedHashSet<>();

    @GuardedBy("lock") private long reachMicros; // all later changes are here

    @GuardedBy("lock") private long toldMicros; // all changes up to this time are shown

    @GuardedBy("lock") private long shownEpoch; // the engine's number of the newest

    @GuardedBy("lock") private long endBytes; // of all epochs that ever were shown

    @GuardedBy("lock") private long endRows;

    @GuardedBy("lock") private long forgottenBytes; // of those that are not here any more

    @GuardedBy("lock") private long forgottenRows;

    @GuardedBy("lock") private Optional<MillraceException> failure = Optional.empty();

    @GuardedBy("lock") private boolean ended;

    private volatile boolean closing; // written by who closes, read by the thread

    // of the thread, or of who begins it
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
            BufferAllocator allocator,
            int batchRows) {
        this.query = query;
        this.standing = standing;
        this.schema = now.schema();
        this.log = log;
        this.clock = clock;
        this.allocator = allocator;
        this.batchRows = batchRows;
        this.thread = new Thread(this::run, "millrace-history");
        thread.setDaemon(true);
    }

    String query() {
        return query;
    }

    Schema schema() {
        return schema;
    }

    BufferAllocator allocator() {
        return allocator;
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
        lock.lock();
        try {
            reachMicros = lastMicros;
            toldMicros = lastMicros;
            shownEpoch = epoch;
        } finally {
            lock.unlock();
        }
        writeBase(rows);
        log.await();
        thread.start();
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
        lock.lock();
        try {
            reachMicros = base.reachMicros();
            left.epochs().forEach(this::place);
            subscriptions.putAll(left.subscriptions());
            toldMicros = lastMicros;
            shownEpoch = epoch;
        } finally {
            lock.unlock();
        }
        if (!difference.isEmpty()) {
            long micros = nextMicros(clock.epochMicros());
            show(List.of(log.epoch(epoch, micros, difference)), epoch);
        }
        thread.start();
    }

    /** Subscribes to the query; returns its answer. */
    private EpochChanges open() {
        Subscription opened = standing.get()
                .orElseThrow(() -> MillraceException.user(
                        SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, "\"" + query + "\" does not run"))
                .subscribe(new SubscriptionOptions(
                        true, true, ENGINE_BYTES, SubscriptionOptions.WhenFull.WAIT, OptionalLong.empty()));
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
                awaitReaders();
                more = step();
            }
        } catch (RuntimeException | Error e) {
            fail(
                    e instanceof MillraceException known
                            ? known
                            : MillraceException.internal("the history of \"" + query + "\" has ended: " + e, e));
        } finally {
            from.ifPresent(Subscription::close);
        }
    }

    private void fail(MillraceException why) {
        lock.lock();
        try {
            failure = Optional.of(why);
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        if (!closing) {
            LOG.warning(
                    "a history has ended",
                    "query",
                    query,
                    "sqlstate",
                    why.sqlState().code());
        }
    }

    /** Has the query wait for readers that it is to wait for. */
    private void awaitReaders() {
        lock.lock();
        try {
            while (!closing && holdsUp()) {
                changed.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock") private boolean holdsUp() {
        for (HistoryReader reader : readers) {
            if (reader.holdsUp(endBytes)) {
                return true;
            }
        }
        return false;
    }

    /** Writes and shows what has come; false when no more will. */
    private boolean step() {
        boolean last = closing; // then what is there is taken, and no more
        Subscription source = from.orElseThrow();
        List<KeptEpoch> written = new ArrayList<>();
        long bytes = 0;
        long epoch = 0;
        Optional<EpochChanges> next = source.next(last ? 0 : LOOK_MICROS);
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
        if (any) {
            show(written, epoch);
            rewriteIfLong();
            return true;
        }
        if (source.isFinished()) {
            end();
            return false;
        }
        return !last;
    }

    private long nextMicros(long micros) {
        lastMicros = Math.max(micros, lastMicros + 1);
        return lastMicros;
    }

    private void end() {
        lock.lock();
        try {
            ended = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Shows what was written, as soon as it is on disk. */
    private void show(List<KeptEpoch> written, long epoch) {
        if (lastMicros > ceilingMicros) {
            ceilingMicros = lastMicros + AHEAD_MICROS;
            log.told(ceilingMicros);
        }
        log.await();
        lock.lock();
        try {
            written.forEach(this::place);
            toldMicros = lastMicros;
            shownEpoch = epoch;
            breakOverfull();
            forget();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock") private void place(KeptEpoch epoch) {
        endBytes += epoch.bytes();
        endRows += epoch.rows();
        epochs.put(epoch.micros(), new Placed(epoch, endBytes, endRows));
    }

    @GuardedBy("lock") private void breakOverfull() {
        for (NamedSubscription subscription : List.copyOf(subscriptions.values())) {
            if (subscription.broken().isEmpty() && waitingBytes(subscription) > subscription.limitBytes()) {
                replace(subscription.brokenBy(
                        "more than " + subscription.limitBytes() + " bytes of changes were not acknowledged"));
                LOG.warning("a subscription is broken", "subscription", subscription.name(), "query", query);
            }
        }
    }

    @GuardedBy("lock") private long waitingBytes(NamedSubscription subscription) {
        return endBytes - bytesUpTo(subscription.acknowledgedMicros());
    }

    /** Of all epochs up to a time. */
    @GuardedBy("lock") private long bytesUpTo(long micros) {
        Map.Entry<Long, Placed> place = epochs.floorEntry(micros);
        return place == null ? forgottenBytes : place.getValue().endBytes();
    }

    /** Lets go of what is acknowledged and older than the newest. */
    @GuardedBy("lock") private void forget() {
        long needed = Long.MAX_VALUE;
        for (NamedSubscription subscription : subscriptions.values()) {
            needed = subscription.broken().isPresent() ? needed : Math.min(needed, subscription.acknowledgedMicros());
        }
        for (HistoryReader reader : readers) {
            needed = Math.min(needed, reader.neededMicros());
        }
        while (!epochs.isEmpty()) {
            Placed oldest = epochs.firstEntry().getValue();
            if (oldest.epoch().micros() > needed || endBytes - oldest.endBytes() < NEWEST_BYTES) {
                return;
            }
            epochs.pollFirstEntry();
            reachMicros = oldest.epoch().micros();
            forgottenBytes = oldest.endBytes();
            forgottenRows = oldest.endRows();
        }
    }

    /** Begins the log anew when most of it is not needed. */
    private void rewriteIfLong() {
        if (log.bytes() <= Math.max(NEWEST_BYTES, 2 * (baseBytes + retainedBytes()))) {
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
        log.await();
        log.forgetBefore(Math.min(baseRecord, oldestRecord()));
    }

    private void writeBase(List<ByteBuffer> rows) {
        long first = log.baseRows(rows);
        baseBytes = rows.stream().mapToLong(ByteBuffer::remaining).sum();
        lock.lock(); // no subscription is changed between what the base says of it and what is behind
        try {
            long number = log.base(
                    new HistoryContents.Base(query, BatchBytes.hash(schema), lastMicros, reachMicros, rows, first),
                    subscriptions.values());
            baseRecord = first == 0 ? number : first;
        } finally {
            lock.unlock();
        }
    }

    private long retainedBytes() {
        lock.lock();
        try {
            return endBytes - forgottenBytes;
        } finally {
            lock.unlock();
        }
    }

    private long oldestRecord() {
        lock.lock();
        try {
            return epochs.isEmpty()
                    ? Long.MAX_VALUE
                    : epochs.firstEntry().getValue().epoch().firstRecord();
        } finally {
            lock.unlock();
        }
    }

    // ---- subscriptions ---------------------------------------------------------------------------------------------

    /** Keeps what comes from now on until it is acknowledged; it is on disk when this returns. */
    void add(String name, String owner, long limitBytes) {
        lock.lock();
        try {
            replace(new NamedSubscription(name, owner, limitBytes, toldMicros, Optional.empty()));
        } finally {
            lock.unlock();
        }
        log.await();
    }

    @GuardedBy("lock") private void replace(NamedSubscription subscription) {
        subscriptions.put(subscription.name(), subscription);
        log.subscription(subscription);
        changed.signalAll();
    }

    /** What is kept for it alone is let go of; returns how many subscriptions are left. */
    int remove(String name) {
        int left;
        lock.lock();
        try {
            subscriptions.remove(name);
            log.dropped(name);
            forget();
            left = subscriptions.size();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        log.await();
        return left;
    }

    /** It is not to go on. */
    void dropAll() {
        List<String> names;
        lock.lock();
        try {
            names = List.copyOf(subscriptions.keySet());
        } finally {
            lock.unlock();
        }
        names.forEach(this::remove);
    }

    /** All changes up to a time were seen; later ones than were told are not. It is on disk when this returns. */
    void acknowledge(String name, long micros) {
        lock.lock();
        try {
            NamedSubscription subscription = require(name);
            long seen = Math.min(micros, toldMicros);
            if (seen <= subscription.acknowledgedMicros()) {
                return;
            }
            replace(subscription.acknowledged(seen));
            forget();
        } finally {
            lock.unlock();
        }
        log.await();
    }

    /** One that is not broken. */
    @GuardedBy("lock") private NamedSubscription require(String name) {
        NamedSubscription subscription = subscriptions.get(name);
        if (subscription == null) {
            throw Histories.undefined(name);
        }
        subscription.broken().ifPresent(why -> {
            throw broken(name, why);
        });
        return subscription;
    }

    private static MillraceException broken(String name, String why) {
        return MillraceException.user(
                        SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, "subscription \"" + name + "\" is broken: " + why)
                .withHint("DROP SUBSCRIPTION " + name + "; CREATE it again, WITH (limit = '1GB'), and read the answer"
                        + " WITH (SNAPSHOT)");
    }

    /** What {@code millrace.subscriptions} shows. */
    List<Histories.Shown> shown() {
        lock.lock();
        try {
            List<Histories.Shown> all = new ArrayList<>();
            for (NamedSubscription each : subscriptions.values()) {
                boolean isBroken = each.broken().isPresent();
                String state = isBroken ? "broken" : failure.isPresent() || ended ? "ended" : "active";
                all.add(new Histories.Shown(
                        each,
                        query,
                        state,
                        each.broken().or(() -> failure.map(MillraceException::getMessage)),
                        toldMicros,
                        isBroken ? 0 : waitingBytes(each)));
            }
            return all;
        } finally {
            lock.unlock();
        }
    }

    // ---- readers ---------------------------------------------------------------------------------------------------

    /**
     * Begins to read: behind a time, or with what comes from now on, or with the answer.
     *
     * @param name of the subscription that is read; none for a reader of its own
     * @throws MillraceException 72000 if not all behind the time is here, 55000 if the subscription is broken
     */
    Subscription subscribe(Optional<String> name, SubscriptionOptions options) {
        if (options.afterMicros().isPresent() && name.isPresent()) {
            acknowledge(name.get(), options.afterMicros().getAsLong());
        }
        if (options.snapshot()) {
            return withAnswer(name, options);
        }
        lock.lock();
        try {
            long acknowledged = name.isPresent() ? require(name.get()).acknowledgedMicros() : toldMicros;
            return add(name, options, options.afterMicros().orElse(acknowledged), Optional.empty());
        } finally {
            lock.unlock();
        }
    }

    private HistoryReader withAnswer(Optional<String> name, SubscriptionOptions options) {
        EpochChanges answer;
        try (Subscription once = standing.get()
                .orElseThrow(() -> MillraceException.user(
                        SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, "\"" + query + "\" does not run"))
                .subscribe(SubscriptionOptions.withSnapshot())) {
            answer = once.next(FIRST_MICROS).orElseThrow();
        }
        lock.lock();
        try {
            while (shownEpoch < answer.epoch()) { // whoever sees the answer has seen nothing that is not on disk
                requireGoingOn();
                changed.await(LOOK_MICROS, TimeUnit.MICROSECONDS);
            }
            long micros = reachMicros;
            for (Placed placed : epochs.descendingMap().values()) {
                if (placed.epoch().number() <= answer.epoch()) {
                    micros = placed.epoch().micros();
                    break;
                }
            }
            EpochChanges first = new EpochChanges(answer.epoch(), micros, answer.batches(), true);
            return add(name, options, micros, Optional.of(first));
        } catch (InterruptedException e) {
            answer.close();
            throw MillraceException.user(SqlState.QUERY_CANCELED, "canceling statement due to user request");
        } catch (RuntimeException | Error e) {
            answer.close();
            throw e;
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock") private void requireGoingOn() {
        if (failure.isPresent()) {
            throw failure.get().again();
        }
        if (ended || closing) {
            throw MillraceException.user(
                    SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, "the history of \"" + query + "\" has ended");
        }
    }

    @GuardedBy("lock") private HistoryReader add(
            Optional<String> name, SubscriptionOptions options, long micros, Optional<EpochChanges> first) {
        if (micros < reachMicros) {
            throw tooOld();
        }
        Map.Entry<Long, Placed> seen = epochs.floorEntry(micros);
        HistoryReader.Place place = seen == null
                ? new HistoryReader.Place(micros, forgottenBytes, forgottenRows)
                : new HistoryReader.Place(
                        micros, seen.getValue().endBytes(), seen.getValue().endRows());
        HistoryReader reader = new HistoryReader(this, name, options, place, first, endBytes);
        readers.add(reader);
        return reader;
    }

    MillraceException tooOld() {
        return MillraceException.user(
                        SqlState.SNAPSHOT_TOO_OLD, "what \"" + query + "\" changed since then is no longer kept")
                .withHint(
                        "the newest " + (NEWEST_BYTES >> 20)
                                + " MB of changes are, and what a subscription has not acknowledged; begin again WITH (SNAPSHOT)");
    }

    void remove(HistoryReader reader) {
        lock.lock();
        try {
            readers.remove(reader);
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /**
     * What a reader is given next.
     *
     * @param epoch none if nothing changed up to {@code micros}
     * @param droppedRows before it
     */
    record Given(Optional<KeptEpoch> epoch, long number, long micros, long droppedRows) {}

    /** One step of a reader: waits until there is something, there will be nothing more, or the time is over. */
    Optional<Given> await(HistoryReader reader, long timeoutMicros) {
        lock.lock();
        try {
            long leftNanos = TimeUnit.MICROSECONDS.toNanos(timeoutMicros);
            Optional<Given> given = next(reader);
            while (given.isEmpty() && !ended && !closing && !reader.isClosed() && leftNanos > 0) {
                leftNanos = changed.awaitNanos(leftNanos);
                given = next(reader);
            }
            return given;
        } catch (InterruptedException e) {
            throw MillraceException.user(SqlState.QUERY_CANCELED, "canceling statement due to user request");
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock") private Optional<Given> next(HistoryReader reader) {
        if (reader.name().isPresent()) {
            require(reader.name().get());
        }
        reader.requireFastEnough(endBytes);
        if (reader.place().micros() < reachMicros && !reader.drops()) {
            throw tooOld();
        }
        Map.Entry<Long, Placed> next = epochs.higherEntry(reader.place().micros());
        while (next != null
                && reader.drops(endBytes - next.getValue().endBytes())
                && !next.equals(epochs.lastEntry())) {
            next = epochs.higherEntry(next.getKey());
        }
        if (next != null) {
            Placed placed = next.getValue();
            long dropped =
                    placed.endRows() - placed.epoch().rows() - reader.place().rows();
            reader.goTo(new HistoryReader.Place(placed.epoch().micros(), placed.endBytes(), placed.endRows()));
            changed.signalAll(); // the query may have waited for it
            return Optional.of(new Given(
                    Optional.of(placed.epoch()),
                    placed.epoch().number(),
                    placed.epoch().micros(),
                    dropped));
        }
        if (reader.tellsProgress() && toldMicros > reader.place().micros()) {
            reader.goTo(new HistoryReader.Place(toldMicros, endBytes, endRows));
            return Optional.of(new Given(Optional.empty(), shownEpoch, toldMicros, 0));
        }
        if (failure.isPresent() && !closing) {
            throw failure.get().again();
        }
        return Optional.empty();
    }

    /** Whether a reader at a time has seen all there is and ever will be. */
    boolean isFinishedAt(long micros) {
        lock.lock();
        try {
            return closing || ended && epochs.higherKey(micros) == null;
        } finally {
            lock.unlock();
        }
    }

    private boolean isWritten() {
        lock.lock();
        try {
            return failure.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    private void signal() {
        lock.lock();
        try {
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Writes what has come, and ends. The query runs on, until the engine is closed. */
    @Override
    public void close() {
        closing = true;
        signal();
        boolean interrupted = false;
        long until = clock.nanoTime() + CLOSE_NANOS;
        while (thread.isAlive()) {
            try {
                thread.join(TimeUnit.MICROSECONDS.toMillis(LOOK_MICROS));
                log.beginClosing();
                if (clock.nanoTime() > until) {
                    log.close(); // it takes nothing, and who waits for it waits no more
                }
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        try {
            if (ceilingMicros > lastMicros && !thread.isAlive() && isWritten()) {
                log.told(lastMicros);
            }
        } finally {
            log.close();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
