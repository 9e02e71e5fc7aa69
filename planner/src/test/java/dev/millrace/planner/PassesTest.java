package dev.millrace.planner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.plan.node.PlanNode;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The order of the planner's passes: each needs what those before it have done. */
class PassesTest {
    private static final UnaryOperator<PlanNode> NOTHING = plan -> plan;

    private final Passes passes = new Passes(new PlanNode.Values(List.of(), new Schema(List.of())));

    private String refusal(Pass pass) {
        return assertThrows(IllegalStateException.class, () -> passes.run(pass, NOTHING))
                .getMessage();
    }

    @ParameterizedTest
    @EnumSource
    void aPassStandsBehindAllThatItNeeds(Pass pass) {
        assertTrue(pass.needs().stream().allMatch(needed -> needed.compareTo(pass) < 0));
    }

    @Test
    void aPassBeforeOneThatItNeedsIsRefused() {
        passes.run(Pass.SIMPLIFY, NOTHING);
        assertEquals(
                "RECOGNIZE_TIME_FILTERS needs a plan that went through DECIDE_BY_CLOCK",
                refusal(Pass.RECOGNIZE_TIME_FILTERS));
    }

    @Test
    void aPassThatNeedsASimplePlanIsRefusedBehindOneThatLeavesWork() {
        passes.run(Pass.SIMPLIFY, NOTHING)
                .run(Pass.DECIDE_BY_CLOCK, NOTHING)
                .run(Pass.RECOGNIZE_TIME_FILTERS, NOTHING)
                .check(true, Pass.CHECK_CLOCK, plan -> {});
        assertEquals("CONDENSE needs a plan that went through SIMPLIFY", refusal(Pass.CONDENSE));
        passes.run(Pass.SIMPLIFY, NOTHING).run(Pass.CONDENSE, NOTHING).run(Pass.RECOGNIZE_WINDOWS, NOTHING);
    }

    @Test
    void aPassThatDoesNotConcernAQueryIsLeftOutAndHoldsNobodyUp() {
        PlanNode before = passes.plan();
        passes.run(Pass.SIMPLIFY, NOTHING)
                .runIf(false, Pass.DECIDE_BY_CLOCK, plan -> {
                    throw new AssertionError("ran");
                })
                .run(Pass.RECOGNIZE_TIME_FILTERS, NOTHING);
        assertSame(before, passes.plan());
    }
}
