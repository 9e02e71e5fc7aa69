package dev.millrace.connector;

import dev.millrace.time.Clock;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/**
 * A table as its feed sees it. Each call is one transaction: rows, and the position that belongs to them, are in effect together or not at
 * all, and on disk when it returns. Used by the feed's thread.
 */
public interface FedTable {
    /** What was given with the newest changes that are in effect; empty before the first. */
    Optional<SourcePosition> position();

    /**
     * Changes rows by their keys, of several changes of one key the last. A row that is there as it is to be is not touched.
     *
     * @param position empty to leave it as it is
     * @throws dev.millrace.error.MillraceException for a value that is not of its column's type, naming the row: nothing has changed
     */
    void change(List<RowChange> changes, Optional<SourcePosition> position);

    /**
     * The table has these rows and no others. Rows that are there already are not touched.
     *
     * @param rows each with a value, as {@link RowChange} has them; read to the end within the call, which may wait for them
     * @throws dev.millrace.error.MillraceException likewise, and what the iterator throws
     */
    void replace(Iterator<RowChange> rows, Optional<SourcePosition> position);

    /** How the feed is, for users: what {@code millrace.sources} shows from now on, of each split of what it reads. */
    void tell(List<SplitStatus> splits);

    /** Likewise, of a feed that reads something that is not split. */
    default void tell(SplitStatus status) {
        tell(List.of(status));
    }

    /**
     * A record could not become a change. As {@link SourceContext#reject}: under {@code on_error = 'fail'} this throws, else it is counted, and
     * perhaps kept; the feed goes on behind it.
     */
    void reject(RejectedRecord record);

    /** Something larger than a record is passed over, or changes rows otherwise than users expect: counted, kept and logged. */
    void report(RejectedRecord what);

    /** For what is under way in a run; no byte may be left in it when {@link TableFeed#run} ends. */
    BufferAllocator allocator();

    /** Something that users should know of and that stops nothing, as a column that the table does not have: logged. */
    void note(String what);

    Clock clock();
}
