package dev.millrace.sql.grammar;

import dev.millrace.sql.syntax.FileFunctions;
import dev.millrace.sql.syntax.Operators;
import dev.millrace.sql.syntax.TypeSpec;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.calcite.sql.JoinConditionType;
import org.apache.calcite.sql.JoinType;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlDataTypeSpec;
import org.apache.calcite.sql.SqlFunction;
import org.apache.calcite.sql.SqlFunctionCategory;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlJoin;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.sql.parser.SqlParserPos;

/**
 * Functions in FROM. One {@code WITH ORDINALITY} is a function of another name to the binder, and those whose columns the query
 * defines are sub-queries:
 *
 * <pre>
 * jsonb_to_recordset(j) AS x(a int, b text)
 * is read as
 * LATERAL (SELECT CAST("json value"(v -> 'a') AS int) AS a, .. FROM jsonb_array_elements(j) AS e(v)) AS x
 *
 * jsonb_populate_recordset(NULL::t, j) AS x
 * is read as
 * LATERAL (SELECT r.* FROM jsonb_array_elements(j) AS e(v), jsonb_populate_record(NULL::t, v) AS r) AS x
 * </pre>
 */
final class TableCallParser {
    private static final Set<String> DEFINED_BY_QUERY =
            Set.of("jsonb_to_record", "jsonb_to_recordset", "json_to_record", "json_to_recordset");

    private static final String ROW = "millrace_row";
    private static final String RECORD = "millrace_record";
    private static final String ROWS = "millrace_rows";

    private final Grammar grammar;
    private final Tokens tokens;

    TableCallParser(Grammar grammar) {
        this.grammar = grammar;
        this.tokens = grammar.tokens;
    }

    /** Whether a function is called at the place, by a name that may be qualified. */
    boolean isNext() {
        if (tokens.peek().isWord("rows")
                && tokens.peekAt(1).isWord("from")
                && tokens.peekAt(2).isSymbol("(")) {
            return true;
        }
        int name = 0;
        while (tokens.peekAt(name).isName() && tokens.peekAt(name + 1).isSymbol(".")) {
            name += 2;
        }
        return tokens.peekAt(name).isName()
                && (name > 0 || QueryWords.isName(tokens.peek()))
                && tokens.peekAt(name + 1).isSymbol("(");
    }

    /** {@code TABLE(f(..))}. */
    SqlNode explicit() {
        int start = tokens.place();
        tokens.next();
        tokens.next();
        int place = tokens.place();
        SqlNode call = grammar.calls.ofTable(grammar.primaries.path(tokens.queryName()), place);
        tokens.require(")");
        return SqlStdOperatorTable.COLLECTION_TABLE.createCall(tokens.positionFrom(start), call);
    }

    /** {@code 'plugs.csv'}: files by their name alone. */
    SqlNode files() {
        int start = tokens.place();
        SqlNode path = grammar.primaries.operand();
        if (!(path instanceof SqlLiteral)) {
            throw tokens.syntaxErrorAt(tokens.peekAt(-1));
        }
        return collection(table(FileFunctions.BY_NAME, path.getParserPosition(), List.of(path)), start);
    }

    SqlNode call() {
        int start = tokens.place();
        if (tokens.peek().isWord("unnest")) {
            return unnest();
        }
        if (tokens.peek().isWord("rows") && tokens.peekAt(1).isWord("from")) {
            return rowsFrom();
        }
        if (tokens.peek().isWord("range") && tokens.peekAt(1).isSymbol("(")) {
            return range();
        }
        SqlIdentifier name = grammar.primaries.path(tokens.queryName());
        SqlNode call = grammar.calls.ofTable(name, start);
        boolean records = name.isSimple() && name.getSimple().matches("jsonb?_populate_recordset");
        return records && call instanceof SqlCall read && read.operandCount() == 2
                ? populated(read, name, start)
                : collection(call, start);
    }

    /** {@code jsonb_populate_recordset(row, json)}: a record of each element. */
    private SqlNode populated(SqlCall call, SqlIdentifier name, int start) {
        SqlParserPos position = call.getParserPosition();
        SqlNode record =
                table("jsonb_populate_record", position, List.of(call.operand(0), SyntaxNodes.name(ROW, position)));
        SqlNode records = SqlStdOperatorTable.AS.createCall(
                position,
                SqlStdOperatorTable.LATERAL.createCall(
                        position, SqlStdOperatorTable.COLLECTION_TABLE.createCall(position, record)),
                SyntaxNodes.name(RECORD, position));
        SqlNode from = new SqlJoin(
                position,
                elements(asJson(call.operand(1), position), position),
                SqlLiteral.createBoolean(false, position),
                JoinType.COMMA.symbol(position),
                records,
                JoinConditionType.NONE.symbol(position),
                null);
        SqlNode all = SqlIdentifier.star(List.of(RECORD, ""), position, List.of(position, position));
        SqlNode select = SyntaxNodes.select(position, List.of(all), from, null, null);
        SqlNode rows = SqlStdOperatorTable.LATERAL.createCall(tokens.positionFrom(start), select);
        boolean named = tokens.peek().isWord("as") || QueryWords.isItemAlias(tokens);
        return named ? rows : SyntaxNodes.as(rows, name);
    }

    /** A call that was read, as a relation. */
    private SqlNode collection(SqlNode read, int start) {
        SqlNode call = read;
        if (tokens.acceptAll("with", "ordinality")) {
            call = numbered(call);
        }
        return SqlStdOperatorTable.COLLECTION_TABLE.createCall(tokens.positionFrom(start), call);
    }

    private static SqlNode numbered(SqlNode call) {
        SqlCall plain = (SqlCall) call;
        SqlIdentifier name = ((SqlFunction) plain.getOperator()).getSqlIdentifier();
        List<String> names = new ArrayList<>(name.names);
        names.set(names.size() - 1, names.get(names.size() - 1) + " with ordinality");
        return SyntaxNodes.function(
                new SqlIdentifier(names, name.getParserPosition()),
                plain.getParserPosition(),
                SqlFunctionCategory.USER_DEFINED_TABLE_FUNCTION,
                plain.getFunctionQuantifier(),
                plain.getOperandList());
    }

    private SqlNode unnest() {
        int start = tokens.place();
        tokens.next();
        SqlNodeList arrays = grammar.primaries.parenthesizedList();
        boolean numbered = tokens.acceptAll("with", "ordinality");
        return (numbered ? SqlStdOperatorTable.UNNEST_WITH_ORDINALITY : SqlStdOperatorTable.UNNEST)
                .createCall(tokens.positionFrom(start), arrays.getList());
    }

    /** {@code ROWS FROM (f(..), g(..))}. */
    private SqlNode rowsFrom() {
        int start = tokens.place();
        Lexeme rows = tokens.next();
        SqlIdentifier name = SyntaxNodes.name("rows from", Tokens.position(rows));
        tokens.next();
        return collection(grammar.calls.ofTable(name, start), start);
    }

    /** DuckDB's {@code range(a, b)} as generate_series of all but its end. */
    private SqlNode range() {
        int start = tokens.place();
        tokens.next();
        boolean down = false;
        boolean wholeStep = false;
        List<SqlNode> bounds = new ArrayList<>();
        tokens.require("(");
        do {
            down = tokens.peek().isSymbol("-");
            int sign = down ? 1 : 0;
            wholeStep = tokens.peekAt(sign).kind() == Kind.INTEGER
                    && tokens.peekAt(sign + 1).isSymbol(")");
            bounds.add(grammar.primaries.queryOrExpression());
        } while (tokens.acceptComma());
        if (bounds.size() > 3 || !tokens.acceptSymbol(")")) {
            throw tokens.unexpected();
        }
        SqlParserPos position = tokens.positionFrom(start);
        if (bounds.size() == 3 && !wholeStep) { // of any type and sign
            SqlNode list = SyntaxNodes.function(SyntaxNodes.name("range", position), position, bounds);
            return collection(table("unnest", position, List.of(list)), start);
        }
        SqlLiteral zero = SqlLiteral.createExactNumeric("0", position);
        SqlLiteral one = SqlLiteral.createExactNumeric("1", position);
        SqlNode first = bounds.size() == 1 ? zero : bounds.get(0);
        SqlNode end = bounds.get(bounds.size() == 1 ? 0 : 1);
        boolean plus = bounds.size() == 3 && down;
        List<SqlNode> arguments = new ArrayList<>();
        arguments.add(first);
        arguments.add((plus ? SqlStdOperatorTable.PLUS : SqlStdOperatorTable.MINUS).createCall(position, end, one));
        if (bounds.size() == 3) {
            arguments.add(bounds.get(2));
        }
        return collection(table("generate_series", position, arguments), start);
    }

    private static SqlNode table(String function, SqlParserPos position, List<SqlNode> arguments) {
        return SyntaxNodes.function(
                SyntaxNodes.name(function, position),
                position,
                SqlFunctionCategory.USER_DEFINED_TABLE_FUNCTION,
                null,
                arguments);
    }

    // ---- columns that the query defines ----------------------------------------------------------------------------

    /** A function with its column definitions, named; empty, at the same place, for any other item. */
    Optional<SqlNode> withColumnDefinitions(int start) {
        Lexeme function = tokens.peek();
        if (!function.isName()
                || !DEFINED_BY_QUERY.contains(function.text())
                || !tokens.peekAt(1).isSymbol("(")) {
            return Optional.empty();
        }
        int place = tokens.place();
        tokens.next();
        tokens.next();
        int jsonPlace = tokens.place();
        if (tokens.peek().isSymbol(")")) {
            tokens.backTo(place);
            return Optional.empty();
        }
        SqlNode json = grammar.primaries.queryOrExpression();
        if (!tokens.acceptSymbol(")")) {
            tokens.backTo(place);
            return Optional.empty();
        }
        tokens.accept("as");
        Lexeme alias = tokens.peek().isName() ? tokens.next() : function;
        boolean defined = tokens.peek().isSymbol("(")
                && tokens.peekAt(1).isName()
                && !tokens.peekAt(2).isSymbol(",")
                && !tokens.peekAt(2).isSymbol(")");
        if (!defined) { // names alone, which the binder refuses
            tokens.backTo(place);
            return Optional.empty();
        }
        boolean set = function.text().endsWith("set");
        SqlParserPos position = Tokens.position(function);
        Supplier<SqlNode> row = set
                ? () -> SyntaxNodes.name(ROW, position)
                : () -> asJson(grammar.again(jsonPlace, grammar.primaries::queryOrExpression), position);
        List<SqlNode> columns = columns(row, position);
        SqlNode from = set ? elements(asJson(json, position), position) : null;
        SqlNode select = SyntaxNodes.select(position, columns, from, null, null);
        return Optional.of(SyntaxNodes.as(
                SqlStdOperatorTable.LATERAL.createCall(tokens.positionFrom(start), select), tokens.named(alias)));
    }

    private static SqlNode elements(SqlNode json, SqlParserPos position) {
        SqlNode call = SqlStdOperatorTable.COLLECTION_TABLE.createCall(
                position, table("jsonb_array_elements", position, List.of(json)));
        return SqlStdOperatorTable.AS.createCall(
                position, call, SyntaxNodes.name(ROWS, position), SyntaxNodes.name(ROW, position));
    }

    private static SqlNode asJson(SqlNode value, SqlParserPos position) {
        TypeSpec type = new TypeSpec(SyntaxNodes.name("jsonb", position), TypeSpec.NONE, TypeSpec.NONE, 0, position);
        return SyntaxNodes.cast(value, new SqlDataTypeSpec(type, position), position);
    }

    private List<SqlNode> columns(Supplier<SqlNode> row, SqlParserPos position) {
        List<SqlNode> columns = new ArrayList<>();
        tokens.next();
        do {
            SqlIdentifier name = tokens.label();
            columns.add(SyntaxNodes.as(value(row.get(), name, grammar.types.dataType(), position), name));
        } while (tokens.acceptComma());
        tokens.require(")");
        return columns;
    }

    /** The value of a key of a row, as a type. */
    private static SqlNode value(SqlNode row, SqlIdentifier key, SqlDataTypeSpec as, SqlParserPos position) {
        SqlNode name = SyntaxNodes.text(key.getSimple(), position);
        SqlNode field = Operators.infix("->").createCall(position, row, name);
        return SyntaxNodes.cast(SyntaxNodes.function("json value", position, field), as, position);
    }
}
