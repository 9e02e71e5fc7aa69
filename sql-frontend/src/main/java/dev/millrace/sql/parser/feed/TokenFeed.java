package dev.millrace.sql.parser.feed;

import dev.millrace.interrupt.Interrupt;
import dev.millrace.sql.grammar.QueryGrammarConstants;
import dev.millrace.sql.grammar.Token;
import dev.millrace.sql.parser.feed.FedTokens.Paren;
import dev.millrace.sql.text.Lexeme;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Feeds the tokens of one query or expression to the generated grammar, from a place in the text on; see the package.
 * EMIT and the end of the text are the end. What it decides is what each word means between its neighbours. One thread, one
 * parse.
 */
public final class TokenFeed implements Supplier<Token> {
    /** Keywords when a parenthesis follows. */
    private static final Set<String> BEFORE_PARENTHESIS =
            Set.of("cast", "try_cast", "row", "array", "exists", "values", "cube", "rollup", "match_condition");

    private final FedTokens tokens;
    private final PostgresForms forms;
    private final SelectParts parts;
    private final ClauseWords clauses;
    private final Interrupt interrupt = Interrupt.current();

    /** @param first the lexeme to begin with */
    public TokenFeed(List<Lexeme> lexemes, int first) {
        tokens = new FedTokens(lexemes, first);
        forms = new PostgresForms(tokens);
        parts = new SelectParts(tokens);
        clauses = new ClauseWords(tokens, forms, parts);
    }

    @Override
    public Token get() {
        interrupt.check();
        while (tokens.areTaken()) {
            feed();
        }
        return tokens.take();
    }

    private void feed() {
        forms.closeOperands();
        Lexeme lexeme = tokens.after(0);
        switch (lexeme.kind()) {
            case WORD -> word(lexeme);
            case QUOTED_NAME -> {
                if (tokens.within(Paren.MATCH_RECOGNIZE)
                        && tokens.before(1).isSymbol("(")
                        && tokens.before(2).isWord("pattern")) {
                    // Its text is read by the binder, which knows its place.
                    tokens.push(QueryGrammarConstants.IDENTIFIER, "pattern", 1);
                } else {
                    tokens.callee(lexeme.text());
                }
            }
            case STRING -> tokens.string(lexeme.text(), 1);
            case BYTES -> tokens.push(QueryGrammarConstants.BINARY_STRING_LITERAL, "X'" + lexeme.text() + "'", 1);
            case INTEGER -> tokens.push(QueryGrammarConstants.UNSIGNED_INTEGER_LITERAL, lexeme.text(), 1);
            case DECIMAL -> tokens.push(QueryGrammarConstants.DECIMAL_NUMERIC_LITERAL, lexeme.text(), 1);
            case APPROXIMATE -> tokens.push(QueryGrammarConstants.APPROX_NUMERIC_LITERAL, lexeme.text(), 1);
            case PARAMETER -> tokens.push(QueryGrammarConstants.HOOK, "?", 1);
            case OPERATOR -> {
                if (PrefixOperators.isPrefix(lexeme, tokens.before(1))) {
                    forms.prefix(lexeme);
                } else {
                    symbol(lexeme);
                }
            }
            case PUNCTUATION -> symbol(lexeme);
            case END -> tokens.push(QueryGrammarConstants.EOF, "", 0);
        }
    }

    private void word(Lexeme lexeme) {
        String word = lexeme.text();
        if (tokens.before(1).isSymbol(".") || tokens.before(1).isWord("as") && isLabel(word) && !clauses.isDefining()) {
            tokens.callee(word);
            return;
        }
        if (tokens.after(1).isSymbol("=>")) {
            tokens.name(word, 1); // OFFSET => INTERVAL '1 hour'
        } else if (word.equals("emit") || word.equals("returning") && tokens.depth() == 0) {
            tokens.push(QueryGrammarConstants.EOF, "", 0);
        } else if (tokens.after(1).isSymbol("(")) {
            wordBeforeParenthesis(word);
        } else if (!forms.typeOrConstant()) {
            clauses.feed(word);
        }
    }

    /** Whether a word after AS is a label, which may be any word, or has its usual meaning. */
    private boolean isLabel(String word) {
        return !(word.equals("of") && tokens.before(2).isWord("system_time"))
                && !(word.equals("materialized") && tokens.after(1).isSymbol("("))
                && !(word.equals("not") && tokens.after(1).isWord("materialized"))
                && !TypeWords.isType(word);
    }

    private void wordBeforeParenthesis(String word) {
        switch (word) {
            case "row" -> {
                // The grammar reads VALUES (ROW(a, b)) as VALUES (a, b).
                boolean beginsRow = tokens.before(1).isSymbol("(")
                        && (tokens.before(2).isWord("values")
                                || tokens.before(2).isSymbol(",")
                                        && tokens.before(3).isSymbol(")"));
                if (beginsRow) {
                    tokens.callee(word);
                } else {
                    tokens.keyword(word, 1);
                }
            }
            case "extract" -> forms.extract();
            case "position", "substring", "overlay" -> {
                tokens.callee(Paren.WORDY_CALL, word, 1);
            }
            case "trim" -> forms.trim();
            case "operator" -> forms.qualifiedOperator();
            case "overlaps" -> {
                if (tokens.before(1).isSymbol(")")) {
                    tokens.push(QueryGrammarConstants.OTHER_OPERATOR, word, 1);
                } else {
                    tokens.callee(word);
                }
            }
            case "table" -> {
                // TABLE (SELECT ...) as an argument is just the query.
                if (tokens.after(2).isWord("select")
                        || tokens.after(2).isWord("with")
                        || tokens.after(2).isWord("values")) {
                    tokens.skip(1);
                } else {
                    tokens.keyword(word, 1);
                }
            }
            case "match_condition" -> {
                parts.takeMatch();
                tokens.keyword(word, 1);
            }
            case "match_recognize" -> {
                tokens.keyword(word, 1);
                tokens.expect(Paren.MATCH_RECOGNIZE);
            }
            case "timestamp", "time", "interval" -> {
                if (!forms.typeOrConstant()) {
                    tokens.callee(word);
                }
            }
            case "over", "filter" -> {
                if (tokens.before(1).isSymbol(")") || tokens.before(1).isWord("nulls")) {
                    tokens.keyword(word, 1);
                } else {
                    tokens.callee(word);
                }
            }
            case "materialized" -> {
                // Behind AS of a query that WITH names, not before the columns of an alias in FROM.
                boolean says = tokens.before(1).isWord("as")
                        || tokens.before(1).isWord("not") && tokens.before(2).isWord("as");
                if (says && !parts.isInFrom()) {
                    tokens.skip(1);
                } else {
                    tokens.callee(word);
                }
            }
            case "unnest" -> {
                if (parts.beginsItem()) {
                    tokens.keyword(word, 1);
                } else {
                    tokens.callee(word);
                }
            }
            default -> {
                if (ClauseWords.isValueFunction(word)) {
                    forms.valueFunction(word);
                } else if (forms.typeOrConstant()) {
                    return; // numeric(5, 2) '1.5'
                } else if (BEFORE_PARENTHESIS.contains(word)) {
                    tokens.keyword(word, 1);
                } else if (clauses.isKeyword(word)) {
                    clauses.feed(word);
                } else if (parts.beginsItem()) {
                    forms.tableCall(forms.numbered(word), 1);
                } else {
                    tokens.callee(word);
                }
            }
        }
    }

    private void symbol(Lexeme lexeme) {
        switch (lexeme.text()) {
            case "(" -> {
                boolean query =
                        tokens.after(1).isWord("select") || tokens.after(1).isWord("with");
                tokens.open(query && tokens.expected() == Paren.CALL ? Paren.OTHER : tokens.expected());
                tokens.push(QueryGrammarConstants.LPAREN, "(", 1);
            }
            case ")" -> {
                parts.close();
                Paren closed = tokens.close();
                clauses.closed(closed);
                if (closed == Paren.TABLE_CALL) {
                    tokens.push(QueryGrammarConstants.RPAREN, ")", 0);
                    tokens.push(QueryGrammarConstants.RPAREN, ")", 1 + forms.ordinalityBehind());
                } else if (closed == Paren.DISTINCT_ON) {
                    tokens.push(QueryGrammarConstants.RPAREN, ")", 0);
                    tokens.push(QueryGrammarConstants.COMMA, ",", 1);
                } else {
                    tokens.push(QueryGrammarConstants.RPAREN, ")", 1);
                }
            }
            case "[" -> forms.openBracket(lexeme);
            case "]" -> forms.closeBracket(lexeme);
            case ":" -> forms.colon(lexeme);
            default -> tokens.symbol(lexeme, 1);
        }
    }
}
