package dev.millrace.sql.algebra;

import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.plan.function.ResultRule;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import dev.millrace.type.PlainNumeric;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.sql.SqlAggFunction;
import org.apache.calcite.sql.SqlFunctionCategory;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlOperatorBinding;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.util.Optionality;

/** The aggregate functions as Calcite's, and their result types. */
public final class Aggregates {
    /** Other names of aggregates. */
    private static final Map<String, Function> ALIASES =
            Map.of("every", Function.BOOL_AND, "stddev", Function.STDDEV_SAMP, "variance", Function.VAR_SAMP);

    private static final Map<Function, SqlAggFunction> FUNCTIONS = new EnumMap<>(Function.class);

    static {
        for (Function function : Function.values()) {
            // COUNT is Calcite's own: its rules for sub-queries count, too.
            FUNCTIONS.put(function, function == Function.COUNT ? SqlStdOperatorTable.COUNT : new Aggregate(function));
        }
    }

    /** GROUPING(a, b), as PostgreSQL types it. */
    public static final SqlAggFunction GROUPING = new GroupingFunction();

    private Aggregates() {}

    /** The aggregate of this SQL name, if it is one. */
    public static Optional<Function> byName(String name) {
        Function alias = ALIASES.get(name);
        if (alias != null) {
            return Optional.of(alias);
        }
        for (Function function : Function.values()) {
            if (function != Function.USER
                    && function.name().toLowerCase(Locale.ROOT).equals(name)) {
                return Optional.of(function);
            }
        }
        return Optional.empty();
    }

    /** All SQL names. */
    public static Set<String> names() {
        Set<String> names = new HashSet<>(ALIASES.keySet());
        for (Function function : Function.values()) {
            if (function != Function.USER) {
                names.add(function.name().toLowerCase(Locale.ROOT));
            }
        }
        return names;
    }

    /** As Calcite sees it. */
    public static SqlAggFunction calcite(Function function) {
        return Objects.requireNonNull(FUNCTIONS.get(function));
    }

    /** Our function of a Calcite aggregate, also of those that Calcite's own rules make. */
    static Optional<Function> function(SqlAggFunction aggregate) {
        if (aggregate instanceof Aggregate ours) {
            return Optional.of(ours.function);
        }
        return switch (aggregate.getKind()) {
            case COUNT -> Optional.of(Function.COUNT);
            case SUM -> Optional.of(Function.SUM);
            case MIN -> Optional.of(Function.MIN);
            case MAX -> Optional.of(Function.MAX);
            default -> Optional.empty();
        };
    }

    /** What gives the value of a single row of a type. */
    public static Function ofSingleRow(DataType type) {
        return switch (type.kind()) {
            case ARRAY, ROW -> Function.FIRST_VALUE;
            default -> Function.MIN;
        };
    }

    /** The result type over an argument of a type; as the constants of {@link Function} say. */
    public static DataType resultType(Function function, DataType argument) {
        return switch (function) {
            case COUNT, APPROX_COUNT_DISTINCT -> DataType.BIGINT;
            case SUM ->
                switch (argument.kind()) {
                    case SMALLINT, INTEGER -> DataType.BIGINT;
                    case BIGINT -> DataType.numeric(DataType.MAX_NUMERIC_PRECISION, 0);
                    case NUMERIC -> DataType.numeric(DataType.MAX_NUMERIC_PRECISION, argument.scale());
                    case BIGNUM -> DataType.BIGNUM;
                    default -> argument;
                };
            case AVG, STDDEV_POP, STDDEV_SAMP, VAR_POP, VAR_SAMP ->
                switch (argument.kind()) {
                    case SMALLINT, INTEGER, BIGINT, NUMERIC -> quotient(argument);
                    case BIGNUM -> DataType.BIGNUM;
                    case INTERVAL -> argument;
                    default -> DataType.DOUBLE;
                };
            case MIN, MAX, FIRST_VALUE, LAST_VALUE, PERCENTILE_DISC -> argument;
            case BOOL_AND, BOOL_OR -> DataType.BOOLEAN;
            case STRING_AGG -> DataType.TEXT;
            case ARRAY_AGG -> DataType.array(argument);
            case PERCENTILE_CONT -> argument.kind() == Kind.INTERVAL ? argument : DataType.DOUBLE;
            case USER -> throw new IllegalArgumentException("users' functions are made of calls over their rows");
        };
    }

    /** Of a sum of exact numbers and their number. */
    private static DataType quotient(DataType argument) {
        return PlainNumeric.isUnlimited()
                ? DataType.BIGNUM
                : DataType.numeric(
                        DataType.MAX_NUMERIC_PRECISION, Math.max(ResultRule.LEAST_DIVISION_SCALE, argument.scale()));
    }

    /** What tells grouping sets apart. */
    private static final class GroupingFunction extends SqlAggFunction {
        private static final long serialVersionUID = 1L;

        GroupingFunction() {
            super(
                    "GROUPING",
                    null,
                    SqlKind.GROUPING,
                    null,
                    null,
                    null,
                    SqlFunctionCategory.USER_DEFINED_FUNCTION,
                    false,
                    false,
                    Optionality.FORBIDDEN);
        }

        @Override
        public RelDataType inferReturnType(SqlOperatorBinding binding) {
            return TypeMapper.relType(DataType.INTEGER, false);
        }
    }

    /** One of ours. */
    private static final class Aggregate extends SqlAggFunction {
        private static final long serialVersionUID = 1L;

        private final Function function;

        Aggregate(Function function) {
            super(
                    function.name(),
                    null,
                    kind(function),
                    null,
                    null,
                    null,
                    SqlFunctionCategory.USER_DEFINED_FUNCTION,
                    false,
                    false,
                    Optionality.OPTIONAL);
            this.function = function;
        }

        @Override
        public RelDataType inferReturnType(SqlOperatorBinding binding) {
            DataType argument =
                    binding.getOperandCount() == 0 ? DataType.NULL : TypeMapper.dataType(binding.getOperandType(0));
            boolean nullable = function != Function.APPROX_COUNT_DISTINCT;
            return TypeMapper.relType(resultType(function, argument), nullable);
        }

        private static SqlKind kind(Function function) {
            return switch (function) {
                case SUM -> SqlKind.SUM;
                case MIN -> SqlKind.MIN;
                case MAX -> SqlKind.MAX;
                case AVG -> SqlKind.AVG;
                default -> SqlKind.OTHER_FUNCTION;
            };
        }
    }
}
