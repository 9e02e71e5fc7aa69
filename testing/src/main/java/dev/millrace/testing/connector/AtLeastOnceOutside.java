package dev.millrace.testing.connector;

import dev.millrace.connector.Sink;
import dev.millrace.connector.SinkContext;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;

/**
 * An outside and the sink that writes to it at least once, as the suite needs them. Each life has one of its own, which is empty when it
 * begins.
 */
public interface AtLeastOnceOutside {
    /** What is written: {@code id} numbers from 0 on, {@code name} a short text. */
    Schema SCHEMA =
            new Schema(List.of(new Field("id", DataType.BIGINT, false), new Field("name", DataType.TEXT, false)));

    /** Opens the sink over the outside, again after one was closed. */
    Sink open(SinkContext context);

    /**
     * The ids that came, each as often as it did, in the order in which they came: all that the sink was told of, and maybe more. Only
     * while it is there.
     */
    List<Long> came();

    /** Has something go wrong that passes, with what is under way or comes next: another thing with each number. */
    default void stumbles(int how) {}

    /** Has the outside go away; false for one that cannot, as a file. */
    default boolean goes() {
        return false;
    }

    /** Has it come back. */
    default void comes() {}

    /** The name of rows that it refuses for good; empty for one that takes all. */
    default Optional<String> refused() {
        return Optional.empty();
    }
}
