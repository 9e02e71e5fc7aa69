package dev.millrace.connectors.input;

import dev.millrace.connector.ColumnPredicate;
import dev.millrace.connector.ScanRequest;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.stream.Stream;

/**
 * The columns that a reader is asked for or has to compare, without the others.
 *
 * @param columns their places in the relation, each once, in order
 */
public record AskedColumns(List<Integer> columns) {
    public AskedColumns {
        columns = List.copyOf(columns);
    }

    public static AskedColumns of(ScanRequest request) {
        return new AskedColumns(Stream.concat(
                        request.columns().stream(),
                        request.predicates().stream().map(ColumnPredicate::column))
                .sorted()
                .distinct()
                .toList());
    }

    /** What belongs to these columns. */
    public <T> List<T> of(List<T> all) {
        return columns.stream().map(all::get).toList();
    }

    public Schema of(Schema relation) {
        return relation.select(columns);
    }

    /** The same request to a relation that has only these columns. */
    public ScanRequest places(ScanRequest request) {
        return new ScanRequest(
                request.columns().stream().map(columns::indexOf).toList(),
                request.predicates().stream()
                        .map(predicate -> new ColumnPredicate(
                                columns.indexOf(predicate.column()), predicate.comparison(), predicate.value()))
                        .toList(),
                request.parallelism(),
                request.eventTime());
    }
}
