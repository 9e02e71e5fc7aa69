package dev.millrace.connector;

import java.util.List;

/**
 * What a reader is asked for.
 *
 * @param columns of the relation, in the order in which batches must have them; may be empty (rows are only counted)
 * @param predicates all of which a row must satisfy to be of interest; a reader may ignore them
 * @param parallelism how many readers would be welcome; a source may give fewer, at least one
 */
public record ScanRequest(List<Integer> columns, List<ColumnPredicate> predicates, int parallelism) {
    public ScanRequest {
        columns = List.copyOf(columns);
        predicates = List.copyOf(predicates);
    }
}
