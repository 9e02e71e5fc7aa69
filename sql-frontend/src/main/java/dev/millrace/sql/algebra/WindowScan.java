package dev.millrace.sql.algebra;

import dev.millrace.plan.node.WindowSpec;
import dev.millrace.text.CalendarUnits;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
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
        List<Integer> partition = List.of();
        WindowSpec window;
        if (call.getOperator().getName().equals(Rex.SESSION)) {
            partition = columns(operands.get(1));
            window = new WindowSpec.Session(number(operands.get(2)));
        } else {
            Optional<WindowSpec> found = window(call.getOperator().getName(), operands);
            if (found.isEmpty()) {
                return Optional.empty();
            }
            window = found.get();
        }
        return Optional.of(
                new WindowScan(scan.getInput(0), columns(operands.get(0)).get(0), window, partition));
    }

    /** Numbers of microseconds, or of a calendar's units: its unit, how much later these begin, and its zone follow. */
    private static Optional<WindowSpec> window(String name, List<RexNode> operands) {
        int numbers;
        WindowSpec window;
        switch (name) {
            case Rex.TUMBLE -> {
                window = new WindowSpec.Tumble(number(operands.get(1)), number(operands.get(2)));
                numbers = 2;
            }
            case Rex.HOP -> {
                window = window(operands, WindowSpec.Hop::new);
                numbers = 3;
            }
            case Rex.CUMULATE -> {
                window = window(operands, WindowSpec.Cumulate::new);
                numbers = 3;
            }
            default -> {
                return Optional.empty();
            }
        }
        if (operands.size() == 1 + numbers) {
            return Optional.of(window);
        }
        return Optional.of(new WindowSpec.Calendar(
                window,
                CalendarUnits.Unit.valueOf(text(operands.get(1 + numbers))),
                number(operands.get(2 + numbers)),
                text(operands.get(3 + numbers))));
    }

    private static String text(RexNode constant) {
        return Literals.textOf(constant).orElseThrow();
    }

    /**
     * A window function over rows.
     *
     * @param partition the columns that separate sessions
     */
    public static RelNode create(RelNode input, WindowSpec window, int timeColumn, List<Integer> partition) {
        List<RexNode> operands = new ArrayList<>();
        operands.add(descriptor(input, List.of(timeColumn)));
        WindowSpec shape = window.shape();
        String function;
        if (shape instanceof WindowSpec.Tumble tumble) {
            function = Rex.TUMBLE;
            operands.add(Rex.bigint(tumble.sizeMicros()));
            operands.add(Rex.bigint(tumble.offsetMicros()));
        } else if (shape instanceof WindowSpec.Hop hop) {
            function = Rex.HOP;
            operands.add(Rex.bigint(hop.slideMicros()));
            operands.add(Rex.bigint(hop.sizeMicros()));
            operands.add(Rex.bigint(hop.offsetMicros()));
        } else if (shape instanceof WindowSpec.Cumulate cumulate) {
            function = Rex.CUMULATE;
            operands.add(Rex.bigint(cumulate.stepMicros()));
            operands.add(Rex.bigint(cumulate.sizeMicros()));
            operands.add(Rex.bigint(cumulate.offsetMicros()));
        } else {
            function = Rex.SESSION;
            operands.add(descriptor(input, partition));
            operands.add(Rex.bigint(((WindowSpec.Session) shape).gapMicros()));
        }
        if (window instanceof WindowSpec.Calendar calendar) {
            operands.add(Rex.text(calendar.unit().name()));
            operands.add(Rex.bigint(calendar.laterMicros()));
            operands.add(Rex.text(calendar.zone()));
        }
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

    private interface TwoNumbers {
        WindowSpec window(long first, long second, long offset);
    }

    private static WindowSpec window(List<RexNode> operands, TwoNumbers kind) {
        return kind.window(number(operands.get(1)), number(operands.get(2)), number(operands.get(3)));
    }

    private static long number(RexNode constant) {
        return ((RexLiteral) constant).getValueAs(Long.class);
    }
}
