package dev.millrace.connectors.filter;

import dev.millrace.connector.ColumnPredicate;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.vector.FieldVector;

/**
 * All of a scan's predicates that can be tested; a row passes when each does.
 *
 * @param tests one per predicate
 */
public record RowFilter(List<ColumnTest> tests) {
    public RowFilter {
        tests = List.copyOf(tests);
    }

    /** The filter of a request for a relation's rows. */
    public static RowFilter of(List<ColumnPredicate> predicates, Schema relation) {
        List<ColumnTest> tests = new ArrayList<>();
        for (ColumnPredicate predicate : predicates) {
            ColumnTest.of(predicate, relation.type(predicate.column())).ifPresent(tests::add);
        }
        return new RowFilter(tests);
    }

    /** Whether every row passes. */
    public boolean isEmpty() {
        return tests.isEmpty();
    }

    /** Whether a column of the relation is tested, so that its values must be at hand. */
    public boolean tests(int column) {
        return tests.stream().anyMatch(test -> test.column() == column);
    }

    /** Takes out of a selection the rows that do not pass; {@code columns} has a vector for each column tested. */
    public void narrow(Selection selection, FieldVector[] columns) {
        for (ColumnTest test : tests) {
            selection.retain(test, columns[test.column()]);
        }
    }
}
