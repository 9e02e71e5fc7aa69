package dev.millrace.engine.join;

import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.ZSet;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.BiPredicate;

/**
 * What a join has to give of all rows of its sides: it looks at each pair.
 *
 * @param leftColumns how many a left row has
 * @param meets whether a left row and a right one are joined
 */
record ReferenceJoin(JoinKind kind, int leftColumns, int rightColumns, BiPredicate<Row, Row> meets) {
    ZSet answer(List<Row> lefts, List<Row> rights) {
        ZSet answer = new ZSet();
        boolean[] met = new boolean[rights.size()];
        for (Row left : lefts) {
            boolean hasMet = false;
            for (int i = 0; i < met.length; i++) {
                if (meets.test(left, rights.get(i))) {
                    hasMet = true;
                    met[i] = true;
                    if (kind != JoinKind.SEMI && kind != JoinKind.ANTI) {
                        answer.add(pair(left.values(), rights.get(i).values()), 1);
                    }
                }
            }
            if (hasMet ? kind == JoinKind.SEMI : kind == JoinKind.ANTI) {
                answer.add(left, 1);
            } else if (!hasMet && (kind == JoinKind.LEFT || kind == JoinKind.FULL)) {
                answer.add(pair(left.values(), Collections.nCopies(rightColumns, null)), 1);
            }
        }
        for (int i = 0; i < met.length; i++) {
            if (!met[i] && (kind == JoinKind.RIGHT || kind == JoinKind.FULL)) {
                answer.add(
                        pair(
                                Collections.nCopies(leftColumns, null),
                                rights.get(i).values()),
                        1);
            }
        }
        return answer;
    }

    private static Row pair(List<?> left, List<?> right) {
        List<Object> values = new ArrayList<>(left);
        values.addAll(right);
        return new Row(values);
    }
}
