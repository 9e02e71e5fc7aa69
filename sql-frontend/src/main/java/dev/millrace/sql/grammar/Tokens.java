package dev.millrace.sql.grammar;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.error.Suggestion;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.sql.text.Keywords;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.parser.SqlParserPos;

/**
 * A place among the tokens of a text, and what is often read there. Places count tokens; positions in errors and trees count
 * characters from 1. Reading goes on at most by some tokens beyond the place. One thread.
 */
public class Tokens {
    /** PostgreSQL cuts longer names; none of ours is so long. */
    private static final int LONGEST_NAME = 1024;

    private final String sql;
    private final List<Lexeme> lexemes;
    private int at;

    /** @param lexemes of the text, with the END */
    public Tokens(String sql, List<Lexeme> lexemes) {
        this.sql = sql;
        this.lexemes = lexemes;
    }

    /** The same text from the place where another one is. */
    protected Tokens(Tokens other) {
        this(other.sql, other.lexemes);
        this.at = other.at;
    }

    // ---- the place -------------------------------------------------------------------------------------------------

    public final int place() {
        return at;
    }

    /** Goes back to a place, to read what follows once more. */
    public final void backTo(int place) {
        at = place;
    }

    public final Lexeme peek() {
        return lexemes.get(at);
    }

    /** The token so many behind the next one, or before it where that is negative; END where there is none. */
    public final Lexeme peekAt(int distance) {
        int place = at + distance;
        return lexemes.get(place < 0 || place >= lexemes.size() ? lexemes.size() - 1 : place);
    }

    public final Lexeme next() {
        Lexeme lexeme = lexemes.get(at);
        if (at < lexemes.size() - 1) {
            at++;
            Interrupt.checkSometimes(at);
        }
        return lexeme;
    }

    public final boolean atEnd() {
        return peek().kind() == Kind.END;
    }

    /** All tokens of the text. */
    protected final List<Lexeme> lexemes() {
        return lexemes;
    }

    /** Where in the text the token at a place begins, in characters from 0. */
    public final int startOf(int place) {
        return lexemes.get(place).start();
    }

    /** Where the tokens from a place to here end. */
    public final int endFrom(int place) {
        return at == place ? startOf(place) : lexemes.get(at - 1).end();
    }

    /** The text from a place to here. */
    public final String textFrom(int place) {
        return sql.substring(startOf(place), endFrom(place));
    }

    /** The text from a place to before another one. */
    public final String textBetween(int place, int end) {
        return sql.substring(startOf(place), lexemes.get(end - 1).end());
    }

    protected final String sql() {
        return sql;
    }

    /** A token as it is written. */
    protected final String written(Lexeme lexeme) {
        return sql.substring(lexeme.start(), lexeme.end());
    }

    /** The position of the tokens from a place to here. */
    final SqlParserPos positionFrom(int place) {
        return new SqlParserPos(
                1,
                startOf(place) + 1,
                1,
                Math.max(startOf(place) + 1, lexemes.get(at - 1).end()));
    }

    static SqlParserPos position(Lexeme lexeme) {
        return new SqlParserPos(1, lexeme.start() + 1, 1, Math.max(lexeme.end(), lexeme.start() + 1));
    }

    // ---- words and symbols -----------------------------------------------------------------------------------------

    public final boolean accept(String word) {
        boolean found = peek().isWord(word);
        if (found) {
            next();
        }
        return found;
    }

    /** Accepts these words in a row, or none. */
    public final boolean acceptAll(String... wanted) {
        for (int i = 0; i < wanted.length; i++) {
            if (!peekAt(i).isWord(wanted[i])) {
                return false;
            }
        }
        at += wanted.length;
        return true;
    }

    public final boolean acceptSymbol(String symbol) {
        boolean found = peek().isSymbol(symbol);
        if (found) {
            next();
        }
        return found;
    }

    /** Whether one more item of a list follows. As in DuckDB, a comma before the bracket that ends the list says nothing. */
    public final boolean acceptComma() {
        return acceptSymbol(",") && !closes(peek());
    }

    public final void expect(String word) {
        if (!accept(word)) {
            throw expected(List.of(word));
        }
    }

    public final void expectSymbol(String symbol) {
        if (!acceptSymbol(symbol)) {
            throw syntaxError().withHint("expected \"" + symbol + "\"");
        }
    }

    static boolean closes(Lexeme lexeme) {
        return lexeme.isSymbol(")") || lexeme.isSymbol("]") || lexeme.isSymbol("}");
    }

    // ---- errors ----------------------------------------------------------------------------------------------------

    /** A syntax error here, with the one of these words that was probably meant. */
    public final MillraceException expected(List<String> wanted) {
        Optional<String> nearest =
                peek().kind() == Kind.WORD ? Suggestion.nearest(peek().text(), wanted) : Optional.empty();
        return syntaxError()
                .withHint(nearest.map(word -> "did you mean \"" + word.toUpperCase(Locale.ROOT) + "\"?")
                        .orElseGet(() -> "expected "
                                + String.join(
                                        ", ",
                                        wanted.stream()
                                                .map(word -> word.toUpperCase(Locale.ROOT))
                                                .toList())));
    }

    public final MillraceException syntaxError() {
        return syntaxErrorAt(peek());
    }

    final MillraceException syntaxErrorAt(Lexeme lexeme) {
        String message = lexeme.kind() == Kind.END
                ? "syntax error at end of input"
                : "syntax error at or near \"" + written(lexeme) + "\"";
        return MillraceException.user(SqlState.SYNTAX_ERROR, message).at(lexeme.start() + 1);
    }

    /** A syntax error at a token of a query that cannot stand here; a misspelt keyword may also be the word before. */
    public final MillraceException unexpected() {
        Optional<String> meant = MisspeltWords.meant(lexemes, at);
        return meant.isPresent() ? syntaxError().withHint("did you mean \"" + meant.get() + "\"?") : syntaxError();
    }

    /** Takes a symbol that must stand here in a query. */
    final void require(String symbol) {
        if (!acceptSymbol(symbol)) {
            throw unexpected();
        }
    }

    /** Takes a word that must stand here in a query. */
    final void requireWord(String word) {
        if (!accept(word)) {
            throw unexpected();
        }
    }

    // ---- names -----------------------------------------------------------------------------------------------------

    /** A name, one part. */
    public final String name() {
        if (!peek().isName() || peek().kind() == Kind.WORD && Keywords.isReserved(peek().text())) {
            throw syntaxError();
        }
        return next().text();
    }

    /** A name of one or more parts with its position. */
    public final SqlIdentifier identifier() {
        int start = at;
        List<String> names = new ArrayList<>(2);
        do {
            names.add(name());
        } while (acceptSymbol("."));
        return new SqlIdentifier(names, positionFrom(start));
    }

    /** A name of one part with its position. */
    public final SqlIdentifier simpleIdentifier() {
        SqlParserPos position = position(peek());
        return new SqlIdentifier(name(), position);
    }

    /** What may follow AS: any word, also a reserved one. */
    public final SqlIdentifier label() {
        if (!peek().isName()) {
            throw unexpected();
        }
        return named(next());
    }

    /** In a query: a name of one part, which is no keyword of queries. */
    final SqlIdentifier queryName() {
        if (!QueryWords.isName(peek())) {
            throw unexpected();
        }
        return named(next());
    }

    final SqlIdentifier named(Lexeme lexeme) {
        if (lexeme.text().length() > LONGEST_NAME) {
            throw syntaxErrorAt(lexeme);
        }
        return new SqlIdentifier(lexeme.text(), position(lexeme));
    }

    /** {@code (a, b)}, or nothing. */
    public final List<SqlIdentifier> optionalColumns() {
        List<SqlIdentifier> columns = new ArrayList<>();
        if (peek().isSymbol("(")
                && peekAt(1).isName()
                && (peekAt(2).isSymbol(",") || peekAt(2).isSymbol(")"))) {
            next();
            do {
                columns.add(simpleIdentifier());
            } while (acceptComma());
            expectSymbol(")");
        }
        return columns;
    }
}
