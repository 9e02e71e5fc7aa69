package dev.millrace.sql.bind.function;

import dev.millrace.error.SqlState;
import dev.millrace.sql.bind.type.Errors;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;

/** The arguments of window functions, by place or by the names they have in Flink. */
public final class WindowArguments {
    private WindowArguments() {}

    /** How a window function is called. */
    public static String usage(String function) {
        return switch (function) {
            case "tumble" -> "TUMBLE(TABLE t, DESCRIPTOR(time), size [, offset] [, timezone])";
            case "hop" -> "HOP(TABLE t, DESCRIPTOR(time), slide, size [, offset] [, timezone])";
            case "cumulate" -> "CUMULATE(TABLE t, DESCRIPTOR(time), step, size [, offset] [, timezone])";
            default -> "SESSION(TABLE t PARTITION BY key, DESCRIPTOR(time), gap)";
        };
    }

    private static List<String> names(String function) {
        return switch (function) {
            case "tumble" -> List.of("data", "timecol", "size", "offset", "timezone");
            case "hop" -> List.of("data", "timecol", "slide", "size", "offset", "timezone");
            case "cumulate" -> List.of("data", "timecol", "step", "size", "offset", "timezone");
            default -> List.of("data", "timecol", "gap");
        };
    }

    /** The arguments of a call by their places. */
    public static List<SqlNode> inOrder(String function, SqlCall call) {
        List<SqlNode> operands = call.getOperandList();
        if (operands.stream().noneMatch(operand -> operand.getKind() == SqlKind.ARGUMENT_ASSIGNMENT)) {
            return operands;
        }
        List<String> names = names(function);
        SqlNode[] placed = new SqlNode[names.size()];
        for (int i = 0; i < operands.size(); i++) {
            SqlNode operand = operands.get(i);
            boolean isNamed = operand.getKind() == SqlKind.ARGUMENT_ASSIGNMENT;
            int place = isNamed ? placeOf(function, names, (SqlIdentifier) ((SqlCall) operand).operand(1)) : i;
            if (place >= placed.length || placed[place] != null) {
                throw Errors.error(SqlState.SYNTAX_ERROR, "an argument too many", operand)
                        .withHint(usage(function));
            }
            placed[place] = isNamed ? ((SqlCall) operand).operand(0) : operand;
        }
        int required = names.size() - (names.contains("offset") ? 2 : 0);
        for (int i = 0; i < required; i++) {
            if (placed[i] == null) {
                throw Errors.error(
                                SqlState.UNDEFINED_FUNCTION,
                                function + " needs the argument " + names.get(i).toUpperCase(Locale.ROOT),
                                call)
                        .withHint(usage(function));
            }
        }
        return new ArrayList<>(Arrays.stream(placed).filter(Objects::nonNull).toList());
    }

    private static int placeOf(String function, List<String> names, SqlIdentifier name) {
        int place = names.indexOf(name.getSimple().toLowerCase(Locale.ROOT));
        if (place < 0) {
            throw Errors.suggest(
                            Errors.error(
                                    SqlState.UNDEFINED_FUNCTION,
                                    function + " has no argument \"" + name.getSimple() + "\"",
                                    name),
                            name.getSimple(),
                            names)
                    .withHint(usage(function));
        }
        return place;
    }
}
