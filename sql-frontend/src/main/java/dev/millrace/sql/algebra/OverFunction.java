package dev.millrace.sql.algebra;

import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.Frame;
import dev.millrace.plan.expression.OverCall;
import dev.millrace.type.DataType;
import java.util.Objects;
import java.util.Optional;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.sql.SqlAggFunction;
import org.apache.calcite.sql.SqlFunctionCategory;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlOperatorBinding;
import org.apache.calcite.util.Optionality;

/**
 * A window function with its frame as the algebra sees it: all that Calcite's window cannot say (GROUPS, FILTER, bounds
 * that are expressions) is in here. Partition and order are in the window. The operands of a call are its arguments, then
 * the condition of FILTER, then the order key's value at which a RANGE frame with offsets begins, and ends.
 */
public final class OverFunction extends SqlAggFunction {
    private static final long serialVersionUID = 1L;

    /**
     * What is computed.
     *
     * @param aggregate of AGGREGATE
     * @param filtered whether there is a FILTER
     * @param frame of RANGE with offsets: their numbers mean nothing, see the operands
     */
    public record Spec(
            OverCall.Function function,
            Optional<AggregateCall.Function> aggregate,
            boolean distinct,
            boolean filtered,
            boolean ignoreNulls,
            long parameter,
            Frame frame) {
        /** How many operands are bounds. */
        public int boundOperands() {
            return (frame.isColumn(frame.start()) ? 1 : 0) + (frame.isColumn(frame.end()) ? 1 : 0);
        }

        /** All that tells specs apart, and what is usual left out. */
        @Override
        public String toString() {
            String name = aggregate.map(AggregateCall.Function::name).orElse(function.name());
            // FIRST_VALUE and LAST_VALUE are aggregates, too
            return name
                    + (aggregate.isPresent() ? "" : " window")
                    + (distinct ? " distinct" : "")
                    + (filtered ? " filter" : "")
                    + (ignoreNulls ? " ignore nulls" : "")
                    + (function.hasParameter() ? " " + parameter : "")
                    + (frame.equals(Frame.ALL) ? "" : " " + frame);
        }
    }

    private final transient Spec spec;

    public OverFunction(Spec spec) {
        // operators are compared by name, so the name says all
        super(
                spec.toString(),
                null,
                SqlKind.OTHER_FUNCTION,
                null,
                null,
                null,
                SqlFunctionCategory.USER_DEFINED_FUNCTION,
                false,
                true,
                Optionality.OPTIONAL);
        this.spec = Objects.requireNonNull(spec);
    }

    public Spec spec() {
        return spec;
    }

    /** The type is decided where the call is bound. */
    @Override
    public RelDataType inferReturnType(SqlOperatorBinding binding) {
        return TypeMapper.relType(
                binding.getOperandCount() == 0 ? DataType.BIGINT : TypeMapper.dataType(binding.getOperandType(0)),
                true);
    }
}
