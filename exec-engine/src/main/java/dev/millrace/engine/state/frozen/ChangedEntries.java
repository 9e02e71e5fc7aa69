package dev.millrace.engine.state.frozen;

import dev.millrace.batch.Closing;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyGroupPart.EntryWriter;
import dev.millrace.operator.Freezing.Kept;
import dev.millrace.operator.StateFormat;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;
import java.util.function.LongUnaryOperator;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Which entries of a table changed since it was last frozen, so that a checkpoint is written of these alone where the one before has the
 * others.
 *
 * <pre>
 *   changed(entry), gone(entry)  ->  since  --freeze-->  pending  --freeze, and the last one is kept-->  forgotten
 *                                                             |--freeze, and it is not-->  written once more, with what came since
 * </pre>
 *
 * Before it is frozen first, and where nearly all changes, nothing is noted, and all is written. One thread, the table's.
 */
public final class ChangedEntries implements AutoCloseable {
    /** The mark of an entry that changed since the table was frozen last. */
    public static final int SINCE = 1;

    /** The mark of one that was frozen, and may have to be written once more. */
    public static final int PENDING = 2;

    /** What has marks, too, and is frozen with the table: entries of the table that are elsewhere, or what belongs to them. */
    public interface Further {
        /** Whether it knows of all that changed since it was frozen last. */
        boolean isKnown();

        /** Takes marks away: {@link ChangedEntries#PENDING}, and the others, too, if {@code all}: all is written, and what changes from now on is noted. */
        void unmark(boolean all);

        /** What changed since the table was frozen last is frozen. */
        void movePending();

        /** How many entries may be written. */
        long pending();
    }

    /** How many times as much as there is may be read again after a restart: beyond that all is written. */
    private static final int MOST_WRITTEN = 2;

    private static final long FEW = 1_000; // which are written whatever that means
    private static final long FEW_BYTES = 1 << 20;
    private static final int GONE_PART = 4; // of the table's bytes

    private final GroupTable table;
    private final EntryWriter keys;
    private final LongUnaryOperator owner;
    private EntryMarks since;
    private EntryMarks pending;
    private final KeyGroupBytes goneSince;
    private final KeyGroupBytes gonePending;
    private boolean isKnown; // what changed since the last one was frozen is all noted
    private boolean wasWhole; // the last one that was frozen
    private long written; // by the last whole one and those that go on from it
    private Optional<EntryWatch> frozen = Optional.empty();
    private final List<Further> further = new ArrayList<>();

    /** @param keys writes the keys of an entry, by which a reader knows what is gone */
    public ChangedEntries(GroupTable table, EntryWriter keys, BufferAllocator allocator) {
        this(table, keys, entry -> entry, allocator);
    }

    /**
     * @param keys writes the keys of an entry, by which a reader knows what is gone
     * @param owner of an entry the one by whose hash it is of a key group
     */
    public ChangedEntries(GroupTable table, EntryWriter keys, LongUnaryOperator owner, BufferAllocator allocator) {
        this.table = table;
        this.keys = keys;
        this.owner = owner;
        this.goneSince = new KeyGroupBytes(owner);
        this.gonePending = new KeyGroupBytes(owner);
        this.since = new EntryMarks(allocator);
        this.pending = new EntryMarks(allocator);
    }

    /** Has something else be frozen with the table, before that is frozen first. */
    public void lookFurther(Further what) {
        further.add(what);
    }

    /** What this is to a table that is frozen with this one, which asks this whether what changed is enough. */
    public Further asFurther() {
        return new Further() {
            @Override
            public boolean isKnown() {
                return isKnown;
            }

            @Override
            public void unmark(boolean all) {
                ChangedEntries.this.unmark(all);
                isKnown |= all;
            }

            @Override
            public void movePending() {
                ChangedEntries.this.movePending();
            }

            @Override
            public long pending() {
                return pending.size();
            }
        };
    }

    public long bytes() {
        return since.bytes() + pending.bytes();
    }

    // ---- as entries change

    /** An entry is about to change, or was put into the table and has nothing yet. */
    public void beforeChange(long entry) {
        if (frozen.isPresent()) {
            frozen.get().beforeChange(entry);
        }
        if (isKnown) {
            since.add(entry);
        }
    }

    /** An entry changed, of which {@link #beforeFrozenChange} was told before. */
    public void changed(long entry) {
        if (isKnown) {
            since.add(entry);
        }
    }

    /** An entry may be about to change: whether it does, {@link #changed} says. */
    public void beforeFrozenChange(long entry) {
        if (frozen.isPresent()) {
            frozen.get().beforeChange(entry);
        }
    }

    /** An entry is about to leave the table for good; that it changes was said before. */
    public void gone(long entry) {
        unmark(entry);
        if (isKnown) {
            goneSince.add(entry, keys);
            if (goneSince.bytes() + gonePending.bytes() > Math.max(FEW_BYTES, table.bytes() / GONE_PART)) {
                lost();
            }
        }
    }

    /**
     * An entry is about to leave the table for {@link Further}.
     *
     * @return its marks, {@link #SINCE} and {@link #PENDING}, which it is to have there
     */
    public int take(long entry) {
        beforeFrozenChange(entry);
        int marks = (since.place(entry) >= 0 ? SINCE : 0) | (pending.place(entry) >= 0 ? PENDING : 0);
        unmark(entry);
        return marks;
    }

    /**
     * An entry came into the table from elsewhere, where it had these marks.
     *
     * @param isDue see {@link EntryWatch#arrived}
     */
    public void arrived(long entry, int marks, boolean isDue) {
        if (isKnown && (marks & SINCE) != 0) {
            since.add(entry);
        }
        if ((marks & PENDING) != 0) {
            pending.add(entry);
        }
        if (frozen.isPresent()) {
            frozen.get().arrived(entry, isDue);
        }
    }

    /** An entry is about to leave the table that has nothing any more, and need not be known to be gone. */
    public void unmark(long entry) {
        since.remove(entry);
        pending.remove(entry);
    }

    /** What changes is not noted any more: next time all is to be written. What is being written is, to its end. */
    public void lost() {
        isKnown = false;
        since.clear();
        goneSince.clear();
    }

    // ---- as it is frozen

    /** The same as {@link #freeze(Kept, long, LongSupplier)} where each entry counts once. */
    public boolean freeze(Kept kept, long there) {
        return freeze(
                kept,
                there,
                () -> pending.size()
                        + further.stream().mapToLong(Further::pending).sum());
    }

    /**
     * Has the table be frozen as it is now; {@link #freezeChanges} follows, or {@link #watch} with what writes all of it.
     *
     * @param there how much there is, in entries or what else is counted
     * @param changed how much of that {@link #freezeChanges} would write
     * @return whether it is enough to write what changed
     */
    public boolean freeze(Kept kept, long there, LongSupplier changed) {
        frozen = Optional.empty();
        if (kept == Kept.ALL) {
            unmark(false);
        }
        boolean isAllKnown = isKnown && further.stream().allMatch(Further::isKnown);
        boolean goesOn = isAllKnown && (kept == Kept.ALL || kept == Kept.ALL_BUT_LAST && !wasWhole);
        if (goesOn) {
            movePending();
            written += changed.getAsLong();
        }
        wasWhole = !goesOn || written > Math.max(FEW, MOST_WRITTEN * there);
        if (wasWhole) {
            written = there;
            unmark(true);
        }
        isKnown = true;
        return !wasWhole;
    }

    private void unmark(boolean all) {
        pending.clear();
        gonePending.clear();
        if (all) {
            lost();
        }
        further.forEach(each -> each.unmark(all));
    }

    private void movePending() {
        if (pending.size() == 0) {
            EntryMarks none = pending;
            pending = since;
            since = none;
        } else {
            pending.addAll(since);
        }
        since.clear();
        further.forEach(Further::movePending);
        gonePending.addAll(goneSince);
        goneSince.clear();
    }

    /** What changed, where nothing that did is empty. @param far see {@link dev.millrace.engine.state.KeyGroupPart#of} */
    public FrozenChanges freezeChanges(StateFormat state, EntryWriter writer, LongUnaryOperator... far) {
        return freezeChanges(state, writer, entry -> true, far);
    }

    /** The same of those entries that have something to be written. */
    public FrozenChanges freezeChanges(
            StateFormat state, EntryWriter writer, LongPredicate exists, LongUnaryOperator... far) {
        return freezeChanges(Parts.of(state), writer, exists, far);
    }

    /** The same in parts of another's state. */
    public FrozenChanges freezeChanges(
            Parts parts, EntryWriter writer, LongPredicate exists, LongUnaryOperator... far) {
        FrozenChanges changes = new FrozenChanges(pending, gonePending, parts, owner, writer, exists, far);
        watch(changes);
        return changes;
    }

    /** Has what writes the table's entries know of those that change. */
    public void watch(EntryWatch writing) {
        frozen = Optional.of(writing);
    }

    @Override
    public void close() {
        frozen.ifPresent(EntryWatch::close);
        frozen = Optional.empty();
        isKnown = false;
        goneSince.clear();
        gonePending.clear();
        Closing.all(List.of(since, pending));
    }
}
