package dev.millrace.sql.bind.expression;

import dev.millrace.error.SqlState;
import dev.millrace.sql.bind.type.Errors;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlSelectKeyword;
import org.apache.calcite.util.Litmus;

/** An aggregate call taken apart. */
public record AggregateSyntax(
        String name,
        List<SqlNode> arguments,
        boolean distinct,
        Optional<SqlNode> filter,
        List<SqlNode> ordering,
        boolean ignoreNulls) {

    /** Aggregates whose answer is in the order of their values. */
    private static final Set<String> ORDERED_ARGUMENTS =
            Set.of("string_agg", "array_agg", "json_agg", "jsonb_agg", "list", "listagg", "group_concat");

    /** The parts of the call that may read columns. */
    Stream<SqlNode> parts() {
        return Stream.of(arguments.stream(), filter.stream(), ordering.stream()).flatMap(part -> part);
    }

    public static AggregateSyntax of(SqlCall call) {
        switch (call.getKind()) {
            case FILTER -> {
                AggregateSyntax inner = of(call.operand(0));
                return new AggregateSyntax(
                        inner.name,
                        inner.arguments,
                        inner.distinct,
                        Optional.of(call.operand(1)),
                        inner.ordering,
                        inner.ignoreNulls);
            }
            case WITHIN_GROUP -> {
                AggregateSyntax inner = of(call.operand(0));
                List<SqlNode> ordering = ((SqlNodeList) call.operand(1)).getList();
                if (inner.distinct && ORDERED_ARGUMENTS.contains(inner.name)) {
                    ordering.forEach(key -> requireArgument(inner, key));
                }
                return new AggregateSyntax(
                        inner.name, inner.arguments, inner.distinct, inner.filter, ordering, inner.ignoreNulls);
            }
            case RESPECT_NULLS -> {
                return of(call.operand(0));
            }
            case IGNORE_NULLS -> {
                AggregateSyntax inner = of(call.operand(0));
                return new AggregateSyntax(
                        inner.name, inner.arguments, inner.distinct, inner.filter, inner.ordering, true);
            }
            default -> {
                String name = FunctionNames.of(call)
                        .orElseThrow(() -> Errors.error(
                                SqlState.SYNTAX_ERROR, "FILTER and WITHIN GROUP belong to aggregates", call));
                SqlLiteral quantifier = call.getFunctionQuantifier();
                boolean distinct = quantifier != null && quantifier.getValue() == SqlSelectKeyword.DISTINCT;
                return new AggregateSyntax(name, call.getOperandList(), distinct, Optional.empty(), List.of(), false);
            }
        }
    }

    /** Of values that are equal one is left, of which only what is an argument is known, or what an argument is a cast of. */
    private static void requireArgument(AggregateSyntax call, SqlNode key) {
        SqlNode plain = key;
        while (plain.isA(Set.of(SqlKind.DESCENDING, SqlKind.NULLS_FIRST, SqlKind.NULLS_LAST))) {
            plain = ((SqlCall) plain).operand(0);
        }
        SqlNode ordered = plain;
        boolean isKnown = call.arguments.stream()
                .flatMap(argument -> argument.getKind() == SqlKind.CAST
                        ? Stream.of(argument, ((SqlCall) argument).operand(0))
                        : Stream.of(argument))
                .anyMatch(argument -> argument.equalsDeep(ordered, Litmus.IGNORE));
        if (!isKnown) {
            throw Errors.error(
                    SqlState.INVALID_COLUMN_REFERENCE,
                    "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list",
                    plain);
        }
    }
}
