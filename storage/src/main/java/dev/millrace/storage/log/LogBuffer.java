package dev.millrace.storage.log;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The records of a log that are not on disk yet, in their order, and what became of the others. Any thread appends; one thread at a time,
 * the writer, takes them away in groups, and says how it went:
 *
 * <pre>
 *                   take                 succeeded
 *   pending ------------------> group -----------------> durable
 *                                 |
 *                                 | failed:  DEFERRED ones become pending again, AWAITED ones, pending ones too, are
 *                                 v
 *                             undecided ---------------> failed
 *                                          at once if no byte of them can be on disk, else when recovered
 * </pre>
 *
 * From {@link #failed} until {@link #recovered} there is an outage, and AWAITED records are refused.
 *
 * <p>Who waits for a record becomes the writer ({@link #beginFor}) if nobody is. The log's thread ({@link #awaitWork}) is it for what
 * nobody waits for, or nobody came for in time, and alone tries the disk again in an outage.
 *
 * <p>Long because one lock guards what all of it changes.
 */
final class LogBuffer {
    private static final long LOOK_NANOS = 20_000_000;
    private static final int MOST_WAITS = 100;

    /** How long the log's thread leaves what somebody is about to wait for to whom that is. */
    private static final long SOON_NANOS = 1_000_000;

    /** How long after a record came the log's thread looks by itself every {@link #SOON_NANOS}, so that it need not be woken. */
    private static final long BUSY_NANOS = 50_000_000;

    private final WriteAheadLogOptions options;
    private final LogRoom room;
    private final Optional<Runnable> worker; // what makes room where the log has no thread of its own
    private final long deferredNanos;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition change =
            lock.newCondition(); // space, the end of a long append, an outage, the last writer's end
    private final Condition work = lock.newCondition(); // for the log's thread alone

    @GuardedBy("lock") private final Deque<Piece> pending = new ArrayDeque<>();

    @GuardedBy("lock") private List<Piece> group = new ArrayList<>();

    @GuardedBy("lock") private List<Long> undecided = new ArrayList<>();

    @GuardedBy("lock") private final List<Piece> behind = new ArrayList<>(); // a record that is appended piece by piece

    @GuardedBy("lock") private long heldBytes; // of pending and group

    @GuardedBy("lock") private long reservedBytes; // kept for records that are to come, or are behind

    @GuardedBy("lock") private long dueNanos; // when the log's thread writes what is pending, should nobody have until then

    @GuardedBy("lock") private long addedNanos; // when a record came last

    @GuardedBy("lock") private long wakesNanos = Long.MIN_VALUE; // when it looks again; the least while it does not wait

    @GuardedBy("lock") private boolean writing; // somebody is the writer

    @GuardedBy("lock") private boolean unmarked; // nothing on disk says of the last group that it is durable

    @GuardedBy("lock") private long last; // the number given out last

    @GuardedBy("lock") private long longAppend; // the number of a record that is appended piece by piece; 0 while there is none

    @GuardedBy("lock") private @Nullable Outage outage; // null while the disk takes what is written

    @GuardedBy("lock") private boolean closing;

    @GuardedBy("lock") private long urgent; // records up to this one are not left to who waits for them

    @GuardedBy("lock") private long records;

    @GuardedBy("lock") private long bytes;

    @GuardedBy("lock") private long groups;

    @GuardedBy("lock") private long failures;

    private volatile long durable; // written by the writer under the lock, read by whoever waits
    private volatile FailedRecords failed = FailedRecords.NONE; // the same; before durable passes them
    private volatile @Nullable MillraceException ended; // why nothing is decided any more; set once

    /** What space is needed for. */
    private enum Need {
        RECORD,
        PART,
        RESERVATION
    }

    /** The disk does not take what is written. */
    private record Outage(SqlState state, String message, long retryNanos, long waitNanos) {
        MillraceException error() {
            return MillraceException.external(state, message);
        }
    }

    LogBuffer(WriteAheadLogOptions options, LogRoom room, long last, Optional<Runnable> worker) {
        this.options = options;
        this.room = room;
        this.worker = worker;
        this.last = last;
        this.durable = last;
        this.deferredNanos = TimeUnit.MILLISECONDS.toNanos(options.deferredMillis());
    }

    /** Appends a record of these pieces, when there is room; its number. */
    long add(LogMode mode, List<byte[]> pieces) {
        long length = pieces.stream().mapToLong(piece -> piece.length).sum();
        lock.lock();
        try {
            awaitTurn(mode, length);
            return addWhole(mode, pieces);
        } finally {
            lock.unlock();
        }
    }

    /** Waits until there is space for a record of so many bytes, and keeps it. */
    void reserve(long held) {
        lock.lock();
        try {
            awaitSpace(LogMode.AWAITED, Need.RESERVATION, held);
            reservedBytes += held;
        } finally {
            lock.unlock();
        }
    }

    /** Keeps space for a record of so many bytes where nobody has to wait for it and the disk works; whether it did. */
    boolean tryReserve(long held) {
        lock.lock();
        try {
            boolean can = ended == null && !closing && outage == null && hasSpace(Need.RESERVATION, held);
            reservedBytes += can ? held : 0;
            return can;
        } finally {
            lock.unlock();
        }
    }

    /** The record does not come. */
    void release(long held) {
        lock.lock();
        try {
            reservedBytes -= held;
            change.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Appends a DEFERRED record for which space was kept, whatever the disk does; its number. */
    long addReserved(long held, List<byte[]> pieces) {
        lock.lock();
        try {
            reservedBytes -= held;
            MillraceException end = ended;
            if (end != null || closing) {
                throw end != null ? end.again() : WriteAheadLog.closed();
            }
            return addWhole(LogMode.DEFERRED, pieces);
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock") private long addWhole(LogMode mode, List<byte[]> pieces) {
        last++;
        for (int i = 0; i < pieces.size(); i++) {
            Piece piece = new Piece(last, mode, pieces.get(i), i == 0, i == pieces.size() - 1);
            bytes += piece.bytes().length;
            if (longAppend == 0) {
                add(piece);
            } else {
                behind.add(piece);
                reservedBytes += piece.heldBytes();
            }
        }
        records++;
        return last;
    }

    /** Begins an AWAITED record that is appended by parts, while nobody else appends; its number. */
    long beginLong() {
        lock.lock();
        try {
            awaitTurn(LogMode.AWAITED, 0);
            longAppend = ++last;
            return last;
        } finally {
            lock.unlock();
        }
    }

    /** Appends a part of the record that {@link #beginLong} began, when there is room; the record's number. */
    long addPart(Piece piece) {
        lock.lock();
        try {
            awaitSpace(LogMode.AWAITED, Need.PART, piece.bytes().length);
            if (failed.contains(piece.number())) {
                throw failed.error(piece.number()); // with its first parts; the log works again
            }
            add(piece);
            bytes += piece.bytes().length;
            records += piece.isLast() ? 1 : 0;
            return piece.number();
        } finally {
            lock.unlock();
        }
    }

    /** Ends what {@link #beginLong} began; a record that is not whole is given up. */
    void endLong(long number, boolean whole) {
        lock.lock();
        try {
            longAppend = 0;
            for (Piece piece : behind) {
                reservedBytes -= piece.heldBytes();
                add(piece);
            }
            behind.clear();
            if (!whole && outage == null && !failed.contains(number)) {
                failed = failed.with(
                        List.of(number), MillraceException.user(SqlState.QUERY_CANCELED, "the record was given up"));
            }
            change.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock") private void awaitTurn(LogMode mode, long length) {
        while (true) {
            awaitSpace(mode, Need.RECORD, length);
            if (longAppend == 0) {
                return;
            }
            await(change, LOOK_NANOS);
            lookAtInterrupt();
        }
    }

    @GuardedBy("lock") private boolean hasSpace(Need need, long length) {
        long taken =
                heldBytes + (need == Need.PART ? 0 : reservedBytes); // others may wait for the end of what has parts
        boolean fits = taken == 0 || taken + length <= options.bufferBytes();
        return fits
                && (need != Need.RESERVATION
                        || reservedBytes == 0
                        || reservedBytes + length <= options.bufferBytes() / 2);
    }

    /** Returns when there is space; throws where there is none as long as the disk fails. */
    @GuardedBy("lock") private void awaitSpace(LogMode mode, Need need, long length) {
        while (true) {
            MillraceException end = ended;
            if (end != null || closing) {
                throw end != null ? end.again() : WriteAheadLog.closed();
            }
            boolean hasSpace = hasSpace(need, length);
            Outage failing = outage;
            if (failing != null && (mode == LogMode.AWAITED || !hasSpace)) {
                throw failing.error();
            }
            if (hasSpace) {
                return;
            }
            if (worker.isEmpty()) {
                dueBy(options.clock().nanoTime());
                await(change, LOOK_NANOS);
            }
            lookAtInterrupt();
        }
    }

    /** Without the lock, as others may have their turn meanwhile; where the log has no thread, this is where it works. */
    @GuardedBy("lock") private void lookAtInterrupt() {
        lock.unlock();
        try {
            Interrupt.checkResting();
            worker.ifPresent(Runnable::run);
        } finally {
            lock.lock();
        }
    }

    /** Waits at most so long; a thread that is interrupted in Java's way waits as well, and stays interrupted. */
    private static void await(Condition condition, long nanos) {
        boolean interrupted = Thread.interrupted();
        try {
            condition.awaitNanos(nanos);
        } catch (InterruptedException e) {
            interrupted = true;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @GuardedBy("lock") private void add(Piece piece) {
        boolean isFirst = pending.isEmpty();
        pending.add(piece);
        heldBytes += piece.heldBytes();
        long now = options.clock().nanoTime();
        addedNanos = now;
        long due = now + (isManyBytes() ? 0 : piece.mode() == LogMode.AWAITED ? SOON_NANOS : deferredNanos);
        dueBy(isFirst ? due : Math.min(due, dueNanos));
    }

    /** Has the log's thread look in time; it is woken only where it would look too late. */
    @GuardedBy("lock") private void dueBy(long nanos) {
        dueNanos = nanos;
        if (nanos < wakesNanos) {
            work.signal();
        }
    }

    /** Whether so much is pending that even what nobody waits for is written. */
    @GuardedBy("lock") private boolean isManyBytes() {
        return heldBytes > options.bufferBytes() / 4;
    }

    /** Whether a record is durable; false while that is not decided. Throws if it failed. */
    boolean isDurable(long number) {
        boolean passed = number <= durable; // read before failed, which is written before it
        if (failed.contains(number)) {
            throw failed.error(number);
        }
        MillraceException end = ended;
        if (!passed && end != null && number > durable) {
            throw end.again();
        }
        return passed;
    }

    /** Whether waiting for it has an end, good or bad. */
    boolean isDecided(long number) {
        return number <= durable || ended != null || failed.contains(number);
    }

    /** Whether nothing is decided any more. */
    boolean isEnded() {
        return ended != null;
    }

    /** Has records written soon that nobody waited for, as somebody waits for one of them after all. */
    void hasten(long number) {
        lock.lock();
        try {
            Piece first = pending.peek();
            if (first != null && first.number() <= number) {
                dueBy(Math.min(dueNanos, options.clock().nanoTime() + SOON_NANOS));
            }
        } finally {
            lock.unlock();
        }
    }

    /** Has the log's thread write records at once, of which somebody is to hear who does not wait. */
    void hurry(long number) {
        lock.lock();
        try {
            urgent = Math.max(urgent, number);
            if (!writing) { // else when that ends
                writeUrgent();
            }
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock") private void writeUrgent() {
        Piece first = pending.peek();
        if (first != null && first.number() <= urgent && outage == null) {
            dueBy(Math.min(dueNanos, options.clock().nanoTime()));
        }
    }

    long durable() {
        return durable;
    }

    /** Whether a record is not on disk, and never will be. */
    boolean hasFailed(long number) {
        return failed.contains(number);
    }

    long last() {
        lock.lock();
        try {
            return last;
        } finally {
            lock.unlock();
        }
    }

    Optional<MillraceException> failure() {
        lock.lock();
        try {
            Outage failing = outage;
            return failing == null ? Optional.empty() : Optional.of(failing.error());
        } finally {
            lock.unlock();
        }
    }

    long heldBytes() {
        lock.lock();
        try {
            return heldBytes;
        } finally {
            lock.unlock();
        }
    }

    LogStatistics statistics(int segments) {
        lock.lock();
        try {
            return new LogStatistics(records, bytes, groups, segments, heldBytes, failures);
        } finally {
            lock.unlock();
        }
    }

    /**
     * For the log's thread: waits until there is something to write that nobody else writes, or the disk is to be tried again, and makes
     * it the writer; false when the log closes.
     */
    boolean awaitWork() {
        lock.lock();
        try {
            while (!closing && ended == null) {
                long now = options.clock().nanoTime();
                Outage failing = outage;
                long at = Long.MAX_VALUE;
                if (writing) {
                    at = now + SOON_NANOS;
                } else if (failing != null) {
                    at = failing.retryNanos();
                } else if (!pending.isEmpty()) {
                    at = dueNanos;
                } else if (unmarked) {
                    at = addedNanos + SOON_NANOS;
                }
                if (at <= now) {
                    writing = true;
                    return true;
                }
                boolean isBusy = records > 0 && now - addedNanos < BUSY_NANOS;
                wakesNanos = isBusy ? Math.min(at, now + SOON_NANOS) : at;
                await(work, wakesNanos == Long.MAX_VALUE ? wakesNanos : wakesNanos - now);
                wakesNanos = Long.MIN_VALUE;
            }
            return false;
        } finally {
            lock.unlock();
        }
    }

    /** For who waits for a record: makes it the writer if that is pending, the disk works, and nobody is. */
    boolean beginFor(long number) {
        lock.lock();
        try {
            Piece first = pending.peek();
            if (writing || closing || ended != null || outage != null || first == null || first.number() > number) {
                return false;
            }
            writing = true;
            return true;
        } finally {
            lock.unlock();
        }
    }

    /**
     * For the writer, who is it no longer.
     *
     * @return the number of the first record that is pending now: who waits for it or a later one may become the writer, and has some time
     *     for that; empty where nothing is, or the disk fails
     */
    OptionalLong endWriting() {
        lock.lock();
        try {
            writing = false;
            if (closing) {
                change.signalAll();
            }
            Piece first = pending.peek();
            if (first == null || outage != null) {
                return OptionalLong.empty();
            }
            if (first.number() <= urgent) {
                writeUrgent();
            } else if (!isManyBytes()) {
                dueNanos = Math.max(dueNanos, options.clock().nanoTime() + SOON_NANOS);
            }
            return OptionalLong.of(first.number());
        } finally {
            lock.unlock();
        }
    }

    /** Whether the disk failed, and it is not yet time to try it again. */
    boolean isPausing() {
        lock.lock();
        try {
            Outage failing = outage;
            return failing != null && failing.retryNanos() - options.clock().nanoTime() > 0 && !closing;
        } finally {
            lock.unlock();
        }
    }

    /**
     * For the writer: whether it is to say on disk that the last group is durable, as nothing follows that would say so.
     *
     * @param hasTime else that is left to the log's thread, which does it when nobody has appended for a while
     */
    boolean isToMark(boolean hasTime) {
        lock.lock();
        try {
            boolean toMark = unmarked && pending.isEmpty() && hasTime;
            unmarked &= !toMark;
            return toMark;
        } finally {
            lock.unlock();
        }
    }

    /** For the writer: all that is pending, to be written now. */
    List<Piece> take() {
        lock.lock();
        try {
            group = new ArrayList<>(pending);
            pending.clear();
            return List.copyOf(group);
        } finally {
            lock.unlock();
        }
    }

    /** What was taken is on disk, whole records up to the last one of the writer. */
    void succeeded(LogWriter writer) {
        lock.lock();
        try {
            long disk = 0;
            for (Piece piece : group) {
                heldBytes -= piece.heldBytes();
                disk += piece.diskBytes();
            }
            writer.settle(disk);
            group = new ArrayList<>();
            groups++;
            unmarked = true;
            durable = writer.durable();
            change.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /**
     * What was taken, and is not durable, is not written.
     *
     * @param upTo whole records up to this number are on disk
     * @param isUncertain whether bytes of later ones may be on disk all the same
     * @return whether the log worked until now
     */
    boolean failed(SqlState state, String message, long upTo, boolean isUncertain) {
        lock.lock();
        try {
            List<Piece> all = new ArrayList<>(group);
            all.addAll(pending);
            group = new ArrayList<>();
            pending.clear();
            for (Piece piece : all) {
                if (piece.number() > upTo && piece.mode() == LogMode.DEFERRED) {
                    pending.add(piece);
                    continue;
                }
                heldBytes -= piece.heldBytes();
                room.give(piece.diskBytes());
                if (piece.number() > upTo) {
                    undecided.add(piece.number());
                }
            }
            if (longAppend != 0) {
                undecided.add(longAppend); // parts of it may be on disk, and others are to come
            }
            durable = upTo;
            Outage before = outage;
            long first = TimeUnit.MILLISECONDS.toNanos(options.retryMillis());
            long wait = before == null ? first : Math.min(2 * before.waitNanos(), MOST_WAITS * first);
            outage = new Outage(state, message, options.clock().nanoTime() + wait, wait);
            failures += before == null ? 1 : 0;
            work.signal(); // the log's thread tries again, when it is time to
            if (!isUncertain) {
                failUndecided();
            }
            change.signalAll();
            return before == null;
        } finally {
            lock.unlock();
        }
    }

    /** The disk works, and what is on it of records that failed is void; whether it failed until now. */
    boolean recovered() {
        lock.lock();
        try {
            if (outage == null) {
                return false;
            }
            failUndecided();
            outage = null;
            change.signalAll();
            return true;
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock") private void failUndecided() {
        Outage why = outage;
        if (!undecided.isEmpty() && why != null) {
            failed = failed.with(undecided, why.error());
            undecided = new ArrayList<>();
        }
    }

    /** Refuses records from now on, once a long one is whole, and nobody writes any more; false if it did already. */
    boolean close() {
        lock.lock();
        try {
            if (closing) {
                return false;
            }
            while (longAppend != 0 && worker.isEmpty() && ended == null) {
                await(change, LOOK_NANOS);
            }
            closing = true;
            work.signalAll();
            change.signalAll();
            while (writing) {
                await(change, LOOK_NANOS);
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Nothing is decided from now on; how many records are not written. */
    long end(MillraceException why) {
        lock.lock();
        try {
            if (ended == null) {
                ended = why;
            }
            work.signal();
            change.signalAll();
            return pending.stream().filter(Piece::isLast).count();
        } finally {
            lock.unlock();
        }
    }
}
