package dev.millrace.engine.graph;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.millrace.plan.node.PlanNode;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Checkpoints have prints of plans: what earlier versions wrote has to be found again. */
class PlanPrintTest {
    private static final PlanNode SCAN = new PlanNode.Scan(
            "readings",
            List.of(0, 1),
            List.of(),
            Schema.of(new Field("at", DataType.TIMESTAMP, false), new Field("n", DataType.BIGINT, true)));

    private static PlanNode watermark(boolean byEpoch) {
        return new PlanNode.Watermark(SCAN, 0, 1_000_000, 0, Optional.empty(), byEpoch);
    }

    @Test
    void printsAreWhatTheyWereBeforeNodesSaidMore() {
        assertEquals(
                "7c8a50b9f97fc117e457ce470f680fcdfb386207e3488ab312aae8946e487edf", PlanPrint.of(watermark(false)));
    }

    @Test
    void whatIsOtherHasAnotherPrint() {
        assertNotEquals(PlanPrint.of(watermark(false)), PlanPrint.of(watermark(true)));
        assertNotEquals(PlanPrint.of(watermark(false)), PlanPrint.of(watermark(false), name -> "others"));
    }
}
