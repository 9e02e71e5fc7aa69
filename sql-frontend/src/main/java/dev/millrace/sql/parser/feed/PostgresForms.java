package dev.millrace.sql.parser.feed;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.grammar.QueryGrammarConstants;
import dev.millrace.sql.parser.feed.FedTokens.Paren;
import dev.millrace.sql.syntax.FromClauses;
import dev.millrace.sql.syntax.RelationNames;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * PostgreSQL's forms that the grammar reads in another one: each method is called at the first lexeme of a form, feeds the
 * other one and moves on behind what it stands for. One thread, one parse.
 */
final class PostgresForms {
    /** The function that a slice's bounds are fed as arguments of: a[1:2] as a["slice bounds"(1, 2)], NULL for none. */
    private static final String SLICE_BOUNDS = "slice bounds";

    private final FedTokens tokens;
    private int numberedCalls; // whose WITH ORDINALITY is still to come
    private final Deque<Boolean> bracketSlices = new ArrayDeque<>(4); // per open bracket: whether it is a slice
    // Per place: how many parentheses, opened for a prefix operator, close before it.
    private final Map<Integer, Integer> operandEnds = new HashMap<>();

    PostgresForms(FedTokens tokens) {
        this.tokens = tokens;
    }

    /** A function in FROM as {@code TABLE(f(..))}, which takes more arguments. */
    void tableCall(String function, int lexemesUsed) {
        tokens.keyword("table", 0);
        tokens.push(QueryGrammarConstants.LPAREN, "(", 0);
        tokens.callee(Paren.TABLE_CALL, function, lexemesUsed);
    }

    /** How many lexemes the WITH ORDINALITY behind the parenthesis at hand has, which closes a {@link #numbered} call. */
    int ordinalityBehind() {
        boolean numbered = numberedCalls > 0
                && tokens.after(1).isWord("with")
                && tokens.after(2).isWord("ordinality");
        numberedCalls -= numbered ? 1 : 0;
        return numbered ? 2 : 0;
    }

    /** Takes the WITH ORDINALITY of a call that was fed as a {@link #numbered} one. */
    boolean skipOrdinality() {
        if (numberedCalls == 0
                || !tokens.before(1).isSymbol(")")
                || !tokens.after(1).isWord("ordinality")) {
            return false;
        }
        numberedCalls--;
        tokens.skip(2);
        return true;
    }

    /** A function {@code WITH ORDINALITY} is fed as one of another name: the grammar knows it for UNNEST alone. */
    String numbered(String function) {
        int depth = 0;
        for (int i = 1; tokens.after(i).kind() != Kind.END; i++) {
            Lexeme lexeme = tokens.after(i);
            depth += lexeme.isSymbol("(") ? 1 : lexeme.isSymbol(")") ? -1 : 0;
            if (depth == 0) {
                boolean numbered = tokens.after(i + 1).isWord("with")
                        && tokens.after(i + 2).isWord("ordinality");
                numberedCalls += numbered ? 1 : 0;
                return numbered ? function + " with ordinality" : function;
            }
        }
        return function;
    }

    static boolean isQuantifier(Lexeme lexeme) {
        return lexeme.isWord("any") || lexeme.isWord("some") || lexeme.isWord("all");
    }

    /** {@code a LIKE ANY (b)} as an operator {@code like any} of a and b: the grammar knows it for comparisons alone. */
    void quantifiedLike(String like) {
        if (!isQuantifier(tokens.after(1))) {
            tokens.keyword(like, 1);
            return;
        }
        String quantifier = tokens.after(1).isWord("all") ? " all" : " any";
        tokens.push(QueryGrammarConstants.OTHER_OPERATOR, like + quantifier, 2);
    }

    /** {@code ASOF LEFT JOIN} as {@code LEFT ASOF JOIN}. */
    void asof() {
        if (tokens.after(1).isWord("left")) {
            tokens.keyword("left", 0);
            tokens.keyword("asof", tokens.after(2).isWord("outer") ? 3 : 2);
        } else {
            tokens.keyword("asof", tokens.after(1).isWord("inner") ? 2 : 1);
        }
    }

    /** At OFFSET or FETCH: puts a mark behind the order keys if a FETCH with ties follows that has none yet. */
    void markTies() {
        boolean isFetch = tokens.after(0).isWord("fetch");
        if (isFetch && (tokens.before(2).isWord("offset") || tokens.before(3).isWord("offset"))) {
            return; // marked there
        }
        int fetch = isFetch ? 0 : tokens.after(2).isWord("fetch") ? 2 : 3;
        for (int ahead = fetch + 2; tokens.after(fetch).isWord("fetch") && ahead <= fetch + 4; ahead++) {
            if (tokens.after(ahead).isWord("with") && tokens.after(ahead + 1).isWord("ties")) {
                tokens.push(QueryGrammarConstants.COMMA, ",", 0);
                tokens.push(QueryGrammarConstants.IDENTIFIER, FromClauses.WITH_TIES, 0);
                return;
            }
        }
    }

    /** {@code extract(field from x)} as {@code extract('field', x)}. */
    void extract() {
        Lexeme field = tokens.after(2);
        if (tokens.after(3).isWord("from") && (field.isName() || field.kind() == Kind.STRING)) {
            tokens.name("extract", 1);
            tokens.push(QueryGrammarConstants.LPAREN, "(", 1);
            tokens.open(Paren.OTHER);
            tokens.string(field.text(), 1);
            tokens.push(QueryGrammarConstants.COMMA, ",", 1);
        } else {
            tokens.callee("extract");
        }
    }

    /**
     * {@code trim(leading a from b)} as {@code ltrim(b, a)}: since operands cannot change places here, as a call of
     * {@code "ltrim from"(a, b)}.
     */
    void trim() {
        String side = tokens.after(2).kind() == Kind.WORD ? tokens.after(2).text() : "";
        boolean sided = side.equals("both") || side.equals("leading") || side.equals("trailing");
        String function = side.equals("leading") ? "ltrim" : side.equals("trailing") ? "rtrim" : "btrim";
        int argument = sided ? 3 : 2;
        boolean fromFirst = tokens.after(argument).isWord("from");
        boolean swapped = !fromFirst && containsAtThisDepth(argument, "from");
        tokens.name(swapped ? function + " from" : function, 1);
        tokens.push(QueryGrammarConstants.LPAREN, "(", 1);
        tokens.open(swapped ? Paren.WORDY_CALL : Paren.OTHER);
        tokens.skip((sided ? 1 : 0) + (fromFirst ? 1 : 0));
    }

    private boolean containsAtThisDepth(int from, String word) {
        int depth = 0;
        for (int i = from; tokens.after(i).kind() != Kind.END && depth >= 0; i++) {
            Lexeme lexeme = tokens.after(i);
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
    boolean separatedByFrom() {
        int depth = 0;
        for (int i = 1; tokens.before(i).kind() != Kind.END; i++) {
            Lexeme lexeme = tokens.before(i);
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
    void qualifiedOperator() {
        int end = 2;
        while (tokens.after(end).isName() && tokens.after(end + 1).isSymbol(".")) {
            end += 2;
        }
        Lexeme operator = tokens.after(end);
        if (operator.kind() != Kind.OPERATOR || !tokens.after(end + 1).isSymbol(")")) {
            tokens.callee("operator");
            return;
        }
        if (end > 2 && !RelationNames.isSchema(tokens.after(2).text())) {
            throw MillraceException.user(
                            SqlState.INVALID_SCHEMA_NAME,
                            "schema \"" + tokens.after(2).text() + "\" does not exist")
                    .at(tokens.after(2).start() + 1);
        }
        tokens.symbol(operator, end + 2);
    }

    /** What follows ALL ROWS PER MATCH, which the grammar does not know and the binder reads from the text. */
    void skipRowsOption() {
        Lexeme first = tokens.after(0);
        Lexeme second = tokens.after(1);
        boolean empty = (first.isWord("show") || first.isWord("omit"))
                && second.isWord("empty")
                && tokens.after(2).isWord("matches");
        boolean unmatched = first.isWord("with")
                && second.isWord("unmatched")
                && tokens.after(2).isWord("rows");
        if (empty || unmatched) {
            tokens.skip(3);
        }
    }

    /** {@code current_date} as {@code current_date()}; {@code localtime(3)} is a call as it stands. */
    void valueFunction(String word) {
        int lexemesUsed = 1;
        if (tokens.after(1).isSymbol("(")) {
            if (!tokens.after(2).isSymbol(")")) {
                if (tokens.after(2).kind() != Kind.INTEGER) {
                    throw syntaxError(tokens.after(2));
                }
                tokens.callee(word);
                return;
            }
            lexemesUsed = 3;
        }
        tokens.name(word, 0);
        tokens.push(QueryGrammarConstants.LPAREN, "(", 0);
        tokens.push(QueryGrammarConstants.RPAREN, ")", lexemesUsed);
    }

    /** Types of several words as one name, and {@code type '...'} as a cast. */
    boolean typeOrConstant() {
        Optional<TypeWords> words = TypeWords.at(tokens.lexemes(), tokens.place());
        if (words.isEmpty()) {
            return false;
        }
        TypeWords found = words.get();
        if (tokens.before(1).isWord("within")
                && tokens.within(Paren.MATCH_RECOGNIZE)
                && found.type().equals("interval")
                && found.constant().isPresent()) {
            // The grammar wants a field; the text says it all.
            tokens.keyword("interval", 0);
            tokens.string(found.constant().get(), 0);
            tokens.keyword("second", found.length());
            return true;
        }
        if (found.constant().isEmpty()) {
            type(found, found.length());
            return true;
        }
        tokens.keyword("cast", 0);
        tokens.push(QueryGrammarConstants.LPAREN, "(", found.constantAt());
        tokens.string(found.constant().get(), 0);
        tokens.keyword("as", 0);
        type(found, 0);
        tokens.push(QueryGrammarConstants.RPAREN, ")", found.length() - found.constantAt());
        return true;
    }

    private void type(TypeWords words, int lexemesUsed) {
        tokens.name(words.type(), words.arguments().isEmpty() ? lexemesUsed : 0);
        for (int i = 0; i < words.arguments().size(); i++) {
            tokens.push(i == 0 ? QueryGrammarConstants.LPAREN : QueryGrammarConstants.COMMA, i == 0 ? "(" : ",", 0);
            tokens.push(
                    QueryGrammarConstants.UNSIGNED_INTEGER_LITERAL,
                    words.arguments().get(i),
                    0);
        }
        if (!words.arguments().isEmpty()) {
            tokens.push(QueryGrammarConstants.RPAREN, ")", lexemesUsed);
        }
    }

    /** {@code ~ a} as {@code "prefix ~"(a)}: the grammar knows no such prefix. */
    void prefix(Lexeme operator) {
        tokens.name(PrefixOperators.NAME + operator.text(), 0);
        tokens.push(QueryGrammarConstants.LPAREN, "(", 1);
        int end = PrefixOperators.operandEnd(tokens.lexemes(), tokens.place());
        if (end == tokens.place()) {
            throw syntaxError(tokens.lexemes().get(end));
        }
        operandEnds.merge(end, 1, Integer::sum);
    }

    private static MillraceException syntaxError(Lexeme found) {
        String text = found.kind() == Kind.STRING ? "'" + found.text() + "'" : found.text();
        String place = found.kind() == Kind.END ? "at end of input" : "at or near \"" + text + "\"";
        return MillraceException.user(SqlState.SYNTAX_ERROR, "syntax error " + place)
                .at(found.start() + 1);
    }

    /** Closes the calls of prefix operators whose operand ends here. */
    void closeOperands() {
        Optional.ofNullable(operandEnds.remove(tokens.place())).ifPresent(count -> {
            for (int i = 0; i < count; i++) {
                tokens.push(QueryGrammarConstants.RPAREN, ")", 0);
            }
        });
    }

    /** Whether the bracket at hand holds a colon. */
    private boolean isSlice() {
        int depth = 0;
        for (int i = 1; tokens.after(i).kind() != Kind.END; i++) {
            Lexeme lexeme = tokens.after(i);
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

    void openBracket(Lexeme bracket) {
        boolean inArray = tokens.before(1).isSymbol("[")
                || tokens.before(1).isSymbol(",")
                || tokens.before(1).isSymbol("(");
        if (inArray) {
            tokens.keyword("array", 0); // ARRAY[[1, 2], [3, 4]]
        }
        boolean slice = !inArray && !tokens.before(1).isWord("array") && isSlice();
        tokens.symbol(bracket, 1);
        bracketSlices.push(slice);
        if (slice) {
            tokens.name(SLICE_BOUNDS, 0);
            tokens.push(QueryGrammarConstants.LPAREN, "(", 0);
            if (tokens.after(0).isSymbol(":")) {
                tokens.keyword("null", 0);
            }
        }
    }

    void closeBracket(Lexeme bracket) {
        if (!bracketSlices.isEmpty() && bracketSlices.pop()) {
            tokens.push(QueryGrammarConstants.RPAREN, ")", 0);
        }
        tokens.symbol(bracket, 1);
    }

    void colon(Lexeme colon) {
        if (bracketSlices.isEmpty() || !bracketSlices.peek()) {
            tokens.symbol(colon, 1);
            return;
        }
        tokens.push(QueryGrammarConstants.COMMA, ",", 1);
        if (tokens.after(0).isSymbol("]")) {
            tokens.keyword("null", 0);
        }
    }
}
