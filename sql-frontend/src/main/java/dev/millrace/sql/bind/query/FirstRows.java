package dev.millrace.sql.bind.query;

import dev.millrace.sql.catalog.Relation;
import java.math.BigDecimal;
import java.util.Optional;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rel.core.Sort;
import org.apache.calcite.rel.core.TableScan;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexOver;
import org.jspecify.annotations.Nullable;

/** A query of so many rows of a relation, whichever: {@code SELECT .. FROM relation LIMIT n}, which a recursion need not go beyond. */
record FirstRows(String relation, long count) {
    static Optional<FirstRows> of(RelNode rel) {
        RelNode outer = belowProjects(rel);
        if (!(outer instanceof Sort sort)
                || !sort.getCollation().getFieldCollations().isEmpty()
                || sort.fetch == null) {
            return Optional.empty();
        }
        Optional<Long> fetch = number(sort.fetch);
        Optional<Long> offset = sort.offset == null ? Optional.of(0L) : number(sort.offset);
        if (fetch.isEmpty() || offset.isEmpty() || !(belowProjects(sort.getInput()) instanceof TableScan scan)) {
            return Optional.empty();
        }
        Relation relation = scan.getTable().unwrap(Relation.class);
        if (relation == null) {
            return Optional.empty();
        }
        long count = fetch.get() > Long.MAX_VALUE - offset.get() ? Long.MAX_VALUE : fetch.get() + offset.get();
        return Optional.of(new FirstRows(relation.name(), count));
    }

    private static RelNode belowProjects(RelNode rel) {
        RelNode below = rel;
        while (below instanceof Project project && !RexOver.containsOver(project.getProjects(), null)) {
            below = project.getInput();
        }
        return below;
    }

    private static Optional<Long> number(@Nullable RexNode count) {
        return count instanceof RexLiteral literal && !literal.isNull()
                ? Optional.of(literal.getValueAs(BigDecimal.class))
                        .filter(value -> value.toBigInteger().bitLength() < Long.SIZE)
                        .map(BigDecimal::longValue)
                : Optional.empty();
    }
}
