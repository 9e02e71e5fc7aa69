package dev.millrace.server.feed;

import dev.millrace.connector.SplitStatus;
import dev.millrace.connector.TableFeed;
import java.util.Optional;

/** The feed of one table, for as long as that is there. Safe on any thread. */
public final class RunningFeed {
    private final String table;
    private final TableFeed source;
    private volatile boolean dropped; // written by who drops the table, read by the feed's thread
    private volatile Optional<SplitStatus> status = Optional.empty(); // written by the feed's thread, read by any

    RunningFeed(String table, TableFeed source) {
        this.table = table;
        this.source = source;
    }

    public String table() {
        return table;
    }

    public TableFeed source() {
        return source;
    }

    /** Whether the table is still there: another of its name is not this one's. */
    public boolean isCurrent() {
        return !dropped;
    }

    void drop() {
        dropped = true;
    }

    /** How it is; empty before it ran. */
    public Optional<SplitStatus> status() {
        return status;
    }

    public void tell(SplitStatus now) {
        status = Optional.of(now);
    }
}
