package dev.millrace.sql.bind.expression;

import dev.millrace.error.SqlState;
import dev.millrace.sql.bind.type.Errors;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlSelectKeyword;

/** An aggregate call taken apart. */
public record AggregateSyntax(
        String name,
        List<SqlNode> arguments,
        boolean distinct,
        Optional<SqlNode> filter,
        List<SqlNode> ordering,
        boolean ignoreNulls) {

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
                return new AggregateSyntax(
                        inner.name,
                        inner.arguments,
                        inner.distinct,
                        inner.filter,
                        ((SqlNodeList) call.operand(1)).getList(),
                        inner.ignoreNulls);
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
}
