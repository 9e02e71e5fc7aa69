package dev.millrace.sql.parser;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.grammar.QueryGrammarConstants;
import dev.millrace.sql.grammar.Token;
import dev.millrace.sql.parser.FedTokens.Paren;
import dev.millrace.sql.syntax.FromClauses;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Feeds the tokens of one query or expression to the generated grammar, from a place in the text on; see the package.
 * EMIT and the end of the text are the end. What it decides is what each word means between its neighbours. One thread, one
 * parse.
 */
final class TokenFeed implements Supplier<Token> {
    /** Keywords when a parenthesis follows. */
    private static final Set<String> BEFORE_PARENTHESIS =
            Set.of("cast", "try_cast", "row", "array", "exists", "values", "cube", "rollup", "match_condition");

    private static final Set<String> VALUE_FUNCTIONS = Set.of(
            "current_timestamp",
            "current_date",
            "current_time",
            "localtime",
            "localtimestamp",
            "current_user",
            "session_user",
            "current_role",
            "current_catalog",
            "current_schema");

    private final FedTokens tokens;
    private final PostgresForms forms;
    private boolean defining; // behind DEFINE of MATCH_RECOGNIZE
    // Depths of parentheses at which a SELECT has not had its FROM yet.
    private final BitSet selecting = new BitSet();
    // Depths of parentheses that are in a FROM.
    private final BitSet naming = new BitSet();
    // Depths of parentheses at which an ASOF JOIN has had neither MATCH_CONDITION nor ON yet.
    private final BitSet matching = new BitSet();

    /** @param first the lexeme to begin with */
    TokenFeed(List<Lexeme> lexemes, int first) {
        tokens = new FedTokens(lexemes, first);
        forms = new PostgresForms(tokens);
    }

    @Override
    public Token get() {
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
        if (tokens.before(1).isSymbol(".") || tokens.before(1).isWord("as") && isLabel(word) && !inDefine()) {
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
            plainWord(word);
        }
    }

    /** Whether AS stands between a pattern variable and its condition. */
    private boolean inDefine() {
        return defining && tokens.innermost() == Paren.MATCH_RECOGNIZE;
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
                matching.clear(tokens.depth());
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
                if (says && !naming.get(tokens.depth())) {
                    tokens.skip(1);
                } else {
                    tokens.callee(word);
                }
            }
            case "unnest" -> {
                if (namesRelation()) {
                    tokens.keyword(word, 1);
                } else {
                    tokens.callee(word);
                }
            }
            default -> {
                if (VALUE_FUNCTIONS.contains(word)) {
                    forms.valueFunction(word);
                } else if (forms.typeOrConstant()) {
                    return; // numeric(5, 2) '1.5'
                } else if (BEFORE_PARENTHESIS.contains(word)) {
                    tokens.keyword(word, 1);
                } else if (isKeyword(word)) {
                    plainWord(word);
                } else if (namesRelation()) {
                    forms.tableCall(forms.numbered(word), 1);
                } else {
                    tokens.callee(word);
                }
            }
        }
    }

    /** Whether what comes is an item of FROM. */
    private boolean namesRelation() {
        boolean begins = tokens.before(1).isWord("from")
                || tokens.before(1).isWord("join")
                || tokens.before(1).isWord("lateral")
                || tokens.before(1).isSymbol(",");
        return begins && naming.get(tokens.depth());
    }

    private void plainWord(String word) {
        trackFrom(word);
        switch (word) {
            case "lateral" -> {
                if (tokens.after(1).isName()
                        && tokens.after(2).isSymbol("(")
                        && !tokens.after(1).isWord("unnest")) {
                    tokens.skip(
                            1); // functions see what stands before them anyway, and the grammar wants none before their
                    // name
                } else {
                    tokens.keyword(word, 1);
                }
            }
            case "rows" -> {
                if (tokens.after(1).isWord("from") && tokens.after(2).isSymbol("(") && namesRelation()) {
                    tokens.skip(1);
                    forms.tableCall(forms.numbered("rows from"), 1);
                } else if (isKeyword(word)) {
                    tokens.keyword(word, 1);
                } else {
                    tokens.name(word, 1);
                }
            }
            case "asof" -> {
                if (isKeyword(word)) {
                    matching.set(tokens.depth());
                    forms.asof();
                } else {
                    tokens.callee(word);
                }
            }
            case "on" -> {
                // The grammar wants a MATCH_CONDITION, which DuckDB has as a part of ON.
                if (matching.get(tokens.depth())) {
                    matching.clear(tokens.depth());
                    tokens.keyword("match_condition", 0);
                    tokens.keyword("true", 0);
                }
                tokens.keyword(word, 1);
            }
            case "using" -> {
                if (tokens.after(1).isSymbol("<") || tokens.after(1).isSymbol(">")) {
                    // ORDER BY x USING >
                    tokens.push(TokenKinds.ofKeyword(tokens.after(1).isSymbol("<") ? "asc" : "desc"), word, 2);
                    return;
                }
                matching.clear(tokens.depth());
                tokens.keyword(word, 1);
            }
            case "distinct" -> {
                if (tokens.before(1).isWord("select")
                        && tokens.after(1).isWord("on")
                        && tokens.after(2).isSymbol("(")) {
                    tokens.callee(Paren.DISTINCT_ON, "distinct on", 2);
                } else {
                    tokens.keyword(word, 1);
                }
            }
            case "at" -> {
                if (tokens.after(1).isWord("time") && tokens.after(2).isWord("zone")) {
                    tokens.push(QueryGrammarConstants.OTHER_OPERATOR, "at time zone", 3);
                } else {
                    tokens.name(word, 1);
                }
            }
            case "define" -> {
                if (isKeyword(word)) {
                    defining = true;
                    tokens.keyword(word, 1);
                } else {
                    tokens.name(word, 1);
                }
            }
            case "groups" -> {
                // A frame in GROUPS goes to the binder as one in RANGE with a last order key that says so.
                if (tokens.depth() > 0
                        && KeywordRules.isFrameBound(tokens.after(1))
                        && !tokens.before(1).isSymbol(",")) {
                    tokens.push(QueryGrammarConstants.COMMA, ",", 0);
                    tokens.push(QueryGrammarConstants.IDENTIFIER, FromClauses.GROUPS_FRAME, 0);
                    tokens.keyword("range", 1);
                } else {
                    tokens.name(word, 1);
                }
            }
            case "fetch" -> {
                if (isKeyword(word)) {
                    forms.markTies();
                    tokens.keyword(word, 1);
                } else {
                    tokens.name(word, 1);
                }
            }
            case "match" -> {
                if (isKeyword(word)) {
                    tokens.keyword(word, 1);
                    forms.skipRowsOption();
                } else {
                    tokens.callee(word);
                }
            }
            case "with" -> {
                // WITH TIES went to the binder as a last order key.
                if (tokens.after(1).isWord("ties")
                        && (tokens.before(1).isWord("row") || tokens.before(1).isWord("rows"))) {
                    tokens.keyword("only", 2);
                } else if (!forms.skipOrdinality()) {
                    tokens.keyword(word, 1);
                }
            }
            case "isnull" -> {
                tokens.keyword("is", 0);
                tokens.keyword("null", 1);
            }
            case "notnull" -> {
                tokens.keyword("is", 0);
                tokens.keyword("not", 0);
                tokens.keyword("null", 1);
            }
            case "limit", "offset" -> {
                if (tokens.after(1).isSymbol("-") && tokens.after(2).kind() == Kind.INTEGER) {
                    throw MillraceException.user(
                                    SqlState.INVALID_ROW_COUNT_IN_LIMIT_CLAUSE,
                                    word.toUpperCase(Locale.ROOT) + " must not be negative")
                            .at(tokens.after(1).start() + 1);
                }
                if (word.equals("offset")) {
                    forms.markTies();
                }
                tokens.keyword(word, 1);
            }
            case "like", "ilike" -> forms.quantifiedLike(word);
            case "not" -> {
                if ((tokens.after(1).isWord("like") || tokens.after(1).isWord("ilike"))
                        && PostgresForms.isQuantifier(tokens.after(2))) {
                    tokens.skip(1);
                    forms.quantifiedLike("not " + tokens.after(0).text());
                } else if (tokens.before(1).isWord("as") && tokens.after(1).isWord("materialized")) {
                    tokens.skip(1);
                } else {
                    tokens.keyword(word, 1);
                }
            }
            case "order" -> {
                // An order inside a call's parentheses is what the grammar knows as WITHIN GROUP.
                if (tokens.innermost() == Paren.CALL && tokens.after(1).isWord("by")) {
                    tokens.push(QueryGrammarConstants.RPAREN, ")", 0);
                    tokens.keyword("within", 0);
                    tokens.keyword("group", 0);
                    tokens.push(QueryGrammarConstants.LPAREN, "(", 0);
                    tokens.close();
                    tokens.open(Paren.OTHER);
                }
                tokens.keyword(word, 1);
            }
            case "similar", "escape" -> {
                if (inWordyCall()) {
                    tokens.push(QueryGrammarConstants.COMMA, ",", 1); // substring(a SIMILAR b ESCAPE c)
                } else if (isKeyword(word)) {
                    tokens.keyword(word, 1);
                } else {
                    tokens.name(word, 1);
                }
            }
            case "from", "for", "in", "placing" -> {
                boolean separates = inWordyCall() && !tokens.before(1).isWord("distinct");
                if (!separates) {
                    if (isKeyword(word)) {
                        tokens.keyword(word, 1);
                    } else {
                        tokens.name(word, 1);
                    }
                } else if (word.equals("for") && !forms.separatedByFrom()) {
                    tokens.push(QueryGrammarConstants.COMMA, ",", 0);
                    tokens.push(QueryGrammarConstants.UNSIGNED_INTEGER_LITERAL, "1", 0);
                    tokens.push(QueryGrammarConstants.COMMA, ",", 1);
                } else {
                    tokens.push(QueryGrammarConstants.COMMA, ",", 1);
                }
            }
            default -> {
                if (VALUE_FUNCTIONS.contains(word)) {
                    forms.valueFunction(word);
                } else if (isKeyword(word)) {
                    tokens.keyword(word, 1);
                } else {
                    tokens.callee(word);
                }
            }
        }
    }

    /** Puts {@code FROM "one row"} before the WHERE, GROUP BY or HAVING of a SELECT without FROM: the grammar wants one. */
    private void trackFrom(String word) {
        int depth = tokens.depth();
        switch (word) {
            case "select" -> {
                selecting.set(depth);
                naming.clear(depth);
            }
            case "from" -> {
                if (!tokens.before(1).isWord("distinct") && !inWordyCall()) {
                    selecting.clear(depth);
                    naming.set(depth);
                }
            }
            case "union", "intersect", "except" -> selecting.clear(depth);
            case "order", "qualify", "limit" -> naming.clear(depth);
            case "where", "having", "group" -> {
                naming.clear(depth);
                if (selecting.get(depth)
                        && !tokens.before(1).isWord("within")
                        && (!word.equals("group") || tokens.after(1).isWord("by"))) {
                    selecting.clear(depth);
                    tokens.keyword("from", 0);
                    tokens.push(QueryGrammarConstants.IDENTIFIER, FromClauses.ONE_ROW, 0);
                }
            }
            default -> {}
        }
    }

    private boolean inWordyCall() {
        return tokens.innermost() == Paren.WORDY_CALL;
    }

    private boolean isKeyword(String word) {
        return KeywordRules.isKeyword(
                word, tokens.before(2), tokens.before(1), tokens.after(1), tokens.within(Paren.MATCH_RECOGNIZE));
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
                naming.clear(tokens.depth());
                selecting.clear(tokens.depth());
                Paren closed = tokens.close();
                defining &= closed != Paren.MATCH_RECOGNIZE;
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
