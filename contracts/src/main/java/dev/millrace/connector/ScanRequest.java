package dev.millrace.connector;

import dev.millrace.condense.Condensation;
import java.util.List;
import java.util.Optional;

/**
 * What a reader is asked for.
 *
 * @param columns of the relation, in the order in which batches must have them; may be empty (rows are only counted). Of a source that is
 *     {@code condensing} also {@link dev.millrace.condense.ErrorColumns} of it
 * @param predicates all of which a row must satisfy to be of interest; a reader may ignore them
 * @param parallelism how many readers would be welcome; a source may give fewer, at least one
 * @param eventTime present if watermarks are made of the rows: then a reader keeps the rows of each of its {@link Part}s
 *     together and in their order, and begins the parts in the order of their first event times
 * @param condensation present if rows that are alike may come as one
 */
public record ScanRequest(
        List<Integer> columns,
        List<ColumnPredicate> predicates,
        int parallelism,
        Optional<EventTime> eventTime,
        Optional<Condensation> condensation) {
    public ScanRequest {
        columns = List.copyOf(columns);
        predicates = List.copyOf(predicates);
    }

    /** One whose rows come one by one. */
    public ScanRequest(
            List<Integer> columns, List<ColumnPredicate> predicates, int parallelism, Optional<EventTime> eventTime) {
        this(columns, predicates, parallelism, eventTime, Optional.empty());
    }

    /** One whose rows make no watermarks. */
    public ScanRequest(List<Integer> columns, List<ColumnPredicate> predicates, int parallelism) {
        this(columns, predicates, parallelism, Optional.empty());
    }
}
