package dev.millrace.server.history;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.engine.subscription.SubscriptionOptions;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.server.log.EventLog;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The changes of a history that are on disk and retained, the durable subscriptions to them, and who reads them. Any thread; those who
 * wait for more wait here.
 *
 * <p>Long because what is kept is decided by all subscriptions and readers together, under one lock.
 */
final class KeptChanges {
    private static final EventLog LOG = EventLog.named("storage");
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** An epoch, with bytes and rows of all up to it. */
    record Placed(KeptEpoch epoch, long endBytes, long endRows) {}

    private final String query;
    private final HistoryLog log;
    private final long newestBytes; // are kept in any case
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

    @GuardedBy("lock") private Optional<MillraceException> stopped = Optional.empty(); // why nothing later is told now

    @GuardedBy("lock") private long stoppedMicros; // than this

    @GuardedBy("lock") private boolean ended;

    private volatile boolean closing; // written by who closes, read by all

    KeptChanges(String query, HistoryLog log, long newestBytes) {
        this.query = query;
        this.log = log;
        this.newestBytes = newestBytes;
    }

    // ---- by the history's thread, or who begins it -----------------------------------------------------------------

    /** Nothing is here, and all that comes later than a time will be. */
    void begin(long micros, long epoch) {
        lock.lock();
        try {
            reachMicros = micros;
            toldMicros = micros;
            shownEpoch = epoch;
        } finally {
            lock.unlock();
        }
    }

    /** What an earlier process left is here. */
    void goOn(HistoryContents left, long epoch) {
        lock.lock();
        try {
            reachMicros = left.base().orElseThrow().reachMicros();
            left.epochs().forEach(this::place);
            subscriptions.putAll(left.subscriptions());
            toldMicros = left.toldMicros();
            shownEpoch = epoch;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Shows what is on disk.
     *
     * @param micros all changes up to this time were here before, or are among these
     * @param epoch the engine's number of that time
     */
    void show(List<KeptEpoch> written, long micros, long epoch) {
        lock.lock();
        try {
            written.forEach(this::place);
            toldMicros = micros;
            shownEpoch = epoch;
            breakOverfull();
            forget();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Has the log say what the rows are that were appended last: the answer at a time. Returns the record's number. */
    long appendBase(int types, long micros, List<ByteBuffer> rows) {
        lock.lock(); // no subscription is changed between what the base says of it and what is behind
        try {
            return log.base(
                    new HistoryContents.Base(query, types, micros, reachMicros, rows, 0), subscriptions.values());
        } finally {
            lock.unlock();
        }
    }

    /** Has the query wait for readers that it is to wait for. */
    void awaitReaders() {
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

    /** It does not go on. */
    void fail(MillraceException why) {
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

    /** Whether what is shown from now on is told, and why not: then when that is over. */
    void stopped(Optional<MillraceException> why) {
        lock.lock();
        try {
            if (why.isPresent() != stopped.isPresent()) {
                stoppedMicros = toldMicros;
                stopped = why;
                changed.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Up to when readers are told of changes now. */
    @GuardedBy("lock") private long told() {
        return stopped.isPresent() ? stoppedMicros : toldMicros;
    }

    /** Waits until something may be otherwise, or a time is over. */
    void awaitChange(long micros) {
        lock.lock();
        try {
            changed.await(micros, TimeUnit.MICROSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
    }

    /** Nothing more comes. */
    void end() {
        lock.lock();
        try {
            ended = true;
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
            needed = Math.min(needed, reader.neededMicros(endBytes));
        }
        while (!epochs.isEmpty()) {
            Placed oldest = epochs.firstEntry().getValue();
            if (oldest.epoch().micros() > needed || endBytes - oldest.endBytes() < newestBytes) {
                return;
            }
            epochs.pollFirstEntry();
            reachMicros = oldest.epoch().micros();
            forgottenBytes = oldest.endBytes();
            forgottenRows = oldest.endRows();
        }
    }

    long newestBytes() {
        return newestBytes;
    }

    /** Of the changes that are here. */
    long retainedBytes() {
        lock.lock();
        try {
            return endBytes - forgottenBytes;
        } finally {
            lock.unlock();
        }
    }

    /** Where the log has the first of them. */
    long oldestRecord() {
        lock.lock();
        try {
            return epochs.isEmpty()
                    ? Long.MAX_VALUE
                    : epochs.firstEntry().getValue().epoch().firstRecord();
        } finally {
            lock.unlock();
        }
    }

    /** Whether it does not go on for another reason than that nothing comes any more. */
    boolean hasFailed() {
        lock.lock();
        try {
            return failure.isPresent();
        } finally {
            lock.unlock();
        }
    }

    /** Who waits for more waits no more. */
    void beginClosing() {
        closing = true;
        lock.lock();
        try {
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    boolean isClosing() {
        return closing;
    }

    // ---- subscriptions, any thread ---------------------------------------------------------------------------------

    /** Keeps what comes from now on until it is acknowledged; it is on disk when the log is. */
    void add(String name, String owner, long limitBytes) {
        lock.lock();
        try {
            replace(new NamedSubscription(name, owner, limitBytes, told(), Optional.empty()));
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock") private void replace(NamedSubscription subscription) {
        subscriptions.put(subscription.name(), subscription);
        log.subscription(subscription);
        changed.signalAll();
    }

    /** What is kept for it alone is let go of; that is on disk when the log is. */
    void remove(String name) {
        lock.lock();
        try {
            subscriptions.remove(name);
            log.dropped(name);
            forget();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
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
            long seen = Math.min(micros, told());
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

    /** The subscriptions, by name. */
    Map<String, NamedSubscription> named() {
        lock.lock();
        try {
            return new LinkedHashMap<>(subscriptions);
        } finally {
            lock.unlock();
        }
    }

    /** What {@code millrace.subscriptions} shows. */
    List<Histories.Shown> shown() {
        lock.lock();
        try {
            List<Histories.Shown> all = new ArrayList<>();
            for (NamedSubscription each : subscriptions.values()) {
                boolean isBroken = each.broken().isPresent();
                String state = isBroken
                        ? "broken"
                        : failure.isPresent() || ended ? "ended" : stopped.isPresent() ? "stopped" : "active";
                all.add(new Histories.Shown(
                        each,
                        query,
                        state,
                        each.broken().or(() -> failure.or(() -> stopped).map(MillraceException::getMessage)),
                        toldMicros,
                        isBroken ? 0 : waitingBytes(each)));
            }
            return all;
        } finally {
            lock.unlock();
        }
    }

    // ---- readers, any thread ---------------------------------------------------------------------------------------

    /** Begins to read: behind a time, or else behind what is acknowledged, or told. */
    HistoryReader read(QueryHistory history, Optional<String> name, SubscriptionOptions options) {
        lock.lock();
        try {
            long acknowledged = name.isPresent() ? require(name.get()).acknowledgedMicros() : told();
            return add(history, name, options, options.afterMicros().orElse(acknowledged), Optional.empty());
        } finally {
            lock.unlock();
        }
    }

    /** Begins to read with an answer, which is taken over unless this fails, and behind it. */
    HistoryReader read(QueryHistory history, Optional<String> name, SubscriptionOptions options, EpochChanges answer) {
        lock.lock();
        try {
            while (shownEpoch < answer.epoch()) { // whoever sees the answer has seen nothing that is not on disk
                requireGoingOn();
                changed.await(LOOK_NANOS, TimeUnit.NANOSECONDS);
                Interrupt.checkCurrent();
            }
            long micros = reachMicros;
            for (Placed placed : epochs.descendingMap().values()) {
                if (placed.epoch().number() <= answer.epoch()) {
                    micros = placed.epoch().micros();
                    break;
                }
            }
            EpochChanges first = new EpochChanges(answer.epoch(), micros, answer.batches(), true);
            return add(history, name, options, micros, Optional.of(first));
        } catch (InterruptedException e) {
            throw MillraceException.user(SqlState.QUERY_CANCELED, "canceling statement due to user request");
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
            QueryHistory history,
            Optional<String> name,
            SubscriptionOptions options,
            long micros,
            Optional<EpochChanges> first) {
        if (micros < reachMicros) {
            throw tooOld();
        }
        Map.Entry<Long, Placed> seen = epochs.floorEntry(micros);
        HistoryReader.Place place = seen == null
                ? new HistoryReader.Place(micros, forgottenBytes, forgottenRows)
                : new HistoryReader.Place(
                        micros, seen.getValue().endBytes(), seen.getValue().endRows());
        HistoryReader reader = new HistoryReader(history, this, name, options, place, first, endBytes);
        readers.add(reader);
        return reader;
    }

    MillraceException tooOld() {
        return MillraceException.user(
                        SqlState.SNAPSHOT_TOO_OLD, "what \"" + query + "\" changed since then is no longer kept")
                .withHint(
                        "the newest " + (newestBytes >> 20)
                                + " MB of changes are, and what a subscription has not acknowledged; begin again WITH (SNAPSHOT)");
    }

    /** Whether there are readers without a subscription. */
    boolean isReadByItself() {
        lock.lock();
        try {
            return readers.stream().anyMatch(reader -> reader.name().isEmpty());
        } finally {
            lock.unlock();
        }
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
        if (next != null && stopped.isPresent() && next.getKey() > stoppedMicros) {
            throw stopped.get().again();
        }
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
        if (stopped.isPresent()) {
            throw stopped.get().again();
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
}
