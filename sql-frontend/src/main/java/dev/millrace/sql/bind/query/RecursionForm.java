package dev.millrace.sql.bind.query;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.sql.catalog.Relation;
import java.util.HashSet;
import java.util.Set;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Aggregate;
import org.apache.calcite.rel.core.Join;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rel.core.Minus;
import org.apache.calcite.rel.core.TableScan;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.rex.RexSubQuery;
import org.apache.calcite.sql.SqlNode;

/**
 * Where a recursive query may read itself in its step: where a row more gives rows more. In an aggregate, on the side of an outer
 * join that may be missing, behind EXCEPT and in an expression it may not, as in PostgreSQL.
 */
final class RecursionForm {
    private final String relation;
    private final String name;
    private final SqlNode where;

    private RecursionForm(String relation, String name, SqlNode where) {
        this.relation = relation;
        this.name = name;
        this.where = where;
    }

    /**
     * @param relation under which the step reads the rows
     * @param name of the query
     * @throws MillraceException 42P19
     */
    static void check(RelNode step, String relation, String name, SqlNode where) {
        new RecursionForm(relation, name, where).check(step);
    }

    /** The relations that a query reads, those of queries in its expressions too. */
    static Set<String> relations(RelNode rel) {
        Set<String> relations = new HashSet<>();
        collect(rel, relations);
        return relations;
    }

    private static void collect(RelNode rel, Set<String> relations) {
        if (rel instanceof TableScan scan) {
            relations.add(name(scan));
        }
        rel.getInputs().forEach(input -> collect(input, relations));
        rel.accept(new RexShuttle() {
            @Override
            public RexNode visitSubQuery(RexSubQuery query) {
                collect(query.rel, relations);
                return super.visitSubQuery(query);
            }
        });
    }

    private static String name(TableScan scan) {
        Relation relation = scan.getTable().unwrap(Relation.class);
        return relation == null ? "" : relation.name();
    }

    private void check(RelNode rel) {
        rel.accept(new RexShuttle() {
            @Override
            public RexNode visitSubQuery(RexSubQuery query) {
                if (relations(query.rel).contains(relation)) {
                    throw error("must not appear within a subquery");
                }
                return super.visitSubQuery(query);
            }
        });
        if (rel instanceof Aggregate aggregate
                && !aggregate.getAggCallList().isEmpty()
                && relations(rel).contains(relation)) {
            throw Errors.error(
                            SqlState.INVALID_RECURSION,
                            "aggregate functions are not allowed in a recursive query's recursive term",
                            where)
                    .withHint("the query that reads \"" + name + "\" can aggregate");
        }
        for (int i = 0; i < rel.getInputs().size(); i++) {
            boolean mayMiss = rel instanceof Join join
                    && (join.getJoinType() == JoinRelType.FULL
                            || join.getJoinType() == (i == 0 ? JoinRelType.RIGHT : JoinRelType.LEFT));
            if (mayMiss && relations(rel.getInput(i)).contains(relation)) {
                throw error("must not appear within an outer join");
            }
            if (i > 0 && rel instanceof Minus && relations(rel.getInput(i)).contains(relation)) {
                throw error("must not appear within EXCEPT");
            }
            check(rel.getInput(i));
        }
    }

    private MillraceException error(String why) {
        return Errors.error(SqlState.INVALID_RECURSION, "recursive reference to query \"" + name + "\" " + why, where);
    }
}
