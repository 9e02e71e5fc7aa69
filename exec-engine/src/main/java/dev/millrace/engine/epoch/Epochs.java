package dev.millrace.engine.epoch;

import dev.millrace.engine.epoch.EpochDomain.Closed;
import dev.millrace.engine.epoch.EpochLedger.Publication;
import dev.millrace.error.MillraceException;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.scheduler.Signal;
import dev.millrace.scheduler.Workers;
import dev.millrace.time.Clock;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongPredicate;
import java.util.function.Supplier;

/**
 * Opens, closes and commits the epochs of all domains. Safe on any thread: an {@link EpochLedger} behind a lock, and outside of
 * the lock the publishing of what the ledger says is ready.
 */
public final class Epochs {
    /** Comes before all epochs. */
    public static final long NONE = 0;

    private final Workers workers;
    private final Clock clock;
    private final Signal signal;
    private final Journal journal;
    private final Locked<EpochLedger> locked;
    private final ReentrantLock instants = new ReentrantLock(); // held while versions become current, or are looked at
    private final AtomicLong versions = new AtomicLong(); // the last one given to an output

    /** Of a thread in {@link #showing}: domains in which something became ready to be published. */
    private final ThreadLocal<Optional<List<EpochDomain>>> showing = ThreadLocal.withInitial(Optional::empty);

    /** @param signal raised after each commit and whenever a held domain may have become quiet */
    public Epochs(Workers workers, Clock clock, long epochNanos, Signal signal) {
        this(workers, clock, epochNanos, signal, Journal.NONE);
    }

    /** @param journal has what {@link #append} accepts before anybody sees it */
    public Epochs(Workers workers, Clock clock, long epochNanos, Signal signal, Journal journal) {
        this.journal = journal;
        this.workers = workers;
        this.clock = clock;
        this.signal = signal;
        this.locked = new Locked<>(new EpochLedger(clock, epochNanos, new EpochLedger.Host() {
            @Override
            public void timeOutAt(EpochDomain domain, long nanos) {
                workers.schedule(nanos, () -> timeOut(domain));
            }

            @Override
            public void whenDurable(long entry, EpochDomain domain, Closed closed) {
                journal.whenDurable(entry, () -> durable(domain, closed));
            }
        }));
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

    /** Where what is accepted is written down. */
    public Journal journal() {
        return journal;
    }

    // ---- domains, and who is in them
    // ---------------------------------------------------------------------------------

    /** A domain of its own for whoever joins it. */
    public EpochDomain newDomain() {
        return locked.get(EpochLedger::newDomain);
    }

    /**
     * Adds an input. The domain must be new, or held and quiet; one that all had left is there again.
     *
     * @param wake called, with the lock held, when there is an epoch to end
     */
    public EpochInput addInput(EpochDomain domain, Runnable wake) {
        return locked.get(ledger -> {
            EpochInput input = new EpochInput(this, domain, wake);
            ledger.join(input);
            return input;
        });
    }

    /**
     * Adds an output. The domain must be new, or held and quiet; one that all had left is there again.
     *
     * @param wake called, with the lock held, when the domain is held: whatever is under way has to come out
     */
    public EpochOutput addOutput(EpochDomain domain, EpochOutput.Publisher publisher, Runnable wake) {
        return locked.get(ledger -> {
            EpochOutput output = new EpochOutput(this, domain, publisher, wake);
            ledger.join(output);
            return output;
        });
    }

    public EpochDomain domainOf(EpochInput input) {
        return locked.get(ledger -> input.domain);
    }

    public EpochDomain domainOf(EpochOutput output) {
        return locked.get(ledger -> output.domain);
    }

    void leave(EpochInput input) {
        EpochDomain domain = locked.get(ledger -> {
            ledger.leave(input);
            return input.domain;
        });
        commitReady(domain);
    }

    void leave(EpochOutput output) {
        EpochDomain domain = locked.get(ledger -> {
            ledger.leave(output);
            return output.domain;
        });
        commitReady(domain);
    }

    // ---- rows come, epochs are closed
    // --------------------------------------------------------------------------------

    /**
     * Runs {@code action} under the lock, with the open epoch of the input dirty: what it enqueues belongs to that epoch.
     * For inputs whose callers bring rows themselves.
     *
     * @param entry of what the action enqueues; appended if it is run
     * @return the epoch; empty if the domain is held, and nothing was run
     */
    public Optional<Accepted> append(EpochInput input, Journal.Entry entry, Runnable action) {
        Optional<Accepted> accepted = locked.get(ledger -> accept(ledger, input, entry, action));
        if (accepted.isPresent()) {
            commitReady(input);
        }
        return accepted;
    }

    /** The same for a thread that must not be held up: what can be published then is by another. */
    public Optional<Accepted> appendAside(EpochInput input, Journal.Entry entry, Runnable action) {
        return locked.get(ledger -> {
            Optional<Accepted> accepted = accept(ledger, input, entry, action);
            if (!input.domain.ready.isEmpty()) {
                EpochDomain domain = input.domain;
                workers.schedule(clock.nanoTime(), () -> commitReady(domain));
            }
            return accepted;
        });
    }

    private static Optional<Accepted> accept(
            EpochLedger ledger, EpochInput input, Journal.Entry entry, Runnable action) {
        EpochDomain domain = input.domain;
        if (domain.isHeld()) {
            return Optional.empty();
        }
        ledger.makeDirty(domain);
        action.run();
        Accepted now = new Accepted(domain.open, entry.append());
        domain.lastEntry = Math.max(domain.lastEntry, now.entry());
        ledger.closeIfDry(domain);
        return Optional.of(now);
    }

    /**
     * The same for inputs of one domain together.
     *
     * @return the epoch; empty if the domain is held or they are of several, and nothing was run
     */
    public Optional<Accepted> append(List<EpochInput> inputs, Journal.Entry entry, Runnable action) {
        boolean isOne = atomically(
                () -> inputs.stream().map(input -> input.domain).distinct().count() == 1);
        // Domains only ever merge: what is in one now stays in one.
        return isOne ? append(inputs.get(0), entry, action) : Optional.empty();
    }

    /** Runs {@code action} under the lock: no epoch is closed meanwhile. Returns what it returns. */
    public <T> T atomically(Supplier<T> action) {
        return locked.get(ledger -> action.get());
    }

    /**
     * Runs {@code action} under the lock between two epochs of a domain: all rows of the earlier are passed on, and none of
     * the later, though outputs may still be at work on the earlier. For those who come to read what is passed on.
     *
     * @param passedOn whether the end of an epoch was passed on where the action looks
     * @return false if that cannot be had at once, and nothing was run
     */
    public boolean between(EpochDomain domain, LongPredicate passedOn, Runnable action) {
        boolean done = locked.get(ledger -> {
            boolean isBetween = passedOn.test(domain.lastClosed);
            if (isBetween && domain.isDirty() && !domain.isHeld()) { // while held no rows have come to the open one
                ledger.close(domain); // inputs whose callers bring rows end it at once
                isBetween = passedOn.test(domain.lastClosed);
            }
            if (isBetween) {
                action.run();
            }
            return isBetween;
        });
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
        return locked.get(ledger -> ledger.beginAlone(output));
    }

    void arrived(EpochInput input, boolean more) {
        locked.run(ledger -> ledger.arrived(input, more));
    }

    void ranDry(EpochInput input) {
        locked.run(ledger -> ledger.ranDry(input));
        commitReady(input);
    }

    /** Has the open epoch of the output's domain closed soon, rows or not; returns its number. */
    public long touch(EpochOutput output) {
        EpochDomain[] touched = new EpochDomain[1];
        long epoch = locked.get(ledger -> {
            EpochDomain domain = output.domain;
            touched[0] = domain;
            long open = domain.open;
            ledger.touch(domain);
            return open;
        });
        commitReady(touched[0]);
        return epoch;
    }

    private void timeOut(EpochDomain domain) {
        locked.run(ledger -> ledger.timedOut(domain));
        commitReady(domain);
    }

    // ---- epochs are ended and published
    // ------------------------------------------------------------------------------

    /**
     * Runs {@code action}, in which this thread may be the journal's, and publishes what that calls back about when the action is over: for
     * who may be held up then, and so saves waking another. Not within another.
     */
    public <T> T showing(Supplier<T> action) {
        List<EpochDomain> ready = new ArrayList<>(1);
        showing.set(Optional.of(ready));
        try {
            return action.get();
        } finally {
            showing.remove();
            ready.forEach(this::commitReady);
        }
    }

    /** What was accepted in an epoch is on disk. Publishing is left to a thread that may be held up. */
    private void durable(EpochDomain domain, Closed closed) {
        boolean isReady = locked.get(ledger -> {
            ledger.durable(domain, closed);
            return !domain.ready.isEmpty(); // else an output that ends the epoch shows it
        });
        if (isReady && !locked.isHeldByCurrentThread()) {
            showing.get()
                    .ifPresentOrElse(
                            own -> own.add(domain),
                            () -> workers.schedule(clock.nanoTime(), () -> commitReady(domain)));
        }
    }

    long takeClosing(EpochInput input) {
        long epoch = locked.get(ledger -> ledger.takeClosing(input));
        // What is behind the input is still to come, but somebody may wait for a domain without outputs.
        commitReady(input);
        return epoch;
    }

    void done(EpochOutput output, long epoch) {
        EpochDomain domain = locked.get(ledger -> {
            ledger.done(output, epoch);
            return output.domain;
        });
        commitReady(domain);
    }

    private void commitReady(EpochInput input) {
        commitReady(domainOf(input));
    }

    /** Has outputs publish what they are done with, each its epochs in order. */
    private void commitReady(EpochDomain domain) {
        if (locked.isHeldByCurrentThread()) {
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

    private Optional<Publication> takeReady(EpochDomain domain) {
        return locked.get(ledger -> ledger.takeReady(domain));
    }

    /** Whatever a publisher throws, it holds up neither the others nor its own next epoch. */
    private void publish(Publication next, List<Throwable> failures) {
        long version = versions.incrementAndGet();
        try (Interrupt.Binding others = Interrupt.shield()) { // that what the thread works for ends ends no other
            next.output().publish(next.closed().epoch, next.closed().sinceNanos, version);
        } catch (RuntimeException | Error e) {
            failures.add(e);
        } finally {
            locked.run(ledger -> ledger.published(next.output()));
            signal.raise();
        }
    }

    /** Whether an output shows all that it has up to an epoch, which need not be one of its own; others may not show that yet. */
    public boolean isPublished(EpochOutput output, long epoch) {
        return atomically(() -> EpochLedger.isPublished(output, epoch));
    }

    /** Whether an output that left has published all that it was part of. */
    public boolean isDrained(EpochOutput output) {
        return atomically(() -> output.left && output.pending.isEmpty());
    }

    /** Whether the epoch is committed, or never will be because it had nothing to commit. */
    public boolean isCommitted(long epoch) {
        return locked.get(ledger -> ledger.isCommitted(epoch));
    }

    /** Epochs that hold rows and are not committed; what {@code flush} waits for. */
    public List<Long> pending() {
        return locked.get(EpochLedger::pending);
    }

    /** The time at which an epoch was closed that is not committed yet, in microseconds since 1970. */
    public long micros(long epoch) {
        return locked.get(ledger -> ledger.micros(epoch));
    }

    // ---- moments at which nothing moves, or one is chosen
    // --------------------------------------------------------------

    /** Has several outputs come to one epoch, and keeps them there until the cut is closed. */
    public Cut cut(Collection<EpochOutput> outputs) {
        return atomically(() -> new Cut(this, outputs));
    }

    void release(Cut cut) {
        Set<EpochDomain> domains = new LinkedHashSet<>();
        locked.run(ledger -> {
            for (EpochOutput output : cut.release()) {
                EpochLedger.queueIfReady(output);
                domains.add(output.domain);
            }
        });
        domains.forEach(this::commitReady);
    }

    /**
     * Stops inputs from passing rows on, and closes what is open, even if it is empty: each input takes notice so. One
     * caller at a time.
     */
    public void hold(Collection<EpochDomain> held) {
        locked.run(ledger -> {
            for (EpochDomain domain : held) {
                domain.setHeld(true);
                ledger.close(domain);
                domain.outputs.forEach(output -> output.wake.run());
            }
        });
        held.forEach(this::commitReady);
    }

    /** Whether nothing moves in domains that are held. */
    public boolean isQuiet(Collection<EpochDomain> held) {
        return atomically(() -> held.stream().allMatch(EpochDomain::isQuiet));
    }

    /**
     * Whether nothing moves in domains that are held, and something else holds as well. Then nothing begins to move in them until they
     * are released, though a timer or an idle source would have an epoch end: who comes to them reads all of them from one moment on.
     */
    public boolean comeToRest(Collection<EpochDomain> held, BooleanSupplier also) {
        return locked.get(ledger -> ledger.comeToRest(held, also));
    }

    /** Lets rows flow again. */
    public void release(Collection<EpochDomain> held) {
        locked.run(ledger -> ledger.release(held));
        held.forEach(this::commitReady);
        signal.raise();
    }

    /** Makes one domain of several that are held and quiet; it is held, too. */
    public EpochDomain merge(Collection<EpochDomain> parts) {
        return locked.get(ledger -> ledger.merge(parts));
    }

    /**
     * Closes the open epochs of all domains in one moment, rows or not.
     *
     * The cut takes a number itself: that is the last one while {@code cut} is called, of no other cut, and of no epoch.
     *
     * @param cut called with them while nobody can bring rows: what was accepted before is in one of them, what is accepted after
     *     in none
     */
    public void cut(Consumer<Collection<Long>> cut) {
        List<EpochDomain> all = locked.get(ledger -> {
            List<EpochDomain> domains = ledger.domains();
            ledger.takeNumber();
            cut.accept(domains.stream().map(domain -> domain.open).toList());
            domains.forEach(ledger::close);
            return domains;
        });
        all.forEach(this::commitReady);
    }

    /** The last number given to an epoch, and the last time: {@link #beginOpening} of another begins there. */
    public long[] numbers() {
        return locked.get(EpochLedger::numbers);
    }

    /** Goes on with the numbers of another, and lets no rows flow anywhere before {@link #endOpening}. Before there is a domain. */
    public void beginOpening(long[] numbers) {
        locked.run(ledger -> ledger.beginOpening(numbers));
    }

    public void endOpening() {
        List<EpochDomain> all = locked.get(ledger -> {
            ledger.endOpening();
            return ledger.domains();
        });
        release(all);
    }
}
