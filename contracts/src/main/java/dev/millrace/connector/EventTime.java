package dev.millrace.connector;

import dev.millrace.batch.Batch;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Function;

/**
 * How the event time of rows is had, for sources of several parts (files), which are read in the order of their first.
 *
 * @param columns of the source that it takes, in the order in which {@code first} wants them
 * @param first the first event time, in microseconds, of a batch of these columns; empty if no row has one. Does not take
 *     the batch over.
 * @param latest likewise the greatest
 */
public record EventTime(
        List<Integer> columns, Function<Batch, OptionalLong> first, Function<Batch, OptionalLong> latest) {
    public EventTime {
        columns = List.copyOf(columns);
    }
}
