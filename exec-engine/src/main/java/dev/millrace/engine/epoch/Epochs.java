package dev.millrace.engine.epoch;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.engine.epoch.EpochDomain.Closed;
import dev.millrace.error.MillraceException;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.scheduler.Signal;
import dev.millrace.scheduler.Workers;
import dev.millrace.time.Clock;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.LongPredicate;
import java.util.function.Supplier;

/**
 * Opens, closes and commits the epochs of all domains. Safe on any thread.
 *
 * <p>Long because one lock guards what all of it changes.
 */
public final class Epochs {
    private record Publication(EpochOutput output, Closed closed) {}

    /** Comes before all epochs. */
    public static final long NONE = 0;

    /** Epochs closed but not committed per domain: enough to keep tasks of several depths at work. */
    private static final int MOST_CLOSED = 3;

    /** The same while some outputs are behind and others are not, which are not to wait for them. */
    private static final int MOST_CLOSED_FOR_SOME = 100_000;

    private final Workers workers;
    private final Clock clock;
    private final long epochNanos;
    private final Signal signal;
    private final Journal journal;
    private final ReentrantLock lock = new ReentrantLock();
    private final ReentrantLock instants = new ReentrantLock(); // held while versions become current, or are looked at
    private final AtomicLong versions = new AtomicLong(); // the last one given to an output

    @GuardedBy("lock") private final Set<EpochDomain> domains = new LinkedHashSet<>();

    @GuardedBy("lock") private final Map<Long, Closed> closedEpochs = new HashMap<>(); // of all domains

    @GuardedBy("lock") private long lastNumber;

    @GuardedBy("lock") private long lastMicros = Long.MIN_VALUE;

    @GuardedBy("lock") private boolean opening; // all domains are held, those to come as well

    /** @param signal raised after each commit and whenever a held domain may have become quiet */
    public Epochs(Workers workers, Clock clock, long epochNanos, Signal signal) {
        this(workers, clock, epochNanos, signal, Journal.NONE);
    }

    /** @param journal has what {@link #append} accepts before anybody sees it */
    public Epochs(Workers workers, Clock clock, long epochNanos, Signal signal, Journal journal) {
        this.journal = journal;
        this.workers = workers;
        this.clock = clock;
        this.epochNanos = epochNanos;
        this.signal = signal;
    }

    /**
     * Runs {@code action}, which takes no longer than to look at some versions, while none becomes current: several outputs
     * are seen as of one instant, and of one epoch if a {@link Cut} says so.
     */
    public <T> T atOneInstant(Supplier<T> action) {
        instants.lock();
        try {
            return action.get();
        } finally {
            instants.unlock();
        }
    }

    /** A domain of its own for whoever joins it. */
    public EpochDomain newDomain() {
        lock.lock();
        try {
            EpochDomain domain = new EpochDomain(++lastNumber);
            domain.setHeld(opening);
            domains.add(domain);
            return domain;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Adds an input. The domain must be new, or held and quiet; one that all had left is there again.
     *
     * @param wake called, with the lock held, when there is an epoch to end
     */
    public EpochInput addInput(EpochDomain domain, Runnable wake) {
        lock.lock();
        try {
            EpochInput input = new EpochInput(this, domain, wake);
            domain.inputs.add(input);
            domains.add(domain);
            return input;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Adds an output. The domain must be new, or held and quiet; one that all had left is there again.
     *
     * @param wake called, with the lock held, when the domain is held: whatever is under way has to come out
     */
    public EpochOutput addOutput(EpochDomain domain, EpochOutput.Publisher publisher, Runnable wake) {
        lock.lock();
        try {
            EpochOutput output = new EpochOutput(this, domain, publisher, wake);
            domain.outputs.add(output);
            domains.add(domain);
            return output;
        } finally {
            lock.unlock();
        }
    }

    public EpochDomain domainOf(EpochInput input) {
        lock.lock();
        try {
            return input.domain;
        } finally {
            lock.unlock();
        }
    }

    public EpochDomain domainOf(EpochOutput output) {
        lock.lock();
        try {
            return output.domain;
        } finally {
            lock.unlock();
        }
    }

    /** Where what is accepted is written down. */
    public Journal journal() {
        return journal;
    }

    /**
     * Runs {@code action} under the lock, with the open epoch of the input dirty: what it enqueues belongs to that epoch.
     * For inputs whose callers bring rows themselves.
     *
     * @param entry of what the action enqueues; appended if it is run
     * @return the epoch; empty if the domain is held, and nothing was run
     */
    public Optional<Accepted> append(EpochInput input, Journal.Entry entry, Runnable action) {
        Accepted accepted;
        lock.lock();
        try {
            EpochDomain domain = input.domain;
            if (domain.isHeld()) {
                return Optional.empty();
            }
            makeDirty(domain);
            action.run();
            accepted = new Accepted(domain.open, entry.append());
            domain.lastEntry = Math.max(domain.lastEntry, accepted.entry());
            closeIfDry(domain);
        } finally {
            lock.unlock();
        }
        commitReady(input);
        return Optional.of(accepted);
    }

    /**
     * The same for inputs of one domain together.
     *
     * @return the epoch; empty if the domain is held or they are of several, and nothing was run
     */
    public Optional<Accepted> append(List<EpochInput> inputs, Journal.Entry entry, Runnable action) {
        lock.lock();
        try {
            EpochDomain domain = inputs.get(0).domain;
            if (inputs.stream().anyMatch(input -> input.domain != domain)) {
                return Optional.empty();
            }
        } finally {
            lock.unlock();
        }
        // Domains only ever merge: what is in one now stays in one.
        return append(inputs.get(0), entry, action);
    }

    /** Runs {@code action} under the lock: no epoch is closed meanwhile. Returns what it returns. */
    public <T> T atomically(Supplier<T> action) {
        lock.lock();
        try {
            return action.get();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Runs {@code action} under the lock between two epochs of a domain: all rows of the earlier are passed on, and none of
     * the later, though outputs may still be at work on the earlier. For those who come to read what is passed on.
     *
     * @param passedOn whether the end of an epoch was passed on where the action looks
     * @return false if that cannot be had at once, and nothing was run
     */
    public boolean between(EpochDomain domain, LongPredicate passedOn, Runnable action) {
        boolean done;
        lock.lock();
        try {
            done = passedOn.test(domain.lastClosed);
            if (done && domain.isDirty() && !domain.isHeld()) { // while held no rows have come to the open one
                close(domain); // inputs whose callers bring rows end it at once
                done = passedOn.test(domain.lastClosed);
            }
            if (done) {
                action.run();
            }
        } finally {
            lock.unlock();
        }
        commitReady(domain);
        return done;
    }

    /** Whether the end of what was closed last was passed on. */
    public boolean hasPassedOn(EpochDomain domain, LongPredicate passedOn) {
        return atomically(() -> passedOn.test(domain.lastClosed));
    }

    /**
     * An epoch that only a new output of its domain has, ended by whoever feeds it; empty if the open epoch, which the
     * output has like all, is to end soon anyway.
     */
    public OptionalLong beginAlone(EpochOutput output) {
        lock.lock();
        try {
            EpochDomain domain = output.domain;
            if (domain.isDirty()) {
                return OptionalLong.empty();
            }
            long epoch = domain.open;
            domain.open = ++lastNumber;
            Closed closed = new Closed(epoch, micros(), OptionalLong.empty(), Set.of(), true);
            closed.durable = true; // rows that are there already
            add(domain, closed);
            expect(output, closed);
            return OptionalLong.of(epoch);
        } finally {
            lock.unlock();
        }
    }

    void arrived(EpochInput input, boolean more) {
        lock.lock();
        try {
            if (input.domain.inputs.contains(input)) {
                makeDirty(input.domain);
                if (more && !input.isBusy()) {
                    input.setBusy(true);
                    input.domain.busyInputs++;
                }
            }
        } finally {
            lock.unlock();
        }
    }

    void ranDry(EpochInput input) {
        lock.lock();
        try {
            if (input.isBusy()) {
                input.setBusy(false);
                input.domain.busyInputs--;
            }
            closeIfDry(input.domain);
        } finally {
            lock.unlock();
        }
        commitReady(input);
    }

    /** Has the domain's open epoch closed soon, rows or not; returns its number. */
    public long touch(EpochDomain domain) {
        long epoch;
        lock.lock();
        try {
            epoch = domain.open;
            makeDirty(domain);
            closeIfDry(domain);
        } finally {
            lock.unlock();
        }
        commitReady(domain);
        return epoch;
    }

    private void makeDirty(EpochDomain domain) {
        if (!domain.isDirty()) {
            domain.setDirty(true);
            domain.dirtySinceNanos = clock.nanoTime();
            if (!domain.timerSet) {
                domain.timerSet = true;
                workers.schedule(domain.dirtySinceNanos + epochNanos, () -> timeOut(domain));
            }
        }
    }

    private void timeOut(EpochDomain domain) {
        lock.lock();
        try {
            domain.timerSet = false;
            closeIfDry(domain);
            if (domain.isDirty()) {
                // Either younger than the one the timer was for, or waiting for others to be committed.
                long due = domain.dirtySinceNanos + epochNanos;
                domain.timerSet = true;
                workers.schedule(Math.max(due, clock.nanoTime() + epochNanos / 10), () -> timeOut(domain));
            }
        } finally {
            lock.unlock();
        }
        commitReady(domain);
    }

    @GuardedBy("lock") private void closeIfDry(EpochDomain domain) {
        if (!domain.isDirty()) {
            return;
        }
        boolean isOld = clock.nanoTime() - domain.dirtySinceNanos >= epochNanos;
        boolean over = isOld || domain.busyInputs == 0 || domain.isHeld();
        boolean someWait = domain.behind < domain.outputs.size(); // for more, while others are at work on earlier ones
        if (over
                && (domain.closed.size() < MOST_CLOSED
                        || isOld && someWait && domain.closed.size() < MOST_CLOSED_FOR_SOME)) {
            close(domain);
        }
    }

    @GuardedBy("lock") private void close(EpochDomain domain) {
        long epoch = domain.open;
        domain.open = ++lastNumber;
        domain.lastClosed = epoch;
        OptionalLong since = domain.isDirty() ? OptionalLong.of(domain.dirtySinceNanos) : OptionalLong.empty();
        domain.setDirty(false);
        Closed closed = new Closed(epoch, micros(), since, domain.inputs, !domain.inputs.isEmpty());
        closed.durable = domain.lastEntry == 0;
        add(domain, closed);
        domain.outputs.forEach(output -> expect(output, closed));
        if (!closed.durable) {
            journal.whenDurable(domain.lastEntry, () -> durable(domain, closed));
            domain.lastEntry = 0;
        }
        commitIfPublished(domain, closed);
        for (EpochInput input : List.copyOf(domain.inputs)) {
            input.addClosing(epoch);
            input.wake.run();
        }
    }

    /** What was accepted in an epoch is on disk. Publishing is left to a thread that may be held up. */
    private void durable(EpochDomain domain, Closed closed) {
        lock.lock();
        try {
            closed.durable = true;
            domain.outputs.forEach(Epochs::queueIfReady);
        } finally {
            lock.unlock();
        }
        if (!lock.isHeldByCurrentThread()) {
            workers.schedule(clock.nanoTime(), () -> commitReady(domain));
        }
    }

    @GuardedBy("lock") private void add(EpochDomain domain, Closed closed) {
        domain.closed.add(closed);
        closedEpochs.put(closed.epoch, closed);
    }

    private static void expect(EpochOutput output, Closed closed) {
        closed.unpublished++;
        if (output.pending.isEmpty()) {
            output.domain.behind++;
        }
        output.pending.add(closed);
        queueIfReady(output);
    }

    /** The time of an epoch that is closed now. */
    @GuardedBy("lock") private long micros() {
        lastMicros = Math.max(lastMicros, clock.epochMicros());
        return lastMicros;
    }

    /** The time at which an epoch was closed that is not committed yet, in microseconds since 1970. */
    public long micros(long epoch) {
        lock.lock();
        try {
            Closed closed = closedEpochs.get(epoch);
            return closed == null ? micros() : closed.micros; // if a query feeds itself, nobody else has this epoch
        } finally {
            lock.unlock();
        }
    }

    long takeClosing(EpochInput input) {
        long epoch;
        lock.lock();
        try {
            epoch = input.closing.remove();
            input.closingTaken();
            Closed closed = closedEpochs.get(epoch);
            if (closed != null) {
                closed.waitingFor.remove(input);
                commitIfPublished(input.domain, closed);
            }
        } finally {
            lock.unlock();
        }
        // What is behind the input is still to come, but somebody may wait for a domain without outputs.
        commitReady(input);
        return epoch;
    }

    void done(EpochOutput output, long epoch) {
        EpochDomain domain;
        lock.lock();
        try {
            domain = output.domain;
            output.doneThrough = Math.max(output.doneThrough, epoch);
            queueIfReady(output);
        } finally {
            lock.unlock();
        }
        commitReady(domain);
    }

    private static void queueIfReady(EpochOutput output) {
        if (!output.queued && output.isReady()) {
            output.queued = true;
            output.domain.ready.add(output);
        }
    }

    /** An epoch that all inputs have ended and all outputs have published is forgotten. */
    @GuardedBy("lock") private void commitIfPublished(EpochDomain domain, Closed closed) {
        if (closed.isCommitted()) {
            domain.closed.remove(closed);
            closedEpochs.remove(closed.epoch);
            forgetIfEmpty(domain);
        }
    }

    void leave(EpochInput input) {
        EpochDomain domain;
        lock.lock();
        try {
            domain = input.domain;
            domain.inputs.remove(input);
            if (input.isBusy()) {
                input.setBusy(false);
                domain.busyInputs--;
            }
            for (Closed closed : List.copyOf(domain.closed)) {
                closed.waitingFor.remove(input);
                commitIfPublished(domain, closed);
            }
            closeIfDry(domain);
            forgetIfEmpty(domain);
        } finally {
            lock.unlock();
        }
        commitReady(domain);
    }

    void leave(EpochOutput output) {
        EpochDomain domain;
        lock.lock();
        try {
            domain = output.domain;
            if (domain.outputs.remove(output)) {
                output.left = true;
                domain.behind -= output.pending.isEmpty() ? 0 : 1;
                queueIfReady(output);
            }
            forgetIfEmpty(domain);
        } finally {
            lock.unlock();
        }
        commitReady(domain);
    }

    @GuardedBy("lock") private void forgetIfEmpty(EpochDomain domain) {
        if (domain.inputs.isEmpty() && domain.outputs.isEmpty() && domain.closed.isEmpty()) {
            domains.remove(domain);
        }
    }

    private void commitReady(EpochInput input) {
        commitReady(domainOf(input));
    }

    /** Has outputs publish what they are done with, each its epochs in order. */
    private void commitReady(EpochDomain domain) {
        if (lock.isHeldByCurrentThread()) {
            return; // called back from a method that does it once it has let the lock go
        }
        List<Throwable> failures = new ArrayList<>();
        Optional<Publication> next = takeReady(domain);
        while (next.isPresent()) {
            publish(next.get(), failures);
            next = takeReady(domain);
        }
        signal.raise();
        if (!failures.isEmpty()) {
            throw MillraceException.internal("an epoch was not published: " + failures.get(0), failures.get(0));
        }
    }

    /** What is to be published now, by the caller alone. */
    private Optional<Publication> takeReady(EpochDomain domain) {
        lock.lock();
        try {
            while (!domain.ready.isEmpty()) {
                EpochOutput output = domain.ready.remove();
                output.queued = false;
                if (output.isReady()) { // still: a cut may have come between
                    Closed closed = output.pending.element();
                    output.publishing = true;
                    output.publishedThrough = closed.epoch;
                    return Optional.of(new Publication(output, closed));
                }
            }
            return Optional.empty();
        } finally {
            lock.unlock();
        }
    }

    /** Whatever a publisher throws, it holds up neither the others nor its own next epoch. */
    private void publish(Publication next, List<Throwable> failures) {
        long version = versions.incrementAndGet();
        try (Interrupt.Binding others = Interrupt.shield()) { // that what the thread works for ends ends no other
            next.output.publish(next.closed.epoch, next.closed.sinceNanos, version);
        } catch (RuntimeException | Error e) {
            failures.add(e);
        } finally {
            published(next.output);
        }
    }

    private void published(EpochOutput output) {
        lock.lock();
        try {
            EpochDomain domain = output.domain;
            output.publishing = false;
            Closed closed = output.pending.remove();
            closed.unpublished--;
            if (output.pending.isEmpty() && !output.left) {
                domain.behind--;
            }
            commitIfPublished(domain, closed);
            queueIfReady(output);
            closeIfDry(domain);
        } finally {
            lock.unlock();
        }
        signal.raise();
    }

    /** Whether an output shows an epoch, or never will because it is not part of it; others may not show it yet. */
    public boolean isPublished(EpochOutput output, long epoch) {
        lock.lock();
        try {
            boolean isOpen = output.domain.open == epoch && output.domain.isDirty() && !output.left;
            return !isOpen && output.pending.stream().noneMatch(closed -> closed.epoch == epoch);
        } finally {
            lock.unlock();
        }
    }

    /** Has several outputs come to one epoch, and keeps them there until the cut is closed. */
    public Cut cut(Collection<EpochOutput> outputs) {
        return atomically(() -> new Cut(this, outputs));
    }

    void release(Cut cut) {
        Set<EpochDomain> domains = new LinkedHashSet<>();
        lock.lock();
        try {
            for (EpochOutput output : cut.release()) {
                queueIfReady(output);
                domains.add(output.domain);
            }
        } finally {
            lock.unlock();
        }
        domains.forEach(this::commitReady);
    }

    /** Whether the epoch is committed, or never will be because it had nothing to commit. */
    public boolean isCommitted(long epoch) {
        lock.lock();
        try {
            for (EpochDomain domain : domains) {
                if (domain.open == epoch && domain.isDirty()) {
                    return false;
                }
            }
            return !closedEpochs.containsKey(epoch);
        } finally {
            lock.unlock();
        }
    }

    /** Epochs that hold rows and are not committed; what {@code flush} waits for. */
    public List<Long> pending() {
        List<Long> pending = new ArrayList<>();
        lock.lock();
        try {
            for (EpochDomain domain : domains) {
                domain.closed.forEach(closed -> pending.add(closed.epoch));
                if (domain.isDirty()) {
                    pending.add(domain.open);
                }
            }
        } finally {
            lock.unlock();
        }
        return pending;
    }

    /**
     * Stops inputs from passing rows on, and closes what is open, even if it is empty: each input takes notice so. One
     * caller at a time.
     */
    public void hold(Collection<EpochDomain> held) {
        lock.lock();
        try {
            for (EpochDomain domain : held) {
                domain.setHeld(true);
                close(domain);
                domain.outputs.forEach(output -> output.wake.run());
            }
        } finally {
            lock.unlock();
        }
        held.forEach(this::commitReady);
    }

    /** Whether nothing moves in domains that are held. */
    public boolean isQuiet(Collection<EpochDomain> held) {
        return atomically(() -> held.stream().allMatch(EpochDomain::isQuiet));
    }

    /**
     * Closes the open epochs of all domains in one moment, rows or not.
     *
     * @param cut called with them while nobody can bring rows: what was accepted before is in one of them, what is accepted after
     *     in none
     */
    public void cut(Consumer<Collection<Long>> cut) {
        List<EpochDomain> all;
        lock.lock();
        try {
            all = List.copyOf(domains);
            cut.accept(all.stream().map(domain -> domain.open).toList());
            all.forEach(this::close);
        } finally {
            lock.unlock();
        }
        all.forEach(this::commitReady);
    }

    /** Whether an output that left has published all that it was part of. */
    public boolean isDrained(EpochOutput output) {
        return atomically(() -> output.left && output.pending.isEmpty());
    }

    /** The last number given to an epoch, and the last time: {@link #beginOpening} of another begins there. */
    public long[] numbers() {
        lock.lock();
        try {
            return new long[] {lastNumber, lastMicros};
        } finally {
            lock.unlock();
        }
    }

    /** Goes on with the numbers of another, and lets no rows flow anywhere before {@link #endOpening}. Before there is a domain. */
    public void beginOpening(long[] numbers) {
        lock.lock();
        try {
            lastNumber = numbers[0];
            lastMicros = numbers[1];
            opening = true;
        } finally {
            lock.unlock();
        }
    }

    public void endOpening() {
        List<EpochDomain> all;
        lock.lock();
        try {
            opening = false;
            all = List.copyOf(domains);
        } finally {
            lock.unlock();
        }
        release(all);
    }

    /** Lets rows flow again. */
    public void release(Collection<EpochDomain> held) {
        lock.lock();
        try {
            for (EpochDomain domain : held) {
                domain.setHeld(opening);
                List.copyOf(domain.inputs).forEach(input -> input.wake.run());
            }
        } finally {
            lock.unlock();
        }
        signal.raise();
    }

    /** Makes one domain of several that are held and quiet; it is held, too. */
    public EpochDomain merge(Collection<EpochDomain> parts) {
        lock.lock();
        try {
            EpochDomain merged = new EpochDomain(++lastNumber);
            domains.add(merged);
            merged.setHeld(true);
            for (EpochDomain part : parts) {
                part.inputs.forEach(input -> input.moveTo(merged));
                part.outputs.forEach(output -> output.moveTo(merged));
                merged.inputs.addAll(part.inputs);
                merged.outputs.addAll(part.outputs);
                merged.busyInputs += part.busyInputs;
                domains.remove(part);
            }
            return merged;
        } finally {
            lock.unlock();
        }
    }
}
