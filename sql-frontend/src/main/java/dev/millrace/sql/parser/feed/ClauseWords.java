package dev.millrace.sql.parser.feed;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.grammar.QueryGrammarConstants;
import dev.millrace.sql.parser.feed.FedTokens.Paren;
import dev.millrace.sql.syntax.FromClauses;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.Locale;
import java.util.Set;

/**
 * Feeds words that begin or join the parts of a query, each as what it is between its neighbours: a keyword, a name, or
 * another form that the grammar reads. One thread, one parse.
 */
final class ClauseWords {
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
    private final SelectParts parts;
    private boolean defining; // behind DEFINE of MATCH_RECOGNIZE

    ClauseWords(FedTokens tokens, PostgresForms forms, SelectParts parts) {
        this.tokens = tokens;
        this.forms = forms;
        this.parts = parts;
    }

    /** Whether a word is a function that is called without parentheses. */
    static boolean isValueFunction(String word) {
        return VALUE_FUNCTIONS.contains(word);
    }

    boolean isKeyword(String word) {
        return KeywordRules.isKeyword(
                word, tokens.before(2), tokens.before(1), tokens.after(1), tokens.within(Paren.MATCH_RECOGNIZE));
    }

    /** Whether the definitions of pattern variables are at hand. */
    boolean isDefining() {
        return defining && tokens.innermost() == Paren.MATCH_RECOGNIZE;
    }

    /** A parenthesis was closed. */
    void closed(Paren paren) {
        defining &= paren != Paren.MATCH_RECOGNIZE;
    }

    /** Feeds the word at hand. */
    void feed(String word) {
        parts.enter(word, inWordyCall());
        switch (word) {
            case "lateral" -> lateral();
            case "rows" -> rows();
            case "asof" -> asof();
            case "on" -> on();
            case "using" -> using();
            case "distinct" -> distinct();
            case "at" -> at();
            case "define" -> define();
            case "groups" -> groups();
            case "fetch" -> fetch();
            case "match" -> match();
            case "with" -> with();
            case "isnull" -> {
                tokens.keyword("is", 0);
                tokens.keyword("null", 1);
            }
            case "notnull" -> {
                tokens.keyword("is", 0);
                tokens.keyword("not", 0);
                tokens.keyword("null", 1);
            }
            case "limit", "offset" -> limit(word);
            case "like", "ilike" -> forms.quantifiedLike(word);
            case "not" -> not();
            case "order" -> order();
            case "similar", "escape" -> similar(word);
            case "from", "for", "in", "placing" -> separator(word);
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

    private void keywordOrName(String word) {
        if (isKeyword(word)) {
            tokens.keyword(word, 1);
        } else {
            tokens.name(word, 1);
        }
    }

    // ---- FROM and joins --------------------------------------------------------------------------------------------

    /** Functions see what stands before them anyway, and the grammar wants no LATERAL before their name. */
    private void lateral() {
        boolean function = tokens.after(1).isName()
                && tokens.after(2).isSymbol("(")
                && !tokens.after(1).isWord("unnest");
        if (function) {
            tokens.skip(1);
        } else {
            tokens.keyword("lateral", 1);
        }
    }

    private void rows() {
        if (tokens.after(1).isWord("from") && tokens.after(2).isSymbol("(") && parts.beginsItem()) {
            tokens.skip(1);
            forms.tableCall(forms.numbered("rows from"), 1);
        } else {
            keywordOrName("rows");
        }
    }

    private void asof() {
        if (isKeyword("asof")) {
            parts.expectMatch();
            forms.asof();
        } else {
            tokens.callee("asof");
        }
    }

    /** The grammar wants a MATCH_CONDITION, which DuckDB has as a part of ON. */
    private void on() {
        if (parts.takeMatch()) {
            tokens.keyword("match_condition", 0);
            tokens.keyword("true", 0);
        }
        tokens.keyword("on", 1);
    }

    private void using() {
        boolean ascends = tokens.after(1).isSymbol("<");
        if (ascends || tokens.after(1).isSymbol(">")) { // ORDER BY x USING >
            tokens.push(TokenKinds.ofKeyword(ascends ? "asc" : "desc"), "using", 2);
        } else {
            parts.takeMatch();
            tokens.keyword("using", 1);
        }
    }

    private void match() {
        if (isKeyword("match")) {
            tokens.keyword("match", 1);
            forms.skipRowsOption();
        } else {
            tokens.callee("match");
        }
    }

    private void define() {
        defining |= isKeyword("define");
        keywordOrName("define");
    }

    // ---- other clauses ---------------------------------------------------------------------------------------------

    private void distinct() {
        boolean on = tokens.before(1).isWord("select")
                && tokens.after(1).isWord("on")
                && tokens.after(2).isSymbol("(");
        if (on) {
            tokens.callee(Paren.DISTINCT_ON, "distinct on", 2);
        } else {
            tokens.keyword("distinct", 1);
        }
    }

    private void with() {
        boolean ties = tokens.after(1).isWord("ties")
                && (tokens.before(1).isWord("row") || tokens.before(1).isWord("rows"));
        if (ties) {
            tokens.keyword("only", 2); // WITH TIES went to the binder as a last order key
        } else if (!forms.skipOrdinality()) {
            tokens.keyword("with", 1);
        }
    }

    private void limit(String word) {
        if (tokens.after(1).isSymbol("-") && tokens.after(2).kind() == Kind.INTEGER) {
            throw MillraceException.user(
                            word.equals("offset")
                                    ? SqlState.INVALID_ROW_COUNT_IN_RESULT_OFFSET_CLAUSE
                                    : SqlState.INVALID_ROW_COUNT_IN_LIMIT_CLAUSE,
                            word.toUpperCase(Locale.ROOT) + " must not be negative")
                    .at(tokens.after(1).start() + 1);
        }
        if (word.equals("offset")) {
            forms.markTies();
        }
        tokens.keyword(word, 1);
    }

    private void fetch() {
        if (isKeyword("fetch")) {
            forms.markTies();
        }
        keywordOrName("fetch");
    }

    /** An order inside a call's parentheses is what the grammar knows as WITHIN GROUP. */
    private void order() {
        if (tokens.innermost() == Paren.CALL && tokens.after(1).isWord("by")) {
            tokens.push(QueryGrammarConstants.RPAREN, ")", 0);
            tokens.keyword("within", 0);
            tokens.keyword("group", 0);
            tokens.push(QueryGrammarConstants.LPAREN, "(", 0);
            tokens.close();
            tokens.open(Paren.OTHER);
        }
        tokens.keyword("order", 1);
    }

    /** A frame in GROUPS goes to the binder as one in RANGE with a last order key that says so. */
    private void groups() {
        boolean frame = tokens.depth() > 0
                && KeywordRules.isFrameBound(tokens.after(1))
                && !tokens.before(1).isSymbol(",");
        if (frame) {
            tokens.push(QueryGrammarConstants.COMMA, ",", 0);
            tokens.push(QueryGrammarConstants.IDENTIFIER, FromClauses.GROUPS_FRAME, 0);
            tokens.keyword("range", 1);
        } else {
            tokens.name("groups", 1);
        }
    }

    // ---- expressions -----------------------------------------------------------------------------------------------

    private void at() {
        if (tokens.after(1).isWord("time") && tokens.after(2).isWord("zone")) {
            tokens.push(QueryGrammarConstants.OTHER_OPERATOR, "at time zone", 3);
        } else {
            tokens.name("at", 1);
        }
    }

    private void not() {
        boolean like = tokens.after(1).isWord("like") || tokens.after(1).isWord("ilike");
        if (like && PostgresForms.isQuantifier(tokens.after(2))) {
            tokens.skip(1);
            forms.quantifiedLike("not " + tokens.after(0).text());
        } else if (tokens.before(1).isWord("as") && tokens.after(1).isWord("materialized")) {
            tokens.skip(1);
        } else {
            tokens.keyword("not", 1);
        }
    }

    /** Whether the arguments at hand are separated by words. */
    private boolean inWordyCall() {
        return tokens.innermost() == Paren.WORDY_CALL;
    }

    private void similar(String word) {
        if (inWordyCall()) {
            tokens.push(QueryGrammarConstants.COMMA, ",", 1); // substring(a SIMILAR b ESCAPE c)
        } else {
            keywordOrName(word);
        }
    }

    private void separator(String word) {
        boolean separates = inWordyCall() && !tokens.before(1).isWord("distinct");
        if (!separates) {
            keywordOrName(word);
            return;
        }
        if (word.equals("for") && !forms.separatedByFrom()) { // substring(a FOR 2) begins with the first character
            tokens.push(QueryGrammarConstants.COMMA, ",", 0);
            tokens.push(QueryGrammarConstants.UNSIGNED_INTEGER_LITERAL, "1", 0);
        }
        tokens.push(QueryGrammarConstants.COMMA, ",", 1);
    }
}
