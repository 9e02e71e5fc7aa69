package dev.millrace.engine.join;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.view.FollowedRows;
import dev.millrace.operator.OperatorContext;
import dev.millrace.type.Field;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.function.LongPredicate;
import org.apache.arrow.vector.FieldVector;

/**
 * The rows of a side that are kept by the relation they come from: those that it has at the version that this join is at, and the
 * changes of later epochs that came here since. Those are mostly of the epoch under way; they are kept as they came until a row of the
 * other side is to meet them.
 */
public final class SharedSide implements AutoCloseable {
    private static final long UNDER_WAY = Long.MAX_VALUE;

    /** The changes of an epoch, or of several: a query that was paused, or has a schedule, sees their ends as one. */
    private final class Changes implements AutoCloseable {
        private final long after = passed; // the last epoch of which none are here
        private long epoch = UNDER_WAY;
        private final List<Batch> batches = new ArrayList<>(); // that no row was looked for in yet
        private Optional<JoinState> rows = Optional.empty();

        /** By key, of which only this side's rows are there. */
        Optional<JoinState> rows() {
            for (Batch batch : batches) {
                side.split(batch, Optional.empty(), false, Long.MIN_VALUE);
                if (side.groups() > 0) {
                    JoinState state = rows.orElseGet(() -> new JoinState(keys, Optional.empty(), context.allocator()));
                    rows = Optional.of(state);
                    state.change(port, side, batch);
                }
            }
            Closing.all(batches);
            batches.clear();
            return rows.filter(state -> state.size() > 0);
        }

        @Override
        public void close() {
            List<AutoCloseable> all = new ArrayList<>(batches);
            batches.clear();
            rows.ifPresent(all::add);
            rows = Optional.empty();
            Closing.all(all);
        }
    }

    private final int port;
    private final FollowedRows kept;
    private final List<Integer> columns; // of the relation, that this side's are
    private final List<Integer> keyColumns; // of the relation
    private final List<Integer> spread; // of the relation, by which rows are exchanged

    @SuppressWarnings("NullAway.Init") // by open
    private OperatorContext context;

    @SuppressWarnings("NullAway.Init") // by open
    private KeyLayout keys;

    @SuppressWarnings("NullAway.Init") // by open
    private JoinSide side; // the one of what arrives here

    private final Deque<Changes> changes = new ArrayDeque<>(); // by epoch
    private LongPredicate isWhole = epoch -> true;
    private long passed = Long.MIN_VALUE; // the last epoch that the join has passed

    /**
     * @param kept by the keys; this one's to close
     * @param columns of the relation, that this side's are
     * @param keys of this side's columns
     * @param spread the columns of this side by which it is exchanged
     */
    public SharedSide(int port, FollowedRows kept, List<Integer> columns, List<Integer> keys, List<Integer> spread) {
        this.port = port;
        this.kept = kept;
        this.columns = List.copyOf(columns);
        this.keyColumns = keys.stream().map(columns::get).toList();
        this.spread = spread.stream().map(columns::get).toList();
    }

    /** Before it runs. @param newIsWhole whether at the end of an epoch all rows of it are here, and none wait for another */
    public SharedSide when(LongPredicate newIsWhole) {
        isWhole = newIsWhole;
        return this;
    }

    void open(OperatorContext newContext, KeyLayout newKeys, JoinSide newSide) {
        context = newContext;
        keys = newKeys;
        side = newSide;
    }

    FollowedRows kept() {
        return kept;
    }

    /** The key's columns among those of the relation. */
    List<Integer> keyColumns() {
        return keyColumns;
    }

    /** Whether a row of the relation is one of this task's, and has a key. */
    boolean isOurs(long row) {
        int group = kept.group(row, keyColumns) < 0 ? -1 : kept.group(row, spread);
        return group >= 0 && context.keyGroups().contains(group);
    }

    /** A column of this side, of rows of the relation. */
    FieldVector decode(int column, Field field, long[] rows, int count) {
        return kept.decode(columns.get(column), field, rows, count, context.allocator());
    }

    /** Takes rows that came, which the caller keeps, too. */
    void add(Batch batch) {
        if (changes.isEmpty() || changes.getLast().epoch != UNDER_WAY) {
            changes.add(new Changes());
        }
        batch.retain();
        changes.getLast().batches.add(batch);
    }

    /** The changes that the relation's rows lack, where there are any, each by key. */
    List<JoinState> changes() {
        List<JoinState> found = new ArrayList<>(changes.size());
        changes.forEach(epoch -> epoch.rows().ifPresent(found::add));
        return found;
    }

    /** All rows that came of an epoch have met what they were to meet. */
    void endEpoch(long epoch) {
        if (!isWhole.test(epoch)) {
            return;
        }
        passed = epoch;
        if (!changes.isEmpty() && changes.getLast().epoch == UNDER_WAY) {
            changes.getLast().epoch = epoch;
        }
        settle();
    }

    /** Goes on to the newest version that the relation shows of what this join has passed. */
    void settle() {
        long reached = kept.advance(
                passed, shown -> changes.stream().allMatch(some -> shown <= some.after || shown >= some.epoch));
        while (!changes.isEmpty() && changes.peek().epoch <= reached) {
            changes.remove().close();
        }
    }

    long bytes() {
        long sum = 0;
        for (Changes epoch : changes) {
            sum += epoch.rows.map(JoinState::bytes).orElse(0L);
            for (Batch batch : epoch.batches) {
                sum += batch.sizeInBytes();
            }
        }
        return sum;
    }

    long size() {
        long sum = 0;
        for (Changes epoch : changes) {
            sum += epoch.rows.map(JoinState::size).orElse(0L);
            for (Batch batch : epoch.batches) {
                sum += batch.rowCount();
            }
        }
        return sum;
    }

    @Override
    public void close() {
        List<AutoCloseable> all = new ArrayList<>(changes);
        changes.clear();
        all.add(kept);
        Closing.all(all);
    }
}
