package dev.millrace.sql.bind.query;

import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.bind.relation.Correlations;
import dev.millrace.sql.bind.scope.Scope;
import dev.millrace.sql.catalog.Relation;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Filter;
import org.apache.calcite.rel.core.Join;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rel.core.TableScan;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexSubQuery;
import org.apache.calcite.rex.RexVisitorImpl;
import org.apache.calcite.util.ImmutableBitSet;

/**
 * Columns that a GROUP BY need not name, since it names the primary key of their table: they become further keys, by which
 * no group is parted.
 *
 * <pre>
 * SELECT t.name, count(*) FROM t JOIN u ON .. GROUP BY t.id      GROUP BY t.id, t.name
 * </pre>
 */
final class DeterminedColumns {
    /** A column of one scan of a table. */
    private record Origin(TableScan scan, int column) {
        Relation relation() {
            return scan.getTable().unwrap(Relation.class);
        }
    }

    private final RelNode rel;
    private final Scope scope;

    /** @param rel the rows that are grouped */
    DeterminedColumns(RelNode rel, Scope scope) {
        this.rel = rel;
        this.scope = scope;
    }

    /** The groups, with the columns that expressions over them read and their keys determine. */
    Groups add(Groups groups, Collection<RexNode> expressions) {
        boolean plain = groups.sets().size() == 1
                && groups.sets().get(0).cardinality() == groups.keys().size();
        if (!plain || groups.keys().isEmpty()) {
            return groups;
        }
        Set<Origin> keys = new HashSet<>();
        for (RexNode key : groups.keys()) {
            if (key instanceof RexInputRef reference) {
                origin(rel, reference.getIndex()).ifPresent(keys::add);
            }
        }
        List<RexNode> all = new ArrayList<>(groups.keys());
        Predicate<Origin> determined = origin -> origin.relation().kind() == Relation.Kind.TABLE
                && !origin.relation().primaryKey().isEmpty()
                && origin.relation().primaryKey().stream()
                        .allMatch(column -> keys.contains(new Origin(origin.scan, column)));
        for (int column : columns(expressions)) {
            RexNode reference = RexInputRef.of(column, rel.getRowType());
            if (!all.contains(reference)
                    && origin(rel, column).filter(determined).isPresent()) {
                all.add(reference);
            }
        }
        return all.size() == groups.keys().size()
                ? groups
                : new Groups(all, List.of(ImmutableBitSet.range(all.size())), groups.outputs());
    }

    /** The columns that expressions read, in order. */
    private Set<Integer> columns(Collection<RexNode> expressions) {
        Set<Integer> columns = new TreeSet<>();
        int width = rel.getRowType().getFieldCount();
        for (RexNode expression : expressions) {
            expression.accept(new RexVisitorImpl<Void>(true) {
                @Override
                public Void visitInputRef(RexInputRef reference) {
                    if (reference.getIndex() < width) {
                        columns.add(reference.getIndex());
                    }
                    return null;
                }

                @Override
                public Void visitSubQuery(RexSubQuery query) {
                    scope.groupCorrelation()
                            .ifPresent(id -> Correlations.replace(query.rel, id, column -> {
                                if (column >= width) { // an aggregate
                                    return Rex.bigint(column);
                                }
                                columns.add(column);
                                return RexInputRef.of(column, rel.getRowType());
                            }));
                    return super.visitSubQuery(query);
                }
            });
        }
        return columns;
    }

    /** Where a column comes from as it is. */
    private static Optional<Origin> origin(RelNode node, int column) {
        if (node instanceof TableScan scan) {
            return Optional.of(new Origin(scan, column));
        }
        if (node instanceof Filter filter) {
            return origin(filter.getInput(), column);
        }
        if (node instanceof Join join) {
            int left = join.getLeft().getRowType().getFieldCount();
            return column < left ? origin(join.getLeft(), column) : origin(join.getRight(), column - left);
        }
        return node instanceof Project project && project.getProjects().get(column) instanceof RexInputRef reference
                ? origin(project.getInput(), reference.getIndex())
                : Optional.empty();
    }
}
