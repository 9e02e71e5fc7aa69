package dev.millrace.engine.alteration;

import dev.millrace.plan.node.Forgetting;
import dev.millrace.plan.node.JoinTime;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.type.Schema;
import java.lang.reflect.RecordComponent;
import java.util.List;
import java.util.Optional;

/**
 * Whether plans are equal but for what state does not have in it: the names of columns, which only the last node has from the user, and how long something is kept after
 * its time, which is.
 */
final class SamePlans {
    private SamePlans() {}

    static boolean same(PlanNode a, PlanNode b) {
        if (a.getClass() != b.getClass()) {
            return false;
        }
        try {
            for (RecordComponent component : a.getClass().getRecordComponents()) {
                var accessor = component.getAccessor();
                if (!sameValue(accessor.invoke(a), accessor.invoke(b))) {
                    return false;
                }
            }
            return true;
        } catch (ReflectiveOperationException e) {
            throw new AssertionError("the accessors of plan nodes are public", e);
        }
    }

    private static boolean sameValue(Object a, Object b) {
        if (a instanceof PlanNode left && b instanceof PlanNode right) {
            return same(left, right);
        }
        if (a instanceof Schema left && b instanceof Schema right) {
            return sameTypes(left, right);
        }
        if (a instanceof Optional<?> left && b instanceof Optional<?> right) {
            return left.isPresent() == right.isPresent() && (left.isEmpty() || sameValue(left.get(), right.get()));
        }
        if (a instanceof Forgetting left && b instanceof Forgetting right) {
            return left.timeColumn() == right.timeColumn();
        }
        if (a instanceof JoinTime.Kept left && b instanceof JoinTime.Kept right) {
            return left.left().equals(right.left()) && left.right().equals(right.right());
        }
        if (a instanceof List<?> left && b instanceof List<?> right) {
            boolean same = left.size() == right.size();
            for (int i = 0; same && i < left.size(); i++) {
                same = sameValue(left.get(i), right.get(i));
            }
            return same;
        }
        return a.equals(b);
    }

    private static boolean sameTypes(Schema a, Schema b) {
        boolean same = a.size() == b.size();
        for (int column = 0; same && column < a.size(); column++) {
            same = a.field(column).type().equals(b.field(column).type())
                    && a.field(column).nullable() == b.field(column).nullable();
        }
        return same;
    }
}
