package dev.millrace.storage.log;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.DiskErrors;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Records of bytes that outlive the process, in one order, with group commit.
 *
 * <pre>{@code
 * WriteAheadLog log = WriteAheadLog.open(disk, WriteAheadLogOptions.standard());
 * log.replay(checkpoint, (number, bytes) -> apply(bytes));
 * long number = log.append(LogMode.AWAITED, record); // any thread
 * log.awaitDurable(number);                          // now it may be acknowledged
 * }</pre>
 *
 * <p><b>Numbers.</b> Each record has a number (LSN) from 1, one more than that of the record appended before it. The number of a
 * record that failed, or was given up, is never another's while the log is open, so replay may skip numbers; it never skips a record.
 *
 * <p><b>Threads.</b> All methods but {@link #work} may be called by any thread. Who waits for a record while nobody writes does so itself:
 * it writes all that is pending, forces it once, wakes who else waits for that, and hands what came meanwhile to one who waits for
 * it. What nobody waits for is written by a thread of the log, "millrace-log". Methods that wait look at {@link Interrupt#current()} every
 * 20 ms, and not while they write. {@link Thread#interrupt} does nothing to them.
 *
 * <p><b>Room.</b> What is appended has its room on disk before: who comes when there is none is refused with 53100, at once, and nobody
 * else hears of it. Who must know that before {@link #append} reserves the room.
 *
 * <p><b>Failure.</b> When the disk does not take what is written, the log fails until it works again, which it tries by itself. Until
 * then appends are refused with 53100 if the disk is full, else 58030. Records that were AWAITED and not durable fail with the same,
 * and never come back, also not after a restart; where bytes of them may have reached the disk, their writers wait until a new segment
 * says that these do not count. DEFERRED records stay in memory and are written when the log works again, in their order. The log never
 * relies on a second force of what a first one failed for.
 *
 * <p><b>Ownership.</b> The log owns the files of its disk. One log at a time has them; whoever opens it sees to that.
 *
 * <p>Long because it is all that others see of the log, and says what they may rely on.
 */
public final class WriteAheadLog implements AutoCloseable {
    /** The longest record, in bytes. */
    public static final long MOST_BYTES = 1L << 30;

    private static final int PIECE = Fragment.MOST_CONTENTS;
    private static final long LOOK_NANOS = 20_000_000;

    private final String path; // how errors name the log
    private final LogDirectory directory;
    private final LogReader opened; // what was there
    private final LogReader.End openedEnd;
    private final LogWriter writer; // for who LogBuffer says is it, or who calls work()
    private final LogBuffer buffer;
    private final LogRoom room;
    private final WriteAheadLogOptions options;
    private final List<String> notices;
    private final Queue<Waiter> waiters = new ConcurrentLinkedQueue<>();
    private final Queue<Callback> callbacks = new ConcurrentLinkedQueue<>();
    private final @Nullable Thread thread; // null where work() is called

    private record Waiter(long number, Thread thread) {}

    private record Callback(long number, Runnable then) {}

    private WriteAheadLog(LogDirectory directory, LogRoom room, WriteAheadLogOptions options) throws IOException {
        this.path = directory.disk().path(LogState.NAME);
        this.directory = directory;
        this.options = options;
        this.opened = directory.reader();
        this.openedEnd = opened.end();
        directory.forceTail(openedEnd);
        this.notices = openedEnd.notice(directory.disk()).stream().toList();
        this.room = room;
        room.settled(0, directory.behindBytes(openedEnd));
        this.writer = new LogWriter(directory, room, openedEnd);
        this.buffer = new LogBuffer(
                options, room, openedEnd.lastWhole(), options.ownThread() ? Optional.empty() : Optional.of(this::work));
        this.thread = options.ownThread() ? new Thread(this::run, "millrace-log") : null;
    }

    /**
     * Opens the log of a directory, or begins one where there is none.
     *
     * @throws MillraceException XX001 if something of it is missing or damaged, F0000 if a later version wrote it, 58030 or 53100
     */
    public static WriteAheadLog open(Disk disk, WriteAheadLogOptions options) {
        try {
            LogRoom room = new LogRoom();
            WriteAheadLog log = new WriteAheadLog(LogDirectory.open(disk, options, room), room, options);
            if (log.thread != null) {
                log.thread.setDaemon(true);
                log.thread.start();
            }
            return log;
        } catch (IOException e) {
            throw DiskErrors.failed("open the log " + disk.path(LogState.NAME), e);
        }
    }

    /** Whether there is anything of a log that holds records: opening it begins none. */
    public static boolean exists(Disk disk) throws IOException {
        return disk.list().stream()
                .anyMatch(name -> name.equals(LogState.NAME)
                        || SegmentHeader.numberOf(name).isPresent());
    }

    /** By what the files of a directory's log know each other; none where there is no log, or that is damaged. */
    public static OptionalLong identity(Disk disk) throws IOException {
        if (!disk.has(LogState.NAME)) {
            return OptionalLong.empty();
        }
        try {
            return OptionalLong.of(LogState.read(disk).identity());
        } catch (MillraceException e) {
            return OptionalLong.empty();
        }
    }

    /** Reads every byte of a log, as the other method does, and passes its records on to nobody. */
    public static LogReport verify(Disk disk) {
        return verify(disk, () -> (number, bytes) -> {});
    }

    /**
     * Reads every byte of the log of a directory, and changes nothing. A log may have it open meanwhile: then what is read is all
     * that was durable when it began, and perhaps more.
     *
     * @param consumers asked for one each time that reading begins, as it does anew where the log's owner has removed segments; a
     *     consumer that throws XX001 says that a record is damaged
     * @throws MillraceException 58030 where something cannot be read
     */
    public static LogReport verify(Disk disk, Supplier<RecordConsumer> consumers) {
        try {
            return LogVerification.run(disk, consumers);
        } catch (IOException e) {
            throw DiskErrors.failed("read the log " + disk.path(LogState.NAME), e);
        }
    }

    static MillraceException closed() {
        return MillraceException.external(SqlState.ADMIN_SHUTDOWN, "the log is closed");
    }

    /** What was noticed when it was opened and is no damage, as a record that was being written when the process ended. */
    public List<String> notices() {
        return notices;
    }

    /**
     * Reads the records that were there when the log was opened, in their order.
     *
     * @param after only those with higher numbers
     * @throws MillraceException XX001 where something is missing or damaged, naming file, offset and record: what was given before
     *     is true; also where records behind {@code after} were forgotten; 58030 where it cannot be read
     */
    public void replay(long after, RecordConsumer consumer) {
        try {
            opened.replay(after, openedEnd, consumer);
        } catch (IOException e) {
            throw DiskErrors.failed("read the log " + path, e);
        }
    }

    /**
     * Up to which number records were forgotten: those behind are all there.
     *
     * @throws MillraceException 58030 where that cannot be read
     */
    public long forgotten() {
        try {
            return opened.before();
        } catch (IOException e) {
            throw DiskErrors.failed("read the log " + path, e);
        }
    }

    /**
     * Reads a record that was there when the log was opened, and was not forgotten since.
     *
     * @param place that {@link #replay} gave
     * @return its bytes, the caller's
     * @throws MillraceException XX001 if it is missing or damaged, 58030 if it cannot be read
     */
    public ByteBuffer read(LogPlace place) {
        try {
            return opened.read(place, openedEnd);
        } catch (IOException e) {
            throw DiskErrors.failed("read the log " + path, e);
        }
    }

    /**
     * Appends a record and does not wait for the disk, except where so much is pending that memory is full. A record of more than a
     * quarter of that memory is written while it is appended, when nobody else appends; if it is DEFERRED it is durable when this returns.
     *
     * @param parts the record's bytes, from position to limit of each, which stay as they are; copied
     * @return its number
     * @throws MillraceException 53100 or 58030 while the disk fails (a DEFERRED record is taken as long as there is room in memory), and if
     *     it has no room for the record; 54000 if that is too long, what {@link Interrupt} says, 57P01 once the log is closed; then the record is not there and never will be
     */
    public long append(LogMode mode, ByteBuffer... parts) {
        long length = checkedLength(parts);
        if (length > PIECE && length > options.bufferBytes() / 4) {
            return appendLong(mode, new ConcatenatedBuffers(parts), length);
        }
        return withRoom(mode, diskBytes(length), () -> buffer.add(mode, pieces(parts, length)));
    }

    /**
     * Takes room for a DEFERRED record in memory and on disk, so that appending it can neither wait nor be refused. Waits while too
     * much is pending.
     *
     * @param bytes that the record will have at most
     * @return to be closed
     * @throws MillraceException 53100 or 58030 while the disk fails, or if it has no room; 54000 if it is too long, what {@link Interrupt}
     *     says, 57P01 once the log is closed
     */
    public LogReservation reserve(long bytes) {
        check(bytes);
        long held = heldBytes(bytes);
        buffer.reserve(held);
        try {
            takeRoom(LogMode.AWAITED, diskBytes(bytes));
            return new LogReservation(this, bytes);
        } catch (RuntimeException | Error e) {
            buffer.release(held);
            throw e;
        }
    }

    /**
     * Takes room for a DEFERRED record as {@link #reserve} does, where that needs neither a wait nor the disk.
     *
     * @return to be closed; empty where it needs one of them, or the disk fails, or the log is closed
     * @throws MillraceException 54000 if it is too long
     */
    public Optional<LogReservation> tryReserve(long bytes) {
        check(bytes);
        long held = heldBytes(bytes);
        if (!buffer.tryReserve(held)) {
            return Optional.empty();
        }
        if (!room.take(diskBytes(bytes))) {
            buffer.release(held);
            return Optional.empty();
        }
        return Optional.of(new LogReservation(this, bytes));
    }

    long append(LogReservation reservation, ByteBuffer... parts) {
        long length = length(parts);
        room.give(diskBytes(reservation.bytes()) - diskBytes(length));
        return buffer.addReserved(heldBytes(reservation.bytes()), pieces(parts, length));
    }

    void release(LogReservation reservation) {
        room.give(diskBytes(reservation.bytes()));
        buffer.release(heldBytes(reservation.bytes()));
    }

    static long length(ByteBuffer... parts) {
        long length = 0;
        for (ByteBuffer part : parts) {
            length += part.remaining();
        }
        return length;
    }

    private static long checkedLength(ByteBuffer... parts) {
        long length = length(parts);
        check(length);
        return length;
    }

    private static void check(long length) {
        if (length > MOST_BYTES) {
            throw MillraceException.user(
                    SqlState.PROGRAM_LIMIT_EXCEEDED,
                    "a record of the log has at most " + MOST_BYTES + " bytes, not " + length);
        }
    }

    private static List<byte[]> pieces(ByteBuffer[] parts, long length) {
        ConcatenatedBuffers record = new ConcatenatedBuffers(parts);
        List<byte[]> pieces = new ArrayList<>();
        for (long from = 0; from == 0 || from < length; from += PIECE) {
            pieces.add(record.next((int) Math.min(PIECE, length - from)));
        }
        return pieces;
    }

    /** What a record takes on disk, where its pieces are not cut. */
    private static long diskBytes(long length) {
        long whole = length / PIECE;
        int rest = (int) (length % PIECE);
        return whole * Fragment.bytes(PIECE) + (rest > 0 || whole == 0 ? Fragment.bytes(rest) : 0);
    }

    /** What a record takes in memory. */
    private static long heldBytes(long length) {
        return length + Math.max(1, (length + PIECE - 1) / PIECE) * Piece.heldBytes(0);
    }

    private void takeRoom(LogMode mode, long diskBytes) {
        Optional<MillraceException> failure = buffer.failure();
        if (failure.isPresent()) {
            if (mode == LogMode.AWAITED) {
                throw failure.get();
            }
            room.takeAnyway(diskBytes); // it waits for the disk anyhow
            return;
        }
        try {
            directory.take(diskBytes);
        } catch (IOException e) {
            throw DiskErrors.failed("write the log " + path, e);
        }
    }

    private long withRoom(LogMode mode, long diskBytes, LongSupplier adding) {
        takeRoom(mode, diskBytes);
        boolean added = false;
        try {
            long number = adding.getAsLong();
            added = true;
            return number;
        } finally {
            if (!added) {
                room.give(diskBytes);
            }
        }
    }

    /** By parts, each of which is written while the next is copied. */
    private long appendLong(LogMode mode, ConcatenatedBuffers record, long length) {
        long number = buffer.beginLong();
        boolean whole = false;
        try {
            for (long from = 0; from < length; from += PIECE) {
                byte[] copy = record.next((int) Math.min(PIECE, length - from));
                boolean isLast = from + copy.length == length;
                Piece part = new Piece(number, LogMode.AWAITED, copy, from == 0, isLast);
                withRoom(LogMode.AWAITED, part.diskBytes(), () -> buffer.addPart(part));
            }
            whole = true;
        } finally {
            buffer.endLong(number, whole);
        }
        if (mode == LogMode.DEFERRED) {
            awaitDurable(number);
        }
        return number;
    }

    /**
     * Whether a record is durable; false while that is not decided.
     *
     * @throws MillraceException 53100 or 58030 if it failed, 57P01 if the log was closed before that was decided
     */
    public boolean isDurable(long number) {
        return buffer.isDurable(number);
    }

    /**
     * Returns when a record is durable, and all before it that did not fail are.
     *
     * @param number that {@link #append} gave to this process; of one that was there when the log was opened it returns at once
     * @throws MillraceException 53100 or 58030 if it failed: it never comes back; 57P01 if the log was closed before that was decided;
     *     what {@link Interrupt} says, which decides nothing about the record
     */
    public void awaitDurable(long number) {
        await(number, () -> {});
    }

    /**
     * Returns when all records that were appended before are durable or failed.
     *
     * @throws MillraceException 53100 or 58030 while the disk fails, also where records stay in memory until it works again; what
     *     {@link #awaitDurable} throws
     */
    public void awaitAll() {
        await(
                buffer.last(),
                () -> buffer.failure().ifPresent(failure -> {
                    throw failure;
                }));
    }

    private void await(long number, Runnable look) {
        if (buffer.isDurable(number)) {
            return;
        }
        Interrupt.rest();
        Waiter waiter = new Waiter(number, Thread.currentThread());
        waiters.add(waiter);
        boolean interrupted = false;
        try {
            while (!buffer.isDurable(number)) {
                look.run();
                if (thread == null) {
                    work();
                } else if (buffer.beginFor(number)) {
                    lead(() -> {});
                } else {
                    LockSupport.parkNanos(this, LOOK_NANOS);
                    interrupted |= Thread.interrupted();
                }
                Interrupt.checkResting();
            }
        } finally {
            waiters.remove(waiter);
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * As the writer that the buffer made of this thread: writes what is pending, and hands on what came meanwhile.
     *
     * @param then called when all of that is durable, before anybody else hears of it
     */
    private void lead(Runnable then) {
        OptionalLong next;
        try (Interrupt.Binding others = Interrupt.shield()) { // that what the thread works for ends ends no other
            work(then);
        } catch (RuntimeException | Error e) {
            buffer.end(MillraceException.internal("the log has ended: " + e, e));
            wake();
        } finally {
            next = buffer.endWriting();
        }
        next.ifPresent(this::handOn);
    }

    /** Has one who waits for this record or a later one write, if there is one; else the log's thread does, soon. */
    private void handOn(long pending) {
        for (Waiter waiter : waiters) {
            if (waiter.number() >= pending) {
                LockSupport.unpark(waiter.thread());
                return;
            }
        }
    }

    /**
     * Calls back once a record, and all before it, are durable: at once, on this thread, if they are; else on that which wrote them, which
     * must not be held up. Never for a record that fails, or is not durable when the log is closed. Does not wait.
     */
    public void whenDurable(long number, Runnable then) {
        Callback callback = new Callback(number, then);
        callbacks.add(callback);
        if (number > buffer.durable()) {
            buffer.hasten(number);
        }
        if (number <= buffer.durable() && callbacks.remove(callback)) { // the writer may have passed already
            then.run();
        }
    }

    /**
     * Has the log's thread write records up to a number without delay, with all that is pending then: for who is called back and does
     * not wait. Does not wait; without a thread of the log's it does nothing.
     */
    public void hurry(long number) {
        if (thread != null && number > buffer.durable()) {
            buffer.hurry(number);
        }
    }

    /**
     * Writes and forces all that is pending on the calling thread, if a record is among it and nobody else writes: takes as long as the
     * disk does, and waits for no other thread.
     *
     * @param then called once on this thread if the record is durable, before others hear of what was written and before what follows a
     *     group is done; must be short, and not throw
     * @return whether the record is durable; false where others have to be waited for, or the disk fails
     */
    public boolean tryWrite(long number, Runnable then) {
        boolean[] isTold = {false};
        Runnable tell = () -> {
            if (!isTold[0] && number <= buffer.durable()) {
                isTold[0] = true;
                then.run();
            }
        };
        if (thread != null && number > buffer.durable() && buffer.beginFor(number)) {
            lead(tell);
        }
        tell.run(); // unless it was, as another wrote the record
        return isTold[0];
    }

    /** The number given out last, or that of the last record that was there; 0 in a new log. */
    public long lastNumber() {
        return buffer.last();
    }

    /** All records up to this number are durable, or failed. */
    public long durableNumber() {
        return buffer.durable();
    }

    /** Number of the last record that is on disk, with all before it that did not fail. */
    public long lastDurable() {
        long last = buffer.durable();
        while (last > 0 && buffer.hasFailed(last)) {
            last--;
        }
        return last;
    }

    /** By what its files know each other. */
    public long identity() {
        return directory.identity();
    }

    /** Why appends are refused; empty while the log works. */
    public Optional<MillraceException> failure() {
        return buffer.failure();
    }

    /** Bytes in memory that are not durable. */
    public long pendingBytes() {
        return buffer.heldBytes();
    }

    /** Whether it was closed: nothing is appended any more. */
    public boolean isClosed() {
        return buffer.isEnded();
    }

    /** What it did. */
    public LogStatistics statistics() {
        return buffer.statistics(directory.segmentCount());
    }

    /**
     * Says that records up to a number are not needed any more: segments that hold no others are removed.
     *
     * @throws MillraceException 53100 or 58030 if that did not work; it may be said again
     */
    public void forget(long upTo) {
        try {
            directory.forget(Math.min(upTo, buffer.durable()));
        } catch (IOException e) {
            throw DiskErrors.failed("remove segments of the log " + path, e);
        }
    }

    /**
     * The log as it is on disk now, to be copied while it goes on: all that {@link #awaitDurable} has returned for is in it. Reads the newest
     * segment, once.
     *
     * @return to be closed: until then no segment of it is removed
     * @throws MillraceException XX001 if what is on disk is not what was written, 58030 where it cannot be read
     */
    public LogImage image() {
        try {
            long durable = lastDurable();
            LogImage image = directory.image(durable);
            if (durable > image.last()) {
                image.close();
                throw DiskErrors.missing(
                        "record " + durable + " of the log " + path, "it was written and is not there");
            }
            return image;
        } catch (IOException e) {
            throw DiskErrors.failed("read the log " + path, e);
        }
    }

    private void run() {
        while (buffer.awaitWork()) {
            lead(() -> {});
        }
    }

    /**
     * Writes what is pending, and forces it once; after a failure, tries to go on, if it is time to. For a log without a thread of its
     * own, by one thread at a time.
     */
    public void work() {
        work(() -> {});
    }

    private void work(Runnable then) {
        if (buffer.isPausing()) {
            return;
        }
        try {
            writer.recover();
            if (buffer.recovered()) {
                wake();
                options.events().accept("the log works again: " + path);
            }
            List<Piece> pieces = buffer.take();
            if (!pieces.isEmpty()) {
                write(pieces, then);
            }
            if (buffer.isToMark(Thread.currentThread() == thread || thread == null)) {
                writer.mark();
            }
        } catch (IOException e) {
            String message = "cannot write the log " + path + ": " + DiskErrors.reason(e);
            boolean worked = buffer.failed(DiskErrors.stateOf(e), message, writer.durable(), writer.isUncertain());
            wake();
            if (worked) {
                options.events().accept("the log fails: " + message);
            }
        }
    }

    private void write(List<Piece> pieces, Runnable then) throws IOException {
        long written = 0;
        for (Piece piece : pieces) {
            writer.write(piece);
            written += piece.bytes().length;
        }
        writer.force();
        buffer.succeeded(writer);
        then.run(); // first: others may take the processors that its client needs
        wake();
        writer.prepare(written);
    }

    private void wake() {
        long durable = buffer.durable();
        for (Callback callback : callbacks) {
            if (callback.number() <= durable && callbacks.remove(callback)) {
                callback.then().run();
            }
        }
        for (Waiter waiter : waiters) {
            if (buffer.isDecided(waiter.number())) {
                LockSupport.unpark(waiter.thread());
            }
        }
    }

    /**
     * Writes what is pending and lets go of the files. Who still waits afterwards is told 57P01. Closing again does nothing.
     *
     * @throws MillraceException 53100 or 58030 if DEFERRED records could not be written: they are lost
     */
    @Override
    public void close() {
        if (!buffer.close()) {
            return;
        }
        joinThread();
        if (!buffer.isEnded()) {
            work();
        }
        Optional<MillraceException> failure = buffer.failure();
        long lost = buffer.end(closed());
        wake();
        try {
            writer.close();
        } catch (IOException e) {
            throw DiskErrors.failed("close the log " + path, e);
        }
        if (lost > 0 && failure.isPresent()) {
            throw failure.get().in(lost + " records that nobody waited for are lost");
        }
    }

    private void joinThread() {
        Thread writing = thread;
        boolean interrupted = false;
        while (writing != null && writing.isAlive()) {
            try {
                writing.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
