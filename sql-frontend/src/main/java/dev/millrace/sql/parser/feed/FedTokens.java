package dev.millrace.sql.parser.feed;

import dev.millrace.sql.grammar.QueryGrammarConstants;
import dev.millrace.sql.grammar.Token;
import dev.millrace.sql.text.Lexeme;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * The lexemes of a text, a place among them, the tokens fed for those before it that the grammar has not taken yet, and the
 * parentheses open there. One thread, one parse.
 */
public final class FedTokens {
    /** A token that knows which lexemes it stands for. */
    public static final class FedToken extends Token {
        /** The place of the first lexeme behind it. */
        public int nextLexeme;
    }

    /** What an open parenthesis belongs to, when that changes how words in it are read. */
    enum Paren {
        OTHER,
        CALL,
        /** Arguments separated by FROM, FOR, IN or PLACING. */
        WORDY_CALL,
        DISTINCT_ON,
        /** Of a function in FROM, which is fed as {@code TABLE(f(..))}: the grammar takes more arguments then. */
        TABLE_CALL,
        MATCH_RECOGNIZE
    }

    private final List<Lexeme> lexemes;
    private final int first;
    private int at;
    private final Deque<FedToken> ready = new ArrayDeque<>(4);
    private final List<Paren> open = new ArrayList<>();
    private Paren expected = Paren.OTHER;

    /** @param first the lexeme to begin with */
    FedTokens(List<Lexeme> lexemes, int first) {
        this.lexemes = lexemes;
        this.first = first;
        this.at = first;
    }

    // ---- the place -------------------------------------------------------------------------------------------------

    public List<Lexeme> lexemes() {
        return lexemes;
    }

    int place() {
        return at;
    }

    /** The lexeme so many before the place, or the end of the text where there is none. */
    Lexeme before(int distance) {
        return at - distance >= first ? lexemes.get(at - distance) : lexemes.get(lexemes.size() - 1);
    }

    /** The lexeme at the place (0) or so many behind it, or the end of the text. */
    Lexeme after(int distance) {
        return lexemes.get(Math.min(at + distance, lexemes.size() - 1));
    }

    /** Moves on without a token. */
    void skip(int lexemeCount) {
        at += lexemeCount;
    }

    // ---- parentheses -----------------------------------------------------------------------------------------------

    /** Says what the next parenthesis belongs to, should it come next. */
    void expect(Paren paren) {
        expected = paren;
    }

    Paren expected() {
        return expected;
    }

    void open(Paren paren) {
        open.add(paren);
    }

    /** Closes the innermost; none is {@link Paren#OTHER}. */
    Paren close() {
        return open.isEmpty() ? Paren.OTHER : open.remove(open.size() - 1);
    }

    int depth() {
        return open.size();
    }

    /** The innermost one that is open; none is {@link Paren#OTHER}. */
    Paren innermost() {
        return open.isEmpty() ? Paren.OTHER : open.get(open.size() - 1);
    }

    boolean within(Paren paren) {
        return open.contains(paren);
    }

    // ---- tokens ----------------------------------------------------------------------------------------------------

    /** Whether the grammar has had all that were fed. */
    boolean areTaken() {
        return ready.isEmpty();
    }

    FedToken take() {
        return ready.remove();
    }

    void keyword(String word, int lexemesUsed) {
        push(TokenKinds.ofKeyword(word), word, lexemesUsed);
    }

    public void name(String name, int lexemesUsed) {
        Paren paren = expected;
        push(QueryGrammarConstants.IDENTIFIER, name, lexemesUsed);
        expected = paren;
    }

    /** The name of a function, of one lexeme, before its parenthesis. */
    void callee(String name) {
        callee(Paren.CALL, name, 1);
    }

    void callee(Paren paren, String name, int lexemesUsed) {
        expected = paren;
        name(name, lexemesUsed);
    }

    void string(String text, int lexemesUsed) {
        push(QueryGrammarConstants.QUOTED_STRING, "'" + text.replace("'", "''") + "'", lexemesUsed);
    }

    void symbol(Lexeme lexeme, int lexemesUsed) {
        push(TokenKinds.ofSymbol(lexeme), lexeme.text(), lexemesUsed);
    }

    /** Queues a token with the position of the lexeme at hand and moves on by so many lexemes. */
    void push(int kind, String image, int lexemesUsed) {
        Lexeme from = lexemes.get(at);
        at = Math.min(at + lexemesUsed, lexemes.size() - 1);
        while (lexemesUsed > 0 && lexemes.get(at).isWord("collate") && after(1).isName()) {
            skipCollation();
        }
        FedToken token = new FedToken();
        token.kind = kind;
        token.image = image;
        token.beginLine = 1;
        token.endLine = 1;
        token.beginColumn = from.start() + 1;
        token.endColumn = Math.max(from.end(), from.start() + 1);
        token.nextLexeme = at;
        ready.add(token);
        expected = Paren.OTHER;
    }

    /** Texts have one order, that of their bytes, whichever is asked for. */
    private void skipCollation() {
        at += 2;
        while (lexemes.get(at).isSymbol(".")) {
            at += 2;
        }
    }
}
