package dev.millrace.sql.bind.query;

import dev.millrace.sql.bind.scope.BoundQuery;
import dev.millrace.sql.catalog.Relation;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Filter;
import org.apache.calcite.rel.core.Join;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rel.core.TableScan;
import org.apache.calcite.sql.SqlBasicCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.util.SqlBasicVisitor;

/**
 * Recursion that begins with no rows, and so ends with none: pg_dump follows the rules of rewriting from view to view, of which there are
 * none here. Stateless.
 */
final class NoRules {
    private static final String ALWAYS_EMPTY = "pg_catalog.pg_rewrite";

    private NoRules() {}

    /** What {@code base UNION recursive} is if the base has no rows whatever there is: the base. Empty if it may have some. */
    static Optional<BoundQuery> recursion(SqlNode query, QueryBinder binder) {
        boolean[] readsRules = {false};
        SqlNode first =
                query instanceof SqlBasicCall union && query.getKind() == SqlKind.UNION ? union.operand(0) : query;
        first.accept(new SqlBasicVisitor<Void>() {
            @Override
            public Void visit(SqlIdentifier name) {
                readsRules[0] |= name.names.get(name.names.size() - 1).equals("pg_rewrite");
                return null;
            }
        });
        if (first == query || !readsRules[0]) {
            return Optional.empty();
        }
        BoundQuery base = binder.bind(first, List.of());
        return isEmpty(base.rel()) ? Optional.of(base) : Optional.empty();
    }

    private static boolean isEmpty(RelNode rel) {
        if (rel instanceof Project || rel instanceof Filter) {
            return isEmpty(rel.getInput(0));
        } else if (rel instanceof Join join) {
            return join.getJoinType() == JoinRelType.INNER && (isEmpty(join.getLeft()) || isEmpty(join.getRight()));
        } else if (rel instanceof TableScan scan) {
            Relation relation = scan.getTable().unwrap(Relation.class);
            return relation != null && relation.name().equals(ALWAYS_EMPTY);
        }
        return false;
    }
}
