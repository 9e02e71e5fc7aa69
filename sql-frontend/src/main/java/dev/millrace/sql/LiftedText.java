package dev.millrace.sql;

import dev.millrace.error.MillraceException;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import dev.millrace.sql.text.Lexer;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A statement with parameters in the places of constants, so that texts which differ in nothing but these are one.
 *
 * <pre>
 *   UPDATE t SET v = v + -7 WHERE id = 5       shape UPDATE t SET v = v + $1 WHERE id = $2, values -7 and 5, both INTEGER
 * </pre>
 *
 * <p>Only constants are lifted that mean the same as a parameter: integers, which keep their type by being declared, and
 * strings, whose type is as open as that of a parameter; beside a comparison, in {@code IN (..)}, in the rows of an INSERT's
 * VALUES, and added to something in an UPDATE. Elsewhere a constant may be a column's number, a count of digits or of rows, or
 * part of a type.
 *
 * @param shape the statement with parameters
 * @param parameters their types and values
 */
public record LiftedText(String shape, Parameters parameters) {
    private static final int LONGEST = 2_000; // characters
    private static final int MOST_LIFTED = 64;
    private static final Set<String> COMPARISONS = Set.of("=", "<>", "!=", "<", "<=", ">", ">=");
    private static final Set<String> FIRST_WORDS = Set.of("select", "insert", "update", "delete");
    private static final Set<String> WORDS_BEHIND =
            Set.of("and", "or", "where", "returning", "order", "group", "limit", "offset", "on", "union", "for");

    /** The text of one statement with its constants lifted; empty if there are none, or it is not that simple. */
    public static Optional<LiftedText> of(String sql) {
        if (sql.length() > LONGEST) {
            return Optional.empty();
        }
        List<Lexeme> tokens;
        try {
            tokens = Lexer.tokens(sql);
        } catch (MillraceException e) {
            return Optional.empty(); // whoever parses it says what is wrong
        }
        return FIRST_WORDS.contains(tokens.get(0).text()) && tokens.get(0).kind() == Kind.WORD && isOne(tokens)
                ? new Lifting(sql, tokens).lift()
                : Optional.empty();
    }

    /** Whether there is one statement, without parameters of its own. */
    private static boolean isOne(List<Lexeme> tokens) {
        for (int i = 0; i < tokens.size(); i++) {
            Lexeme token = tokens.get(i);
            if (token.kind() == Kind.PARAMETER || token.isSymbol(";") && i < tokens.size() - 2) {
                return false;
            }
        }
        return true;
    }

    private static final class Lifting {
        private final String sql;
        private final List<Lexeme> tokens;
        private final boolean updates;
        private final boolean inserts;
        private final StringBuilder shape = new StringBuilder();
        private final List<DataType> types = new ArrayList<>();
        private final List<Optional<String>> values = new ArrayList<>();
        private int copied; // characters of the text that are in the shape
        private int depth;
        private int listDepth = -1; // of the parenthesis that is around constants, if there is one
        private boolean inRows; // behind VALUES

        Lifting(String sql, List<Lexeme> tokens) {
            this.sql = sql;
            this.tokens = tokens;
            this.updates = tokens.get(0).text().equals("update");
            this.inserts = tokens.get(0).text().equals("insert");
        }

        Optional<LiftedText> lift() {
            for (int i = 1; i < tokens.size() && values.size() < MOST_LIFTED; i++) {
                Lexeme token = tokens.get(i);
                if (token.isSymbol("(")) {
                    depth++;
                    Lexeme before = tokens.get(i - 1);
                    boolean row = inRows && depth == 1 && (before.isWord("values") || before.isSymbol(","));
                    if (listDepth < 0 && (row || before.isWord("in"))) {
                        listDepth = depth;
                    }
                } else if (token.isSymbol(")")) {
                    listDepth = depth == listDepth ? -1 : listDepth;
                    depth--;
                } else if (token.kind() == Kind.WORD) {
                    boolean begins = inserts && depth == 0 && token.isWord("values");
                    inRows = begins || inRows && depth > 0;
                } else if (token.kind() == Kind.INTEGER || token.kind() == Kind.STRING) {
                    constant(i);
                }
            }
            if (values.isEmpty()) {
                return Optional.empty();
            }
            shape.append(sql, copied, sql.length());
            return Optional.of(new LiftedText(shape.toString(), Parameters.of(types, values)));
        }

        private void constant(int place) {
            Lexeme token = tokens.get(place);
            int first = isSigned(place) ? place - 1 : place;
            if (!endsBehind(place) || !isBegunBefore(first)) {
                return;
            }
            String text = first < place ? "-" + token.text() : token.text();
            Optional<DataType> type = token.kind() == Kind.STRING ? Optional.of(DataType.NULL) : integer(token.text());
            if (type.isEmpty() || token.kind() == Kind.STRING && first < place) {
                return;
            }
            types.add(type.get());
            values.add(Optional.of(text));
            shape.append(sql, copied, tokens.get(first).start());
            shape.append('$').append(values.size());
            copied = token.end();
        }

        /** The type that a constant of these digits has; none for what is no such number. */
        private static Optional<DataType> integer(String digits) {
            boolean plain = digits.length() <= 18 && digits.chars().allMatch(c -> c >= '0' && c <= '9');
            return plain
                    ? Optional.of(Long.parseLong(digits) <= Integer.MAX_VALUE ? DataType.INTEGER : DataType.BIGINT)
                    : Optional.empty();
        }

        /** Whether the token before is a minus sign with nothing on its left that something could be taken from. */
        private boolean isSigned(int place) {
            if (!tokens.get(place - 1).isSymbol("-")) {
                return false;
            }
            Lexeme before = tokens.get(place - 2);
            return before.kind() == Kind.OPERATOR || before.isSymbol("(") || before.isSymbol(",");
        }

        private boolean endsBehind(int place) {
            Lexeme next = tokens.get(place + 1);
            return next.kind() == Kind.END
                    || next.isSymbol(")")
                    || next.isSymbol(",")
                    || next.isSymbol(";")
                    || next.kind() == Kind.WORD && WORDS_BEHIND.contains(next.text());
        }

        private boolean isBegunBefore(int place) {
            Lexeme before = tokens.get(place - 1);
            if (before.kind() == Kind.OPERATOR) {
                boolean added =
                        updates && (before.text().equals("+") || before.text().equals("-"));
                return COMPARISONS.contains(before.text()) || added && isOperand(tokens.get(place - 2));
            }
            return listDepth == depth && (before.isSymbol("(") || before.isSymbol(","));
        }

        private static boolean isOperand(Lexeme token) {
            return token.isName() || token.isSymbol(")");
        }
    }
}
