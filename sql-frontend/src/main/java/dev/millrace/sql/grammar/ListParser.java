package dev.millrace.sql.grammar;

import dev.millrace.sql.syntax.TypeSpec;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.calcite.sql.SqlDataTypeSpec;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlOrderBy;
import org.apache.calcite.sql.fun.SqlCase;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.sql.parser.SqlParserPos;

/**
 * Arrays and their parts, and DuckDB's lists, lambdas and structs:
 *
 * <pre>
 * a[2:3]                          a["slice bounds"(2, 3)]
 * [1, 2]                          ARRAY[1, 2]
 * {'a': 1}, struct_pack(a := 1)   "row of"('a', 1)
 * [x + 1 FOR x IN l IF x > 0]     CASE WHEN l IS NOT NULL THEN ARRAY(SELECT x + 1 FROM unnest(l) .. WHERE x > 0
 *                                 ORDER BY its place) END
 * list_transform(l, x -> x + 1)   likewise, and |x| x + 1
 * </pre>
 */
final class ListParser {
    private static final String SLICE_BOUNDS = "slice bounds";
    private static final String ELEMENTS = "millrace_elements";
    private static final String PLACE = "millrace_place";

    private static final Set<String> MAPPING =
            Set.of("list_transform", "list_apply", "array_transform", "array_apply", "apply");
    private static final Set<String> FILTERING = Set.of("list_filter", "array_filter", "filter");

    /** A variable that a lambda or a loop has, and one for its place in the list. */
    private record Variables(String element, String place) {}

    private final Grammar grammar;
    private final Tokens tokens;

    ListParser(Grammar grammar) {
        this.grammar = grammar;
        this.tokens = grammar.tokens;
    }

    static boolean takesLambda(String function) {
        return MAPPING.contains(function) || FILTERING.contains(function);
    }

    // ---- subscripts ------------------------------------------------------------------------------------------------

    /** {@code [1]} or {@code [1:2]}, behind what is subscripted. */
    SqlNode subscript(SqlNode operand) {
        tokens.next();
        int start = tokens.place();
        SqlNode index = bound();
        if (tokens.peek().isSymbol(":")) {
            List<SqlNode> bounds = new ArrayList<>();
            bounds.add(index);
            while (bounds.size() < 3 && tokens.acceptSymbol(":")) {
                bounds.add(bound());
            }
            SqlParserPos position = tokens.positionFrom(start);
            index = SyntaxNodes.function(SyntaxNodes.name(SLICE_BOUNDS, position), position, bounds);
        }
        SqlParserPos end = Tokens.position(tokens.peek());
        tokens.require("]");
        return SqlStdOperatorTable.ITEM.createCall(end, operand, index);
    }

    /** NULL is a bound that was left out; one that is written is an integer. */
    private SqlNode bound() {
        Lexeme next = tokens.peek();
        boolean missing =
                next.isSymbol(":") || next.isSymbol("]") && tokens.peekAt(-1).isSymbol(":");
        if (missing) {
            return SqlLiteral.createNull(Tokens.position(next));
        }
        SqlNode bound = grammar.expressions.expression();
        SqlParserPos position = bound.getParserPosition();
        TypeSpec integer =
                new TypeSpec(SyntaxNodes.name("integer", position), TypeSpec.NONE, TypeSpec.NONE, 0, position);
        return bound instanceof SqlLiteral literal && literal.getValue() == null
                ? SyntaxNodes.cast(bound, new SqlDataTypeSpec(integer, position), position)
                : bound;
    }

    // ---- lists -----------------------------------------------------------------------------------------------------

    /** {@code [1, 2]}, or {@code [x + 1 FOR x IN list IF x > 0]}. */
    SqlNode list() {
        return array(tokens.place());
    }

    /** From the bracket on; the array begins at a place. */
    SqlNode array(int start) {
        tokens.next();
        List<SqlNode> values = new ArrayList<>();
        if (!tokens.peek().isSymbol("]")) {
            do {
                values.add(grammar.expressions.expression());
                if (values.size() == 1 && tokens.peek().isWord("for")) {
                    SqlNode loop = loop(values.get(0), start);
                    return loop;
                }
            } while (tokens.acceptComma());
        }
        tokens.require("]");
        return SqlStdOperatorTable.ARRAY_VALUE_CONSTRUCTOR.createCall(tokens.positionFrom(start), values);
    }

    private SqlNode loop(SqlNode value, int start) {
        tokens.next();
        String variable = tokens.queryName().getSimple();
        tokens.requireWord("in");
        int place = tokens.place();
        SqlNode list = grammar.expressions.expression();
        Optional<SqlNode> condition =
                tokens.accept("if") ? Optional.of(grammar.expressions.expression()) : Optional.empty();
        tokens.require("]");
        return elements(new Variables(variable, PLACE), value, list, place, condition, start);
    }

    /** What is made of the elements of a list, in their order; NULL of none. */
    private SqlNode elements(
            Variables variables, SqlNode value, SqlNode list, int listPlace, Optional<SqlNode> condition, int start) {
        SqlParserPos position = tokens.positionFrom(start);
        SqlNode same = grammar.again(listPlace, grammar.expressions::expression);
        SqlIdentifier place = SyntaxNodes.name(variables.place, position);
        SqlNode rows = SqlStdOperatorTable.AS.createCall(
                position,
                SqlStdOperatorTable.UNNEST_WITH_ORDINALITY.createCall(position, same),
                SyntaxNodes.name(ELEMENTS, position),
                SyntaxNodes.name(variables.element, position),
                place);
        SqlNode select = SyntaxNodes.select(position, List.of(value), rows, condition.orElse(null), null);
        SqlNode ordered = new SqlOrderBy(
                position, select, SqlNodeList.of(SyntaxNodes.name(variables.place, position)), null, null);
        SqlNode array = SqlStdOperatorTable.ARRAY_QUERY.createCall(position, ordered);
        return SqlCase.createSwitched(
                position,
                null,
                SqlNodeList.of(SqlStdOperatorTable.IS_NOT_NULL.createCall(position, list)),
                SqlNodeList.of(array),
                null);
    }

    // ---- lambdas ---------------------------------------------------------------------------------------------------

    /** Whether {@code x -> ..}, {@code (x, i) -> ..}, {@code lambda x: ..} or RisingWave's {@code |x| ..} stands here. */
    boolean isLambda() {
        if (tokens.peek().isSymbol("|")
                && tokens.peekAt(1).isName()
                && tokens.peekAt(2).isSymbol("|")) {
            return true;
        }
        if (tokens.peek().isWord("lambda") && tokens.peekAt(1).isName()) {
            return true;
        }
        if (tokens.peek().isName()) {
            return tokens.peekAt(1).isSymbol("->");
        }
        if (!tokens.peek().isSymbol("(") || !tokens.peekAt(1).isName()) {
            return false;
        }
        int end = tokens.peekAt(2).isSymbol(",") && tokens.peekAt(3).isName() ? 4 : 2;
        return tokens.peekAt(end).isSymbol(")") && tokens.peekAt(end + 1).isSymbol("->");
    }

    /**
     * The rest of a call from its lambda on.
     *
     * @param listPlace of the first argument
     */
    SqlNode mapped(SqlIdentifier function, int listPlace, SqlNode list) {
        boolean worded = tokens.accept("lambda");
        boolean barred = tokens.acceptSymbol("|");
        boolean parenthesized = !worded && tokens.acceptSymbol("(");
        String element = tokens.label().getSimple();
        String place = PLACE;
        if ((worded || parenthesized) && tokens.acceptSymbol(",")) {
            place = tokens.label().getSimple();
        }
        boolean closed = !parenthesized || tokens.acceptSymbol(")");
        if (!closed || !tokens.acceptSymbol(worded ? ":" : barred ? "|" : "->")) {
            throw tokens.unexpected();
        }
        SqlNode body = grammar.expressions.expression();
        tokens.require(")");
        int start = listPlace - 2;
        boolean maps = MAPPING.contains(function.getSimple());
        SqlNode value = maps ? body : SyntaxNodes.name(element, function.getParserPosition());
        return elements(
                new Variables(element, place),
                value,
                list,
                listPlace,
                maps ? Optional.empty() : Optional.of(body),
                start);
    }

    // ---- structs ---------------------------------------------------------------------------------------------------

    /** {@code {'a': 1, b: 2}}. */
    SqlNode struct() {
        int start = tokens.place();
        tokens.next();
        List<SqlNode> namesAndValues = new ArrayList<>();
        do {
            Lexeme name = tokens.peek();
            if (name.kind() != Kind.STRING && !name.isName()) {
                throw tokens.unexpected();
            }
            tokens.next();
            tokens.require(":");
            namesAndValues.add(SyntaxNodes.text(name.text(), Tokens.position(name)));
            namesAndValues.add(grammar.expressions.expression());
        } while (tokens.acceptComma());
        tokens.require("}");
        return CallParser.rowOf(namesAndValues, tokens.positionFrom(start));
    }

    /** {@code struct_pack(a := 1)}. */
    SqlNode structPack() {
        int start = tokens.place();
        tokens.next();
        tokens.next();
        List<SqlNode> namesAndValues = new ArrayList<>();
        do {
            Lexeme name = tokens.peek();
            if (!name.isName()) {
                throw tokens.unexpected();
            }
            tokens.next();
            if (!tokens.acceptSymbol(":") || !tokens.acceptSymbol("=")) {
                throw tokens.unexpected();
            }
            namesAndValues.add(SyntaxNodes.text(name.text(), Tokens.position(name)));
            namesAndValues.add(grammar.expressions.expression());
        } while (tokens.acceptComma());
        tokens.require(")");
        return CallParser.rowOf(namesAndValues, tokens.positionFrom(start));
    }
}
