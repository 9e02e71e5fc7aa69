package dev.millrace.server.cancellation;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.interrupt.Turns;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Lets any thread stop what the session's thread is doing: a wait is interrupted, work is stopped by the
 * {@link Interrupt} that is bound to the thread meanwhile, an open result is cancelled. A request that comes between two
 * steps of a statement, as between its parsing and its execution, stops the next one; one that comes while no statement is
 * under way has no effect, as PostgreSQL has it.
 */
public final class Cancellation {
    private final Turns turns; // of all sessions

    @GuardedBy("this") private Optional<Thread> running = Optional.empty();

    @GuardedBy("this") private long steps; // how many have begun

    @GuardedBy("this") private Interrupt interrupt = new Interrupt(); // of the step under way

    @GuardedBy("this") private Optional<Consumer<MillraceException>> openResult = Optional.empty();

    @GuardedBy("this") private Optional<MillraceException> requested = Optional.empty(); // why the step is to stop

    @GuardedBy("this") private boolean underWay; // a statement has begun and not ended

    @GuardedBy("this") private Optional<MillraceException> between = Optional.empty(); // came while no step of it ran

    public Cancellation(Turns turns) {
        this.turns = turns;
    }

    /** A statement begins: its text is about to be read. What was asked for before is not meant for it. */
    public synchronized void begins() {
        underWay = true;
        between = Optional.empty();
    }

    /** A step of a statement follows that may have begun before. */
    public synchronized void goesOn() {
        underWay = true;
    }

    /** The statement under way has ended; on the session's thread. */
    public synchronized void ends() {
        underWay = false;
        between = Optional.empty();
    }

    /** Runs a step of a statement on the calling thread; the steps of one session never overlap, but may be nested. */
    public <T> T run(Supplier<T> step) {
        if (isNested()) {
            return step.get();
        }
        boolean done = false;
        try (Interrupt.Binding binding = current().bind(turns)) {
            T result = step.get();
            done = true;
            return result;
        } catch (RuntimeException e) {
            check(); // what an interrupted wait says about itself matters less than who interrupted it
            throw e;
        } finally {
            synchronized (this) {
                running = Optional.empty();
                if (requested.isPresent()) {
                    Thread.interrupted(); // it was meant for the step that just ended
                    if (done && underWay) {
                        between = requested; // which was past hearing it; the statement is not
                    }
                    requested = Optional.empty();
                }
            }
        }
    }

    private synchronized boolean isNested() {
        if (running.isPresent() && running.get() == Thread.currentThread()) {
            return true;
        }
        if (between.isPresent()) {
            MillraceException why = between.get();
            between = Optional.empty();
            throw why;
        }
        running = Optional.of(Thread.currentThread());
        steps++;
        if (interrupt.isStopped()) {
            interrupt = new Interrupt();
        }
        return false;
    }

    private synchronized Interrupt current() {
        return interrupt;
    }

    /** Fails if the step under way is to stop; for places that work long without waiting. */
    public void check() {
        Optional<MillraceException> why;
        synchronized (this) {
            why = requested;
        }
        if (why.isPresent()) {
            throw why.get();
        }
    }

    public static MillraceException cancelled(String why) {
        return MillraceException.user(SqlState.QUERY_CANCELED, "canceling statement due to " + why);
    }

    /** What stops the result that the session handed out, until the next call; it is told why, and called under a lock. */
    public synchronized void open(Consumer<MillraceException> cancel) {
        openResult = Optional.of(cancel);
        requested.ifPresent(cancel); // it came when the result was about to be opened
    }

    public synchronized void closed() {
        openResult = Optional.empty();
    }

    /**
     * Stops the step under way, or the open result of the statement under way. What a client has not read to its end and may
     * fetch more of later is none: nothing is under way while the client has the word.
     */
    public synchronized void request(String by) {
        if (running.isPresent() || underWay) {
            end(by);
        }
    }

    /** Stops what there is, and the open result also if nothing is under way: its session ends. */
    public synchronized void end(String by) {
        MillraceException why = cancelled(by);
        if (running.isPresent()) {
            stop(why);
        } else if (underWay) {
            between = Optional.of(why);
        }
        openResult.ifPresent(cancel -> cancel.accept(why));
    }

    /** Stops a step with this error, if it is still the one under way. */
    public synchronized void stop(Step step, MillraceException why) {
        if (running.isPresent() && step.number == steps) {
            stop(why);
        }
    }

    @GuardedBy("this") private void stop(MillraceException why) {
        requested = Optional.of(why);
        interrupt.stop(why);
        running.orElseThrow().interrupt();
    }

    /**
     * A step under way.
     *
     * @param number of the session's steps
     * @param thread that does it, or waits for who does
     */
    public record Step(long number, Thread thread) {}

    public synchronized Optional<Step> step() {
        return running.map(thread -> new Step(steps, thread));
    }
}
