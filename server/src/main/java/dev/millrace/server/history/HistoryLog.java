package dev.millrace.server.history;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.host.Host;
import dev.millrace.server.storage.KnownLog;
import dev.millrace.storage.log.LogImage;
import dev.millrace.storage.log.LogMode;
import dev.millrace.storage.log.WriteAheadLog;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The log of one history, or nothing for a database without a directory. Safe on any thread. What is appended is written however long
 * the disk takes nothing, until this is closed.
 */
final class HistoryLog implements AutoCloseable {
    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final Optional<WriteAheadLog> log;
    private final Host host;
    private final AtomicLong bytes = new AtomicLong(); // since the last base
    private volatile boolean patient; // written by who begins the history, read by who appends
    private volatile boolean closing; // written by who closes, read by who waits

    HistoryLog(Optional<WriteAheadLog> log, Host host) {
        this.log = log;
        this.host = host;
    }

    /** What it has, when it was opened. */
    HistoryContents read(String path) {
        HistoryContents contents = new HistoryContents(path);
        log.ifPresent(from -> from.replay(from.forgotten(), (number, record) -> {
            bytes.addAndGet(record.remaining());
            contents.accept(number, record);
        }));
        return contents;
    }

    /** Bytes behind the newest base, and of it. */
    long bytes() {
        return bytes.get();
    }

    /** Appends rows for what comes next, by the only thread that does; returns the number of the first, or 0. */
    private long rows(List<ByteBuffer> batches) {
        long first = 0;
        for (ByteBuffer batch : batches) {
            long number = append(HistoryRecords.rows(batch.duplicate()));
            first = first == 0 ? number : first;
        }
        return first;
    }

    /** Appends what an epoch changed; by the history's thread. */
    KeptEpoch epoch(long number, long micros, List<ByteBuffer> batches) {
        long first = rows(batches);
        append(HistoryRecords.epoch(micros, batches.size()));
        return HistoryRecords.kept(number, micros, batches, first);
    }

    /** Appends the answer's rows, to be followed by {@link #base}; by the history's thread. */
    long baseRows(List<ByteBuffer> batches) {
        bytes.set(0);
        return rows(batches);
    }

    /** Says what the rows before are. */
    long base(HistoryContents.Base base, Collection<NamedSubscription> subscriptions) {
        return append(HistoryRecords.base(base, subscriptions));
    }

    long told(long micros) {
        return append(HistoryRecords.told(micros));
    }

    long subscription(NamedSubscription subscription) {
        return append(HistoryRecords.subscription(subscription));
    }

    long dropped(String name) {
        return append(HistoryRecords.dropped(name));
    }

    /** The history has begun: from now on what the disk refuses is tried again, and nobody is told. */
    void isBegun() {
        patient = true;
    }

    /** As often as the disk refuses it, when the history has begun: what is appended is in order, and each once. */
    private long append(ByteBuffer... record) {
        if (log.isEmpty()) {
            return 0;
        }
        for (ByteBuffer part : record) {
            bytes.addAndGet(part.remaining());
        }
        while (true) {
            try {
                return log.get().append(LogMode.DEFERRED, record);
            } catch (MillraceException e) {
                if (closing || !patient || !passes(e)) {
                    throw e;
                }
                host.pause(RETRY_NANOS);
            }
        }
    }

    /**
     * Returns when all that was appended is on disk.
     *
     * @throws MillraceException 53100 or 58030 if the disk refuses it, before the history has begun: who opens a database or makes a
     *     subscription is told, and waits for no disk that is full
     */
    void await() {
        log.ifPresent(to -> {
            if (patient) {
                to.awaitDurable(to.lastNumber());
            } else {
                to.awaitAll();
            }
        });
    }

    /** What definitions are to know of it; none where nothing is kept. Also when it is closed. */
    Optional<KnownLog> known() {
        return log.map(KnownLog::of);
    }

    /** As it is on disk now; none where nothing is kept. To be closed. */
    Optional<LogImage> image() {
        return log.map(WriteAheadLog::image);
    }

    /** Records before this one are not needed: what the disk does not let go of now goes the next time. */
    void forgetBefore(long number) {
        try {
            log.ifPresent(of -> of.forget(number - 1));
        } catch (MillraceException e) {
            if (!passes(e)) {
                throw e;
            }
        }
    }

    private static boolean passes(MillraceException e) {
        return e.sqlState() == SqlState.DISK_FULL || e.sqlState() == SqlState.IO_ERROR;
    }

    /** Who waits for the disk waits no more. */
    void beginClosing() {
        closing = true;
    }

    @Override
    public void close() {
        closing = true;
        log.ifPresent(WriteAheadLog::close);
    }
}
