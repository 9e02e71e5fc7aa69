package dev.millrace.sql.bind;

import dev.millrace.sql.bind.Coercions.Strength;
import dev.millrace.sql.catalog.UserFunction;
import dev.millrace.sql.parser.StatementParser;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlNode;

/** Binds the body of a new SQL function over NULLs of its parameters' types: what is wrong with it is said at CREATE. */
final class SqlFunctionCheck {
    private SqlFunctionCheck() {}

    static void check(QueryContext context, String name, List<Field> parameters, DataType returns, String body) {
        String arguments = parameters.stream()
                .map(parameter -> "CAST(NULL AS " + parameter.type() + ")")
                .collect(Collectors.joining(", "));
        SqlCall call = (SqlCall) StatementParser.parseExpression("f(" + arguments + ")");
        UserFunction function = new UserFunction(name, UserFunction.Kind.SQL, parameters, returns, body);
        SqlNode expression = InlinedFunction.call(function, call);
        ExpressionBinder binder =
                new ExpressionBinder(context, Scope.empty(Optional.empty(), context), Clause.plain("a SQL function"));
        context.coercions().convert(binder.bind(expression), returns, Strength.ASSIGNMENT, expression);
    }
}
