package dev.millrace.sql.parser;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.grammar.QueryGrammarConstants;
import dev.millrace.sql.grammar.Token;
import dev.millrace.sql.syntax.FromClauses;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Feeds the tokens of one query or expression to the generated grammar, from a place in the text on; see the package.
 * EMIT and the end of the text are the end. One thread, one parse.
 *
 * <p>Long because every rule moves through the same tokens and open parentheses.
 */
final class TokenFeed implements Supplier<Token> {
    /** A token that knows which lexemes it stands for. */
    static final class FedToken extends Token {
        /** The place of the first lexeme behind it. */
        int nextLexeme;
    }

    /** What an open parenthesis belongs to, when that changes how words in it are read. */
    private enum Paren {
        OTHER,
        CALL,
        /** Arguments separated by FROM, FOR, IN or PLACING. */
        WORDY_CALL,
        DISTINCT_ON,
        /** Of a function in FROM, which is fed as {@code TABLE(f(..))}: the grammar takes more arguments then. */
        TABLE_CALL,
        MATCH_RECOGNIZE
    }

    /** Keywords when a parenthesis follows. */
    private static final Set<String> BEFORE_PARENTHESIS =
            Set.of("cast", "row", "array", "exists", "values", "cube", "rollup", "match_condition");

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

    /** The function that a slice's bounds are fed as arguments of. */
    private static final String SLICE_BOUNDS = "slice bounds";

    private final List<Lexeme> lexemes;
    private final int first;
    private int at;
    private final Deque<FedToken> ready = new ArrayDeque<>(4);
    private final List<Paren> open = new ArrayList<>();
    private Paren nextParen = Paren.OTHER;
    private int numberedCalls; // whose WITH ORDINALITY is still to come
    private boolean defining; // behind DEFINE of MATCH_RECOGNIZE
    private final Deque<Boolean> bracketSlices = new ArrayDeque<>(4); // per open bracket: whether it is a slice
    // Depths of parentheses at which a SELECT has not had its FROM yet.
    private final BitSet selecting = new BitSet();
    // Per place: how many parentheses, opened for a prefix operator, close before it.
    private final Map<Integer, Integer> operandEnds = new HashMap<>();
    // Depths of parentheses that are in a FROM.
    private final BitSet naming = new BitSet();
    // Depths of parentheses at which an ASOF JOIN has had neither MATCH_CONDITION nor ON yet.
    private final BitSet matching = new BitSet();

    /** @param first the lexeme to begin with */
    TokenFeed(List<Lexeme> lexemes, int first) {
        this.lexemes = lexemes;
        this.first = first;
        this.at = first;
    }

    @Override
    public Token get() {
        while (ready.isEmpty()) {
            feed();
        }
        return ready.poll();
    }

    private void feed() {
        Optional.ofNullable(operandEnds.remove(at)).ifPresent(count -> {
            for (int i = 0; i < count; i++) {
                push(QueryGrammarConstants.RPAREN, ")", 0);
            }
        });
        Lexeme lexeme = lexemes.get(at);
        switch (lexeme.kind()) {
            case WORD -> word(lexeme);
            case QUOTED_NAME -> {
                if (open.contains(Paren.MATCH_RECOGNIZE)
                        && before(1).isSymbol("(")
                        && before(2).isWord("pattern")) {
                    // Its text is read by the binder, which knows its place.
                    push(QueryGrammarConstants.IDENTIFIER, "pattern", 1);
                } else {
                    nextParen = Paren.CALL;
                    name(lexeme.text(), 1);
                }
            }
            case STRING -> string(lexeme.text(), 1);
            case BYTES -> push(QueryGrammarConstants.BINARY_STRING_LITERAL, "X'" + lexeme.text() + "'", 1);
            case INTEGER -> push(QueryGrammarConstants.UNSIGNED_INTEGER_LITERAL, lexeme.text(), 1);
            case DECIMAL -> push(QueryGrammarConstants.DECIMAL_NUMERIC_LITERAL, lexeme.text(), 1);
            case APPROXIMATE -> push(QueryGrammarConstants.APPROX_NUMERIC_LITERAL, lexeme.text(), 1);
            case PARAMETER -> push(QueryGrammarConstants.HOOK, "?", 1);
            case OPERATOR -> {
                if (PrefixOperators.isPrefix(lexeme, before(1))) {
                    prefix(lexeme);
                } else {
                    symbol(lexeme);
                }
            }
            case PUNCTUATION -> symbol(lexeme);
            case END -> push(QueryGrammarConstants.EOF, "", 0);
        }
    }

    // ---- words -----------------------------------------------------------------------------------------------------

    private void word(Lexeme lexeme) {
        String word = lexeme.text();
        if (before(1).isSymbol(".") || before(1).isWord("as") && isLabel(word) && !inDefine()) {
            nextParen = Paren.CALL;
            name(word, 1);
            return;
        }
        if (word.equals("emit")) {
            push(QueryGrammarConstants.EOF, "", 0);
        } else if (after(1).isSymbol("(")) {
            wordBeforeParenthesis(word);
        } else if (!typeOrConstant()) {
            plainWord(word);
        }
    }

    /** Whether AS stands between a pattern variable and its condition. */
    private boolean inDefine() {
        return defining && !open.isEmpty() && open.get(open.size() - 1) == Paren.MATCH_RECOGNIZE;
    }

    /** Whether a word after AS is a label, which may be any word, or has its usual meaning. */
    private boolean isLabel(String word) {
        return !(word.equals("of") && before(2).isWord("system_time"))
                && !(word.equals("materialized") && after(1).isSymbol("("))
                && !(word.equals("not") && after(1).isWord("materialized"))
                && !TypeWords.isType(word);
    }

    private void wordBeforeParenthesis(String word) {
        switch (word) {
            case "extract" -> extract();
            case "position", "substring", "overlay" -> {
                nextParen = Paren.WORDY_CALL;
                name(word, 1);
            }
            case "trim" -> trim();
            case "operator" -> qualifiedOperator();
            case "overlaps" -> {
                if (before(1).isSymbol(")")) {
                    push(QueryGrammarConstants.OTHER_OPERATOR, word, 1);
                } else {
                    nextParen = Paren.CALL;
                    name(word, 1);
                }
            }
            case "table" -> {
                // TABLE (SELECT ...) as an argument is just the query.
                if (after(2).isWord("select") || after(2).isWord("with") || after(2).isWord("values")) {
                    at++;
                } else {
                    keyword(word);
                }
            }
            case "match_condition" -> {
                matching.clear(open.size());
                keyword(word);
            }
            case "match_recognize" -> {
                keyword(word);
                nextParen = Paren.MATCH_RECOGNIZE;
            }
            case "timestamp", "time", "interval" -> {
                if (!typeOrConstant()) {
                    nextParen = Paren.CALL;
                    name(word, 1);
                }
            }
            case "over", "filter" -> {
                if (before(1).isSymbol(")") || before(1).isWord("nulls")) {
                    keyword(word);
                } else {
                    nextParen = Paren.CALL;
                    name(word, 1);
                }
            }
            case "materialized" -> {
                if (before(1).isWord("as") || before(1).isWord("not")) {
                    at++;
                } else {
                    nextParen = Paren.CALL;
                    name(word, 1);
                }
            }
            case "unnest" -> {
                if (namesRelation()) {
                    keyword(word);
                } else {
                    nextParen = Paren.CALL;
                    name(word, 1);
                }
            }
            default -> {
                if (VALUE_FUNCTIONS.contains(word)) {
                    valueFunction(word);
                } else if (typeOrConstant()) {
                    return; // numeric(5, 2) '1.5'
                } else if (BEFORE_PARENTHESIS.contains(word)) {
                    keyword(word);
                } else if (isKeyword(word)) {
                    plainWord(word);
                } else if (namesRelation()) {
                    tableCall(numbered(word), 1);
                } else {
                    nextParen = Paren.CALL;
                    name(word, 1);
                }
            }
        }
    }

    /** Whether what comes is an item of FROM. */
    private boolean namesRelation() {
        boolean begins = before(1).isWord("from")
                || before(1).isWord("join")
                || before(1).isWord("lateral")
                || before(1).isSymbol(",");
        return begins && naming.get(open.size());
    }

    private void tableCall(String function, int lexemesUsed) {
        push(TokenKinds.ofKeyword("table"), "table", 0);
        push(QueryGrammarConstants.LPAREN, "(", 0);
        nextParen = Paren.TABLE_CALL;
        name(function, lexemesUsed);
    }

    /** A function {@code WITH ORDINALITY} is fed as one of another name: the grammar knows it for UNNEST alone. */
    private String numbered(String function) {
        int depth = 0;
        for (int i = at + 1; lexemes.get(i).kind() != Kind.END; i++) {
            Lexeme lexeme = lexemes.get(i);
            depth += lexeme.isSymbol("(") ? 1 : lexeme.isSymbol(")") ? -1 : 0;
            if (depth == 0) {
                boolean numbered = lexemes.get(i + 1).isWord("with")
                        && i + 2 < lexemes.size()
                        && lexemes.get(i + 2).isWord("ordinality");
                numberedCalls += numbered ? 1 : 0;
                return numbered ? function + " with ordinality" : function;
            }
        }
        return function;
    }

    private void plainWord(String word) {
        trackFrom(word);
        switch (word) {
            case "lateral" -> {
                if (after(1).isName() && after(2).isSymbol("(") && !after(1).isWord("unnest")) {
                    at++; // functions see what stands before them anyway, and the grammar wants none before their name
                } else {
                    keyword(word);
                }
            }
            case "rows" -> {
                if (after(1).isWord("from") && after(2).isSymbol("(") && namesRelation()) {
                    at++;
                    tableCall(numbered("rows from"), 1);
                } else if (isKeyword(word)) {
                    keyword(word);
                } else {
                    name(word, 1);
                }
            }
            case "asof" -> asof(word);
            case "on" -> {
                // The grammar wants a MATCH_CONDITION, which DuckDB has as a part of ON.
                if (matching.get(open.size())) {
                    matching.clear(open.size());
                    push(TokenKinds.ofKeyword("match_condition"), "match_condition", 0);
                    push(TokenKinds.ofKeyword("true"), "true", 0);
                }
                keyword(word);
            }
            case "using" -> {
                if (after(1).isSymbol("<") || after(1).isSymbol(">")) {
                    // ORDER BY x USING >
                    push(TokenKinds.ofKeyword(after(1).isSymbol("<") ? "asc" : "desc"), word, 2);
                    return;
                }
                matching.clear(open.size());
                keyword(word);
            }
            case "distinct" -> {
                if (before(1).isWord("select") && after(1).isWord("on") && after(2).isSymbol("(")) {
                    nextParen = Paren.DISTINCT_ON;
                    name("distinct on", 2);
                } else {
                    keyword(word);
                }
            }
            case "at" -> {
                if (after(1).isWord("time") && after(2).isWord("zone")) {
                    push(QueryGrammarConstants.OTHER_OPERATOR, "at time zone", 3);
                } else {
                    name(word, 1);
                }
            }
            case "define" -> {
                if (isKeyword(word)) {
                    defining = true;
                    keyword(word);
                } else {
                    name(word, 1);
                }
            }
            case "groups" -> {
                // A frame in GROUPS goes to the binder as one in RANGE with a last order key that says so.
                if (!open.isEmpty()
                        && KeywordRules.isFrameBound(after(1))
                        && !before(1).isSymbol(",")) {
                    push(QueryGrammarConstants.COMMA, ",", 0);
                    push(QueryGrammarConstants.IDENTIFIER, FromClauses.GROUPS_FRAME, 0);
                    push(TokenKinds.ofKeyword("range"), "range", 1);
                } else {
                    name(word, 1);
                }
            }
            case "fetch" -> {
                if (isKeyword(word)) {
                    markTies();
                    keyword(word);
                } else {
                    name(word, 1);
                }
            }
            case "match" -> {
                if (isKeyword(word)) {
                    keyword(word);
                    skipRowsOption();
                } else {
                    nextParen = Paren.CALL;
                    name(word, 1);
                }
            }
            case "with" -> {
                // WITH TIES went to the binder as a last order key.
                if (after(1).isWord("ties")
                        && (before(1).isWord("row") || before(1).isWord("rows"))) {
                    push(TokenKinds.ofKeyword("only"), "only", 2);
                } else if (before(1).isSymbol(")") && after(1).isWord("ordinality") && numberedCalls > 0) {
                    numberedCalls--;
                    at += 2;
                } else {
                    keyword(word);
                }
            }
            case "isnull" -> {
                push(TokenKinds.ofKeyword("is"), "is", 0);
                push(TokenKinds.ofKeyword("null"), "null", 1);
            }
            case "notnull" -> {
                push(TokenKinds.ofKeyword("is"), "is", 0);
                push(TokenKinds.ofKeyword("not"), "not", 0);
                push(TokenKinds.ofKeyword("null"), "null", 1);
            }
            case "limit", "offset" -> {
                if (after(1).isSymbol("-") && after(2).kind() == Kind.INTEGER) {
                    throw MillraceException.user(
                                    SqlState.INVALID_ROW_COUNT_IN_LIMIT_CLAUSE,
                                    word.toUpperCase(Locale.ROOT) + " must not be negative")
                            .at(after(1).start() + 1);
                }
                if (word.equals("offset")) {
                    markTies();
                }
                keyword(word);
            }
            case "like", "ilike" -> quantifiedLike(word);
            case "materialized" -> {
                if (before(1).isWord("not")) {
                    at++;
                } else {
                    name(word, 1);
                }
            }
            case "not" -> {
                if ((after(1).isWord("like") || after(1).isWord("ilike")) && isQuantifier(after(2))) {
                    at++;
                    quantifiedLike("not " + lexemes.get(at).text());
                } else if (before(1).isWord("as") && after(1).isWord("materialized")) {
                    at++;
                } else {
                    keyword(word);
                }
            }
            case "order" -> {
                // An order inside a call's parentheses is what the grammar knows as WITHIN GROUP.
                if (!open.isEmpty() && open.get(open.size() - 1) == Paren.CALL && after(1).isWord("by")) {
                    push(QueryGrammarConstants.RPAREN, ")", 0);
                    push(TokenKinds.ofKeyword("within"), "within", 0);
                    push(TokenKinds.ofKeyword("group"), "group", 0);
                    push(QueryGrammarConstants.LPAREN, "(", 0);
                    open.set(open.size() - 1, Paren.OTHER);
                }
                keyword(word);
            }
            case "similar", "escape" -> {
                if (inWordyCall()) {
                    push(QueryGrammarConstants.COMMA, ",", 1); // substring(a SIMILAR b ESCAPE c)
                } else if (isKeyword(word)) {
                    keyword(word);
                } else {
                    name(word, 1);
                }
            }
            case "from", "for", "in", "placing" -> {
                boolean separates = inWordyCall() && !before(1).isWord("distinct");
                if (!separates) {
                    if (isKeyword(word)) {
                        keyword(word);
                    } else {
                        name(word, 1);
                    }
                } else if (word.equals("for") && !separatedByFrom()) {
                    push(QueryGrammarConstants.COMMA, ",", 0);
                    push(QueryGrammarConstants.UNSIGNED_INTEGER_LITERAL, "1", 0);
                    push(QueryGrammarConstants.COMMA, ",", 1);
                } else {
                    push(QueryGrammarConstants.COMMA, ",", 1);
                }
            }
            default -> {
                if (VALUE_FUNCTIONS.contains(word)) {
                    valueFunction(word);
                } else if (isKeyword(word)) {
                    keyword(word);
                } else {
                    nextParen = Paren.CALL;
                    name(word, 1);
                }
            }
        }
    }

    private static boolean isQuantifier(Lexeme lexeme) {
        return lexeme.isWord("any") || lexeme.isWord("some") || lexeme.isWord("all");
    }

    /** {@code a LIKE ANY (b)} as an operator {@code like any} of a and b: the grammar knows it for comparisons alone. */
    private void quantifiedLike(String like) {
        if (!isQuantifier(after(1))) {
            keyword(like);
            return;
        }
        String quantifier = after(1).isWord("all") ? " all" : " any";
        push(QueryGrammarConstants.OTHER_OPERATOR, like + quantifier, 2);
    }

    /** {@code ASOF LEFT JOIN} as {@code LEFT ASOF JOIN}. */
    private void asof(String word) {
        if (!isKeyword(word)) {
            nextParen = Paren.CALL;
            name(word, 1);
            return;
        }
        matching.set(open.size());
        if (after(1).isWord("left")) {
            push(TokenKinds.ofKeyword("left"), "left", 0);
            push(TokenKinds.ofKeyword("asof"), "asof", after(2).isWord("outer") ? 3 : 2);
        } else {
            push(TokenKinds.ofKeyword("asof"), "asof", after(1).isWord("inner") ? 2 : 1);
        }
    }

    /** Puts {@code FROM "one row"} before the WHERE, GROUP BY or HAVING of a SELECT without FROM: the grammar wants one. */
    private void trackFrom(String word) {
        int depth = open.size();
        switch (word) {
            case "select" -> {
                selecting.set(depth);
                naming.clear(depth);
            }
            case "from" -> {
                if (!before(1).isWord("distinct") && !inWordyCall()) {
                    selecting.clear(depth);
                    naming.set(depth);
                }
            }
            case "union", "intersect", "except" -> selecting.clear(depth);
            case "order", "qualify", "limit" -> naming.clear(depth);
            case "where", "having", "group" -> {
                naming.clear(depth);
                if (selecting.get(depth)
                        && !before(1).isWord("within")
                        && (!word.equals("group") || after(1).isWord("by"))) {
                    selecting.clear(depth);
                    push(TokenKinds.ofKeyword("from"), "from", 0);
                    push(QueryGrammarConstants.IDENTIFIER, FromClauses.ONE_ROW, 0);
                }
            }
            default -> {}
        }
    }

    /** At OFFSET or FETCH: puts a mark behind the order keys if a FETCH with ties follows that has none yet. */
    private void markTies() {
        boolean isFetch = lexemes.get(at).isWord("fetch");
        if (isFetch && (before(2).isWord("offset") || before(3).isWord("offset"))) {
            return; // marked there
        }
        int fetch = isFetch ? 0 : after(2).isWord("fetch") ? 2 : 3;
        for (int ahead = fetch + 2; after(fetch).isWord("fetch") && ahead <= fetch + 4; ahead++) {
            if (after(ahead).isWord("with") && after(ahead + 1).isWord("ties")) {
                push(QueryGrammarConstants.COMMA, ",", 0);
                push(QueryGrammarConstants.IDENTIFIER, FromClauses.WITH_TIES, 0);
                return;
            }
        }
    }

    private boolean inWordyCall() {
        return !open.isEmpty() && open.get(open.size() - 1) == Paren.WORDY_CALL;
    }

    private boolean isKeyword(String word) {
        return KeywordRules.isKeyword(word, before(2), before(1), after(1), open.contains(Paren.MATCH_RECOGNIZE));
    }

    // ---- what the grammar reads in another form --------------------------------------------------------------------

    /** {@code extract(field from x)} as {@code extract('field', x)}. */
    private void extract() {
        Lexeme field = after(2);
        if (after(3).isWord("from") && (field.isName() || field.kind() == Kind.STRING)) {
            name("extract", 1);
            push(QueryGrammarConstants.LPAREN, "(", 1);
            open.add(Paren.OTHER);
            string(field.text(), 1);
            push(QueryGrammarConstants.COMMA, ",", 1);
        } else {
            nextParen = Paren.CALL;
            name("extract", 1);
        }
    }

    /**
     * {@code trim(leading a from b)} as {@code ltrim(b, a)}: since operands cannot change places here, as a call of
     * {@code "ltrim from"(a, b)}.
     */
    private void trim() {
        String side = after(2).kind() == Kind.WORD ? after(2).text() : "";
        boolean sided = side.equals("both") || side.equals("leading") || side.equals("trailing");
        String function = side.equals("leading") ? "ltrim" : side.equals("trailing") ? "rtrim" : "btrim";
        int argument = sided ? 3 : 2;
        boolean fromFirst = after(argument).isWord("from");
        boolean swapped = !fromFirst && containsAtThisDepth(at + argument, "from");
        name(swapped ? function + " from" : function, 1);
        push(QueryGrammarConstants.LPAREN, "(", 1);
        open.add(swapped ? Paren.WORDY_CALL : Paren.OTHER);
        at += (sided ? 1 : 0) + (fromFirst ? 1 : 0);
    }

    private boolean containsAtThisDepth(int from, String word) {
        int depth = 0;
        for (int i = from; lexemes.get(i).kind() != Kind.END && depth >= 0; i++) {
            Lexeme lexeme = lexemes.get(i);
            if (lexeme.isSymbol("(")) {
                depth++;
            } else if (lexeme.isSymbol(")")) {
                depth--;
            } else if (depth == 0 && lexeme.isWord(word)) {
                return true;
            }
        }
        return false;
    }

    /** Whether, in the call around this place, a FROM came before. */
    private boolean separatedByFrom() {
        int depth = 0;
        for (int i = at - 1; i >= first; i--) {
            Lexeme lexeme = lexemes.get(i);
            if (lexeme.isSymbol(")")) {
                depth++;
            } else if (lexeme.isSymbol("(") && --depth < 0) {
                return false;
            } else if (depth == 0 && lexeme.isWord("from")) {
                return true;
            }
        }
        return false;
    }

    /** {@code OPERATOR(pg_catalog.~)} as {@code ~}. */
    private void qualifiedOperator() {
        int end = 2;
        while (after(end).isName() && after(end + 1).isSymbol(".")) {
            end += 2;
        }
        Lexeme operator = after(end);
        if (operator.kind() != Kind.OPERATOR || !after(end + 1).isSymbol(")")) {
            nextParen = Paren.CALL;
            name("operator", 1);
            return;
        }
        symbolToken(operator, end + 2);
    }

    /** Texts have one order, that of their bytes, whichever is asked for. */
    private void skipCollation() {
        at += 2;
        while (lexemes.get(at).isSymbol(".")) {
            at += 2;
        }
    }

    /** What follows ALL ROWS PER MATCH, which the grammar does not know and the binder reads from the text. */
    private void skipRowsOption() {
        Lexeme first = lexemes.get(at);
        Lexeme second = after(1);
        boolean empty =
                (first.isWord("show") || first.isWord("omit")) && second.isWord("empty") && after(2).isWord("matches");
        boolean unmatched = first.isWord("with") && second.isWord("unmatched") && after(2).isWord("rows");
        if (empty || unmatched) {
            at += 3;
        }
    }

    /** {@code current_date} as {@code current_date()}; a precision is given up. */
    private void valueFunction(String word) {
        int lexemesUsed = 1;
        if (after(1).isSymbol("(")) {
            lexemesUsed = after(2).isSymbol(")") ? 3 : 4;
        }
        name(word, 0);
        push(QueryGrammarConstants.LPAREN, "(", 0);
        push(QueryGrammarConstants.RPAREN, ")", lexemesUsed);
    }

    /** Types of several words as one name, and {@code type '...'} as a cast. */
    private boolean typeOrConstant() {
        Optional<TypeWords> words = TypeWords.at(lexemes, at);
        if (words.isEmpty()) {
            return false;
        }
        TypeWords found = words.get();
        if (before(1).isWord("within")
                && open.contains(Paren.MATCH_RECOGNIZE)
                && found.type().equals("interval")
                && found.constant().isPresent()) {
            // The grammar wants a field; the text says it all.
            push(TokenKinds.ofKeyword("interval"), "interval", 0);
            string(found.constant().get(), 0);
            push(TokenKinds.ofKeyword("second"), "second", found.length());
            return true;
        }
        if (found.constant().isEmpty()) {
            type(found, found.length());
            return true;
        }
        push(TokenKinds.ofKeyword("cast"), "cast", 0);
        push(QueryGrammarConstants.LPAREN, "(", found.constantAt());
        string(found.constant().get(), 0);
        push(TokenKinds.ofKeyword("as"), "as", 0);
        type(found, 0);
        push(QueryGrammarConstants.RPAREN, ")", found.length() - found.constantAt());
        return true;
    }

    private void type(TypeWords words, int lexemesUsed) {
        name(words.type(), words.arguments().isEmpty() ? lexemesUsed : 0);
        for (int i = 0; i < words.arguments().size(); i++) {
            push(i == 0 ? QueryGrammarConstants.LPAREN : QueryGrammarConstants.COMMA, i == 0 ? "(" : ",", 0);
            push(
                    QueryGrammarConstants.UNSIGNED_INTEGER_LITERAL,
                    words.arguments().get(i),
                    0);
        }
        if (!words.arguments().isEmpty()) {
            push(QueryGrammarConstants.RPAREN, ")", lexemesUsed);
        }
    }

    // ---- symbols ---------------------------------------------------------------------------------------------------

    private void symbol(Lexeme lexeme) {
        switch (lexeme.text()) {
            case "(" -> {
                boolean query = after(1).isWord("select") || after(1).isWord("with");
                open.add(query && nextParen == Paren.CALL ? Paren.OTHER : nextParen);
                push(QueryGrammarConstants.LPAREN, "(", 1);
            }
            case ")" -> {
                naming.clear(open.size());
                Paren closed = open.isEmpty() ? Paren.OTHER : open.remove(open.size() - 1);
                defining &= closed != Paren.MATCH_RECOGNIZE;
                if (closed == Paren.TABLE_CALL) {
                    push(QueryGrammarConstants.RPAREN, ")", 0);
                    push(QueryGrammarConstants.RPAREN, ")", 1);
                } else if (closed == Paren.DISTINCT_ON) {
                    push(QueryGrammarConstants.RPAREN, ")", 0);
                    push(QueryGrammarConstants.COMMA, ",", 1);
                } else {
                    push(QueryGrammarConstants.RPAREN, ")", 1);
                }
            }
            case "[" -> {
                boolean inArray = before(1).isSymbol("[")
                        || before(1).isSymbol(",")
                        || before(1).isSymbol("(");
                if (inArray) {
                    push(TokenKinds.ofKeyword("array"), "array", 0); // ARRAY[[1, 2], [3, 4]]
                }
                boolean slice = !inArray && !before(1).isWord("array") && isSlice();
                symbolToken(lexeme, 1);
                bracketSlices.push(slice);
                if (slice) {
                    openSlice();
                }
            }
            case "]" -> {
                boolean slice = !bracketSlices.isEmpty() && bracketSlices.pop();
                if (slice) {
                    closeSlice();
                }
                symbolToken(lexeme, 1);
            }
            case ":" -> {
                if (!bracketSlices.isEmpty() && bracketSlices.peek()) {
                    separateSlice();
                } else {
                    symbolToken(lexeme, 1);
                }
            }
            default -> symbolToken(lexeme, 1);
        }
    }

    /** {@code ~ a} as {@code "prefix ~"(a)}: the grammar knows no such prefix. */
    private void prefix(Lexeme operator) {
        name(PrefixOperators.NAME + operator.text(), 0);
        push(QueryGrammarConstants.LPAREN, "(", 1);
        operandEnds.merge(PrefixOperators.operandEnd(lexemes, at), 1, Integer::sum);
    }

    // ---- slices: a[1:2] is fed as a["slice bounds"(1, 2)], with NULL for a bound that is missing
    // ---------------------

    /** Whether the bracket at hand holds a colon. */
    private boolean isSlice() {
        int depth = 0;
        for (int i = at + 1; lexemes.get(i).kind() != Kind.END; i++) {
            Lexeme lexeme = lexemes.get(i);
            if (lexeme.isSymbol("(") || lexeme.isSymbol("[")) {
                depth++;
            } else if (lexeme.isSymbol(")") || lexeme.isSymbol("]")) {
                if (--depth < 0) {
                    return false;
                }
            } else if (depth == 0 && lexeme.isSymbol(":")) {
                return true;
            }
        }
        return false;
    }

    private void openSlice() {
        name(SLICE_BOUNDS, 0);
        push(QueryGrammarConstants.LPAREN, "(", 0);
        if (lexemes.get(at).isSymbol(":")) {
            push(TokenKinds.ofKeyword("null"), "null", 0);
        }
    }

    private void separateSlice() {
        push(QueryGrammarConstants.COMMA, ",", 1);
        if (lexemes.get(at).isSymbol("]")) {
            push(TokenKinds.ofKeyword("null"), "null", 0);
        }
    }

    private void closeSlice() {
        push(QueryGrammarConstants.RPAREN, ")", 0);
    }

    private void symbolToken(Lexeme lexeme, int lexemesUsed) {
        push(TokenKinds.ofSymbol(lexeme), lexeme.text(), lexemesUsed);
    }

    // ---- emitting --------------------------------------------------------------------------------------------------

    private void keyword(String word) {
        push(TokenKinds.ofKeyword(word), word, 1);
    }

    private void name(String name, int lexemesUsed) {
        Paren paren = nextParen;
        push(QueryGrammarConstants.IDENTIFIER, name, lexemesUsed);
        nextParen = paren;
    }

    private void string(String text, int lexemesUsed) {
        push(QueryGrammarConstants.QUOTED_STRING, "'" + text.replace("'", "''") + "'", lexemesUsed);
    }

    /** Queues a token with the position of the lexeme at hand and moves on by so many lexemes. */
    private void push(int kind, String image, int lexemesUsed) {
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
        nextParen = Paren.OTHER;
    }

    private Lexeme before(int distance) {
        return at - distance >= first ? lexemes.get(at - distance) : lexemes.get(lexemes.size() - 1);
    }

    private Lexeme after(int distance) {
        return lexemes.get(Math.min(at + distance, lexemes.size() - 1));
    }
}
