package dev.millrace.sql;

import dev.millrace.sql.algebra.Literals;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import dev.millrace.type.DataType;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Puts parameters in the places of constants, from one token of a statement on. Of the definition of a query these are operands of comparisons and of BETWEEN, and what is
 * shown as it is, numbers with a point among them; the items of its lists are what code is made for, and stay. Used once.
 */
final class ConstantLifting {
    private static final int MOST_LIFTED = 64;
    private static final int MOST_DIGITS = 18;
    private static final Set<String> COMPARISONS = Set.of("=", "<>", "!=", "<", "<=", ">", ">=");
    private static final Set<String> WORDS_BEHIND =
            Set.of("and", "or", "where", "returning", "order", "group", "limit", "offset", "on", "union", "for");

    private final String sql;
    private final List<Lexeme> tokens;
    private final int first;
    private final boolean updates;
    private final boolean inserts;
    private final boolean defines;
    private final StringBuilder shape = new StringBuilder();
    private final List<DataType> types = new ArrayList<>();
    private final List<Optional<String>> values = new ArrayList<>();
    private int copied; // characters of the text that are in the shape
    private int depth;
    private int listDepth = -1; // of the parenthesis that is around constants, if there is one
    private boolean inRows; // behind VALUES
    private boolean isShown; // before FROM, of a definition

    /** @param first token that is lifted from; greater than zero in a definition, of the query that it defines */
    ConstantLifting(String sql, List<Lexeme> tokens, int first) {
        this.sql = sql;
        this.tokens = tokens;
        this.first = first;
        this.updates = tokens.get(first).isWord("update");
        this.inserts = tokens.get(first).isWord("insert");
        this.defines = first > 0;
        this.isShown = defines;
        this.copied = defines ? tokens.get(first).start() : 0;
    }

    /** The text from there on; empty if it has no constants to lift. */
    Optional<LiftedText> lift() {
        for (int i = first + 1; i < tokens.size() && values.size() < MOST_LIFTED; i++) {
            Lexeme token = tokens.get(i);
            if (token.isSymbol("(")) {
                depth++;
                Lexeme before = tokens.get(i - 1);
                boolean row = inRows && depth == 1 && (before.isWord("values") || before.isSymbol(","));
                if (listDepth < 0 && (row || before.isWord("in") && !defines)) {
                    listDepth = depth;
                }
            } else if (token.isSymbol(")")) {
                listDepth = depth == listDepth ? -1 : listDepth;
                depth--;
            } else if (token.kind() == Kind.WORD) {
                boolean begins = inserts && depth == 0 && token.isWord("values");
                inRows = begins || inRows && depth > 0;
                isShown &= depth > 0 || !token.isWord("from");
            } else if (isConstant(token)) {
                constant(i);
            }
        }
        if (values.isEmpty()) {
            return Optional.empty();
        }
        shape.append(sql, copied, defines ? LiftedQuery.end(tokens) : sql.length());
        return Optional.of(new LiftedText(shape.toString(), Parameters.of(types, values)));
    }

    private boolean isConstant(Lexeme token) {
        return token.kind() == Kind.INTEGER || token.kind() == Kind.STRING || defines && token.kind() == Kind.DECIMAL;
    }

    private void constant(int place) {
        Lexeme token = tokens.get(place);
        int begin = begin(place);
        boolean isOperand = endsBehind(place) && isBegunBefore(begin);
        if (!isOperand && !isColumn(begin, place)) {
            return;
        }
        String text = begin < place ? "-" + token.text() : token.text();
        Optional<DataType> type = switch (token.kind()) {
            case STRING -> Optional.of(DataType.NULL);
            case DECIMAL -> decimal(token.text());
            default -> integer(token.text());
        };
        if (type.isEmpty() || token.kind() == Kind.STRING && begin < place) {
            return;
        }
        types.add(type.get());
        values.add(Optional.of(text));
        shape.append(sql, copied, tokens.get(begin).start());
        shape.append('$').append(values.size());
        copied = token.end();
    }

    /** The type that a constant of these digits has; none for what is no such number. */
    private static Optional<DataType> integer(String digits) {
        boolean plain = digits.length() <= MOST_DIGITS && digits.chars().allMatch(c -> c >= '0' && c <= '9');
        return plain
                ? Optional.of(Long.parseLong(digits) <= Integer.MAX_VALUE ? DataType.INTEGER : DataType.BIGINT)
                : Optional.empty();
    }

    private static Optional<DataType> decimal(String digits) {
        boolean plain =
                digits.length() <= MOST_DIGITS && digits.chars().allMatch(c -> c >= '0' && c <= '9' || c == '.');
        return plain ? Optional.of(Literals.number(new BigDecimal(digits)).type()) : Optional.empty();
    }

    /** The token where a constant begins: its own, or a sign before it. */
    private int begin(int place) {
        return isSigned(place) ? place - 1 : place;
    }

    /** Whether the token before is a minus sign with nothing on its left that something could be taken from. */
    private boolean isSigned(int place) {
        if (!tokens.get(place - 1).isSymbol("-")) {
            return false;
        }
        Lexeme before = tokens.get(place - 2);
        return before.kind() == Kind.OPERATOR
                || before.isSymbol("(")
                || before.isSymbol(",")
                || defines && (before.isWord("between") || before.isWord("and"));
    }

    private boolean endsBehind(int place) {
        Lexeme next = tokens.get(place + 1);
        return next.kind() == Kind.END
                || next.isSymbol(")")
                || next.isSymbol(",")
                || next.isSymbol(";")
                || next.kind() == Kind.WORD && WORDS_BEHIND.contains(next.text());
    }

    /** Whether a constant is a column of what a definition shows: {@code 'rule 17' AS rule}. */
    private boolean isColumn(int begin, int place) {
        Lexeme before = tokens.get(begin - 1);
        return isShown
                && depth == 0
                && (before.isWord("select") || before.isSymbol(","))
                && tokens.get(place + 1).isWord("as");
    }

    private boolean isBegunBefore(int place) {
        Lexeme before = tokens.get(place - 1);
        if (before.kind() == Kind.OPERATOR) {
            boolean added =
                    updates && (before.text().equals("+") || before.text().equals("-"));
            return COMPARISONS.contains(before.text()) || added && isOperand(tokens.get(place - 2));
        }
        return defines && isOfBetween(place) || listDepth == depth && (before.isSymbol("(") || before.isSymbol(","));
    }

    /** Whether a constant is the lower end of a BETWEEN, or the upper one behind a constant. */
    private boolean isOfBetween(int begin) {
        Lexeme before = tokens.get(begin - 1);
        return before.isWord("between")
                || before.isWord("and")
                        && isConstant(tokens.get(begin - 2))
                        && tokens.get(begin(begin - 2) - 1).isWord("between");
    }

    private static boolean isOperand(Lexeme token) {
        return token.isName() || token.isSymbol(")");
    }
}
