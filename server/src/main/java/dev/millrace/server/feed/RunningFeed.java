package dev.millrace.server.feed;

import dev.millrace.connector.SplitStatus;
import dev.millrace.connector.TableFeed;
import dev.millrace.engine.relation.FedRelation;
import java.util.List;

/** The feed of one table, for as long as that is there. Safe on any thread. */
public final class RunningFeed {
    private final String table;
    private final TableFeed source;
    private final FedRelation rows;
    private volatile boolean dropped; // written by who drops the table, read by the feed's thread
    private volatile List<SplitStatus> splits = List.of(); // written by the feed's thread, read by any

    RunningFeed(String table, TableFeed source, FedRelation rows) {
        this.table = table;
        this.source = source;
        this.rows = rows;
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

    /** Who is told of records that become no change. */
    public FedRelation rows() {
        return rows;
    }

    /** How it is with each split; none before it ran. */
    public List<SplitStatus> splits() {
        return splits;
    }

    public void tell(List<SplitStatus> now) {
        splits = List.copyOf(now);
    }
}
