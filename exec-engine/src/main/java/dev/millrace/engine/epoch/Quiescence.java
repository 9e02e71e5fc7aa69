package dev.millrace.engine.epoch;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.scheduler.Signal;
import dev.millrace.scheduler.Workers;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongPredicate;
import java.util.function.Supplier;

/** The moments at which running queries can be changed, and others come to them. One caller at a time, the one that holds the
 * engine's lock of changes. */
public final class Quiescence {
    private static final long TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final Epochs epochs;
    private final Workers workers;
    private final Signal signal;
    private volatile boolean ended; // written by who closes the engine, read by those who wait

    public Quiescence(Epochs epochs, Workers workers, Signal signal) {
        this.epochs = epochs;
        this.workers = workers;
        this.signal = signal;
    }

    /**
     * Runs an action between two epochs of a domain, of which those who read other parts of it may be behind: as {@link Epochs#between},
     * and if that cannot be had at once, as soon as it can.
     */
    public void between(EpochDomain domain, LongPredicate passedOn, Runnable action) {
        if (!epochs.between(domain, passedOn, action)) {
            holding(Set.of(domain), () -> epochs.between(domain, passedOn, action), () -> domain, same -> {});
        }
    }

    /** The engine closes: whoever waits for a moment of rest gives up. On any thread. */
    public void end() {
        ended = true;
        signal.raise();
    }

    /** Runs an action while domains are at rest, which are one then. */
    public void atRest(Set<EpochDomain> domains, Consumer<EpochDomain> action) {
        atRest(domains, () -> true, action);
    }

    /**
     * The same, when something else holds as well: the more readers there are, the longer it takes until all are at rest, which is
     * waited for only where domains become one, or the rows that a view keeps are read first.
     */
    public void atRest(Set<EpochDomain> domains, BooleanSupplier also, Consumer<EpochDomain> action) {
        holding(
                domains,
                () -> epochs.comeToRest(domains, also),
                () -> domains.size() > 1
                        ? epochs.merge(domains)
                        : domains.iterator().next(),
                action);
    }

    private void holding(
            Set<EpochDomain> domains,
            BooleanSupplier condition,
            Supplier<EpochDomain> one,
            Consumer<EpochDomain> action) {
        Set<EpochDomain> held = domains;
        epochs.hold(held);
        try {
            boolean reached = await(() -> ended || condition.getAsBoolean(), TIMEOUT_NANOS);
            if (ended) {
                throw MillraceException.user(SqlState.ADMIN_SHUTDOWN, "the engine is closed");
            }
            if (!reached) {
                throw MillraceException.user(
                        SqlState.OBJECT_IN_USE,
                        "the epoch under way does not end: a sink or a query that reads the same relations is stuck");
            }
            held = Set.of(one.get());
            action.accept(held.iterator().next());
        } finally {
            epochs.release(held);
        }
    }

    /** Waits for a condition over the engine's state, any thread; false if it took too long. */
    public boolean await(BooleanSupplier condition, long timeoutNanos) {
        Interrupt.rest();
        try {
            return workers.await(signal, condition, timeoutNanos);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            Interrupt.checkCurrent(); // says why
            throw MillraceException.user(SqlState.QUERY_CANCELED, "canceling statement due to user request");
        }
    }
}
