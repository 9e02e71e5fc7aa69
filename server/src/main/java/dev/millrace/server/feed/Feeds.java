package dev.millrace.server.feed;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.connector.TableFeed;
import dev.millrace.engine.relation.FedRelation;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The feeds of all tables that have one. Safe on any thread. */
public final class Feeds {
    /** The table that has the positions of feeds, with their tables' rows in one transaction. */
    public static final String POSITIONS = "millrace_positions";

    /** Has feeds run. Called with no lock held, one call at a time for each feed. */
    public interface Runner {
        void begin(RunningFeed feed);

        /** Its table is dropped. */
        void end(RunningFeed feed);
    }

    @GuardedBy("this") private final Map<String, RunningFeed> feeds = new TreeMap<>();

    @GuardedBy("this") private Optional<Runner> runner = Optional.empty();

    /** A table is fed from now on. */
    public void add(String table, TableFeed source, FedRelation rows) {
        RunningFeed feed = new RunningFeed(table, source, rows);
        Optional<Runner> by;
        synchronized (this) {
            feeds.put(table, feed);
            by = runner;
        }
        by.ifPresent(begins -> begins.begin(feed));
    }

    /** A table is dropped, whether it was fed or not. */
    public void drop(String table) {
        Optional<RunningFeed> gone;
        Optional<Runner> by;
        synchronized (this) {
            gone = Optional.ofNullable(feeds.remove(table));
            by = runner;
        }
        gone.ifPresent(feed -> {
            feed.drop();
            by.ifPresent(ends -> ends.end(feed));
        });
    }

    /** Has all feeds run, those that there are and those to come; when all is there that was kept. */
    public void runBy(Runner newRunner) {
        List<RunningFeed> all;
        synchronized (this) {
            runner = Optional.of(newRunner);
            all = List.copyOf(feeds.values());
        }
        all.forEach(newRunner::begin);
    }

    /** In the order of their tables' names. */
    public synchronized List<RunningFeed> all() {
        return List.copyOf(feeds.values());
    }

    public synchronized boolean isFed(String table) {
        return feeds.containsKey(table);
    }
}
