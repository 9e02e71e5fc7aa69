package dev.millrace.sql.grammar;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.syntax.Operators;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.calcite.sql.SqlOperator;
import org.apache.calcite.sql.fun.SqlLibraryOperators;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;

/**
 * An operator that stands behind its first operand, but for AND and OR.
 *
 * @param operator of the tree; where the form decides it later, any of the form
 * @param isNegated whether NOT belongs to it
 * @param length in tokens
 */
record Infix(Form form, Level level, SqlOperator operator, boolean isNegated, int length) {
    /** What is read behind an operator. */
    enum Form {
        PLAIN,
        IN,
        BETWEEN,
        LIKE,
        GLOB,
        IS
    }

    /** How tightly it binds, the loosest first. */
    enum Level {
        IS,
        COMPARISON,
        LIKE,
        OTHER,
        ADDITIVE,
        MULTIPLICATIVE,
        POWER,
        AT_TIME_ZONE,
        SIGN;

        private static final Level[] LEVELS = values();

        /** The level of the right operand, as operators of one level are taken from the left. */
        Level tighter() {
            return this == SIGN ? this : LEVELS[ordinal() + 1];
        }
    }

    private static final Map<String, Infix> SYMBOLS = new HashMap<>();

    static {
        plain("=", Level.COMPARISON, SqlStdOperatorTable.EQUALS);
        plain("==", Level.COMPARISON, SqlStdOperatorTable.EQUALS);
        plain("<>", Level.COMPARISON, SqlStdOperatorTable.NOT_EQUALS);
        plain("<", Level.COMPARISON, SqlStdOperatorTable.LESS_THAN);
        plain("<=", Level.COMPARISON, SqlStdOperatorTable.LESS_THAN_OR_EQUAL);
        plain(">", Level.COMPARISON, SqlStdOperatorTable.GREATER_THAN);
        plain(">=", Level.COMPARISON, SqlStdOperatorTable.GREATER_THAN_OR_EQUAL);
        plain("+", Level.ADDITIVE, SqlStdOperatorTable.PLUS);
        plain("-", Level.ADDITIVE, SqlStdOperatorTable.MINUS);
        plain("*", Level.MULTIPLICATIVE, SqlStdOperatorTable.MULTIPLY);
        plain("/", Level.MULTIPLICATIVE, SqlStdOperatorTable.DIVIDE);
        plain("//", Level.MULTIPLICATIVE, SqlStdOperatorTable.DIVIDE); // which is whole for whole numbers
        plain("%", Level.MULTIPLICATIVE, Operators.infix("%"));
        plain("^", Level.POWER, Operators.infix("^"));
        plain("**", Level.POWER, Operators.infix("^"));
        for (String name : Operators.symbols()) {
            if (!SYMBOLS.containsKey(name)) {
                plain(name, Level.OTHER, Operators.infix(name));
            }
        }
    }

    private static void plain(String symbol, Level level, SqlOperator operator) {
        SYMBOLS.put(symbol, new Infix(Form.PLAIN, level, operator, false, 1));
    }

    private static final Infix IN = new Infix(Form.IN, Level.LIKE, SqlStdOperatorTable.IN, false, 1);
    private static final Infix BETWEEN = new Infix(Form.BETWEEN, Level.LIKE, SqlStdOperatorTable.BETWEEN, false, 1);
    private static final Infix LIKE = new Infix(Form.LIKE, Level.LIKE, SqlStdOperatorTable.LIKE, false, 1);
    private static final Infix ILIKE = new Infix(Form.LIKE, Level.LIKE, SqlLibraryOperators.ILIKE, false, 1);
    private static final Infix SIMILAR = new Infix(Form.LIKE, Level.LIKE, SqlStdOperatorTable.SIMILAR_TO, false, 2);
    private static final Infix GLOB = new Infix(Form.GLOB, Level.OTHER, Operators.infix("~"), false, 1);
    private static final Infix IS = new Infix(Form.IS, Level.IS, SqlStdOperatorTable.IS_NULL, false, 1);
    private static final Infix IS_NOT = new Infix(Form.IS, Level.IS, SqlStdOperatorTable.IS_NOT_NULL, true, 2);
    private static final Infix NOTNULL = new Infix(Form.IS, Level.IS, SqlStdOperatorTable.IS_NOT_NULL, true, 1);
    private static final Infix AT_TIME_ZONE =
            new Infix(Form.PLAIN, Level.AT_TIME_ZONE, Operators.infix("at time zone"), false, 3);
    private static final Infix OVERLAPS = new Infix(Form.PLAIN, Level.OTHER, Operators.infix("overlaps"), false, 1);

    /** Has the operators made now rather than at the first operand, which may lie deep in a text, near the end of a stack. */
    static void prepare() {
        assert !SYMBOLS.isEmpty();
    }

    static boolean isQuantifier(Lexeme lexeme) {
        return lexeme.isWord("any") || lexeme.isWord("some") || lexeme.isWord("all");
    }

    /**
     * The operator that stands at the place, if one does.
     *
     * @throws MillraceException for a symbol that is no operator (42883)
     */
    static Optional<Infix> at(Tokens tokens) {
        Lexeme lexeme = tokens.peek();
        return switch (lexeme.kind()) {
            case OPERATOR -> lexeme.text().equals("=>") ? Optional.empty() : Optional.of(symbol(lexeme));
            case WORD -> word(lexeme.text(), tokens);
            default -> Optional.empty();
        };
    }

    private static Infix symbol(Lexeme lexeme) {
        Infix infix = SYMBOLS.get(lexeme.text());
        if (infix == null) {
            throw unknown(lexeme);
        }
        return infix;
    }

    /** Whether a symbol is an operator between operands. */
    static boolean isKnown(Lexeme symbol) {
        return SYMBOLS.containsKey(symbol.text());
    }

    static MillraceException unknown(Lexeme symbol) {
        return MillraceException.user(SqlState.UNDEFINED_FUNCTION, "operator does not exist: " + symbol.text())
                .at(symbol.start() + 1);
    }

    private static Optional<Infix> word(String word, Tokens tokens) {
        return switch (word) {
            case "in", "between", "like", "ilike", "similar", "glob" -> match(word, tokens, 0);
            case "not" -> {
                Lexeme next = tokens.peekAt(1);
                yield next.kind() == Kind.WORD ? match(next.text(), tokens, 1).map(Infix::negated) : Optional.empty();
            }
            case "is" -> Optional.of(tokens.peekAt(1).isWord("not") ? IS_NOT : IS);
            case "isnull" -> Optional.of(IS);
            case "notnull" -> Optional.of(NOTNULL);
            case "at" ->
                tokens.peekAt(1).isWord("time") && tokens.peekAt(2).isWord("zone")
                        ? Optional.of(AT_TIME_ZONE)
                        : Optional.empty();
            case "overlaps" ->
                tokens.peekAt(1).isSymbol("(") && tokens.peekAt(-1).isSymbol(")")
                        ? Optional.of(OVERLAPS)
                        : Optional.empty();
            case "operator" -> qualified(tokens);
            default -> Optional.empty();
        };
    }

    /** What compares with a pattern, a list or bounds; {@code before} tokens of it stand before its word. */
    private static Optional<Infix> match(String word, Tokens tokens, int before) {
        return switch (word) {
            case "in" -> Optional.of(IN);
            case "between" -> Optional.of(BETWEEN);
            case "like", "ilike" -> {
                Lexeme quantifier = tokens.peekAt(before + 1);
                if (!isQuantifier(quantifier)) {
                    yield Optional.of(word.equals("like") ? LIKE : ILIKE);
                }
                String name = (before > 0 ? "not " : "") + word + (quantifier.isWord("all") ? " all" : " any");
                yield Optional.of(new Infix(Form.PLAIN, Level.OTHER, Operators.infix(name), false, 2));
            }
            case "similar" -> tokens.peekAt(before + 1).isWord("to") ? Optional.of(SIMILAR) : Optional.empty();
            case "glob" -> {
                Lexeme pattern = tokens.peekAt(before + 1);
                boolean operand = pattern.kind() == Kind.STRING
                        || pattern.kind() == Kind.PARAMETER
                        || pattern.isSymbol("(")
                        || QueryWords.isName(pattern);
                yield operand ? Optional.of(GLOB) : Optional.empty();
            }
            default -> Optional.empty();
        };
    }

    private Infix negated() {
        SqlOperator not = form == Form.GLOB
                ? Operators.infix("!~")
                : operator == SqlStdOperatorTable.LIKE
                        ? SqlStdOperatorTable.NOT_LIKE
                        : operator == SqlLibraryOperators.ILIKE
                                ? SqlLibraryOperators.NOT_ILIKE
                                : operator == SqlStdOperatorTable.SIMILAR_TO
                                        ? SqlStdOperatorTable.NOT_SIMILAR_TO
                                        : operator;
        return new Infix(form, level, not, true, length + 1);
    }

    /** {@code OPERATOR(pg_catalog.~)} as {@code ~}. */
    private static Optional<Infix> qualified(Tokens tokens) {
        if (!tokens.peekAt(1).isSymbol("(")) {
            return Optional.empty();
        }
        int end = 2;
        while (tokens.peekAt(end).isName() && tokens.peekAt(end + 1).isSymbol(".")) {
            end += 2;
        }
        Lexeme operator = tokens.peekAt(end);
        if (operator.kind() != Kind.OPERATOR || !tokens.peekAt(end + 1).isSymbol(")")) {
            return Optional.empty();
        }
        Lexeme schema = tokens.peekAt(2);
        if (end > 2 && !RelationNames.isAlwaysThere(schema.text())) {
            throw MillraceException.user(
                            SqlState.INVALID_SCHEMA_NAME, "schema \"" + schema.text() + "\" does not exist")
                    .at(schema.start() + 1);
        }
        Infix plain = symbol(operator);
        return Optional.of(new Infix(plain.form, plain.level, plain.operator, false, end + 2));
    }
}
