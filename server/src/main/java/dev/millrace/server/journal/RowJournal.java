package dev.millrace.server.journal;

import dev.millrace.engine.epoch.Journal;
import dev.millrace.error.MillraceException;
import dev.millrace.server.host.Host;
import dev.millrace.server.log.EventLog;
import dev.millrace.server.storage.KnownLog;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.log.LogImage;
import dev.millrace.storage.log.LogMode;
import dev.millrace.storage.log.LogReservation;
import dev.millrace.storage.log.WriteAheadLog;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.LongFunction;
import java.util.function.LongPredicate;

/**
 * Writes changes of tables down, in a log of the data directory; without a directory it writes nothing. Safe on any thread.
 *
 * <p>While a database is opened its rows come from here, and nothing is written: from {@link #begin} on it is.
 */
public final class RowJournal implements Journal, AutoCloseable {
    private static final EventLog LOG = EventLog.named("storage");

    /** A log that is shorter is left as it is. */
    private static final long SHORT_BYTES = 64L << 20;

    /** What is longer comes before its entry, in records of its own, and waits for room without a lock. */
    private static final int INLINE_BYTES = 64 << 10;

    private final Optional<WriteAheadLog> log;
    private final KeptRows kept;

    /** From which record on the log has batches of entries that are not appended yet, and how many such entries. */
    private final ConcurrentSkipListMap<Long, Integer> ahead = new ConcurrentSkipListMap<>();

    private LongFunction<Map<String, Long>> counters = number -> Map.of(); // set before any row comes
    private LongPredicate isUndefined = number -> false; // likewise
    private Runnable awaitDefinition = () -> {}; // likewise
    private AcceptedRows beside = AcceptedRows.NONE; // likewise

    /** Entries of tables whose definition was not on disk when they were appended; who wrote them waits for that, too. */
    private final Set<Long> undefined = ConcurrentHashMap.newKeySet();

    private volatile boolean writing; // written by who opens the database
    private final ReentrantLock checkpointing = new ReentrantLock();
    private final LongAdder written = new LongAdder(); // bytes of records
    private volatile long checkpointBytes; // of the newest
    private volatile long writtenThen; // of written, when it was whole

    private RowJournal(Optional<WriteAheadLog> log) {
        this.log = log;
        this.kept = log.map(KeptRows::of).orElseGet(KeptRows::none);
    }

    /**
     * Opens a log and looks through it.
     *
     * @param disk the files of the log; none for a database that keeps nothing
     * @throws dev.millrace.error.MillraceException XX001 if it is damaged; 53100 or 58030
     */
    public static RowJournal open(Optional<Disk> disk, Host host) {
        Optional<WriteAheadLog> log = disk.map(files -> host.log(files, LOG::warning));
        try {
            return new RowJournal(log);
        } catch (RuntimeException | Error e) {
            log.ifPresent(WriteAheadLog::close);
            throw e;
        }
    }

    /** What tables have that are made again. */
    public KeptRows kept() {
        return kept;
    }

    /** What was noticed when it was opened and is no damage. */
    public List<String> notices() {
        return log.map(WriteAheadLog::notices).orElse(List.of());
    }

    /**
     * Has entries say how far a table's counters are.
     *
     * @param last of a table's columns
     * @param tables that have rows of a number
     */
    public void counters(Function<String, Map<String, Long>> last, LongFunction<Optional<String>> tables) {
        counters = number -> tables.apply(number).map(last).orElse(Map.of());
    }

    /**
     * Has who writes into a table that somebody else is just making wait until its definition is on disk.
     *
     * @param isUnkept whether the definition of rows of a number is not on disk yet
     * @param await waits until it is, or the table is gone
     */
    public void definitions(LongPredicate isUnkept, Runnable await) {
        isUndefined = isUnkept;
        awaitDefinition = await;
    }

    /** Has somebody keep rows beside the log. */
    public void tell(AcceptedRows keeper) {
        beside = keeper;
    }

    /** All that was kept is there again: what comes from now on is written. */
    public void begin() {
        writtenThen = -kept.bytes();
        kept.forget();
        writing = log.isPresent();
    }

    /** Whether anything is written: there is a directory, and the database is open. */
    public boolean isWriting() {
        return writing;
    }

    /** Held by who writes a checkpoint. */
    public ReentrantLock checkpointing() {
        return checkpointing;
    }

    /**
     * How far the log was at a moment.
     *
     * @param last the number of the last record; with the lock of epochs held, that of the last entry whose rows were accepted, or a
     *     greater one
     * @param needless records up to this one have nothing that entries behind {@code last} need
     */
    public record Mark(long last, long needless) {}

    /** How far it is now. */
    public Mark mark() {
        long last = appended(); // first: who begins an entry from here on has greater numbers
        Map.Entry<Long, Integer> first = ahead.firstEntry();
        return new Mark(last, first == null ? last : Math.min(last, first.getKey() - 1));
    }

    @Override
    public long appended() {
        return log.map(WriteAheadLog::lastNumber).orElse(0L);
    }

    /** The number of the last record that is on disk, and all before it; 0 where nothing is written. */
    public long durable() {
        return log.map(WriteAheadLog::durableNumber).orElse(0L);
    }

    /** About how long the log is behind the newest checkpoint, in bytes. */
    public long logBytes() {
        return written.sum() - writtenThen;
    }

    /** Whether the log has become longer than the newest checkpoint, and is worth another. */
    public boolean isGrown() {
        return writing && logBytes() > Math.max(SHORT_BYTES, checkpointBytes);
    }

    /**
     * A checkpoint is whole.
     *
     * @param then how far the log was when it was cut
     * @param bytes of the checkpoint
     */
    public void forget(Mark then, long bytes) {
        log.ifPresent(of -> of.forget(then.needless()));
        checkpointBytes = bytes;
        writtenThen = written.sum();
    }

    /** Why rows are refused; empty while the disk takes what is written. */
    public Optional<MillraceException> failure() {
        return log.flatMap(WriteAheadLog::failure);
    }

    @Override
    public Entry prepare(List<Change> changes) {
        if (!writing || changes.isEmpty()) {
            return Entry.NONE;
        }
        WriteAheadLog to = log.orElseThrow();
        failure().ifPresent(failure -> {
            throw failure;
        });
        List<Change> told = changes.stream()
                .filter(change -> beside.keeps(change.relation()))
                .toList();
        told.forEach(change -> beside.makeRoom(change.relation()));
        long first = 0;
        int inline = 0;
        EntryWriter entry = new EntryWriter();
        long arrivedMicros = told.isEmpty() ? 0 : beside.nowMicros();
        if (!told.isEmpty()) {
            entry.arrived(arrivedMicros);
        }
        try {
            for (Change change : changes) {
                List<RowPiece> pieces = RowPiece.of(change.rows());
                entry.part(change.relation(), counters.apply(change.relation()), pieces.size());
                for (RowPiece piece : pieces) {
                    ByteBuffer bytes = piece.bytes();
                    if (inline + bytes.remaining() <= INLINE_BYTES) {
                        inline += bytes.remaining();
                        entry.batch(bytes);
                        continue;
                    }
                    if (first == 0) {
                        first = appended() + 1;
                        ahead.merge(first, 1, Integer::sum); // before there is a record
                    }
                    entry.batch(append(to, EntryWriter.batchRecord(bytes)));
                }
            }
            ByteBuffer[] record = entry.record();
            return new Prepared(record, to.reserve(length(record)), first, isUndefined(changes), told, arrivedMicros);
        } catch (RuntimeException | Error e) {
            done(first);
            throw e;
        }
    }

    @Override
    public Optional<Entry> prepareAtOnce(List<Change> changes) {
        if (!writing || changes.isEmpty()) {
            return Optional.of(Entry.NONE);
        }
        if (isUndefined(changes) || changes.stream().anyMatch(change -> beside.keeps(change.relation()))) {
            return Optional.empty(); // there may be something to wait for
        }
        int inline = 0;
        EntryWriter entry = new EntryWriter();
        for (Change change : changes) {
            List<RowPiece> pieces = RowPiece.of(change.rows());
            entry.part(change.relation(), counters.apply(change.relation()), pieces.size());
            for (RowPiece piece : pieces) {
                ByteBuffer bytes = piece.bytes();
                inline += bytes.remaining();
                if (inline > INLINE_BYTES) {
                    return Optional.empty();
                }
                entry.batch(bytes);
            }
        }
        ByteBuffer[] record = entry.record();
        return log.orElseThrow()
                .tryReserve(length(record))
                .map(room -> new Prepared(record, room, 0, false, List.of(), 0));
    }

    private boolean isUndefined(List<Change> changes) {
        return changes.stream().anyMatch(change -> isUndefined.test(change.relation()));
    }

    /** Of an entry whose batches were written ahead from a record on; 0 for none. */
    private void done(long first) {
        ahead.computeIfPresent(first, (number, entries) -> entries == 1 ? null : entries - 1);
    }

    private long append(WriteAheadLog to, ByteBuffer[] record) {
        long length = length(record);
        written.add(length);
        return to.append(LogMode.DEFERRED, record);
    }

    private static long length(ByteBuffer[] record) {
        long length = 0;
        for (ByteBuffer part : record) {
            length += part.remaining();
        }
        return length;
    }

    private final class Prepared implements Entry {
        private final ByteBuffer[] record;
        private final LogReservation room;
        private final long first;
        private final boolean isUndefined;
        private final List<Change> told;
        private final long arrivedMicros;

        Prepared(
                ByteBuffer[] record,
                LogReservation room,
                long first,
                boolean isUndefined,
                List<Change> told,
                long arrivedMicros) {
            this.arrivedMicros = arrivedMicros;
            this.told = told;
            this.isUndefined = isUndefined;
            this.record = record;
            this.room = room;
            this.first = first;
        }

        @Override
        public long append() {
            written.add(length(record));
            long number = room.append(record);
            if (isUndefined) {
                undefined.add(number);
            }
            told.forEach(change -> beside.accepted(number, change.relation(), arrivedMicros, change.rows()));
            return number;
        }

        @Override
        public void close() {
            room.close();
            done(first);
        }
    }

    @Override
    public void whenDurable(long number, Runnable then) {
        log.orElseThrow().whenDurable(number, then);
    }

    /**
     * Calls back as {@link #whenDurable} does, and has the entry written without delay, though nobody waits for it.
     *
     * @param number of an entry; not 0
     */
    public void tellDurable(long number, Runnable then) {
        WriteAheadLog of = log.orElseThrow();
        of.whenDurable(number, then);
        of.hurry(number);
    }

    /**
     * Writes an entry on the calling thread, if nobody writes. Not for 0.
     *
     * @param then called if it is on disk, before anybody else hears of that; must be short, and not throw
     * @return whether it is
     */
    public boolean tryWrite(long number, Runnable then) {
        return log.orElseThrow().tryWrite(number, then);
    }

    /** Whether an entry is on disk; true for 0. False also where that will never be decided, as the log was closed. */
    public boolean isDurable(long number) {
        return number == 0 || log.orElseThrow().durableNumber() >= number;
    }

    /**
     * Waits until an entry is on disk, however long the disk takes nothing; at once for 0.
     *
     * @throws dev.millrace.error.MillraceException why the statement was stopped; 57P01. The entry is in effect, and is written as
     *     soon as that is possible
     */
    public void awaitDurable(long number) {
        if (number > 0) {
            log.orElseThrow().awaitDurable(number);
            if (!undefined.isEmpty() && undefined.remove(number)) {
                awaitDefinition.run();
            }
        }
    }

    /**
     * Waits until all that was accepted is on disk.
     *
     * @throws dev.millrace.error.MillraceException 53100 or 58030 while the disk takes nothing; why the statement was stopped; 57P01
     */
    public void awaitAll() {
        if (writing) {
            log.orElseThrow().awaitAll();
        }
    }

    /** By what the files of the log know each other. */
    public OptionalLong identity() {
        return log.map(of -> OptionalLong.of(of.identity())).orElse(OptionalLong.empty());
    }

    /** What definitions are to know of the log; none where nothing is kept. Also when it is closed. */
    public Optional<KnownLog> known() {
        return log.map(KnownLog::of);
    }

    /** The log as it is on disk now; there must be one. To be closed. */
    public LogImage image() {
        return log.orElseThrow().image();
    }

    /** Writes what is pending, and lets go of the files. */
    @Override
    public void close() {
        writing = false;
        log.ifPresent(WriteAheadLog::close);
    }
}
