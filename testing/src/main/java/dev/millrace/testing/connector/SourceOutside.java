package dev.millrace.testing.connector;

import dev.millrace.connector.Source;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.List;

/** An outside and the source that reads it, as the suite needs them. Each test has one of its own, which is empty when it begins. */
public interface SourceOutside {
    /** What is read: {@code id} numbers from 0 on, {@code name} some text. */
    Schema SCHEMA = new Schema(List.of(new Field("id", DataType.BIGINT, true), new Field("name", DataType.TEXT, true)));

    /** The source; bad records are for {@link dev.millrace.connector.SourceContext#reject}. */
    Source source();

    /** Adds the rows of these ids, shared out over the splits that there are. */
    void append(long from, long to);

    /** Adds a record that cannot become a row. */
    void poison();

    /** Has one split more, for what is added from now on; false for an outside that has one for ever. */
    default boolean grows() {
        return false;
    }

    /** Has the outside go away, with all that it has; false for one that cannot. */
    default boolean goes() {
        return false;
    }

    /** Has it come back. */
    default void comes() {}
}
