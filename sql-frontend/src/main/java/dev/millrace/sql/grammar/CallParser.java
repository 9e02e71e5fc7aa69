package dev.millrace.sql.grammar;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.syntax.FileFunctions;
import dev.millrace.sql.syntax.FromClauses;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.apache.calcite.sql.SqlFunctionCategory;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlNumericLiteral;
import org.apache.calcite.sql.SqlOperator;
import org.apache.calcite.sql.SqlSelectKeyword;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.sql.parser.SqlParserPos;
import org.jspecify.annotations.Nullable;

/** Calls of functions, their arguments, and FILTER, WITHIN GROUP and OVER behind them. */
final class CallParser {
    private static final Set<String> FORMS_OF_UNICODE = Set.of("nfc", "nfd", "nfkc", "nfkd");
    private static final Set<String> REDUCING = Set.of("list_reduce", "array_reduce", "reduce");

    private final Grammar grammar;
    private final Tokens tokens;

    CallParser(Grammar grammar) {
        this.grammar = grammar;
        this.tokens = grammar.tokens;
    }

    /** Arguments that were read, with what stands among them. */
    private static final class Arguments {
        private final List<SqlNode> values = new ArrayList<>();
        private @Nullable SqlLiteral quantifier; // null for none, as Calcite has it
        private Optional<SqlNodeList> order = Optional.empty();
        private Optional<SqlOperator> nulls = Optional.empty();
        private Optional<SqlNode> whole = Optional.empty(); // what a lambda makes of the call
        private SqlParserPos nullsPosition = SqlParserPos.ZERO;
    }

    // ---- by the name -----------------------------------------------------------------------------------------------

    /** A call by an unquoted name of one word. */
    SqlNode word(String word) {
        int place = tokens.place();
        Optional<SqlNode> wordy = grammar.wordy.call(word);
        if (wordy.isPresent()) {
            return wordy.get();
        }
        switch (word) {
            case "struct_pack" -> {
                return grammar.lists.structPack();
            }
            case "columns" -> {
                Optional<SqlNode> columns = grammar.stars.columns();
                if (columns.isPresent()) {
                    return columns.get();
                }
            }
            case "first", "last", "next" -> {
                if (grammar.matches.isInside()) {
                    return navigation(word);
                }
            }
            default -> {}
        }
        return call(tokens.queryName(), place);
    }

    /** {@code current_date}, {@code current_date()}, {@code localtime(3)}. */
    SqlNode valueFunction() {
        int place = tokens.place();
        SqlIdentifier name = tokens.named(tokens.next());
        List<SqlNode> digits = new ArrayList<>();
        if (tokens.acceptSymbol("(")) {
            if (tokens.peek().kind() == Kind.INTEGER) {
                digits.add(grammar.primaries.number());
            }
            tokens.require(")");
        }
        return SyntaxNodes.function(name, tokens.positionFrom(place), digits);
    }

    /** FIRST, LAST and NEXT of a row of a match. */
    private SqlNode navigation(String word) {
        int place = tokens.place();
        tokens.next();
        tokens.next();
        List<SqlNode> operands = new ArrayList<>();
        operands.add(grammar.expressions.expression());
        if (tokens.acceptSymbol(",")) {
            SqlNode offset = grammar.expressions.expression();
            if (!(offset instanceof SqlNumericLiteral)) {
                throw MillraceException.user(
                                SqlState.SYNTAX_ERROR,
                                "the offset of " + word.toUpperCase(Locale.ROOT) + " must be a number")
                        .at(offset.getParserPosition().getColumnNum());
            }
            operands.add(offset);
        } else {
            operands.add(SqlLiteral.createExactNumeric(word.equals("next") ? "1" : "0", SqlParserPos.ZERO));
        }
        tokens.require(")");
        SqlOperator operator = switch (word) {
            case "first" -> SqlStdOperatorTable.FIRST;
            case "last" -> SqlStdOperatorTable.LAST;
            default -> SqlStdOperatorTable.NEXT;
        };
        return operator.createCall(tokens.positionFrom(place), operands);
    }

    // ---- any function ----------------------------------------------------------------------------------------------

    /**
     * A call behind its name, with what may follow it.
     *
     * @param place of the name
     */
    SqlNode call(SqlIdentifier name, int place) {
        Arguments arguments = arguments(name, false);
        if (arguments.whole.isPresent()) {
            return arguments.whole.get();
        }
        SqlNode call = made(name, place, arguments, SqlFunctionCategory.USER_DEFINED_FUNCTION);
        if (arguments.nulls.isPresent()) {
            call = arguments.nulls.get().createCall(arguments.nullsPosition, call);
        }
        call = nullTreatment(call);
        if (arguments.order.isPresent()) {
            call = SqlStdOperatorTable.WITHIN_GROUP.createCall(tokens.positionFrom(place), call, arguments.order.get());
        }
        return behind(call);
    }

    /** A call without anything behind it. */
    SqlNode plain(SqlIdentifier name, int place) {
        Arguments arguments = arguments(name, false);
        return arguments.whole.isPresent()
                ? arguments.whole.get()
                : made(name, place, arguments, SqlFunctionCategory.USER_DEFINED_FUNCTION);
    }

    /** A call in FROM, whose arguments may be relations with an order. */
    SqlNode ofTable(SqlIdentifier name, int place) {
        return made(name, place, arguments(name, true), SqlFunctionCategory.USER_DEFINED_TABLE_FUNCTION);
    }

    private SqlNode made(SqlIdentifier name, int place, Arguments arguments, SqlFunctionCategory category) {
        return SyntaxNodes.function(name, tokens.positionFrom(place), category, arguments.quantifier, arguments.values);
    }

    private SqlNode nullTreatment(SqlNode call) {
        int place = tokens.place();
        Optional<SqlOperator> nulls = nulls();
        return nulls.isPresent() ? nulls.get().createCall(tokens.positionFrom(place), call) : call;
    }

    private Optional<SqlOperator> nulls() {
        if (tokens.acceptAll("ignore", "nulls")) {
            return Optional.of(SqlStdOperatorTable.IGNORE_NULLS);
        }
        return tokens.acceptAll("respect", "nulls") ? Optional.of(SqlStdOperatorTable.RESPECT_NULLS) : Optional.empty();
    }

    private SqlNode behind(SqlNode function) {
        SqlNode call = function;
        int place = tokens.place();
        if (tokens.peek().isWord("within") && tokens.peekAt(1).isWord("group")) {
            tokens.acceptAll("within", "group");
            tokens.require("(");
            SqlNodeList order = grammar.windows.orderBy();
            tokens.require(")");
            call = SqlStdOperatorTable.WITHIN_GROUP.createCall(tokens.positionFrom(place), call, order);
        }
        place = tokens.place();
        if (tokens.peek().isWord("filter") && tokens.peekAt(1).isSymbol("(")) {
            tokens.next();
            tokens.next();
            tokens.accept("where"); // which DuckDB leaves out
            SqlNode condition = grammar.expressions.expression();
            tokens.require(")");
            call = SqlStdOperatorTable.FILTER.createCall(tokens.positionFrom(place), call, condition);
        }
        Lexeme window = tokens.peekAt(1);
        if (tokens.peek().isWord("over") && (window.isSymbol("(") || QueryWords.isName(window))) {
            place = tokens.place();
            tokens.next();
            SqlNode over = window.isSymbol("(") ? grammar.windows.specification() : tokens.named(tokens.next());
            call = SqlStdOperatorTable.OVER.createCall(tokens.positionFrom(place), call, over);
        }
        return call;
    }

    // ---- arguments -------------------------------------------------------------------------------------------------

    private Arguments arguments(SqlIdentifier name, boolean ofTable) {
        int parenthesis = tokens.place();
        tokens.require("(");
        Arguments arguments = new Arguments();
        boolean counts = name.isSimple() && name.getSimple().equals("count");
        if (tokens.peek().isSymbol(")")) {
            if (counts && !ofTable) { // DuckDB's count()
                arguments.values.add(SqlIdentifier.star(Tokens.position(tokens.peek())));
            }
            tokens.next();
            return arguments;
        }
        if (tokens.peek().isWord("distinct") || tokens.peek().isWord("all")) {
            Lexeme quantifier = tokens.next();
            arguments.quantifier = (quantifier.isWord("all") ? SqlSelectKeyword.ALL : SqlSelectKeyword.DISTINCT)
                    .symbol(Tokens.position(quantifier));
        }
        boolean lambdas = name.isSimple() && ListParser.takesLambda(name.getSimple());
        boolean reduces = name.isSimple() && REDUCING.contains(name.getSimple());
        boolean ended = isOrder(); // DuckDB's rank(ORDER BY a)
        while (!ended) {
            if (!arguments.values.isEmpty() && (lambdas || reduces) && grammar.lists.isLambda()) {
                if (reduces) { // what it makes of a list depends on an order that only a function knows
                    throw MillraceException.notAvailableYet(name.getSimple() + " with a lambda")
                            .withHint("list_sum, list_product, list_max, list_string_agg; or a function in Java")
                            .at(name.getParserPosition().getColumnNum());
                }
                arguments.whole = Optional.of(grammar.lists.mapped(name, parenthesis + 1, arguments.values.get(0)));
                return arguments;
            }
            boolean last = isVariadic();
            arguments.values.add(last ? variadic(name, ofTable) : argument(name, ofTable));
            ended = last || !tokens.acceptComma();
        }
        int place = tokens.place();
        arguments.nulls = nulls();
        arguments.nullsPosition = tokens.positionFrom(place);
        if (isOrder()) {
            arguments.order = Optional.of(grammar.windows.orderBy());
        }
        tokens.require(")");
        return arguments;
    }

    private boolean isOrder() {
        return tokens.peek().isWord("order") && tokens.peekAt(1).isWord("by");
    }

    /** Whether VARIADIC and a value are next: by itself, or before an operator, it is a name. */
    private boolean isVariadic() {
        Lexeme value = tokens.peekAt(1);
        return tokens.peek().isWord("variadic")
                && (value.kind() == Kind.WORD
                        || value.kind() == Kind.STRING
                        || value.kind() == Kind.PARAMETER
                        || value.kind() == Kind.QUOTED_NAME
                        || value.isSymbol("("));
    }

    private SqlNode variadic(SqlIdentifier function, boolean ofTable) {
        int place = tokens.place();
        SqlIdentifier name = SyntaxNodes.name(FromClauses.VARIADIC, Tokens.position(tokens.next()));
        SqlNode array = value(function, ofTable);
        return SyntaxNodes.function(name, tokens.positionFrom(place), List.of(array));
    }

    private SqlNode argument(SqlIdentifier function, boolean ofTable) {
        Lexeme first = tokens.peek();
        if (first.isName() && tokens.peekAt(1).isSymbol("=>")) {
            SqlIdentifier name = tokens.named(tokens.next());
            tokens.next();
            return SyntaxNodes.call(SqlStdOperatorTable.ARGUMENT_ASSIGNMENT, value(function, ofTable), name);
        }
        boolean isOption = first.isName()
                && tokens.peekAt(1).isSymbol("=")
                && FileFunctions.isOne(function.names.get(function.names.size() - 1));
        if (isOption) { // as DuckDB writes it
            SqlIdentifier name = tokens.named(tokens.next());
            tokens.next();
            return SyntaxNodes.call(SqlStdOperatorTable.ARGUMENT_ASSIGNMENT, value(function, ofTable), name);
        }
        if (first.isName()
                && tokens.peekAt(1).isSymbol(":")
                && tokens.peekAt(2).isSymbol("=")) { // PostgreSQL's older form
            SqlIdentifier name = tokens.named(tokens.next());
            tokens.next();
            tokens.next();
            return SyntaxNodes.call(SqlStdOperatorTable.ARGUMENT_ASSIGNMENT, value(function, ofTable), name);
        }
        return value(function, ofTable);
    }

    private SqlNode value(SqlIdentifier function, boolean ofTable) {
        Lexeme first = tokens.peek();
        if (first.isSymbol("*")) {
            SqlNode star = grammar.stars.star();
            if (star instanceof SqlIdentifier && !tokens.peek().isSymbol(")")) { // count(*) has no other argument
                throw tokens.unexpected();
            }
            return star;
        }
        if (first.kind() == Kind.WORD && FORMS_OF_UNICODE.contains(first.text())) {
            boolean normalizes =
                    function.getSimple().equals("normalize") && tokens.peekAt(1).isSymbol(")");
            if (normalizes) {
                tokens.next();
                return SyntaxNodes.text(first.text().toUpperCase(Locale.ROOT), Tokens.position(first));
            }
        }
        int place = tokens.place();
        SqlNode value = relationOrExpression();
        if (value instanceof SqlIdentifier star && star.isStar()) {
            value = grammar.stars.modified(star);
        }
        SqlNodeList partitions = SqlNodeList.EMPTY;
        SqlNodeList order = SqlNodeList.EMPTY;
        if (tokens.acceptAll("partition", "by")) {
            partitions = partitions();
        }
        boolean ordered = ofTable || !partitions.isEmpty() || value.getKind() == SqlKind.EXPLICIT_TABLE;
        if (ordered && isOrder()) {
            order = relationOrder();
        }
        return partitions.isEmpty() && order.isEmpty()
                ? value
                : SqlStdOperatorTable.SET_SEMANTICS_TABLE.createCall(
                        tokens.positionFrom(place), value, partitions, order);
    }

    private SqlNode relationOrExpression() {
        if (!tokens.peek().isWord("table")) { // (SELECT ..) ORDER BY a: the order is of the call
            boolean plain = !QueryWords.beginsQuery(tokens) && !tokens.peek().isWord("default");
            return plain ? grammar.expressions.expression() : grammar.primaries.queryOrExpression();
        }
        if (tokens.peekAt(1).isSymbol("(")) { // TABLE (SELECT ..) is just the query
            tokens.next();
            return grammar.primaries.operand();
        }
        return grammar.queries.explicitTable();
    }

    private SqlNodeList partitions() {
        int place = tokens.place();
        if (!tokens.acceptSymbol("(")) {
            SqlIdentifier column = tokens.queryName();
            return new SqlNodeList(List.of(column), column.getParserPosition());
        }
        List<SqlNode> columns = new ArrayList<>();
        do {
            columns.add(tokens.queryName());
        } while (tokens.acceptComma());
        tokens.require(")");
        return new SqlNodeList(columns, tokens.positionFrom(place));
    }

    private SqlNodeList relationOrder() {
        int place = tokens.place();
        tokens.acceptAll("order", "by");
        List<SqlNode> keys = new ArrayList<>();
        boolean several = tokens.acceptSymbol("(");
        do {
            keys.add(grammar.windows.orderKey());
        } while (several && tokens.acceptComma());
        if (several) {
            tokens.require(")");
        }
        return new SqlNodeList(keys, tokens.positionFrom(place));
    }

    /** A call of a name of ours, of nodes that were read. */
    static SqlNode rowOf(List<SqlNode> namesAndValues, SqlParserPos position) {
        return SyntaxNodes.function(SyntaxNodes.name(FromClauses.ROW_OF, position), position, namesAndValues);
    }
}
