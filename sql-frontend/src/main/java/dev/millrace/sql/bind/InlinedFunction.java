package dev.millrace.sql.bind;

import dev.millrace.error.SqlState;
import dev.millrace.sql.catalog.UserFunction;
import dev.millrace.sql.parser.StatementParser;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexer;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.util.List;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.sql.util.SqlShuttle;

/** Calls of functions that are short for an expression: the expression takes the call's place. */
final class InlinedFunction {
    private static final String ARGUMENT = "arg";

    /** What the number of a parameter is put behind. */
    private static final String NUMBERED = "millrace_parameter_";

    private InlinedFunction() {}

    /** A user's SQL function: its body with the call's operands, as values of their types, in the places of parameters. */
    static SqlNode call(UserFunction function, SqlCall call) {
        String body = numbered(function.code());
        return StatementParser.parseExpression(body).accept(new SqlShuttle() {
            @Override
            public SqlNode visit(SqlIdentifier identifier) {
                List<String> names = identifier.names;
                String name = names.get(names.size() - 1);
                boolean own =
                        names.size() == 1 || names.size() == 2 && names.get(0).equals(function.name());
                for (int i = 0; own && i < function.parameters().size(); i++) {
                    Field parameter = function.parameters().get(i);
                    if (parameter.name().equals(name) || name.equals(NUMBERED + (i + 1))) {
                        return cast(call.operand(i), parameter.type());
                    }
                }
                return identifier;
            }
        });
    }

    /** {@code $1} as a name, which can stand for an operand. */
    private static String numbered(String body) {
        StringBuilder text = new StringBuilder();
        int at = 0;
        for (Lexeme lexeme : Lexer.tokens(body)) {
            if (lexeme.kind() == Lexeme.Kind.PARAMETER) {
                text.append(body, at, lexeme.start()).append(NUMBERED).append(lexeme.text());
                at = lexeme.end();
            }
        }
        return text.append(body.substring(at)).toString();
    }

    /** A node as a value of a type. */
    static SqlNode cast(SqlNode node, DataType type) {
        SqlNode shape = StatementParser.parseExpression("CAST(NULL AS " + type + ")");
        return SqlStdOperatorTable.CAST.createCall(node.getParserPosition(), node, ((SqlCall) shape).operand(1));
    }

    /**
     * The expression with the call's operands in the places of its arguments.
     *
     * <pre>
     *   pg_table_is_visible(c.oid)   with body   arg1 IS NOT NULL   is   c.oid IS NOT NULL
     * </pre>
     */
    static SqlNode call(String body, SqlCall call) {
        return of(body, call.getOperandList(), call);
    }

    static SqlNode of(String body, List<SqlNode> operands, SqlNode call) {
        return StatementParser.parseExpression(body).accept(new SqlShuttle() {
            @Override
            public SqlNode visit(SqlIdentifier identifier) {
                String name = identifier.isSimple() ? identifier.getSimple() : "";
                if (!name.startsWith(ARGUMENT) || name.length() != ARGUMENT.length() + 1) {
                    return identifier;
                }
                int number = name.charAt(ARGUMENT.length()) - '0';
                if (number > operands.size()) {
                    throw Errors.error(SqlState.UNDEFINED_FUNCTION, "too few arguments", call);
                }
                return operands.get(number - 1);
            }
        });
    }
}
