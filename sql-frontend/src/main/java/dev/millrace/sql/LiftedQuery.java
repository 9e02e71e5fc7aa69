package dev.millrace.sql;

import dev.millrace.error.MillraceException;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.sql.text.Keywords;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import dev.millrace.sql.text.Lexer;
import java.util.List;
import java.util.Optional;

/**
 * The definition of a continuous query or a materialized view with parameters in the places of constants, so that definitions which differ in nothing but these and their names are one.
 *
 * <pre>
 *   CREATE CONTINUOUS QUERY q7 AS SELECT ts FROM readings WHERE device = 'x' AND temp > 80.5
 *
 *   name q7, query SELECT ts FROM readings WHERE device = $1 AND temp > $2, values 'x' of open type and 80.5, NUMERIC(3, 1)
 * </pre>
 *
 * @param kind CONTINUOUS_QUERY or MATERIALIZED_VIEW
 * @param text the statement, without its semicolon and without comments around it
 * @param query what is behind AS
 */
public record LiftedQuery(ObjectKind kind, String name, String text, LiftedText query) {
    private static final String FIRST = "create";
    private static final List<ObjectKind> KINDS = List.of(ObjectKind.CONTINUOUS_QUERY, ObjectKind.MATERIALIZED_VIEW);
    private static final int NAME = 3; // token
    private static final int QUERY = NAME + 2; // token

    /** The one statement of a text; empty for any other, for one with options, and without constants to lift. */
    public static Optional<LiftedQuery> of(String sql) {
        if (sql.length() > LiftedText.LONGEST || !sql.regionMatches(true, 0, FIRST, 0, FIRST.length())) {
            return Optional.empty();
        }
        List<Lexeme> tokens;
        try {
            tokens = Lexer.tokens(sql);
        } catch (MillraceException e) {
            return Optional.empty(); // whoever parses it says what is wrong
        }
        Optional<ObjectKind> kind = begins(tokens)
                ? KINDS.stream().filter(each -> isOf(each, tokens)).findFirst()
                : Optional.empty();
        if (kind.isEmpty() || !LiftedText.isOne(tokens)) {
            return Optional.empty();
        }
        String text = sql.substring(tokens.get(0).start(), end(tokens));
        return new ConstantLifting(sql, tokens, QUERY)
                .lift()
                .map(query -> new LiftedQuery(kind.get(), tokens.get(NAME).text(), text, query));
    }

    private static boolean begins(List<Lexeme> tokens) {
        if (tokens.size() <= QUERY + 1 || !tokens.get(0).isWord(FIRST)) {
            return false;
        }
        Lexeme name = tokens.get(NAME);
        boolean isName = name.kind() == Kind.QUOTED_NAME
                        && !name.text().isEmpty()
                        && name.text().indexOf('.') < 0
                || name.kind() == Kind.WORD && !Keywords.isReserved(name.text());
        return isName && tokens.get(NAME + 1).isWord("as") && tokens.get(QUERY).isWord("select");
    }

    private static boolean isOf(ObjectKind kind, List<Lexeme> tokens) {
        String words = kind.sqlName();
        int space = words.indexOf(' ');
        return tokens.get(1).isWord(words.substring(0, space)) && tokens.get(2).isWord(words.substring(space + 1));
    }

    /** Behind the last token that is no semicolon. */
    static int end(List<Lexeme> tokens) {
        int last = tokens.size() - 2; // before END
        return tokens.get(tokens.get(last).isSymbol(";") ? last - 1 : last).end();
    }
}
