package dev.millrace.plan.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.node.PlanNode.Calc;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.plan.node.PlanNode.Scan;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class PlanHashTest {
    private static final Schema ROW = Schema.of(new Field("id", DataType.BIGINT, false));

    /** Each level joins the one below with itself. */
    private static PlanNode doubled(String relation, int levels) {
        PlanNode node = new Scan(relation, List.of(0), List.of(), ROW);
        for (int level = 0; level < levels; level++) {
            Join join = new Join(
                    node,
                    node,
                    JoinKind.INNER,
                    List.of(0),
                    List.of(0),
                    Optional.empty(),
                    Optional.empty(),
                    Schema.of(ROW.field(0), ROW.field(0)));
            node = new Calc(join, Optional.empty(), List.of(new Column(0, DataType.BIGINT, false)), ROW);
        }
        return node;
    }

    @Test
    void equalPlansHaveEqualHashes() {
        assertEquals(doubled("t", 5), doubled("t", 5));
        assertEquals(doubled("t", 5).hashCode(), doubled("t", 5).hashCode());
        assertNotEquals(doubled("t", 5), doubled("u", 5));
    }

    /** There are more ways down from the top than a century has nanoseconds. */
    @Test
    @Timeout(value = 30, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aNodeThatIsReadTwiceAtEachLevelIsHashedInNoTime() {
        PlanNode deep = doubled("t", 100);
        assertEquals(deep.hashCode(), deep.hashCode());
    }
}
