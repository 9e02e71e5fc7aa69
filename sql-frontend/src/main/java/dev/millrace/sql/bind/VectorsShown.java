package dev.millrace.sql.bind;

import dev.millrace.sql.algebra.ExpandRel;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.bind.relation.RelNodes;
import dev.millrace.sql.bind.scope.BoundQuery;
import dev.millrace.sql.catalog.Relation;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.calcite.rel.BiRel;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Filter;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rel.core.Sort;
import org.apache.calcite.rel.core.TableScan;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;

/**
 * PostgreSQL's catalog has numbers of columns as {@code int2vector}, which is an array to whoever computes with it and is written as
 * {@code 1 2} to whoever reads it: pg_dump and SQLAlchemy cut that text. Here they are arrays, and become such texts where a query gives
 * one as it is. Stateless.
 */
final class VectorsShown {
    private static final String RELATION = "pg_catalog.pg_index";
    private static final Set<String> COLUMNS = Set.of("indkey", "indoption", "indclass", "indcollation");

    private VectorsShown() {}

    static BoundQuery of(BoundQuery query) {
        List<RexNode> outputs = new ArrayList<>(RelNodes.references(query.rel()));
        boolean found = false;
        for (int i = 0; i < outputs.size(); i++) {
            if (isVector(query.rel(), i)) {
                outputs.set(
                        i, Rex.call("array_to_string", List.of(outputs.get(i), Rex.text(" ")), DataType.TEXT, true));
                found = true;
            }
        }
        return found ? new BoundQuery(RelNodes.project(query.rel(), outputs, query.names()), query.names()) : query;
    }

    /** Whether a column is one of these, from where it was read to here. */
    private static boolean isVector(RelNode rel, int column) {
        if (rel instanceof Project project) {
            return project.getProjects().get(column) instanceof RexInputRef input
                    && isVector(project.getInput(), input.getIndex());
        } else if (rel instanceof Filter || rel instanceof Sort) {
            return isVector(rel.getInput(0), column);
        } else if (rel instanceof ExpandRel expand) {
            return column < expand.kept() && isVector(expand.getInput(), column);
        } else if (rel instanceof BiRel both) {
            int left = both.getLeft().getRowType().getFieldCount();
            return column < left ? isVector(both.getLeft(), column) : isVector(both.getRight(), column - left);
        } else if (rel instanceof TableScan scan) {
            Relation relation = scan.getTable().unwrap(Relation.class);
            return relation != null
                    && relation.name().equals(RELATION)
                    && COLUMNS.contains(relation.schema().fields().get(column).name());
        }
        return false;
    }
}
