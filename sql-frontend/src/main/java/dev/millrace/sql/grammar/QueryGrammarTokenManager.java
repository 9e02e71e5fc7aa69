package dev.millrace.sql.grammar;

import java.util.function.Supplier;

/**
 * Takes the place of the generated lexer (the build leaves out what exists here), so that tokens come from ours: it
 * knows PostgreSQL's lexical rules and which words are keywords where.
 */
public final class QueryGrammarTokenManager {
    /** The generated parser looks this name up. */
    static final String[] lexStateNames = {"DEFAULT"};

    private final Supplier<Token> tokens;

    /** @param tokens each call gives the next token; after the last one, EOF for ever */
    public QueryGrammarTokenManager(Supplier<Token> tokens) {
        this.tokens = tokens;
    }

    /** The generated parser's way of reading characters itself, which is not used. */
    QueryGrammarTokenManager(SimpleCharStream characters) {
        throw new UnsupportedOperationException("tokens come from dev.millrace.sql.text.Lexer");
    }

    /** The name is the generated parser's. */
    public Token getNextToken() {
        return tokens.get();
    }

    void SwitchTo(int lexicalState) {}

    void ReInit(SimpleCharStream characters) {}
}
