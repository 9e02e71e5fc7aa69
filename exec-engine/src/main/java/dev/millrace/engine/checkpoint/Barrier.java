package dev.millrace.engine.checkpoint;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.batch.Closing;
import dev.millrace.operator.FrozenState;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntFunction;
import org.apache.arrow.memory.BufferAllocator;

/**
 * A checkpoint under way: as of which epochs it is, what is still to come, and what has come and is to be written.
 *
 * <pre>
 *   expect* -> cutAt -> ( begin -> section* -> done, each part once, by its own thread | forget )* -> isComplete
 *                         or -> goesOn -> gradual* -> wentOn | forget, a part that writes the rest while rows flow
 *                        fail, by anyone: nothing more is written, and whoever writes is told by an {@link Over}
 * </pre>
 *
 * A part is a task, or the output of a query or table. Safe on any thread, but for what is said to be of the thread that made it.
 */
public final class Barrier implements AutoCloseable {
    /** Thrown at who writes to a checkpoint that has ended. */
    static final class Over extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Over() {
            super("the checkpoint is over", null, false, false);
        }
    }

    /** What stays as it was at the cut, and need not be written at once. Closed in any case. */
    public interface Later extends AutoCloseable {
        /** What {@link #write} would write, if that is all of one section and is known. */
        Optional<SectionContents> contents();

        /**
         * Writes it, by the thread that made the barrier.
         *
         * @param sometimes to be called every few hundred kilobytes
         */
        void write(Barrier barrier, Runnable sometimes) throws IOException;

        @Override
        void close();
    }

    private final Spool spool;
    private final Runnable onChange;
    private volatile Set<Long> epochs = Set.of(); // written once, before one of them ends; read by tasks
    private volatile long number; // likewise

    @GuardedBy("this") private final Set<Object> toCome = Collections.newSetFromMap(new IdentityHashMap<>());

    @GuardedBy("this") private int underWay;

    @GuardedBy("this") private final Set<Object> goingOn = Collections.newSetFromMap(new IdentityHashMap<>());

    @GuardedBy("this") private final ArrayDeque<Later> later = new ArrayDeque<>();

    @GuardedBy("this") private final List<SectionContents> kept = new ArrayList<>(); // of earlier checkpoints

    @GuardedBy("this") private Optional<Throwable> failure = Optional.empty();

    @GuardedBy("this") private long longestNanos;

    /**
     * @param allocator of what is to be written, closed after this
     * @param mostBytes of it, beyond which who writes waits
     * @param onChange called when the thread that made this has something to do
     */
    public Barrier(BufferAllocator allocator, long mostBytes, Runnable onChange) {
        this.spool = new Spool(allocator, mostBytes, onChange);
        this.onChange = onChange;
    }

    /** A part is to come. Before the cut. */
    public synchronized void expect(Object part) {
        toCome.add(part);
    }

    /**
     * It is as of the ends of these epochs, none of which has come yet anywhere.
     *
     * @param newNumber greater than these, and than those of checkpoints before
     */
    public void cutAt(Collection<Long> newEpochs, long newNumber) {
        number = newNumber;
        epochs = Set.copyOf(newEpochs);
    }

    /** Which checkpoint it is; once it is cut. */
    public long number() {
        return number;
    }

    boolean isAt(long epoch) {
        return epochs.contains(epoch);
    }

    /** Whether the caller is to write a part, which it does now: false if it came before, or was never expected. */
    public synchronized boolean begin(Object part) {
        boolean begun = failure.isEmpty() && toCome.remove(part);
        underWay += begun ? 1 : 0;
        return begun;
    }

    /** A part was written, in so much time. */
    public void done(long nanos) {
        synchronized (this) {
            underWay--;
            longestNanos = Math.max(longestNanos, nanos);
        }
        onChange.run();
    }

    /** A part held its rows up for so long, as of now, and writes the rest while they flow. Follows {@link #begin}. */
    public synchronized void goesOn(Object part, long nanos) {
        underWay--;
        goingOn.add(part);
        longestNanos = Math.max(longestNanos, nanos);
    }

    /** It held them up once more. */
    public synchronized void held(long nanos) {
        longestNanos = Math.max(longestNanos, nanos);
    }

    /** It has written all. */
    public void wentOn(Object part) {
        synchronized (this) {
            goingOn.remove(part);
        }
        onChange.run();
    }

    /** A part was not written, and all is in vain. */
    public void failed(Throwable why) {
        synchronized (this) {
            underWay--;
        }
        fail(why);
    }

    public void fail(Throwable why) {
        synchronized (this) {
            if (failure.isEmpty()) {
                failure = Optional.of(why);
            }
        }
        spool.close();
        onChange.run();
    }

    /** A part will not come, or not all of it, and is not needed. */
    public void forget(Object part) {
        synchronized (this) {
            toCome.remove(part);
            goingOn.remove(part);
        }
        onChange.run();
    }

    /** Something is to be written when all parts have come. Takes it over. */
    public void later(Later what) {
        boolean over;
        synchronized (this) {
            over = failure.isPresent();
            if (!over) {
                later.add(what);
            }
        }
        if (over) {
            what.close();
        }
    }

    /** What is still expected, some of it. */
    public synchronized List<Object> toCome() {
        return List.copyOf(toCome);
    }

    /** Parts that have come, and are not written to their end. */
    public synchronized List<Object> goingOn() {
        return List.copyOf(goingOn);
    }

    public synchronized Optional<Throwable> failure() {
        return failure;
    }

    /** A section, for the caller to write, to finish and to close. */
    public SectionOutput section(String name) {
        return section(name, 0);
    }

    /** One of states, with a hash of what they are of. */
    public SectionOutput section(String name, long schemaHash) {
        return new SectionOutput(spool, name, schemaHash, false, Optional.empty());
    }

    /** One of all states of an operator, with a hash of what they are of. */
    public SectionOutput states(String name, long schemaHash) {
        return section(name, schemaHash).ofStep(number);
    }

    /**
     * What writes an operator's state while it goes on. To be closed.
     *
     * @param name of each section, from 0 on
     * @param state closed with it
     * @param chain of that state
     */
    public GradualSections gradual(IntFunction<String> name, long schemaHash, FrozenState state, StateChain chain) {
        return new GradualSections(this, spool, name, schemaHash, state, chain);
    }

    /** Sections of earlier checkpoints, which the writer has, are in this one, too. */
    synchronized void keep(List<SectionContents> sections) {
        kept.addAll(sections);
    }

    /** The longest time for which a part held its rows up at once. */
    public synchronized long longestNanos() {
        return longestNanos;
    }

    /** Whether all parts have come. */
    public synchronized boolean isComplete() {
        return toCome.isEmpty() && underWay == 0 && goingOn.isEmpty();
    }

    /** Whether {@link #write} has something to do. */
    public boolean hasMore() {
        return spool.hasBlocks();
    }

    /** Writes what has come; by the thread that made this. */
    public void write(CheckpointWriter writer) throws IOException {
        spool.drain(writer);
    }

    private void keepEarlier(CheckpointWriter writer) throws IOException {
        List<SectionContents> all;
        synchronized (this) {
            all = List.copyOf(kept);
        }
        for (SectionContents section : all) {
            if (!writer.keep(section)) {
                throw new IllegalStateException("section \"" + section.section() + "\" was there, and is not");
            }
        }
    }

    /** Writes what was left for later, and names what is kept; by the thread that made this, once all parts have come. */
    public void writeLater(CheckpointWriter writer) throws IOException {
        keepEarlier(writer);
        for (Optional<Later> next = next(); next.isPresent(); next = next()) {
            try (Later what = next.get()) {
                Optional<SectionContents> known = what.contents();
                if (known.isPresent() && writer.keep(known.get())) {
                    continue;
                }
                what.write(this, () -> {
                    try {
                        spool.drain(writer);
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                });
            } catch (UncheckedIOException e) {
                throw e.getCause();
            }
            spool.drain(writer);
        }
    }

    private synchronized Optional<Later> next() {
        return Optional.ofNullable(later.poll());
    }

    /** Bytes written; for the thread that made this. */
    public long written() {
        return spool.written();
    }

    /** Frees what was not written. */
    @Override
    public void close() {
        List<AutoCloseable> all = new ArrayList<>();
        synchronized (this) {
            if (failure.isEmpty()) {
                failure = Optional.of(new Over()); // who comes now comes in vain
            }
            all.addAll(later);
            later.clear();
        }
        all.add(spool);
        Closing.all(all);
    }
}
