package dev.millrace.sql.grammar;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlDynamicParam;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.fun.SqlCase;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.sql.parser.SqlParserPos;

/** What operators stand between: constants, names, calls, CASE, and whatever is in brackets. */
final class PrimaryParser {
    private static final int LONGEST_NUMBER = 5; // digits of a parameter's number that may be right

    private final Grammar grammar;
    private final Tokens tokens;
    private int rows; // open calls of ROW, in which a star may stand

    PrimaryParser(Grammar grammar) {
        this.grammar = grammar;
        this.tokens = grammar.tokens;
    }

    SqlNode operand() {
        Lexeme lexeme = tokens.peek();
        return switch (lexeme.kind()) {
            case STRING -> string();
            case BYTES -> bytes();
            case INTEGER, DECIMAL, APPROXIMATE -> number();
            case PARAMETER -> parameter();
            case QUOTED_NAME -> nameOrCall();
            case WORD -> word(lexeme.text());
            case PUNCTUATION ->
                switch (lexeme.text()) {
                    case "(" -> parenthesized();
                    case "[" -> grammar.lists.list();
                    case "{" -> grammar.lists.struct();
                    default -> throw tokens.unexpected();
                };
            case OPERATOR -> {
                if (lexeme.text().equals("*") && rows > 0) {
                    yield SqlIdentifier.star(Tokens.position(tokens.next()));
                }
                throw Infix.isKnown(lexeme)
                                || lexeme.text().equals("`")
                                || lexeme.text().equals("=>")
                        ? tokens.unexpected()
                        : Infix.unknown(lexeme);
            }
            case END -> throw tokens.unexpected();
        };
    }

    // ---- constants -------------------------------------------------------------------------------------------------

    private SqlNode string() {
        Lexeme text = tokens.next();
        if (tokens.peek().kind() == Kind.STRING) { // on the same line, or the lexer would have joined them
            throw tokens.unexpected();
        }
        return SyntaxNodes.text(text.text(), Tokens.position(text));
    }

    private SqlNode bytes() {
        Lexeme digits = tokens.peek();
        if (!digits.text().chars().allMatch(c -> Character.digit(c, 16) >= 0)) {
            throw tokens.syntaxError();
        }
        tokens.next();
        return SqlLiteral.createBinaryString(digits.text(), Tokens.position(digits));
    }

    SqlNode number() {
        Lexeme number = tokens.next();
        SqlParserPos position = Tokens.position(number);
        try {
            return number.kind() == Kind.APPROXIMATE
                    ? SqlLiteral.createApproxNumeric(number.text(), position)
                    : SqlLiteral.createExactNumeric(number.text(), position);
        } catch (ArithmeticException | NumberFormatException e) { // an exponent that no number has
            throw MillraceException.user(
                            SqlState.NUMERIC_VALUE_OUT_OF_RANGE, "\"" + number.text() + "\" is out of range")
                    .at(number.start() + 1);
        }
    }

    private SqlNode parameter() {
        Lexeme parameter = tokens.next();
        boolean right = parameter.text().length() <= LONGEST_NUMBER; // the statement refuses others
        return new SqlDynamicParam(right ? Integer.parseInt(parameter.text()) : 0, Tokens.position(parameter));
    }

    // ---- words -----------------------------------------------------------------------------------------------------

    private SqlNode word(String word) {
        Lexeme next = tokens.peekAt(1);
        boolean called = next.isSymbol("(");
        if (next.isSymbol(".")) {
            return nameOrCall();
        }
        switch (word) {
            case "null" -> {
                return SqlLiteral.createNull(Tokens.position(tokens.next()));
            }
            case "true", "false" -> {
                return SqlLiteral.createBoolean(word.equals("true"), Tokens.position(tokens.next()));
            }
            case "case" -> {
                return cases();
            }
            case "interval" -> {
                return interval();
            }
            case "array" -> {
                if (called || next.isSymbol("[")) {
                    return array();
                }
            }
            case "row" -> {
                if (called) {
                    return row();
                }
            }
            case "exists" -> {
                if (called) {
                    return exists();
                }
            }
            case "final", "running" -> {
                Optional<SqlNode> modified = grammar.matches.modified();
                if (modified.isPresent()) {
                    return modified.get();
                }
            }
            case "map" -> {
                if (next.isSymbol("{")) {
                    throw MillraceException.notAvailableYet("the type MAP")
                            .withHint(
                                    "jsonb_build_object('key', value), of which -> 'key' is the value; or {'key': value}")
                            .at(tokens.peek().start() + 1);
                }
            }
            default -> {}
        }
        Optional<SqlNode> constant = grammar.types.constant();
        if (constant.isPresent()) {
            return constant.get();
        }
        if (QueryWords.isValueFunction(word)) {
            return grammar.calls.valueFunction();
        }
        return called ? grammar.calls.word(word) : nameOrCall();
    }

    private SqlNode nameOrCall() {
        int place = tokens.place();
        SqlIdentifier name = path(tokens.queryName());
        if (tokens.peek().isSymbol("(") && !name.isStar()) {
            return grammar.calls.call(name, place);
        }
        return name;
    }

    /** A name with its qualifiers, which may end in a star. */
    SqlIdentifier path(SqlIdentifier first) {
        if (!tokens.peek().isSymbol(".")) {
            return first;
        }
        List<String> names = new ArrayList<>(List.of(first.getSimple()));
        List<SqlParserPos> positions = new ArrayList<>(List.of(first.getParserPosition()));
        while (tokens.acceptSymbol(".")) {
            if (tokens.peek().isSymbol("*")) {
                names.add("");
                positions.add(Tokens.position(tokens.next()));
                return SqlIdentifier.star(names, SqlParserPos.sum(positions), positions);
            }
            SqlIdentifier part = tokens.label();
            names.add(part.getSimple());
            positions.add(part.getParserPosition());
        }
        return new SqlIdentifier(names, null, SqlParserPos.sum(positions), positions);
    }

    // ---- CASE ------------------------------------------------------------------------------------------------------

    private SqlNode cases() {
        int start = tokens.place();
        tokens.next();
        SqlNode value = tokens.peek().isWord("when") ? null : grammar.expressions.expression();
        List<SqlNode> conditions = new ArrayList<>();
        List<SqlNode> results = new ArrayList<>();
        int whens = tokens.place();
        do {
            tokens.requireWord("when");
            conditions.add(grammar.expressions.expression());
            tokens.requireWord("then");
            results.add(grammar.expressions.expression());
        } while (tokens.peek().isWord("when"));
        SqlParserPos position = tokens.positionFrom(whens);
        SqlNode otherwise = tokens.accept("else") ? grammar.expressions.expression() : null;
        tokens.requireWord("end");
        return SqlCase.createSwitched(
                tokens.positionFrom(start),
                value,
                new SqlNodeList(conditions, position),
                new SqlNodeList(results, position),
                otherwise);
    }

    // ---- brackets --------------------------------------------------------------------------------------------------

    /** An expression or a query in parentheses, or a row of several. */
    private SqlNode parenthesized() {
        SqlNodeList list = parenthesizedList();
        return list.size() == 1
                ? list.get(0).clone(list.getParserPosition())
                : SqlStdOperatorTable.ROW.createCall(list.getParserPosition(), list.getList());
    }

    /** In parentheses: a query, or expressions between commas. */
    SqlNodeList parenthesizedList() {
        int start = tokens.place();
        tokens.require("(");
        List<SqlNode> list = new ArrayList<>();
        do {
            list.add(queryOrExpression());
        } while (tokens.acceptComma());
        tokens.require(")");
        return new SqlNodeList(list, tokens.positionFrom(start));
    }

    /** What may stand in parentheses: {@code (SELECT 1) UNION (SELECT 2)} begins as an expression. */
    SqlNode queryOrExpression() {
        if (QueryWords.beginsQuery(tokens)) {
            return grammar.queries.query();
        }
        if (tokens.peek().isWord("default")) {
            return SqlStdOperatorTable.DEFAULT.createCall(Tokens.position(tokens.next()));
        }
        SqlNode node = grammar.expressions.expression();
        return node.isA(SqlKind.QUERY) && QueryWords.continuesQuery(tokens) ? grammar.queries.rest(node) : node;
    }

    private SqlNode row() {
        tokens.next();
        rows++;
        SqlNodeList list = parenthesizedList();
        rows--;
        return SqlStdOperatorTable.ROW.createCall(list);
    }

    private SqlNode exists() {
        int start = tokens.place();
        tokens.next();
        SqlNode query;
        if (tokens.peekAt(1).isWord("select") && tokens.peekAt(2).isWord("from")) {
            query = grammar.selects.withoutItems(); // PostgreSQL's EXISTS (SELECT FROM t)
        } else {
            query = parenthesized();
        }
        return SqlStdOperatorTable.EXISTS.createCall(tokens.positionFrom(start), query);
    }

    /** {@code ARRAY[1, 2]} and {@code ARRAY(SELECT ..)}. */
    private SqlNode array() {
        int start = tokens.place();
        tokens.next();
        if (tokens.peek().isSymbol("[")) {
            return grammar.lists.array(start);
        }
        tokens.next();
        SqlNode query = queryOrExpression();
        if (!query.isA(SqlKind.QUERY) || !tokens.acceptSymbol(")")) {
            throw tokens.unexpected();
        }
        return SqlStdOperatorTable.ARRAY_QUERY.createCall(tokens.positionFrom(start), query);
    }

    // ---- INTERVAL --------------------------------------------------------------------------------------------------

    /** {@code INTERVAL '1' DAY}, DuckDB's {@code INTERVAL 3 DAYS} and {@code INTERVAL (n) DAY}; or a name, or a call. */
    private SqlNode interval() {
        Lexeme number = tokens.peekAt(1);
        boolean unit = TypeParser.isUnit(tokens.peekAt(2));
        int start = tokens.place();
        if ((number.kind() == Kind.INTEGER || number.kind() == Kind.DECIMAL) && unit) {
            tokens.next();
            String text = tokens.next().text() + " " + tokens.next().text();
            return grammar.types.interval(text, tokens.positionFrom(start));
        }
        if (QueryWords.isName(number) && unit) {
            tokens.next();
            return times(tokens.named(tokens.next()), start);
        }
        Optional<SqlNode> constant = grammar.types.constant();
        if (constant.isPresent()) {
            return constant.get();
        }
        SqlNode call = nameOrCall();
        if (number.isSymbol("(")
                && TypeParser.isUnit(tokens.peek())
                && call instanceof SqlCall of
                && of.operandCount() == 1) {
            return times(of.operand(0), start);
        }
        return call;
    }

    private SqlNode times(SqlNode count, int start) {
        Lexeme unit = tokens.next();
        SqlNode one = grammar.types.interval("1 " + unit.text(), Tokens.position(unit));
        return SqlStdOperatorTable.MULTIPLY.createCall(tokens.positionFrom(start), count, one);
    }
}
