package dev.millrace.sql.algebra;

import dev.millrace.plan.node.WindowSpec;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.logical.LogicalTableFunctionScan;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;

/**
 * A window function, read from the algebra.
 *
 * @param input the rows that get windows; the scan's columns are these, then window_start and window_end
 * @param timeColumn of the input
 * @param partition the input's columns that separate sessions; empty for other windows
 */
public record WindowScan(RelNode input, int timeColumn, WindowSpec window, List<Integer> partition) {
    public WindowScan {
        partition = List.copyOf(partition);
    }

    /** The window function of a node; empty when it is another node. */
    public static Optional<WindowScan> of(RelNode node) {
        if (!(node instanceof LogicalTableFunctionScan scan)
                || scan.getInputs().size() != 1
                || !(scan.getCall() instanceof RexCall call)) {
            return Optional.empty();
        }
        List<RexNode> operands = call.getOperands();
        WindowSpec window;
        List<Integer> partition = List.of();
        switch (call.getOperator().getName()) {
            case Rex.TUMBLE -> window = new WindowSpec.Tumble(micros(operands.get(1)));
            case Rex.HOP -> window = new WindowSpec.Hop(micros(operands.get(1)), micros(operands.get(2)));
            case Rex.CUMULATE -> window = new WindowSpec.Cumulate(micros(operands.get(1)), micros(operands.get(2)));
            case Rex.SESSION -> {
                partition = columns(operands.get(1));
                window = new WindowSpec.Session(micros(operands.get(2)));
            }
            default -> {
                return Optional.empty();
            }
        }
        return Optional.of(
                new WindowScan(scan.getInput(0), columns(operands.get(0)).get(0), window, partition));
    }

    private static List<Integer> columns(RexNode descriptor) {
        return ((RexCall) descriptor)
                .getOperands().stream()
                        .map(operand -> ((RexInputRef) operand).getIndex())
                        .toList();
    }

    private static long micros(RexNode duration) {
        return ((RexLiteral) duration).getValueAs(Long.class);
    }
}
