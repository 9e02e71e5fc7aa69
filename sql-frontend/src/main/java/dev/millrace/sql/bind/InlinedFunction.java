package dev.millrace.sql.bind;

import dev.millrace.error.SqlState;
import dev.millrace.sql.parser.StatementParser;
import java.util.List;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.util.SqlShuttle;

/** Calls of functions that are short for an expression: the expression takes the call's place. */
final class InlinedFunction {
    private static final String ARGUMENT = "arg";

    private InlinedFunction() {}

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
