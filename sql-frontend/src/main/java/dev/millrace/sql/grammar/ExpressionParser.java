package dev.millrace.sql.grammar;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.grammar.Infix.Level;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.calcite.sql.SqlBinaryOperator;
import org.apache.calcite.sql.SqlDataTypeSpec;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlNumericLiteral;
import org.apache.calcite.sql.SqlOperator;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.sql.parser.SqlParserPos;

/**
 * Operators and their operands, by PostgreSQL's precedence: what follows an operand is taken as long as it binds at least as
 * tightly as asked for ("Top down operator precedence", Pratt, POPL 1973). Chains of operators are read in a loop.
 */
final class ExpressionParser {
    private static final int MOST_OPERATORS = 10_000; // of one expression: trees are walked on a stack
    private static final int MOST_PREFIXES = 1_000;

    private final Grammar grammar;
    private final Tokens tokens;
    private int operators; // of the expression at hand

    ExpressionParser(Grammar grammar) {
        this.grammar = grammar;
        this.tokens = grammar.tokens;
    }

    /** An expression of any kind. */
    SqlNode expression() {
        if (isNumberAlone()) { // of a long list
            return grammar.primaries.number();
        }
        grammar.enter();
        int outer = operators;
        operators = 0;
        SqlNode expression = disjunction();
        operators = outer;
        grammar.leave();
        return expression;
    }

    private boolean isNumberAlone() {
        if (tokens.peek().kind() != Kind.INTEGER) {
            return false;
        }
        Lexeme next = tokens.peekAt(1);
        return next.kind() == Kind.PUNCTUATION
                && (next.text().equals(",") || next.text().equals(")"));
    }

    /** Expressions between commas. */
    List<SqlNode> list() {
        List<SqlNode> list = new ArrayList<>();
        do {
            list.add(expression());
        } while (tokens.acceptComma());
        return list;
    }

    // ---- AND, OR, NOT ----------------------------------------------------------------------------------------------

    private SqlNode disjunction() {
        SqlNode first = conjunction();
        if (!tokens.peek().isWord("or")) {
            return first;
        }
        List<SqlNode> operands = new ArrayList<>();
        operands.add(first);
        while (tokens.peek().isWord("or")) {
            count(tokens.next());
            operands.add(conjunction());
        }
        return SyntaxNodes.chain(SqlStdOperatorTable.OR, operands);
    }

    private SqlNode conjunction() {
        SqlNode first = negation();
        if (!tokens.peek().isWord("and")) {
            return first;
        }
        List<SqlNode> operands = new ArrayList<>();
        operands.add(first);
        while (tokens.peek().isWord("and")) {
            count(tokens.next());
            operands.add(negation());
        }
        return SyntaxNodes.chain(SqlStdOperatorTable.AND, operands);
    }

    private SqlNode negation() {
        if (!tokens.peek().isWord("not")) {
            return operation(Level.IS);
        }
        List<Lexeme> signs = new ArrayList<>();
        while (tokens.peek().isWord("not")) {
            signs.add(prefix(signs.size()));
        }
        SqlNode result = operation(Level.IS);
        for (int i = signs.size() - 1; i >= 0; i--) {
            result = SqlStdOperatorTable.NOT.createCall(Tokens.position(signs.get(i)), result);
        }
        return result;
    }

    private Lexeme prefix(int before) {
        Lexeme prefix = tokens.next();
        count(prefix);
        if (before >= MOST_PREFIXES) {
            throw tooMany(prefix);
        }
        return prefix;
    }

    private void count(Lexeme operator) {
        if (++operators > MOST_OPERATORS) {
            throw tooMany(operator);
        }
    }

    private static MillraceException tooMany(Lexeme operator) {
        return MillraceException.user(SqlState.STATEMENT_TOO_COMPLEX, "too many operators in one expression")
                .withHint("put parts of it in parentheses, or write IN or = ANY of an array")
                .at(operator.start() + 1);
    }

    // ---- operators that bind tighter -------------------------------------------------------------------------------

    /** Operands and those operators between them that bind at least so tightly. */
    SqlNode operation(Level least) {
        SqlNode left = signed();
        boolean matched = false;
        while (true) {
            Optional<Infix> infix = Infix.at(tokens);
            if (infix.isEmpty() || infix.get().level().compareTo(least) < 0 || isOfStar(infix.get(), left)) {
                return left;
            }
            boolean matches = infix.get().level() == Level.LIKE;
            if (matched && matches) { // a LIKE b LIKE c would be read in one of two ways
                throw tokens.unexpected();
            }
            matched = matches;
            left = apply(infix.get(), left);
        }
    }

    /** Whether a LIKE chooses among the columns of {@code t.*}. */
    private static boolean isOfStar(Infix infix, SqlNode left) {
        return infix.form() == Infix.Form.LIKE && left instanceof SqlIdentifier star && star.isStar();
    }

    private SqlNode apply(Infix infix, SqlNode left) {
        Lexeme first = tokens.peek();
        count(first);
        for (int i = 0; i < infix.length(); i++) {
            tokens.next();
        }
        SqlOperator operator = infix.operator();
        return switch (infix.form()) {
            case PLAIN ->
                isQuantified(operator)
                        ? quantified(operator, left)
                        : SyntaxNodes.call(
                                operator, left, operation(infix.level().tighter()));
            case IN -> membership(infix.isNegated(), left, first);
            case BETWEEN -> between(infix.isNegated(), left);
            case LIKE -> like(operator, left);
            case GLOB -> {
                SqlNode pattern = operation(infix.level().tighter());
                yield SyntaxNodes.call(
                        operator, left, SyntaxNodes.function("glob_pattern", pattern.getParserPosition(), pattern));
            }
            case IS -> is(infix.isNegated(), left, first);
        };
    }

    private boolean isQuantified(SqlOperator operator) {
        return operator instanceof SqlBinaryOperator
                && operator.getKind().belongsTo(SqlKind.COMPARISON)
                && operator != SqlStdOperatorTable.IS_DISTINCT_FROM
                && operator != SqlStdOperatorTable.IS_NOT_DISTINCT_FROM
                && Infix.isQuantifier(tokens.peek());
    }

    /** {@code = ANY (..)}, of a query, an array or several values. */
    private SqlNode quantified(SqlOperator comparison, SqlNode left) {
        boolean all = tokens.next().isWord("all");
        SqlOperator operator =
                all ? SqlStdOperatorTable.all(comparison.getKind()) : SqlStdOperatorTable.some(comparison.getKind());
        return SyntaxNodes.call(operator, left, queryOrList());
    }

    private SqlNode membership(boolean not, SqlNode left, Lexeme first) {
        if (tokens.peek().isSymbol("[")) { // DuckDB's x IN [1, 2]
            SqlParserPos position = Tokens.position(first);
            SqlOperator operator =
                    not ? SqlStdOperatorTable.all(SqlKind.NOT_EQUALS) : SqlStdOperatorTable.some(SqlKind.EQUALS);
            SqlNode array = grammar.primaries.operand();
            return SyntaxNodes.call(operator, left, new SqlNodeList(List.of(array), position));
        }
        return SyntaxNodes.call(not ? SqlStdOperatorTable.NOT_IN : SqlStdOperatorTable.IN, left, queryOrList());
    }

    private SqlNode queryOrList() {
        SqlNodeList list = grammar.primaries.parenthesizedList();
        boolean query = list.size() == 1 && list.get(0).isA(SqlKind.QUERY);
        return query ? list.get(0) : list;
    }

    private SqlNode between(boolean not, SqlNode left) {
        boolean symmetric = tokens.accept("symmetric");
        if (!symmetric) {
            tokens.accept("asymmetric");
        }
        SqlNode low = operation(Level.COMPARISON);
        tokens.requireWord("and");
        SqlNode high = operation(Level.LIKE.tighter());
        SqlOperator operator = not
                ? symmetric ? SqlStdOperatorTable.SYMMETRIC_NOT_BETWEEN : SqlStdOperatorTable.NOT_BETWEEN
                : symmetric ? SqlStdOperatorTable.SYMMETRIC_BETWEEN : SqlStdOperatorTable.BETWEEN;
        return SyntaxNodes.call(operator, left, low, high);
    }

    private SqlNode like(SqlOperator operator, SqlNode left) {
        SqlNode pattern = operation(Level.LIKE.tighter());
        Lexeme next = tokens.peekAt(1);
        boolean escape = tokens.peek().isWord("escape")
                && (next.kind() == Kind.STRING
                        || next.kind() == Kind.PARAMETER
                        || next.isSymbol("(")
                        || next.kind() == Kind.WORD && QueryWords.isName(next));
        if (!escape) {
            return SyntaxNodes.call(operator, left, pattern);
        }
        tokens.next();
        return SyntaxNodes.call(operator, left, pattern, operation(Level.LIKE.tighter()));
    }

    /** Behind IS, IS NOT, ISNULL or NOTNULL. */
    private SqlNode is(boolean not, SqlNode left, Lexeme first) {
        Lexeme word = first.isWord("is") ? tokens.next() : first;
        if (word.kind() != Kind.WORD) {
            tokens.backTo(tokens.place() - (word.kind() == Kind.END ? 0 : 1));
            throw tokens.unexpected();
        }
        SqlOperator operator = switch (word.text()) {
            case "null", "isnull", "notnull" -> not ? SqlStdOperatorTable.IS_NOT_NULL : SqlStdOperatorTable.IS_NULL;
            case "true" -> not ? SqlStdOperatorTable.IS_NOT_TRUE : SqlStdOperatorTable.IS_TRUE;
            case "false" -> not ? SqlStdOperatorTable.IS_NOT_FALSE : SqlStdOperatorTable.IS_FALSE;
            case "unknown" -> not ? SqlStdOperatorTable.IS_NOT_UNKNOWN : SqlStdOperatorTable.IS_UNKNOWN;
            case "distinct" -> not ? SqlStdOperatorTable.IS_NOT_DISTINCT_FROM : SqlStdOperatorTable.IS_DISTINCT_FROM;
            default -> {
                tokens.backTo(tokens.place() - 1);
                throw tokens.unexpected();
            }
        };
        if (word.isWord("distinct")) {
            tokens.requireWord("from");
            return SyntaxNodes.call(operator, left, operation(Level.IS.tighter()));
        }
        return operator.createCall(Tokens.position(word), left);
    }

    // ---- operators before and behind one operand -------------------------------------------------------------------

    /** An operand with signs and other operators before it. */
    private SqlNode signed() {
        Lexeme first = tokens.peek();
        if (first.kind() != Kind.OPERATOR) {
            return first.isWord("not") ? nested(this::negation) : postfixed();
        }
        return switch (first.text()) {
            case "+", "-" -> signs();
            case "~", "@", "|/", "||/" -> {
                Lexeme operator = prefix(0);
                SqlNode operand = nested(() -> operation(Level.OTHER.tighter()));
                yield SyntaxNodes.function(
                        new SqlIdentifier("prefix " + operator.text(), Tokens.position(operator)),
                        Tokens.position(operator),
                        List.of(operand));
            }
            default -> postfixed();
        };
    }

    private SqlNode nested(Supplier<SqlNode> production) {
        grammar.enter();
        SqlNode result = production.get();
        grammar.leave();
        return result;
    }

    private SqlNode signs() {
        List<Lexeme> signs = new ArrayList<>(1);
        while (tokens.peek().isSymbol("-") || tokens.peek().isSymbol("+")) {
            signs.add(prefix(signs.size()));
        }
        SqlNode result = tokens.peek().kind() == Kind.OPERATOR ? nested(this::signed) : postfixed();
        for (int i = signs.size() - 1; i >= 0; i--) {
            result = sign(signs.get(i), result);
        }
        return result;
    }

    private static SqlNode sign(Lexeme sign, SqlNode operand) {
        SqlParserPos position = Tokens.position(sign);
        boolean minus = sign.text().equals("-");
        if (operand instanceof SqlNumericLiteral number) {
            return minus ? SqlLiteral.createNegative(number, position.plus(number.getParserPosition())) : number;
        }
        return (minus ? SqlStdOperatorTable.UNARY_MINUS : SqlStdOperatorTable.UNARY_PLUS).createCall(position, operand);
    }

    /** An operand with casts, subscripts and fields behind it. */
    SqlNode postfixed() {
        SqlNode operand = grammar.primaries.operand();
        while (true) {
            Lexeme next = tokens.peek();
            if (next.kind() == Kind.PUNCTUATION) {
                switch (next.text()) {
                    case "::" -> {
                        tokens.next();
                        SqlDataTypeSpec type = grammar.types.dataType();
                        operand = SyntaxNodes.cast(
                                operand, type, operand.getParserPosition().plus(type.getParserPosition()));
                    }
                    case "[" -> operand = grammar.lists.subscript(operand);
                    case "." -> operand = field(operand);
                    default -> {
                        return operand;
                    }
                }
                count(next);
            } else if (next.isWord("collate")) {
                grammar.types.collation();
            } else {
                return operand;
            }
        }
    }

    /** {@code (row).field}, {@code (row).*}, or DuckDB's {@code (value).function(..)}. */
    private SqlNode field(SqlNode operand) {
        tokens.next();
        if (tokens.peek().isSymbol("*")) {
            SqlIdentifier all = SqlIdentifier.star(Tokens.position(tokens.next()));
            return SyntaxNodes.call(SqlStdOperatorTable.DOT, operand, all);
        }
        if (!tokens.peek().isName()) {
            throw tokens.unexpected();
        }
        int place = tokens.place();
        SqlIdentifier name = tokens.named(tokens.next());
        SqlNode field = tokens.peek().isSymbol("(") ? grammar.calls.plain(name, place) : name;
        return SyntaxNodes.call(SqlStdOperatorTable.DOT, operand, field);
    }
}
