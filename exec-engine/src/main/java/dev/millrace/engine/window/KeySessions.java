package dev.millrace.engine.window;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.NestedImages;
import dev.millrace.batch.Owned;
import dev.millrace.engine.aggregate.AggregateLayout;
import dev.millrace.engine.aggregate.ChangeLog;
import dev.millrace.engine.aggregate.GroupKernels;
import dev.millrace.engine.aggregate.GroupSnapshot;
import dev.millrace.engine.aggregate.GroupState;
import dev.millrace.engine.aggregate.KeyFinder;
import dev.millrace.engine.aggregate.number.Wide;
import dev.millrace.engine.checkpoint.StateFormats;
import dev.millrace.engine.state.EntryCursor;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.memory.Memory;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.node.PartialSchemas;
import dev.millrace.plan.node.PlanNode.Phase;
import dev.millrace.plan.node.PlanNode.WindowAggregate;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.LongConsumer;
import org.apache.arrow.memory.BufferAllocator;

/**
 * The sessions of keys. A session is a group like others but for its bounds, which grow with its rows; a row that lies within the gap of two sessions makes them one.
 * Keys have a table of their own, whose entries begin a list of the key's sessions. Of an operator's thread.
 */
final class KeySessions implements AutoCloseable {
    private final long gapMicros;
    private final Owned owned = new Owned();
    private final KeyLayout keys;
    private final KeyFinder finder;
    private final GroupKernels kernels;
    private final BufferAllocator allocator;
    private final Optional<SessionTimers> timers; // not of a first phase
    private final NestedImages images;
    private final ChangeLog noLog;
    private final int bounds; // offset of a session's own words
    private GroupTable keyTable;
    private GroupState state;
    private long earliest = Long.MAX_VALUE; // start of those that there are, or were since there were none
    private long[] sessions = new long[0];
    private long[] merged = new long[16];
    private int mergedCount;

    /** Those that a node with {@link WindowSpec.Session} makes of its input. */
    KeySessions(WindowAggregate node, BufferAllocator allocator) {
        this.gapMicros = ((WindowSpec.Session) node.window()).gapMicros();
        Schema input = node.input().schema();
        AggregateLayout layout = new AggregateLayout(
                new KeyLayout(input, node.keys()),
                node.calls(),
                PartialSchemas.argumentSchema(node),
                false,
                false,
                SessionTimers.WORDS);
        this.allocator = allocator;
        this.kernels = node.phase() == Phase.FINAL
                ? GroupKernels.mergingIntoGiven(layout, input, node.keys().size() + 2)
                : GroupKernels.addingToGiven(layout, input);
        this.keys = layout.keys();
        this.bounds = layout.extraOffset();
        this.images = owned.own(new NestedImages(allocator));
        this.noLog = owned.own(new ChangeLog(layout, allocator));
        this.finder = owned.own(new KeyFinder(input, keys, allocator));
        this.keyTable = newKeyTable();
        this.state = new GroupState(kernels, allocator);
        this.timers = node.phase() == Phase.PARTIAL
                ? Optional.empty()
                : Optional.of(new SessionTimers(bounds, gapMicros, state.table().memory()));
    }

    private GroupTable newKeyTable() {
        return new GroupTable(allocator, new long[(keys.end() - GroupTable.BODY) / 8 + 1]);
    }

    /**
     * Adds rows, or sessions of a first phase.
     *
     * @param starts address of the first row's time in microseconds, 8 bytes for each row of the batch
     * @param lasts the same of the last row's time; of rows the same address
     */
    void add(Batch batch, int[] rows, int count, long starts, long lasts) {
        if (sessions.length < count) {
            sessions = new long[count];
        }
        try {
            long[] found = finder.find(keyTable, batch, rows, count);
            mergedCount = 0;
            for (int i = 0; i < count; i++) {
                long at = 8L * rows[i];
                sessions[i] = session(found[i], Memory.getLong(starts + at), Memory.getLong(lasts + at));
            }
            if (mergedCount > 0) {
                fold(count);
            }
            state.addTo(sessions, batch, images, rows, count, noLog);
        } catch (ArithmeticException e) {
            throw Wide.outOfRange();
        } finally {
            images.clear();
        }
    }

    /** The session of a key that a stretch of time belongs to, new or grown; others that it connects are marked as merged into it. */
    private long session(long key, long first, long last) {
        long found = 0;
        long link = key + keys.end(); // where the address of the next session is
        for (long session = Memory.getLong(link); session != 0; session = Memory.getLong(link)) {
            long start = start(session);
            long end = last(session);
            if (last <= start - gapMicros || first >= end + gapMicros) {
                link = session + bounds + SessionTimers.NEXT_OF_KEY;
            } else if (found == 0) {
                found = session;
                grow(found, first, last);
                link = session + bounds + SessionTimers.NEXT_OF_KEY;
            } else {
                grow(found, start, end);
                Memory.putLong(link, Memory.getLong(session + bounds + SessionTimers.NEXT_OF_KEY));
                if (timers.isPresent()) {
                    timers.get().remove(session);
                }
                Memory.putLong(session + GroupTable.LINK, found);
                if (mergedCount == merged.length) {
                    merged = Arrays.copyOf(merged, 2 * mergedCount);
                }
                merged[mergedCount++] = session;
            }
        }
        earliest = Math.min(earliest, first);
        return found != 0 ? found : newSession(key, first, last);
    }

    private void grow(long session, long start, long last) {
        Memory.putLong(session + bounds + SessionTimers.START, Math.min(start, start(session)));
        Memory.putLong(session + bounds + SessionTimers.LAST, Math.max(last, last(session)));
    }

    private long newSession(long key, long start, long last) {
        long session = state.table().insertNew(Memory.getLong(key));
        keys.copy(key, session, state.table().memory());
        Memory.putLong(session + bounds + SessionTimers.START, start);
        Memory.putLong(session + bounds + SessionTimers.LAST, last);
        attach(key, session);
        return session;
    }

    private void attach(long key, long session) {
        Memory.putLong(session + bounds + SessionTimers.NEXT_OF_KEY, Memory.getLong(key + keys.end()));
        Memory.putLong(key + keys.end(), session);
        if (timers.isPresent()) {
            timers.get().add(session);
        }
    }

    /** Puts merged sessions together, and the batch's rows where they went. */
    private void fold(int count) {
        for (int i = 0; i < count; i++) {
            sessions[i] = survivor(sessions[i]);
        }
        for (int i = 0; i < mergedCount; i++) {
            Memory.putLong(merged[i] + GroupTable.LINK, survivor(merged[i]));
        }
        state.fold(merged, mergedCount);
    }

    private static long survivor(long session) {
        long at = session;
        for (long next = Memory.getLong(at + GroupTable.LINK); next != 0; next = Memory.getLong(at + GroupTable.LINK)) {
            at = next;
        }
        return at;
    }

    /** Time of a session's first row. */
    long start(long session) {
        return Memory.getLong(session + startOffset());
    }

    /** Time of a session's last row. */
    long last(long session) {
        return Memory.getLong(session + lastOffset());
    }

    int startOffset() {
        return bounds + SessionTimers.START;
    }

    int lastOffset() {
        return bounds + SessionTimers.LAST;
    }

    /** How many there are. */
    int size() {
        return state.table().size();
    }

    /** No session began before; {@link Long#MAX_VALUE} if there is none. */
    long earliest() {
        return earliest;
    }

    long bytes() {
        return state.bytes() + keyTable.bytes();
    }

    GroupState state() {
        return state;
    }

    /** Finds those that cannot grow any more under a watermark; they are in {@link #due}, and to be removed. */
    int expire(long watermark) {
        return timers.orElseThrow().expire(watermark);
    }

    /** What {@link #expire} found last; may be put in order. */
    long[] due() {
        return timers.orElseThrow().due();
    }

    /** Removes what {@link #expire} found, with keys whose last they were. */
    void removeDue(int count) {
        long[] ended = due();
        for (int i = 0; i < count; i++) {
            detach(ended[i]);
        }
        state.removeAll(ended, count);
    }

    private void detach(long session) {
        long key = keys.find(keyTable, Memory.getLong(session), session);
        long link = key + keys.end();
        while (Memory.getLong(link) != session) {
            link = Memory.getLong(link) + bounds + SessionTimers.NEXT_OF_KEY;
        }
        Memory.putLong(link, Memory.getLong(session + bounds + SessionTimers.NEXT_OF_KEY));
        if (Memory.getLong(key + keys.end()) == 0) {
            keys.free(key, keyTable.memory());
            keyTable.remove(key);
        }
    }

    /** Removes all of a first phase. Clearing a large index for few of them is not worth its memory. */
    void clear() {
        earliest = Long.MAX_VALUE;
        if (state.isWellFilled()) {
            state.clear();
            keyTable.clear();
        } else {
            GroupState before = state; // until there is another: memory may be short
            state = new GroupState(kernels, allocator);
            before.close();
            GroupTable keysBefore = keyTable;
            keyTable = newKeyTable();
            keysBefore.close();
        }
    }

    /** Writes all by key group, as {@link StateFormats#SESSIONS}. */
    void snapshot(StateWriter writer) throws IOException {
        new GroupSnapshot(state).write(writer, StateFormats.SESSIONS);
    }

    /**
     * Adds what {@link #snapshot} wrote.
     *
     * @param watermark is given what was written for the instance
     */
    void restore(StateReader reader, LongConsumer watermark) {
        reader.keyGroups(StateFormats.SESSIONS, (in, group) -> {
            if (group == -1) {
                watermark.accept(in.readLong());
            } else {
                GroupSnapshot.read(state, in);
            }
        });
        EntryCursor cursor = new EntryCursor(state.table(), 1024); // the keys follow from their sessions
        for (int count = cursor.advance(); count > 0; count = cursor.advance()) {
            for (int i = 0; i < count; i++) {
                long session = cursor.entries()[i];
                long hash = Memory.getLong(session);
                long key = keys.find(keyTable, hash, session);
                if (key < 0) {
                    key = keyTable.insert(hash, -1 - key);
                    keys.copy(session, key, keyTable.memory());
                }
                attach(key, session);
                earliest = Math.min(earliest, start(session));
            }
        }
    }

    @Override
    public void close() {
        Closing.all(List.of(state, keyTable, owned));
    }
}
