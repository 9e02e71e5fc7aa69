package dev.millrace.testing.connector;

import dev.millrace.connector.CheckpointedSink;
import dev.millrace.connector.SinkContext;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.List;

/** An outside and the sink that writes to it, as the suite needs them. Each test has one of its own, which is empty when it begins. */
public interface SinkOutside {
    /** What is written: {@code id} numbers from 0 on, {@code name} some text or NULL. */
    Schema SCHEMA =
            new Schema(List.of(new Field("id", DataType.BIGINT, false), new Field("name", DataType.TEXT, true)));

    /** Opens the sink over the outside, again after one was closed. */
    CheckpointedSink open(SinkContext context);

    /** The ids that a reader of the outside sees now, each as often as it does, in any order. */
    List<Long> seen();

    /** Has the outside go away, with all that it has; false for one that cannot, as a directory. */
    default boolean goes() {
        return false;
    }

    /** Has it come back. */
    default void comes() {}
}
