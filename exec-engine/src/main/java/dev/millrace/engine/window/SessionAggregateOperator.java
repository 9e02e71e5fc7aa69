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
import dev.millrace.operator.Operator;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.node.PlanNode.Phase;
import dev.millrace.plan.node.PlanNode.WindowAggregate;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.text.TimeRange;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.arrow.vector.FieldVector;

/**
 * Aggregates per key and session. A session is a group like others but for its bounds, which grow with its rows; a row
 * that lies within the gap of two sessions makes them one.
 *
 * <p>A row by itself is a session that ends a gap after it, so it is late when it is a gap behind the watermark. A row that
 * is not may still join a session that ended up to a gap ago; therefore a session is emitted when the watermark is two
 * gaps past its last row. Emitting it with its end would make the answer depend on how rows and watermarks alternate.
 *
 * <p>Keys have a table of their own, whose entries begin a list of the key's sessions.
 */
public final class SessionAggregateOperator implements Operator {

    private final WindowAggregate node;
    private final long gapMicros;
    private final Owned owned = new Owned();
    private OperatorContext context;
    private KeyLayout keys;
    private KeyFinder finder;
    private GroupTable keyTable;
    private GroupState state;
    private SessionTimers timers;
    private NestedImages images;
    private ChangeLog noLog;
    private int bounds; // offset of a session's own words
    private long watermark = NO_WATERMARK;
    private int[] rows = new int[0];
    private int[] late = new int[0];
    private long[] sessions = new long[0];
    private long[] merged = new long[16];
    private int mergedCount;
    private int due; // sessions that wait to be emitted
    private int emitted;

    public SessionAggregateOperator(WindowAggregate node) {
        if (!(node.window() instanceof WindowSpec.Session session) || node.phase() != Phase.SINGLE) {
            throw new IllegalArgumentException("not a session aggregation in one phase: " + node);
        }
        this.node = node;
        this.gapMicros = session.gapMicros();
    }

    /** The generated code of a node. */
    private static GroupKernels kernels(WindowAggregate node) {
        Schema input = node.input().schema();
        KeyLayout keys = new KeyLayout(input, node.keys());
        return GroupKernels.addingToGiven(
                new AggregateLayout(keys, node.calls(), input, false, false, SessionTimers.WORDS), input);
    }

    @Override
    public void open(OperatorContext newContext) {
        context = newContext;
        Schema input = node.input().schema();
        GroupKernels kernels = kernels(node);
        AggregateLayout layout = kernels.layout();
        keys = layout.keys();
        bounds = layout.extraOffset();
        images = owned.own(new NestedImages(context.allocator()));
        noLog = owned.own(new ChangeLog(layout, context.allocator()));
        finder = owned.own(new KeyFinder(input, keys, context.allocator()));
        keyTable = owned.own(new GroupTable(context.allocator(), new long[(keys.end() - GroupTable.BODY) / 8 + 1]));
        state = owned.own(new GroupState(kernels, context.allocator()));
        timers = new SessionTimers(bounds, gapMicros);
    }

    // ---- rows

    @Override
    public void process(int port, Batch batch, Output output) {
        try (batch) {
            int count = select(batch);
            long[] found = finder.find(keyTable, batch, rows, count);
            long times = batch.dataAddress(node.timeColumn());
            mergedCount = 0;
            for (int i = 0; i < count; i++) {
                sessions[i] = session(found[i], Memory.getLong(times + 8L * rows[i]));
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
        reportSize();
    }

    /** Collects the rows that are not late in {@link #rows}. */
    private int select(Batch batch) {
        int all = batch.rowCount();
        if (rows.length < all) {
            rows = new int[all];
            late = new int[all];
            sessions = new long[all];
        }
        long times = batch.dataAddress(node.timeColumn());
        long validity = batch.validityAddress(node.timeColumn());
        int count = 0;
        int lateCount = 0;
        for (int row = 0; row < all; row++) {
            long time = Memory.getLong(times + 8L * row);
            boolean isLate = validity != 0 && !Memory.getBit(validity, row)
                    || !TimeRange.isFinite(time)
                    || time + gapMicros <= watermark;
            if (isLate) {
                late[lateCount++] = row;
            } else {
                rows[count++] = row;
            }
        }
        if (lateCount > 0) {
            context.metrics().addLateRows(lateCount);
            context.lateRows(batch, late, lateCount, watermark);
        }
        return count;
    }

    /** The session of a key that a time belongs to, new or grown; others that it connects are marked as merged into it. */
    private long session(long key, long time) {
        long found = 0;
        long link = key + keys.end(); // where the address of the next session is
        for (long session = Memory.getLong(link); session != 0; session = Memory.getLong(link)) {
            long start = Memory.getLong(session + bounds + SessionTimers.START);
            long last = Memory.getLong(session + bounds + SessionTimers.LAST);
            if (time <= start - gapMicros || time >= last + gapMicros) {
                link = session + bounds + SessionTimers.NEXT_OF_KEY;
            } else if (found == 0) {
                found = session;
                grow(found, time, time);
                link = session + bounds + SessionTimers.NEXT_OF_KEY;
            } else {
                grow(found, start, last);
                Memory.putLong(link, Memory.getLong(session + bounds + SessionTimers.NEXT_OF_KEY));
                timers.remove(session);
                Memory.putLong(session + GroupTable.LINK, found);
                if (mergedCount == merged.length) {
                    merged = Arrays.copyOf(merged, 2 * mergedCount);
                }
                merged[mergedCount++] = session;
            }
        }
        return found != 0 ? found : newSession(key, time);
    }

    private void grow(long session, long start, long last) {
        long at = session + bounds;
        Memory.putLong(at + SessionTimers.START, Math.min(start, Memory.getLong(at + SessionTimers.START)));
        Memory.putLong(at + SessionTimers.LAST, Math.max(last, Memory.getLong(at + SessionTimers.LAST)));
    }

    private long newSession(long key, long time) {
        long session = state.table().insertNew(Memory.getLong(key));
        keys.copy(key, session, state.table().memory());
        Memory.putLong(session + bounds + SessionTimers.START, time);
        Memory.putLong(session + bounds + SessionTimers.LAST, time);
        attach(key, session);
        return session;
    }

    private void attach(long key, long session) {
        Memory.putLong(session + bounds + SessionTimers.NEXT_OF_KEY, Memory.getLong(key + keys.end()));
        Memory.putLong(key + keys.end(), session);
        timers.add(session);
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

    private void reportSize() {
        context.metrics()
                .stateSize(state.bytes() + keyTable.bytes(), state.table().size());
    }

    // ---- windows

    @Override
    public boolean onWatermark(long watermarkMicros, Output output) {
        watermark = Math.max(watermark, watermarkMicros); // one that was restored may be ahead of the input
        if (due == 0) {
            due = timers.expire(watermarkMicros);
            sortByEnd();
        }
        long[] ended = timers.due();
        while (emitted < due) {
            if (output.isFull()) {
                return false;
            }
            int count = Math.min(context.batchRows(), due - emitted);
            output.emit(batch(Arrays.copyOfRange(ended, emitted, emitted + count), count));
            emitted += count;
        }
        for (int i = 0; i < due; i++) {
            detach(ended[i]);
        }
        state.removeAll(ended, due);
        due = 0;
        emitted = 0;
        reportSize();
        return true;
    }

    /** Few end at once unless it is the end of all, when a sort is the least of the work. */
    private void sortByEnd() {
        long[] ended = timers.due();
        Long[] sorted = new Long[due];
        for (int i = 0; i < due; i++) {
            sorted[i] = ended[i];
        }
        Arrays.sort(
                sorted,
                (a, b) -> Long.compare(
                        Memory.getLong(a + bounds + SessionTimers.LAST),
                        Memory.getLong(b + bounds + SessionTimers.LAST)));
        for (int i = 0; i < due; i++) {
            ended[i] = sorted[i];
        }
    }

    /** Takes a session from its key's list, and the key away with its last one. */
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

    private Batch batch(long[] entries, int count) {
        List<FieldVector> vectors = new ArrayList<>();
        Schema schema = node.schema();
        try {
            for (int key = 0; key < node.keys().size(); key++) {
                vectors.add(state.key(key, schema.field(key), entries, count));
            }
            for (int call = 0; call < node.calls().size(); call++) {
                vectors.add(state.call(call, schema.field(vectors.size()), entries, count));
            }
            vectors.add(TimeColumns.words(
                    schema.field(vectors.size()),
                    entries,
                    bounds + SessionTimers.START,
                    0,
                    count,
                    context.allocator()));
            vectors.add(TimeColumns.words(
                    schema.field(vectors.size()),
                    entries,
                    bounds + SessionTimers.LAST,
                    gapMicros,
                    count,
                    context.allocator()));
            return Batch.of(schema, vectors.toArray(FieldVector[]::new), count);
        } catch (RuntimeException e) {
            Closing.all(vectors);
            throw named(e, entries, count);
        } catch (Error e) {
            Closing.all(vectors);
            throw e;
        }
    }

    /** A failure of some sessions' results: they are told once and taken back never, so it is the query's. */
    private RuntimeException named(RuntimeException failure, long[] entries, int count) {
        Schema schema = node.schema();
        Field end = schema.field(schema.size() - 1);
        return state.named(failure, schema, entries, count, session -> {
            long micros = Memory.getLong(session + bounds + SessionTimers.LAST) + gapMicros;
            return "session to " + TimeColumns.text(end, micros, context.allocator());
        });
    }

    // ---- snapshots

    @Override
    public void snapshot(StateWriter writer) throws IOException {
        writer.keyGroup(StateFormats.SESSIONS, -1).writeLong(watermark);
        new GroupSnapshot(state).write(writer, StateFormats.SESSIONS);
    }

    @Override
    public void restore(StateReader reader) {
        reader.keyGroups(StateFormats.SESSIONS, (in, group) -> {
            if (group == -1) {
                watermark = Math.max(watermark, in.readLong());
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
            }
        }
        reportSize();
    }

    @Override
    public void close() {
        owned.close();
    }
}
