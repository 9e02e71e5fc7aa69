package dev.millrace.testing.connector;

import dev.millrace.connector.PushedSource;
import dev.millrace.connector.SplitStatus;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.List;

/** An outside that pushes records, and the source that it pushes them to. Each life has one of its own, which is empty when it begins. */
public interface PushedOutside {
    /** What is pushed: {@code id} numbers from 0 on. */
    Schema SCHEMA = new Schema(List.of(new Field("id", DataType.BIGINT, true)));

    /** The source. */
    PushedSource source();

    /** Brings a record of each of these ids; returns when the outside has all. Only while it is there. */
    void bring(long from, long to);

    /** Brings a record that cannot become a row. */
    void poison();

    /** Whether a record never becomes a row twice; else it may, after a crash or when the connection was lost. */
    boolean isExactlyOnce();

    /** Whether it brings again what it was not told to be kept; else it is told nothing, and what it brings while the stream is there is to be rows at once. */
    default boolean bringsAgain() {
        return true;
    }

    /** Whether the outside knows the stream, as the source says. */
    default boolean knows(SplitStatus split) {
        return split.position().equals("subscribed");
    }

    /** How many entries a source may remember that is told that all was kept. */
    default int mostRemembered() {
        return 20;
    }

    /** Takes the connection to the source away: from now on not a byte passes. */
    void cut();

    /** Gives it back. */
    void mend();

    /** Has the outside go away, with all that it keeps; false for one that cannot. */
    default boolean goes() {
        return false;
    }

    /** Has it come back. */
    default void comes() {}
}
