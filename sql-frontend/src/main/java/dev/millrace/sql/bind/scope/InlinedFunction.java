package dev.millrace.sql.bind.scope;

import dev.millrace.error.SqlState;
import dev.millrace.sql.bind.function.BuiltInFunctions;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.sql.catalog.UserFunction;
import dev.millrace.sql.parser.StatementParser;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexer;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import dev.millrace.type.Field;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.sql.util.SqlShuttle;

/**
 * Functions that are short for an expression or a query, which takes the call's place with the call's operands in the
 * places of the parameters: users' SQL functions, those over PostgreSQL's catalog, and {@link BuiltInFunctions}.
 *
 * <pre>
 *   fahrenheit(t.c)   with body   SELECT celsius * 9 / 5 + 32   is   CAST(t.c AS double precision) * 9 / 5 + 32
 * </pre>
 */
public final class InlinedFunction {
    /** What the number of a parameter is put behind. */
    private static final String NUMBERED = "millrace_parameter_";

    private InlinedFunction() {}

    /** The body of a function called with these operands, perhaps fewer than it has parameters, perhaps by name. */
    public static SqlNode body(UserFunction function, List<SqlNode> operands, SqlNode where) {
        List<SqlNode> arguments = arguments(function, operands, where);
        String text = numbered(function.code());
        SqlNode body = function.kind() == UserFunction.Kind.SQL_TABLE
                ? StatementParser.parseQuery(text)
                : StatementParser.parseExpression(text);
        return body.accept(new SqlShuttle() {
            @Override
            public SqlNode visit(SqlCall call) {
                if (call.getKind() != SqlKind.AS) {
                    return super.visit(call);
                }
                SqlNode named = call.operand(0).accept(this); // the names it gives are none of ours
                List<SqlNode> all = new ArrayList<>(call.getOperandList());
                all.set(0, named);
                return call.getOperator().createCall(call.getParserPosition(), all);
            }

            @Override
            public SqlNode visit(SqlIdentifier identifier) {
                List<String> names = identifier.names;
                String name = names.get(names.size() - 1);
                boolean own =
                        names.size() == 1 || names.size() == 2 && names.get(0).equals(function.plainName());
                for (int i = 0; own && i < function.parameters().size(); i++) {
                    Field parameter = function.parameters().get(i);
                    if (parameter.name().equals(name) || name.equals(NUMBERED + (i + 1))) {
                        return cast(arguments.get(i), parameter.type());
                    }
                }
                return identifier;
            }
        });
    }

    /** Operands whose columns a query around them cannot take for its own. */
    public static List<SqlNode> qualified(List<SqlNode> operands, Scope scope) {
        SqlShuttle qualify = new SqlShuttle() {
            @Override
            public SqlNode visit(SqlCall call) {
                return call.getKind().belongsTo(SqlKind.QUERY) ? call : super.visit(call); // has names of its own
            }

            @Override
            public SqlNode visit(SqlIdentifier name) {
                if (name.isStar() || name instanceof OperandName) {
                    return name;
                }
                for (Optional<Scope> at = Optional.of(scope);
                        at.isPresent();
                        at = at.get().outer()) {
                    Optional<Scope.Column> column = at.get().find(name);
                    if (column.isPresent()) {
                        List<String> names =
                                name.isSimple() && !column.get().qualifier().isEmpty()
                                        ? column.get().names()
                                        : name.names;
                        return new OperandName(names, name.getParserPosition(), at.get());
                    }
                }
                return name;
            }
        };
        return operands.stream().map(operand -> operand.accept(qualify)).toList();
    }

    /** An operand for each parameter. */
    public static List<SqlNode> arguments(UserFunction function, List<SqlNode> operands, SqlNode where) {
        int count = function.parameters().size();
        List<SqlNode> arguments = new ArrayList<>(Collections.nCopies(count, where));
        boolean[] given = new boolean[count];
        for (int i = 0; i < operands.size(); i++) {
            SqlNode operand = operands.get(i);
            int place = i;
            if (operand.getKind() == SqlKind.ARGUMENT_ASSIGNMENT) {
                place = place(function, ((SqlIdentifier) ((SqlCall) operand).operand(1)).getSimple());
                operand = ((SqlCall) operand).operand(0);
            }
            if (place >= count && place == i && function.returns().kind() == Kind.NULL) {
                continue; // PostgreSQL has forms of it with more arguments, which make no difference here
            }
            if (place < 0 || place >= count || given[place]) {
                throw wrongArguments(function, where);
            }
            given[place] = true;
            arguments.set(place, operand);
        }
        for (int i = 0; i < count; i++) {
            if (!given[i] && i < function.leastArguments()) {
                throw wrongArguments(function, where);
            }
            if (!given[i]) {
                arguments.set(
                        i, StatementParser.parseExpression(function.defaults().get(i - function.leastArguments())));
            }
        }
        return arguments;
    }

    private static int place(UserFunction function, String name) {
        for (int i = 0; i < function.parameters().size(); i++) {
            if (function.parameters().get(i).name().equals(name)) {
                return i;
            }
        }
        return -1;
    }

    private static RuntimeException wrongArguments(UserFunction function, SqlNode where) {
        int least = function.leastArguments();
        int most = function.parameters().size();
        return Errors.error(
                        SqlState.UNDEFINED_FUNCTION,
                        "function " + function.name() + " with these arguments does not exist",
                        where)
                .withHint("it takes "
                        + (least == most ? most + " arguments: " : least + " to " + most + " arguments: ")
                        + String.join(
                                ", ",
                                function.parameters().stream().map(Field::name).toList()));
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

    /** A node as a value of a type; of the type NULL as it is. */
    public static SqlNode cast(SqlNode node, DataType type) {
        if (type.kind() == Kind.NULL) {
            return node;
        }
        SqlNode shape = StatementParser.parseExpression("CAST(NULL AS " + type + ")");
        return SqlStdOperatorTable.CAST.createCall(node.getParserPosition(), node, ((SqlCall) shape).operand(1));
    }
}
