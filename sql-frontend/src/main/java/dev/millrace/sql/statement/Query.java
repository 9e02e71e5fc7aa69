package dev.millrace.sql.statement;

import dev.millrace.connector.query.FileRelation;
import dev.millrace.type.Schema;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
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
 * @param named the relations and users' views that its own text names, not those that views read in turn
 * @param options of {@code SELECT .. WITH (..)}, which nobody has read yet
 * @param files what is read of files that the text names, by the names among {@code relations} under which the algebra reads it
 * @param recursions what has to be computed before it, in this order; none of a query that is kept current
 */
public record Query(
        RelNode rel,
        Schema schema,
        Emit emit,
        Set<String> relations,
        Set<String> named,
        Map<String, String> options,
        Map<String, FileRelation> files,
        List<Recursion> recursions)
        implements RowSource {
    /** A query that reads nothing by way of views. */
    public Query(RelNode rel, Schema schema, Emit emit, Set<String> relations) {
        this(rel, schema, emit, relations, relations, Map.of(), Map.of(), List.of());
    }

    /** This query under other names of columns. */
    public Query withSchema(Schema other) {
        return new Query(rel, other, emit, relations, named, options, files, recursions);
    }

    /** This query by other algebra, of the same columns. */
    public Query withRel(RelNode other) {
        return new Query(other, schema, emit, relations, named, options, files, recursions);
    }

    /** This query with changes shown at other times. */
    public Query withEmit(Emit other) {
        return new Query(rel, schema, other, relations, named, options, files, recursions);
    }

    /** This query with options. */
    public Query withOptions(Map<String, String> other) {
        return new Query(rel, schema, emit, relations, named, other, files, recursions);
    }

    /** This query over what its recursions give, which is there. */
    public Query withoutRecursions() {
        return new Query(rel, schema, emit, relations, named, options, files, List.of());
    }

    /** Whether there is something to be computed before it. */
    public boolean isRecursive() {
        return !recursions.isEmpty();
    }

    /** All that it depends on: relations, and views by way of which they are read. */
    public Set<String> dependsOn() {
        Set<String> all = new HashSet<>(relations);
        all.addAll(named);
        return all;
    }

    public Query {
        Objects.requireNonNull(rel);
        Objects.requireNonNull(schema);
        Objects.requireNonNull(emit);
        relations = Set.copyOf(relations);
        named = Set.copyOf(named);
        options = Map.copyOf(options);
        files = Map.copyOf(files);
        recursions = List.copyOf(recursions);
        if (rel.getRowType().getFieldCount() != schema.size()) {
            throw new IllegalArgumentException(
                    "the algebra has " + rel.getRowType().getFieldCount() + " columns, the schema " + schema.size());
        }
    }
}
