package dev.millrace.server.session;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.server.feed.Feeds;
import dev.millrace.server.feed.RunningFeed;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A thread for each table that a connector feeds. That of a table that takes the name of another begins when that one's has ended, as both may
 * have the same things outside. Safe on any thread.
 */
final class FeedThreads implements Feeds.Runner, AutoCloseable {
    private final Database database;

    @GuardedBy("this") private final Map<String, FeedThread> threads = new HashMap<>(); // the last by that name

    @GuardedBy("this") private boolean closed;

    private FeedThreads(Database database) {
        this.database = database;
    }

    /** Has all feeds of a database run, those to come, too. */
    static FeedThreads begin(Database database) {
        FeedThreads threads = new FeedThreads(database);
        database.instance().feeds().runBy(threads);
        return threads;
    }

    @Override
    public synchronized void begin(RunningFeed feed) {
        if (!closed) {
            Optional<FeedThread> before = Optional.ofNullable(threads.get(feed.table()));
            FeedThread thread = new FeedThread(database, feed, before);
            threads.put(feed.table(), thread);
            thread.begin();
        }
    }

    @Override
    public synchronized void end(RunningFeed feed) {
        Optional.ofNullable(threads.get(feed.table())).ifPresent(FeedThread::stop); // which sees that its table is gone
    }

    /** Stops all, and waits for them: some seconds at most. */
    @Override
    public void close() {
        List<FeedThread> all;
        synchronized (this) {
            closed = true;
            all = new ArrayList<>(threads.values());
        }
        all.forEach(FeedThread::stop);
        all.forEach(FeedThread::await);
    }
}
