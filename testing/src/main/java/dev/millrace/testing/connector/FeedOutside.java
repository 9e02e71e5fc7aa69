package dev.millrace.testing.connector;

import dev.millrace.connector.TableFeed;
import java.util.Map;
import java.util.Optional;

/** A table of another database with columns {@code id} (its key) and {@code v}, both numbers, and the feed that follows it. */
public interface FeedOutside {
    /** A new feed of the table, again after one has ended. */
    TableFeed open();

    /** Changes rows of the outside, all of them in one transaction; a key without a value has no row any more. */
    void change(Map<Integer, Optional<Integer>> rows);

    /** Has the outside go away, with all that it has; false for one that cannot. */
    default boolean goes() {
        return false;
    }

    /** Has it come back. */
    default void comes() {}
}
