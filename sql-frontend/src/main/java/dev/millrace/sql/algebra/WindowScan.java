package dev.millrace.sql.algebra;

import dev.millrace.plan.node.WindowSpec;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.apache.calcite.plan.Convention;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.logical.LogicalTableFunctionScan;
import org.apache.calcite.rel.type.RelDataType;
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
            case Rex.TUMBLE -> window = new WindowSpec.Tumble(micros(operands.get(1)), micros(operands.get(2)));
            case Rex.HOP -> window = window(operands, WindowSpec.Hop::new);
            case Rex.CUMULATE -> window = window(operands, WindowSpec.Cumulate::new);
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

    /**
     * A window function over rows.
     *
     * @param name tumble, hop, cumulate or session
     * @param durations in microseconds, in the order that SQL writes them, then the offset, which sessions do not have
     */
    public static RelNode create(
            RelNode input, String name, int timeColumn, List<Integer> partition, List<Long> durations) {
        String function = name.toUpperCase(Locale.ROOT);
        List<RexNode> operands = new ArrayList<>();
        operands.add(descriptor(input, List.of(timeColumn)));
        if (function.equals(Rex.SESSION)) {
            operands.add(descriptor(input, partition));
        }
        durations.forEach(micros -> operands.add(Rex.bigint(micros)));
        RelDataType time = TypeMapper.factory()
                .createTypeWithNullability(
                        input.getRowType().getFieldList().get(timeColumn).getType(), false);
        List<RelDataType> types = new ArrayList<>();
        input.getRowType().getFieldList().forEach(field -> types.add(field.getType()));
        types.add(time);
        types.add(time);
        List<String> names = new ArrayList<>(input.getRowType().getFieldNames());
        names.add(unused(names, "window_start"));
        names.add(unused(names, "window_end"));
        RelDataType rowType = TypeMapper.factory().createStructType(types, names);
        RexNode call = Rex.builder().makeCall(rowType, Rex.operator(function), operands);
        return new LogicalTableFunctionScan(
                input.getCluster(),
                input.getCluster().traitSetOf(Convention.NONE),
                List.of(input),
                call,
                null,
                rowType,
                null);
    }

    private static RexNode descriptor(RelNode input, List<Integer> columns) {
        List<RexNode> references = new ArrayList<>();
        for (int column : columns) {
            references.add(new RexInputRef(
                    column, input.getRowType().getFieldList().get(column).getType()));
        }
        return Rex.builder()
                .makeCall(TypeMapper.relType(DataType.BOOLEAN, false), Rex.operator("DESCRIPTOR"), references);
    }

    private static String unused(List<String> names, String name) {
        String candidate = name;
        for (int i = 0; names.contains(candidate); i++) {
            candidate = name + i;
        }
        return candidate;
    }

    private static List<Integer> columns(RexNode descriptor) {
        return ((RexCall) descriptor)
                .getOperands().stream()
                        .map(operand -> ((RexInputRef) operand).getIndex())
                        .toList();
    }

    private interface TwoDurations {
        WindowSpec window(long first, long second, long offset);
    }

    private static WindowSpec window(List<RexNode> operands, TwoDurations kind) {
        return kind.window(micros(operands.get(1)), micros(operands.get(2)), micros(operands.get(3)));
    }

    private static long micros(RexNode duration) {
        return ((RexLiteral) duration).getValueAs(Long.class);
    }
}
