package dev.millrace.planner.fact;

import dev.millrace.condense.Condensing;
import java.util.List;
import java.util.Optional;

/**
 * What the planner must know of a relation beyond its columns.
 *
 * @param appendOnly whether rows are never changed or deleted
 * @param replayable whether each query has readers of its own, so that it may ask them to skip rows
 * @param eventTime of a stream with a watermark, or of the versions of a table's rows
 * @param primaryKey columns that identify a row; empty when there are none
 * @param keepsRows whether it is a table, or a view that keeps its answer
 * @param condensing present if its readers can give rows that are alike as one, and how far values are off
 * @param precision whether its values are those that came
 */
public record RelationFacts(
        boolean appendOnly,
        boolean replayable,
        Optional<EventTime> eventTime,
        List<Integer> primaryKey,
        boolean keepsRows,
        Optional<Condensing> condensing,
        Precision precision) {

    /** Whether values are those that came. */
    public enum Precision {
        /** They are. */
        EXACT,
        /** They may be off, as far as error columns say, in the columns that {@code condensing} names. */
        BOUNDED,
        /** Values, and which rows there are, may be off, and nobody knows how far: of what was computed from sketches, and was kept. */
        UNKNOWN
    }

    /**
     * The column that a watermark is made from.
     *
     * @param idleTimeoutMicros zero means never idle
     * @param settled whether the rows come with watermarks already
     */
    public record EventTime(int column, long delayMicros, long idleTimeoutMicros, boolean settled) {
        /** Of rows whose watermark is made where they are read. */
        public EventTime(int column, long delayMicros, long idleTimeoutMicros) {
            this(column, delayMicros, idleTimeoutMicros, false);
        }
    }

    /** Of a relation that keeps no rows, as far as is known. */
    public RelationFacts(
            boolean appendOnly, boolean replayable, Optional<EventTime> eventTime, List<Integer> primaryKey) {
        this(appendOnly, replayable, eventTime, primaryKey, false);
    }

    /** Of a relation of which each row comes by itself. */
    public RelationFacts(
            boolean appendOnly,
            boolean replayable,
            Optional<EventTime> eventTime,
            List<Integer> primaryKey,
            boolean keepsRows) {
        this(appendOnly, replayable, eventTime, primaryKey, keepsRows, Optional.empty());
    }

    /** Of a relation whose values are exact, or as exact as its readers say. */
    public RelationFacts(
            boolean appendOnly,
            boolean replayable,
            Optional<EventTime> eventTime,
            List<Integer> primaryKey,
            boolean keepsRows,
            Optional<Condensing> condensing) {
        this(
                appendOnly,
                replayable,
                eventTime,
                primaryKey,
                keepsRows,
                condensing,
                condensing.isPresent() ? Precision.BOUNDED : Precision.EXACT);
    }

    public RelationFacts {
        primaryKey = List.copyOf(primaryKey);
    }
}
