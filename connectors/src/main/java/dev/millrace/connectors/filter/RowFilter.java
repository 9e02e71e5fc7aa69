package dev.millrace.connectors.filter;

import dev.millrace.batch.Batch;
import dev.millrace.connector.ColumnPredicate;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
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

    /**
     * A batch of the rows that pass.
     *
     * @param columns for each column of the relation that is requested or tested its values, of which nothing is left
     * @param selection of who reads, used again and again
     */
    public Batch batch(
            Schema relation,
            List<Integer> requested,
            FieldVector[] columns,
            int rows,
            Selection selection,
            BufferAllocator allocator) {
        try {
            selection.all(rows);
            narrow(selection, columns);
            FieldVector[] result = new FieldVector[requested.size()];
            for (int i = 0; i < result.length; i++) {
                int column = requested.get(i);
                if (!selection.isAll()) {
                    columns[column] = selection.take(relation.field(column), columns[column], allocator);
                }
                result[i] = columns[column];
            }
            for (int column : requested) {
                columns[column] = null; // the batch owns it
            }
            return Batch.of(relation.select(requested), result, selection.count());
        } finally {
            for (FieldVector vector : columns) {
                if (vector != null) {
                    vector.close();
                }
            }
        }
    }

    /** Takes out of a selection the rows that do not pass; {@code columns} has a vector for each column tested. */
    public void narrow(Selection selection, FieldVector[] columns) {
        for (ColumnTest test : tests) {
            selection.retain(test, columns[test.column()]);
        }
    }
}
