package dev.millrace.server.session;

import dev.millrace.batch.Batch;
import dev.millrace.connector.FedTable;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.RowChange;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SplitStatus;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.dml.FedRows;
import dev.millrace.server.feed.Feeds;
import dev.millrace.server.feed.RunningFeed;
import dev.millrace.server.log.EventLog;
import dev.millrace.server.result.StatementResult;
import dev.millrace.time.Clock;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VarBinaryVector;
import org.jspecify.annotations.Nullable;

/**
 * The thread that runs the feed of one table, again and again after it has failed: twice as long after each time, a minute at most.
 *
 * <pre>
 *   wait for who had the name -> run -> failed: say why, pause -> run ..     dropped: forget, end     closed: end
 * </pre>
 */
final class FeedThread {
    private static final EventLog LOG = EventLog.named("feeds");
    private static final long FIRST_PAUSE_MILLIS = 500;
    private static final long LONGEST_PAUSE_MILLIS = 60_000;
    private static final long PATIENCE_MILLIS = 10_000;
    private static final SplitStatus UNKNOWN = new SplitStatus(
            "", "", OptionalLong.empty(), OptionalLong.empty(), 0, 0, 0, Optional.empty(), Optional.empty());

    private final Database database;
    private final RunningFeed feed;
    private final Optional<FeedThread> before;
    private final Thread thread;
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile boolean stopped; // written by who stops it, read by the thread
    private volatile @Nullable Session session; // written by the thread, read by who stops it
    private String told = ""; // the thread's: the failure that was logged last

    /** @param before whose table had the name */
    FeedThread(Database database, RunningFeed feed, Optional<FeedThread> before) {
        this.database = database;
        this.feed = feed;
        this.before = before;
        this.thread = new Thread(this::run, "millrace-feed-" + feed.table());
        thread.setDaemon(true);
    }

    void begin() {
        thread.start();
    }

    /** Has it end soon. Any thread. */
    void stop() {
        stopped = true;
        Session open = session;
        if (open != null) {
            open.cancel("the end of the feed");
        }
        thread.interrupt();
    }

    /** Waits until it has ended, some seconds at most. */
    void await() {
        try {
            if (!ended.await(PATIENCE_MILLIS, TimeUnit.MILLISECONDS)) {
                LOG.warning("the feed of a table does not end", "table", feed.table());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        try {
            before.ifPresent(FeedThread::await);
            runUntilStopped();
            if (!feed.isCurrent()) {
                forget();
            }
        } finally {
            ended.countDown();
        }
    }

    private void runUntilStopped() {
        long pauseMillis = FIRST_PAUSE_MILLIS;
        while (!stopped) {
            long since = System.nanoTime();
            try (Session open = database.session();
                    BufferAllocator allocator = database.instance()
                            .engine()
                            .allocator()
                            .newChildAllocator("feed-" + feed.table(), 0, Long.MAX_VALUE)) {
                session = open;
                Table table = new Table(open, allocator);
                feed.source().run(table);
                told = "";
            } catch (InterruptedException e) {
                return;
            } catch (MillraceException e) {
                failed(String.valueOf(e.getMessage()), e.hint());
            } catch (RuntimeException | LinkageError e) { // of a library: it is tried again, and not silent
                failed(e.toString(), Optional.empty());
            } finally {
                session = null;
            }
            if (System.nanoTime() - since > TimeUnit.MILLISECONDS.toNanos(LONGEST_PAUSE_MILLIS)) {
                pauseMillis = FIRST_PAUSE_MILLIS; // it went well for a while
            }
            try {
                Thread.sleep(pauseMillis);
            } catch (InterruptedException e) {
                return;
            }
            pauseMillis = Math.min(LONGEST_PAUSE_MILLIS, 2 * pauseMillis);
        }
    }

    private void failed(String why, Optional<String> hint) {
        if (stopped) {
            return;
        }
        if (!why.equals(told)) {
            LOG.warning("the feed of a table waits", "table", feed.table(), "reason", why);
        }
        told = why;
        List<SplitStatus> last = feed.splits().isEmpty() ? List.of(UNKNOWN) : feed.splits();
        feed.tell(last.stream()
                .map(split -> new SplitStatus(
                        split.split(),
                        split.position(),
                        split.lagRecords(),
                        split.lagMicros(),
                        split.records(),
                        0,
                        split.retries() + 1,
                        Optional.of(why),
                        Optional.of(why + hint.map(text -> "; " + text).orElse(""))))
                .toList());
    }

    private void forget() {
        Thread.interrupted(); // was meant for the run
        try {
            feed.source().forget();
        } catch (RuntimeException e) {
            LOG.warning(
                    "what a feed made outside is still there",
                    "table",
                    feed.table(),
                    "reason",
                    String.valueOf(e.getMessage()));
        }
        boolean hasPositions =
                database.instance().catalog().object(Feeds.POSITIONS).isPresent();
        if (feed.source().hasPosition() && hasPositions) {
            forgetPosition();
        }
    }

    /** Of tables that are no more; those that are have another number. */
    private void forgetPosition() {
        try (Session open = database.session()) {
            long number = database.instance().catalogStore().numberOf(feed.table());
            open.execute(
                            "DELETE FROM " + Feeds.POSITIONS + " WHERE name = $1 AND number <> $2",
                            List.of(feed.table(), database.instance().feeds().isFed(feed.table()) ? number : -1L))
                    .drain();
        } catch (MillraceException e) {
            LOG.warning("a position is still there", "table", feed.table(), "reason", String.valueOf(e.getMessage()));
        }
    }

    /** The table, by one session. */
    private final class Table implements FedTable {
        private final Session open;
        private final BufferAllocator allocator;

        Table(Session open, BufferAllocator allocator) {
            this.open = open;
            this.allocator = allocator;
        }

        @Override
        public Optional<SourcePosition> position() {
            if (!feed.source().hasPosition()) {
                return Optional.empty();
            }
            long number = database.instance().catalogStore().numberOf(feed.table());
            try (StatementResult.Rows rows = open.query(
                    "SELECT position FROM " + Feeds.POSITIONS + " WHERE name = $1 AND number = $2",
                    feed.table(),
                    number)) {
                Optional<SourcePosition> found = Optional.empty();
                for (Optional<Batch> next = rows.next(); next.isPresent(); next = rows.next()) {
                    try (Batch batch = next.get()) {
                        if (batch.rowCount() > 0) {
                            found = Optional.of(new SourcePosition(((VarBinaryVector) batch.column(0)).get(0)));
                        }
                    }
                }
                return found;
            }
        }

        @Override
        public void change(List<RowChange> changes, Optional<SourcePosition> position) {
            feed(rows -> rows.change(feed.table(), changes), position);
        }

        @Override
        public void replace(Iterator<RowChange> rows, Optional<SourcePosition> position) {
            feed(table -> table.replace(feed.table(), rows), position);
        }

        private void feed(Consumer<FedRows> change, Optional<SourcePosition> position) {
            if (stopped) {
                throw MillraceException.user(
                        SqlState.QUERY_CANCELED, "the feed of \"" + feed.table() + "\" is stopped");
            }
            open.feed(feed, change, position);
            told = "";
        }

        @Override
        public void tell(List<SplitStatus> splits) {
            feed.tell(splits);
        }

        @Override
        public void reject(RejectedRecord record) {
            feed.rows().reject(record);
        }

        @Override
        public void report(RejectedRecord what) {
            feed.rows().report(what);
        }

        @Override
        public BufferAllocator allocator() {
            return allocator;
        }

        @Override
        public void note(String what) {
            LOG.info("the feed of a table", "table", feed.table(), "note", what);
        }

        @Override
        public Clock clock() {
            return database.clock();
        }
    }
}
