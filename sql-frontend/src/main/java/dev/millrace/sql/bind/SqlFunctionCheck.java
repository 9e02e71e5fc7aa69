package dev.millrace.sql.bind;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.bind.expression.ExpressionBinder;
import dev.millrace.sql.bind.query.FromBinder;
import dev.millrace.sql.bind.query.QueryBinder;
import dev.millrace.sql.bind.scope.Clause;
import dev.millrace.sql.bind.scope.InlinedFunction;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.scope.Scope;
import dev.millrace.sql.bind.type.Coercions.Strength;
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

    static void check(
            QueryContext context, String name, List<Field> parameters, DataType returns, String body, boolean table) {
        String arguments = parameters.stream()
                .map(parameter -> "CAST(NULL AS " + parameter.type() + ")")
                .collect(Collectors.joining(", "));
        SqlCall call = (SqlCall) StatementParser.parseExpression("f(" + arguments + ")");
        UserFunction.Kind kind = table ? UserFunction.Kind.SQL_TABLE : UserFunction.Kind.SQL;
        UserFunction function = new UserFunction(name, kind, parameters, returns, body);
        if (table) {
            QueryBinder queries = new QueryBinder(context, Optional.empty());
            new FromBinder(context, queries, Optional.empty()).inlined(function, call.getOperandList(), call);
            requireNoFiles(context);
            return;
        }
        SqlNode expression = InlinedFunction.body(function, call.getOperandList(), call);
        ExpressionBinder binder =
                new ExpressionBinder(context, Scope.empty(Optional.empty(), context), Clause.plain("a SQL function"));
        context.coercions().convert(binder.bind(expression), returns, Strength.ASSIGNMENT, expression);
        requireNoFiles(context);
    }

    private static void requireNoFiles(QueryContext context) {
        if (!context.files().isEmpty()) {
            throw MillraceException.user(
                            SqlState.FEATURE_NOT_SUPPORTED, "files in FROM are read once, and a function is kept")
                    .withHint("CREATE STREAM s WITH (connector = 'file', path = '..'), and read s");
        }
    }
}
