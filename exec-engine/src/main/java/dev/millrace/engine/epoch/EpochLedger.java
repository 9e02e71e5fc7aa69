package dev.millrace.engine.epoch;

import dev.millrace.engine.epoch.EpochDomain.Closed;
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
import java.util.function.BooleanSupplier;

/**
 * Which epochs of which domains are open, closed and committed: what {@link Epochs} keeps, and how it changes. By one thread at a
 * time, the one that holds the lock of {@link Epochs}; it calls no publisher, and nobody waits in it.
 *
 * <pre>
 *   open -- dirty, and dry or old --> closed -- ended by all inputs, published by all outputs --> committed, forgotten
 * </pre>
 */
final class EpochLedger {
    /** What the ledger cannot do while the lock is held. Called with the lock held. */
    interface Host {
        /** Has {@link #timedOut} called at a time, by the clock in nanoseconds. */
        void timeOutAt(EpochDomain domain, long nanos);

        /** Has {@link #durable} called when an entry of the journal is on disk. */
        void whenDurable(long entry, EpochDomain domain, Closed closed);
    }

    /** What an output is to publish now. */
    record Publication(EpochOutput output, Closed closed) {}

    /** Epochs closed but not committed per domain: enough to keep tasks of several depths at work. */
    private static final int MOST_CLOSED = 3;

    /** The same while some outputs are behind and others are not, which are not to wait for them. */
    private static final int MOST_CLOSED_FOR_SOME = 100_000;

    /** By how much less time an epoch may be open then. */
    private static final int SHORTER_FOR_SOME = 5;

    private final Clock clock;
    private final long epochNanos;
    private final Host host;
    private final Set<EpochDomain> domains = new LinkedHashSet<>();
    private final Map<Long, Closed> closedEpochs = new HashMap<>(); // of all domains
    private long lastNumber;
    private long lastMicros = Long.MIN_VALUE;
    private boolean opening; // all domains are held, those to come as well

    EpochLedger(Clock clock, long epochNanos, Host host) {
        this.clock = clock;
        this.epochNanos = epochNanos;
        this.host = host;
    }

    // ---- domains, and who is in them
    // ---------------------------------------------------------------------------------

    EpochDomain newDomain() {
        EpochDomain domain = new EpochDomain(++lastNumber);
        domain.setHeld(opening);
        domains.add(domain);
        return domain;
    }

    List<EpochDomain> domains() {
        return List.copyOf(domains);
    }

    void join(EpochInput input) {
        input.domain.inputs.add(input);
        domains.add(input.domain);
    }

    void join(EpochOutput output) {
        output.domain.outputs.add(output);
        domains.add(output.domain);
    }

    void leave(EpochInput input) {
        EpochDomain domain = input.domain;
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
    }

    void leave(EpochOutput output) {
        EpochDomain domain = output.domain;
        if (domain.outputs.remove(output)) {
            output.left = true;
            domain.behind -= output.pending.isEmpty() ? 0 : 1;
            queueIfReady(output);
        }
        forgetIfEmpty(domain);
    }

    private void forgetIfEmpty(EpochDomain domain) {
        if (domain.inputs.isEmpty() && domain.outputs.isEmpty() && domain.closed.isEmpty()) {
            domains.remove(domain);
        }
    }

    /** Makes one domain of several that are held and quiet; it is held, too. */
    EpochDomain merge(Collection<EpochDomain> parts) {
        EpochDomain merged = new EpochDomain(++lastNumber);
        domains.add(merged);
        merged.setHeld(true);
        for (EpochDomain part : parts) {
            part.inputs.forEach(input -> input.moveTo(merged));
            part.outputs.forEach(output -> output.moveTo(merged));
            merged.inputs.addAll(part.inputs);
            merged.outputs.addAll(part.outputs);
            merged.busyInputs += part.busyInputs;
            merged.still |= part.still;
            merged.touched |= part.touched;
            domains.remove(part);
        }
        return merged;
    }

    /** Lets the inputs of domains go on, unless all are held. */
    void release(Collection<EpochDomain> held) {
        for (EpochDomain domain : held) {
            domain.setHeld(opening);
            domain.still = false;
            if (domain.touched) {
                domain.touched = false;
                touch(domain);
            }
            List.copyOf(domain.inputs).forEach(input -> input.wake.run());
        }
    }

    // ---- numbers
    // -----------------------------------------------------------------------------------------------------

    /** The last number given to an epoch, and the last time. */
    long[] numbers() {
        return new long[] {lastNumber, lastMicros};
    }

    /** Has no epoch have the next number. */
    void takeNumber() {
        lastNumber++;
    }

    /** Goes on with the numbers of another; domains to come are held until {@link #endOpening}. */
    void beginOpening(long[] numbers) {
        lastNumber = numbers[0];
        lastMicros = numbers[1];
        opening = true;
    }

    void endOpening() {
        opening = false;
    }

    /** The time of an epoch that is closed now. */
    private long micros() {
        lastMicros = Math.max(lastMicros, clock.epochMicros());
        return lastMicros;
    }

    /** The time at which an epoch was closed that is not committed yet. */
    long micros(long epoch) {
        Closed closed = closedEpochs.get(epoch);
        return closed == null ? micros() : closed.micros; // if a query feeds itself, nobody else has this epoch
    }

    // ---- rows come, epochs are closed
    // --------------------------------------------------------------------------------

    void arrived(EpochInput input, boolean more) {
        if (input.domain.inputs.contains(input)) {
            makeDirty(input.domain);
            if (more && !input.isBusy()) {
                input.setBusy(true);
                input.domain.busyInputs++;
            }
        }
    }

    void ranDry(EpochInput input) {
        if (input.isBusy()) {
            input.setBusy(false);
            input.domain.busyInputs--;
        }
        closeIfDry(input.domain);
    }

    void makeDirty(EpochDomain domain) {
        if (!domain.isDirty()) {
            domain.setDirty(true);
            domain.dirtySinceNanos = clock.nanoTime();
            if (!domain.timerSet) {
                domain.timerSet = true;
                host.timeOutAt(domain, domain.dirtySinceNanos + mostNanos(domain));
            }
        }
    }

    /** For how long an epoch may be open: less where those who wait for more have others beside them that are at work on earlier ones. */
    private long mostNanos(EpochDomain domain) {
        return domain.closed.size() < MOST_CLOSED ? epochNanos : epochNanos / SHORTER_FOR_SOME;
    }

    /** Has the open epoch closed soon, rows or not; where all is still, as soon as it is not any more. */
    void touch(EpochDomain domain) {
        if (domain.still) {
            domain.touched = true;
            return;
        }
        makeDirty(domain);
        closeIfDry(domain);
    }

    /** Whether nothing is under way in domains that are held; then they are still until they are released. */
    boolean comeToRest(Collection<EpochDomain> held, BooleanSupplier also) {
        if (!held.stream().allMatch(EpochDomain::isQuiet) || !also.getAsBoolean()) {
            return false;
        }
        held.forEach(domain -> domain.still = true);
        return true;
    }

    void timedOut(EpochDomain domain) {
        domain.timerSet = false;
        closeIfDry(domain);
        if (domain.isDirty()) {
            // Either younger than the one the timer was for, or waiting for others to be committed.
            long due = domain.dirtySinceNanos + mostNanos(domain);
            domain.timerSet = true;
            host.timeOutAt(domain, Math.max(due, clock.nanoTime() + epochNanos / 10));
        }
    }

    void closeIfDry(EpochDomain domain) {
        if (!domain.isDirty()) {
            return;
        }
        boolean isOld = clock.nanoTime() - domain.dirtySinceNanos >= mostNanos(domain);
        boolean over = isOld || domain.busyInputs == 0 || domain.isHeld();
        boolean someWait = domain.behind < domain.outputs.size(); // for more, while others are at work on earlier ones
        if (over
                && (domain.closed.size() < MOST_CLOSED
                        || isOld && someWait && domain.closed.size() < MOST_CLOSED_FOR_SOME)) {
            close(domain);
        }
    }

    void close(EpochDomain domain) {
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
            host.whenDurable(domain.lastEntry, domain, closed);
            domain.lastEntry = 0;
        }
        commitIfPublished(domain, closed);
        for (EpochInput input : List.copyOf(domain.inputs)) {
            input.addClosing(epoch);
            input.wake.run();
        }
    }

    /** An epoch that only one output has; empty if the open one is to end soon anyway. */
    OptionalLong beginAlone(EpochOutput output) {
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
    }

    private void add(EpochDomain domain, Closed closed) {
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

    // ---- epochs are ended and published
    // ------------------------------------------------------------------------------

    /** What was accepted in an epoch is on disk. */
    void durable(EpochDomain domain, Closed closed) {
        closed.durable = true;
        domain.outputs.forEach(EpochLedger::queueIfReady);
    }

    long takeClosing(EpochInput input) {
        long epoch = input.closing.remove();
        input.closingTaken();
        Closed closed = closedEpochs.get(epoch);
        if (closed != null) {
            closed.waitingFor.remove(input);
            commitIfPublished(input.domain, closed);
        }
        return epoch;
    }

    void done(EpochOutput output, long epoch) {
        output.doneThrough = Math.max(output.doneThrough, epoch);
        queueIfReady(output);
    }

    static void queueIfReady(EpochOutput output) {
        if (!output.queued && output.isReady()) {
            output.queued = true;
            output.domain.ready.add(output);
        }
    }

    /** What is to be published now, by the caller alone, who says then that it {@link #published}. */
    Optional<Publication> takeReady(EpochDomain domain) {
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
    }

    void published(EpochOutput output) {
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
    }

    /** An epoch that all inputs have ended and all outputs have published is forgotten. */
    private void commitIfPublished(EpochDomain domain, Closed closed) {
        if (closed.isCommitted()) {
            domain.closed.remove(closed);
            closedEpochs.remove(closed.epoch);
            forgetIfEmpty(domain);
        }
    }

    static boolean isPublished(EpochOutput output, long epoch) {
        boolean isOpen = output.domain.open <= epoch && output.domain.isDirty() && !output.left;
        return !isOpen && output.pending.stream().noneMatch(closed -> closed.epoch <= epoch);
    }

    boolean isCommitted(long epoch) {
        for (EpochDomain domain : domains) {
            if (domain.open == epoch && domain.isDirty()) {
                return false;
            }
        }
        return !closedEpochs.containsKey(epoch);
    }

    /** Epochs that hold rows and are not committed. */
    List<Long> pending() {
        List<Long> pending = new ArrayList<>();
        for (EpochDomain domain : domains) {
            domain.closed.forEach(closed -> pending.add(closed.epoch));
            if (domain.isDirty()) {
                pending.add(domain.open);
            }
        }
        return pending;
    }
}
