package dev.millrace.sql;

import dev.millrace.error.MillraceException;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import dev.millrace.sql.text.Lexer;
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
    static final int LONGEST = 2_000; // characters
    private static final Set<String> FIRST_WORDS = Set.of("select", "insert", "update", "delete");

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
                ? new ConstantLifting(sql, tokens, 0).lift()
                : Optional.empty();
    }

    /** Whether there is one statement, without parameters of its own. */
    static boolean isOne(List<Lexeme> tokens) {
        for (int i = 0; i < tokens.size(); i++) {
            Lexeme token = tokens.get(i);
            if (token.kind() == Kind.PARAMETER || token.isSymbol(";") && i < tokens.size() - 2) {
                return false;
            }
        }
        return true;
    }
}
