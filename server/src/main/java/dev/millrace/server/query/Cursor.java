package dev.millrace.server.query;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.cancellation.Cancellation;
import dev.millrace.server.cancellation.Failures;
import dev.millrace.server.result.FixedRows;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.rows.ChangeRows;
import dev.millrace.server.rows.RowCopier;
import dev.millrace.sql.statement.Movement;
import dev.millrace.time.Clock;
import dev.millrace.type.Schema;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;

/**
 * A result that is read a part at a time. Rows that were read are kept for reading them again, as long as they are not too many bytes;
 * those of a subscription are not. As in PostgreSQL, it stands before the first row, on a row, or after the last. Belongs to the session's
 * thread.
 */
final class Cursor implements AutoCloseable {
    private static final long POLL_MICROS = 1_000_000;

    private final StatementResult source;
    private final boolean stays;
    private final Back back;
    private final Cancellation cancellation;
    private final BufferAllocator allocator;
    private final Clock clock;
    private final Deque<Batch> kept = new ArrayDeque<>(); // consecutive; none is empty
    private long first; // rows before those that are kept
    private long known; // rows that were read from the source
    private long keptBytes;
    private long position; // the number of the row it stands on, from 1; known + 1 after the last
    private boolean ended; // the source has no more
    private boolean held;

    /**
     * How far a cursor goes back.
     *
     * @param mostBytes of rows before the one it stands on that are kept; 0 is NO SCROLL
     * @param said SCROLL was: then it is an error if there are more, else only going back to one of those is
     */
    record Back(long mostBytes, boolean said) {
        static final Back NEVER = new Back(0, false);
    }

    /** @param stays beyond the transaction under way, if it is committed */
    Cursor(
            StatementResult source,
            boolean stays,
            Back back,
            Cancellation cancellation,
            BufferAllocator allocator,
            Clock clock) {
        this.source = source;
        this.stays = stays;
        this.back = back;
        this.cancellation = cancellation;
        this.allocator = allocator;
        this.clock = clock;
        cancellation.closed(); // what a later statement cancels is not this
    }

    boolean stays() {
        return stays;
    }

    /** Whether the transaction it was declared in is over, so that no rollback reaches it any more. */
    boolean isHeld() {
        return held;
    }

    void hold() {
        held = true;
    }

    Schema schema() {
        return source instanceof StatementResult.Changes changes
                ? changes.form().schema()
                : ((StatementResult.Rows) source).schema();
    }

    /**
     * The rows that a movement passes, or the one it comes to; they are read while the answer is.
     *
     * @param timeoutMicros of a subscription how long to wait for as many; none waits for the first, as long as it takes
     * @throws MillraceException 55000 if it goes to a row that is not kept any more
     */
    StatementResult.Rows fetch(Movement movement, OptionalLong timeoutMicros) {
        long deadlineNanos = timeoutMicros.isPresent()
                ? clock.nanoTime() + TimeUnit.MICROSECONDS.toNanos(Math.min(timeoutMicros.getAsLong(), 1L << 50))
                : Long.MAX_VALUE;
        if (movement.isForward()) {
            return new Fetched(movement.rows(), deadlineNanos);
        }
        return Failures.translate(() -> cancellation.run(() -> moved(movement, deadlineNanos)));
    }

    private StatementResult.Rows moved(Movement movement, long deadlineNanos) {
        long rows = movement.rows();
        return switch (movement.direction()) {
            case FORWARD -> again();
            case BACKWARD -> rows == 0 ? again() : backward(rows);
            case ABSOLUTE -> rows < 0 ? fromTheEnd(rows) : to(rows, deadlineNanos);
            case RELATIVE ->
                rows == 0
                        ? again()
                        : to(rows > 0 ? plus(position, rows) : position + Math.max(rows, -position), deadlineNanos);
        };
    }

    private static long plus(long position, long rows) {
        return rows > Long.MAX_VALUE - position ? Long.MAX_VALUE : position + rows;
    }

    /** The row it stands on. */
    private StatementResult.Rows again() {
        boolean onRow = position > 0 && position <= known && back.mostBytes > 0;
        return onRow ? one(position) : FixedRows.none(schema());
    }

    private StatementResult.Rows fromTheEnd(long rows) {
        pass(Long.MAX_VALUE, Long.MAX_VALUE);
        return to(Math.max(0, known + 1 + rows), Long.MAX_VALUE);
    }

    /** Goes to a row by its number. */
    private StatementResult.Rows to(long number, long deadlineNanos) {
        if (number > 0 && number <= first) {
            throw onlyForward();
        }
        if (number > known) {
            pass(number, deadlineNanos);
        }
        if (number > known) {
            return FixedRows.none(schema());
        }
        if (number < position) {
            requireBack();
        }
        position = number;
        return number == 0 ? FixedRows.none(schema()) : one(number);
    }

    /** Reads on, to a row or to the end. */
    private void pass(long number, long deadlineNanos) {
        while (known < number && fill(false, deadlineNanos)) {
            position = Math.min(known, number - 1);
            forget();
        }
        if (known < number && ended) {
            position = known + 1;
        }
    }

    private StatementResult.Rows backward(long count) {
        requireBack();
        long last = position - 1;
        long least = Math.max(1, last >= count ? last - count + 1 : 1);
        if (last > 0 && least <= first) {
            throw onlyForward();
        }
        position = last >= count ? least : 0;
        try (RowCopier copier = new RowCopier(schema(), allocator)) {
            long end = known;
            for (Iterator<Batch> batches = kept.descendingIterator(); batches.hasNext() && end >= least; ) {
                Batch batch = batches.next();
                long start = end - batch.rowCount();
                for (long number = Math.min(last, end); number > Math.max(start, least - 1); number--) {
                    copier.copy(batch, places(batch), (int) (number - start - 1), 1);
                }
                end = start;
            }
            return copier.rowCount() == 0 ? FixedRows.none(schema()) : FixedRows.of(copier.build());
        }
    }

    private StatementResult.Rows one(long number) {
        long before = first;
        for (Batch batch : kept) {
            if (number <= before + batch.rowCount()) {
                return FixedRows.of(slice(batch, (int) (number - before - 1), 1));
            }
            before += batch.rowCount();
        }
        throw new IllegalStateException("row " + number + " is not kept");
    }

    private static int[] places(Batch batch) {
        return IntStream.range(0, batch.columnCount()).toArray();
    }

    private void requireBack() {
        if (back.mostBytes == 0) {
            throw onlyForward();
        }
    }

    private MillraceException onlyForward() {
        MillraceException error =
                MillraceException.user(SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, "cursor can only scan forward");
        return source instanceof StatementResult.Rows
                ? error.withHint("DECLARE .. SCROLL CURSOR keeps the rows that were read")
                : error.withHint("FETCH NEXT, FETCH n, FETCH ALL");
    }

    /** Lets go of rows before the one it stands on, if they are too many. */
    private void forget() {
        long last = back.mostBytes == 0
                ? position
                : position - 1; // of those that go; the one it stands on may be asked for again
        while (!kept.isEmpty()
                && keptBytes > back.mostBytes
                && first + kept.element().rowCount() <= last) {
            if (back.said) {
                throw MillraceException.resources(
                                SqlState.OUT_OF_MEMORY,
                                "the rows of a SCROLL cursor are more than " + back.mostBytes + " bytes")
                        .withHint("SET max_query_memory says how many are kept; a NO SCROLL cursor keeps none");
            }
            Batch gone = kept.remove();
            first += gone.rowCount();
            keptBytes -= gone.sizeInBytes();
            gone.close();
        }
    }

    private final class Fetched implements StatementResult.Rows {
        private final long deadlineNanos;
        private long left;
        private boolean any;

        Fetched(long count, long deadlineNanos) {
            this.left = count;
            this.deadlineNanos = deadlineNanos;
        }

        @Override
        public Schema schema() {
            return Cursor.this.schema();
        }

        @Override
        public Optional<Batch> next() {
            return Failures.translate(() -> cancellation.run(this::take));
        }

        private Optional<Batch> take() {
            if (left == 0) {
                return Optional.empty();
            }
            if (position >= known && !fill(any, deadlineNanos)) {
                position = ended ? known + 1 : position;
                return Optional.empty();
            }
            any = true;
            long before = first;
            for (Batch batch : kept) {
                if (position < before + batch.rowCount()) {
                    return Optional.of(part(batch, (int) (position - before)));
                }
                before += batch.rowCount();
            }
            throw new IllegalStateException("row " + (position + 1) + " is not kept");
        }

        private Batch part(Batch batch, int from) {
            int count = (int) Math.min(left, batch.rowCount() - from);
            Batch part = from == 0 && count == batch.rowCount() ? batch.retain() : slice(batch, from, count);
            left -= count;
            position += count;
            forget();
            return part;
        }

        @Override
        public void close() {}
    }

    /** Reads one batch more; false when there is none in time, or no more. */
    private boolean fill(boolean any, long deadlineNanos) {
        long before = known;
        if (source instanceof StatementResult.Rows rows) {
            while (!ended && known == before) {
                Optional<Batch> next = rows.next();
                ended = next.isEmpty();
                next.ifPresent(this::keep);
            }
            return known > before;
        }
        StatementResult.Changes changes = (StatementResult.Changes) source;
        while (known == before && !changes.isFinished()) {
            long leftMicros = deadlineNanos == Long.MAX_VALUE
                    ? (any ? 0 : POLL_MICROS)
                    : Math.max(0, (deadlineNanos - clock.nanoTime()) / 1_000);
            Optional<EpochChanges> next = changes.next(Math.min(leftMicros, POLL_MICROS));
            next.ifPresent(this::add);
            cancellation.check();
            if (next.isEmpty() && leftMicros == 0) {
                break;
            }
        }
        return known > before;
    }

    private void keep(Batch batch) {
        if (batch.rowCount() == 0) {
            batch.close();
            return;
        }
        kept.add(batch);
        known += batch.rowCount();
        keptBytes += batch.sizeInBytes();
    }

    private void add(EpochChanges epoch) {
        try (epoch) {
            ChangeRows.of(epoch, ((StatementResult.Changes) source).form(), allocator)
                    .forEach(this::keep);
        }
    }

    private Batch slice(Batch batch, int from, int count) {
        int[] places = places(batch);
        try (RowCopier copier = new RowCopier(batch.schema(), allocator)) {
            for (int i = from; i < from + count; i++) {
                copier.copy(batch, places, i, 1);
            }
            return copier.build();
        }
    }

    @Override
    public void close() {
        Closing.all(kept);
        kept.clear();
        source.close();
    }
}
