package dev.millrace.sql.statement;

import dev.millrace.type.Schema;
import java.util.Objects;
import java.util.Set;
import org.apache.calcite.rel.RelNode;

/**
 * A validated query.
 *
 * @param rel logical algebra; its row type has one column per column of {@code schema}
 * @param schema the output columns under the names the user sees
 * @param emit when a standing query shows its rows
 * @param relations the names of all relations read, as given to the catalog
 */
public record Query(RelNode rel, Schema schema, Emit emit, Set<String> relations) implements RowSource {
    public Query {
        Objects.requireNonNull(rel);
        Objects.requireNonNull(schema);
        Objects.requireNonNull(emit);
        relations = Set.copyOf(relations);
        if (rel.getRowType().getFieldCount() != schema.size()) {
            throw new IllegalArgumentException(
                    "the algebra has " + rel.getRowType().getFieldCount() + " columns, the schema " + schema.size());
        }
    }
}
