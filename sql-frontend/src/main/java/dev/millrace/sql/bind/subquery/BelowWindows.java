package dev.millrace.sql.bind.subquery;

import dev.millrace.sql.bind.relation.RelNodes;
import dev.millrace.sql.bind.relation.SharedNodes;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.logical.LogicalProject;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexOver;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.rex.RexSubQuery;

/**
 * Sub-queries in the arguments, PARTITION BY or ORDER BY of a window function as columns below it:
 *
 * <pre>
 * project(sum(query) OVER (ORDER BY query2), t)   becomes   project(sum(a) OVER (ORDER BY b), project(*, query a, query2 b, t))
 * </pre>
 *
 * Calcite's rules find them nowhere else.
 */
final class BelowWindows {
    private BelowWindows() {}

    /** The query with all such sub-queries moved, in sub-queries, too. */
    static RelNode move(RelNode query) {
        return SharedNodes.rewrite(query, BelowWindows::moveHere);
    }

    private static RelNode moveHere(RelNode node) {
        RelNode inner = node.accept(new RexShuttle() {
            @Override
            public RexNode visitSubQuery(RexSubQuery query) {
                RexSubQuery moved = (RexSubQuery) super.visitSubQuery(query);
                return moved.clone(move(moved.rel));
            }
        });
        return inner instanceof LogicalProject project && RexOver.containsOver(project.getProjects(), null)
                ? split(project)
                : inner;
    }

    private static RelNode split(LogicalProject project) {
        List<RexNode> below = new ArrayList<>(RelNodes.references(project.getInput()));
        List<String> names = new ArrayList<>(project.getInput().getRowType().getFieldNames());
        int width = below.size();
        RexShuttle taking = new RexShuttle() {
            @Override
            public RexNode visitSubQuery(RexSubQuery query) {
                int place = below.indexOf(query);
                if (place < 0) {
                    place = below.size();
                    below.add(query);
                    names.add("query");
                }
                return new RexInputRef(place, query.getType());
            }
        };
        List<RexNode> above =
                project.getProjects().stream().map(each -> each.accept(taking)).toList();
        if (below.size() == width) {
            return project;
        }
        RelNode computed = RelNodes.project(
                project.getInput(),
                below,
                names,
                project.getVariablesSet().stream().findFirst());
        return RelNodes.project(computed, above, project.getRowType().getFieldNames());
    }
}
