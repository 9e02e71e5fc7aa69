package dev.millrace.sql.parser;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.error.Suggestion;
import dev.millrace.sql.grammar.ParseException;
import dev.millrace.sql.grammar.QueryGrammar;
import dev.millrace.sql.grammar.QueryGrammarTokenManager;
import dev.millrace.sql.parser.feed.FedTokens;
import dev.millrace.sql.parser.feed.TokenFeed;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.sql.syntax.RelationNames;
import dev.millrace.sql.syntax.TypeSpec;
import dev.millrace.sql.text.Keywords;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.calcite.avatica.util.Casing;
import org.apache.calcite.runtime.CalciteContextException;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.parser.SqlParserPos;
import org.apache.calcite.sql.validate.SqlConformance;
import org.apache.calcite.sql.validate.SqlConformanceEnum;
import org.apache.calcite.sql.validate.SqlDelegatingConformance;

/** A place in the tokens of a text, what is often read there, and the way into the generated grammar. */
final class Words {
    /** Everything that Calcite's grammar can read, and ROW(...) in any expression. */
    private static final SqlConformance CONFORMANCE = new SqlDelegatingConformance(SqlConformanceEnum.BABEL) {
        @Override
        public boolean allowExplicitRowValueConstructor() {
            return true;
        }
    };

    private static final int LONGEST_NAME = 1024;

    private final String sql;
    private final List<Lexeme> lexemes;
    private int at;

    Words(String sql, List<Lexeme> lexemes) {
        this.sql = sql;
        this.lexemes = lexemes;
    }

    /** An error of this text, with what to write instead of a form that others have. */
    MillraceException explained(MillraceException error) {
        return ForeignForms.explained(error, lexemes);
    }

    /** The same place, to be read from once more. */
    Words copy() {
        Words copy = new Words(sql, lexemes);
        copy.at = at;
        return copy;
    }

    // ---- tokens ----------------------------------------------------------------------------------------------------

    int place() {
        return at;
    }

    Lexeme peek() {
        return lexemes.get(at);
    }

    Lexeme peekAt(int distance) {
        return lexemes.get(Math.min(at + distance, lexemes.size() - 1));
    }

    Lexeme next() {
        Lexeme lexeme = lexemes.get(at);
        if (at < lexemes.size() - 1) {
            at++;
        }
        return lexeme;
    }

    /** Goes back to a place, to read what follows in another way. */
    void backTo(int place) {
        at = place;
    }

    boolean atEnd() {
        return peek().kind() == Kind.END;
    }

    int startOf(int place) {
        return lexemes.get(place).start();
    }

    /** Where the words from a place to here begin in the text: they may have changed their order. */
    int startFrom(int place) {
        return lexemes.subList(place, at).stream().mapToInt(Lexeme::start).min().orElse(startOf(place));
    }

    /** Where the words from a place to here end in the text. */
    int endFrom(int place) {
        return lexemes.subList(place, at).stream().mapToInt(Lexeme::end).max().orElse(startOf(place));
    }

    /** The text from a place to here. */
    String textFrom(int place) {
        return sql.substring(startFrom(place), endFrom(place));
    }

    boolean accept(String word) {
        boolean found = peek().isWord(word);
        if (found) {
            next();
        }
        return found;
    }

    /** Accepts these words in a row, or none. */
    boolean acceptAll(String... wanted) {
        for (int i = 0; i < wanted.length; i++) {
            if (!peekAt(i).isWord(wanted[i])) {
                return false;
            }
        }
        at += wanted.length;
        return true;
    }

    boolean acceptSymbol(String symbol) {
        boolean found = peek().isSymbol(symbol);
        if (found) {
            next();
        }
        return found;
    }

    void expect(String word) {
        if (!accept(word)) {
            throw expected(List.of(word));
        }
    }

    void expectSymbol(String symbol) {
        if (!acceptSymbol(symbol)) {
            throw syntaxError().withHint("expected \"" + symbol + "\"");
        }
    }

    /** A syntax error here, with the one of these words that was probably meant. */
    MillraceException expected(List<String> wanted) {
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

    MillraceException syntaxError() {
        return syntaxErrorAt(peek());
    }

    private MillraceException syntaxErrorAt(Lexeme lexeme) {
        String message = lexeme.kind() == Kind.END
                ? "syntax error at end of input"
                : "syntax error at or near \"" + sql.substring(lexeme.start(), lexeme.end()) + "\"";
        return MillraceException.user(SqlState.SYNTAX_ERROR, message).at(lexeme.start() + 1);
    }

    // ---- what is often read ----------------------------------------------------------------------------------------

    /** A name, one part. */
    String name() {
        if (!peek().isName() || peek().kind() == Kind.WORD && Keywords.isReserved(peek().text())) {
            throw syntaxError();
        }
        return next().text();
    }

    /** A name of one or more parts with its position. */
    SqlIdentifier identifier() {
        int start = peek().start();
        List<String> names = new ArrayList<>(2);
        do {
            names.add(name());
        } while (acceptSymbol("."));
        return new SqlIdentifier(
                names, new SqlParserPos(1, start + 1, 1, lexemes.get(at - 1).end()));
    }

    /** A name of one part with its position. */
    SqlIdentifier simpleIdentifier() {
        int start = peek().start();
        return new SqlIdentifier(
                name(), new SqlParserPos(1, start + 1, 1, lexemes.get(at - 1).end()));
    }

    /** What may follow AS: any word, also a reserved one. */
    SqlIdentifier label() {
        if (!peek().isName()) {
            throw syntaxError();
        }
        int start = peek().start();
        return new SqlIdentifier(
                next().text(),
                new SqlParserPos(1, start + 1, 1, lexemes.get(at - 1).end()));
    }

    /** A relation's name as the catalog wants it; 3F000 for one in a schema that is not there. */
    String relationName() {
        return RelationNames.of(RelationNames.requireSchema(identifier()).names);
    }

    /** {@code (a, b)}, or nothing. */
    List<SqlIdentifier> optionalColumns() {
        List<SqlIdentifier> columns = new ArrayList<>();
        if (peek().isSymbol("(")
                && peekAt(1).isName()
                && (peekAt(2).isSymbol(",") || peekAt(2).isSymbol(")"))) {
            next();
            do {
                columns.add(simpleIdentifier());
            } while (acceptSymbol(","));
            expectSymbol(")");
        }
        return columns;
    }

    ObjectKind objectKind() {
        for (ObjectKind kind : ObjectKind.values()) {
            if (acceptAll(kind.sqlName().split(" "))) {
                return kind;
            }
        }
        throw expected(List.of("stream table continuous materialized view sink query function index".split(" ")));
    }

    /** One of an enum's constants by its name. */
    <E extends Enum<E>> E oneOf(Class<E> type, String what) {
        Lexeme word = peek();
        List<String> names = new ArrayList<>();
        for (E constant : type.getEnumConstants()) {
            String name = constant.name().toLowerCase(Locale.ROOT);
            if (accept(name)) {
                return constant;
            }
            names.add(name);
        }
        MillraceException error = MillraceException.user(
                        SqlState.SYNTAX_ERROR,
                        "unrecognized " + what + " \"" + sql.substring(word.start(), word.end()) + "\"")
                .at(word.start() + 1);
        throw error.withHint(Suggestion.nearest(word.text(), names)
                .map(nearest -> "did you mean \"" + nearest.toUpperCase(Locale.ROOT) + "\"?")
                .orElse("one of " + String.join(", ", names).toUpperCase(Locale.ROOT)));
    }

    /** {@code WITH (name = value, ...)}, or nothing. Names keep their dots. */
    Map<String, String> optionalOptions() {
        return peekAt(1).isSymbol("(") && accept("with") ? options() : Map.of();
    }

    /** {@code (name = value, ...)}; the equals sign may be missing, and so may the value, which is then true. */
    Map<String, String> options() {
        expectSymbol("(");
        Map<String, String> options = new LinkedHashMap<>();
        if (acceptSymbol(")")) {
            return options;
        }
        do {
            Lexeme start = peek();
            String name = dotted(this::optionWord);
            boolean equals = acceptSymbol("=");
            boolean bare = !equals && (peek().isSymbol(",") || peek().isSymbol(")"));
            String value = bare ? "true" : optionValue();
            if (options.putIfAbsent(name, value) != null) {
                throw MillraceException.user(SqlState.SYNTAX_ERROR, "option \"" + name + "\" is given twice")
                        .at(start.start() + 1);
            }
        } while (acceptSymbol(","));
        expectSymbol(")");
        return options;
    }

    /** As in {@link #settingName}, but any word will do, also a reserved one such as {@code null}, or a text as in Flink. */
    private String optionWord() {
        return peek().kind() == Kind.WORD || peek().kind() == Kind.STRING ? next().text() : name();
    }

    /** A name whose parts keep their dots. */
    String settingName() {
        return dotted(this::name);
    }

    private String dotted(Supplier<String> part) {
        StringBuilder name = new StringBuilder(part.get());
        while (acceptSymbol(".")) {
            name.append('.').append(part.get());
        }
        return name.toString();
    }

    /** A value as text: a string, a number, a word, INTERVAL '...'. */
    String optionValue() {
        if (peek().isWord("interval") && peekAt(1).kind() == Kind.STRING) {
            next();
            String text = next().text();
            return peek().kind() == Kind.WORD && !peek().isWord("as") ? text + " " + next().text() : text;
        }
        String sign = peek().isSymbol("-") || peek().isSymbol("+") ? next().text() : "";
        return switch (peek().kind()) {
            case INTEGER, DECIMAL, APPROXIMATE -> (sign.equals("-") ? sign : "") + next().text();
            case STRING, WORD, QUOTED_NAME -> {
                if (!sign.isEmpty()) {
                    throw syntaxError();
                }
                yield next().text();
            }
            default -> throw syntaxError().withHint("a value is a text in quotes, a number or a word");
        };
    }

    String string() {
        if (peek().kind() != Kind.STRING) {
            throw syntaxError().withHint("expected a text in single quotes");
        }
        return next().text();
    }

    /** Skips {@code (...)}, as DROP FUNCTION f(int) has it. */
    void skipParentheses() {
        if (acceptSymbol("(")) {
            while (!atEnd() && !acceptSymbol(")")) {
                next();
            }
        }
    }

    /** What follows up to the semicolon, as written. */
    String restOfStatement() {
        int start = at;
        while (!atEnd() && !peek().isSymbol(";")) {
            next();
        }
        return start == at ? "" : textFrom(start);
    }

    /** The highest parameter number from a place to here; 42P02 for numbers out of range. */
    int highestParameter(int from) {
        int highest = 0;
        for (int i = from; i < at; i++) {
            Lexeme lexeme = lexemes.get(i);
            if (lexeme.kind() == Kind.PARAMETER) {
                int number = lexeme.text().length() > 5 ? 0 : Integer.parseInt(lexeme.text());
                if (number < 1 || number > 65_535) {
                    throw MillraceException.user(
                                    SqlState.UNDEFINED_PARAMETER, "there is no parameter $" + lexeme.text())
                            .at(lexeme.start() + 1);
                }
                highest = Math.max(highest, number);
            }
        }
        return highest;
    }

    // ---- the generated grammar -------------------------------------------------------------------------------------

    private interface Production<T> {
        T parse(QueryGrammar grammar) throws ParseException;
    }

    /** SELECT, VALUES, TABLE, WITH, with ORDER BY and LIMIT. */
    SqlNode query() {
        return grammar(QueryGrammar::MillraceQuery);
    }

    SqlNode expression() {
        return grammar(QueryGrammar::MillraceExpression);
    }

    /** Relations and joins, as they stand behind FROM. */
    SqlNode fromClause() {
        return grammar(QueryGrammar::MillraceFrom);
    }

    TypeSpec type() {
        return (TypeSpec) grammar(QueryGrammar::TypeSpec);
    }

    private <T> T grammar(Production<T> production) {
        TokenFeed feed = new TokenFeed(lexemes, at);
        QueryGrammar grammar = new QueryGrammar(new QueryGrammarTokenManager(feed));
        grammar.setConformance(CONFORMANCE);
        grammar.setUnquotedCasing(Casing.UNCHANGED);
        grammar.setQuotedCasing(Casing.UNCHANGED);
        grammar.setIdentifierMaxLength(LONGEST_NAME);
        try {
            T result = production.parse(grammar);
            at = ((FedTokens.FedToken) grammar.getToken(0)).nextLexeme;
            return LongChains.balanced(result, lexemes.size());
        } catch (ParseException e) {
            throw syntaxError(e);
        } catch (CalciteContextException e) {
            throw syntaxErrorAt(lexemeAt(e.getPosColumn()));
        } catch (RuntimeException e) {
            throw e instanceof MillraceException ? e : strayEscape(grammar).orElseThrow(() -> e);
        } catch (StackOverflowError e) {
            throw MillraceException.user(SqlState.STATEMENT_TOO_COMPLEX, "the statement is nested too deeply")
                    .at(peek().start() + 1);
        }
    }

    /**
     * ESCAPE belongs to the LIKE right before it, and ends it. Elsewhere, as in {@code a LIKE b LIKE c ESCAPE d}, the grammar
     * takes it, and the making of the tree, once the expression has been read, fails in one of several ways.
     */
    private Optional<MillraceException> strayEscape(QueryGrammar grammar) {
        int read = Math.min(((FedTokens.FedToken) grammar.getToken(0)).nextLexeme, lexemes.size());
        for (int place = read - 1; place >= at; place--) {
            if (lexemes.get(place).isWord("escape")) {
                return Optional.of(syntaxErrorAt(lexemes.get(place)));
            }
        }
        return Optional.empty();
    }

    private Lexeme lexemeAt(int position) {
        for (Lexeme lexeme : lexemes) {
            if (lexeme.end() >= position) {
                return lexeme;
            }
        }
        return lexemes.get(lexemes.size() - 1);
    }

    private MillraceException syntaxError(ParseException e) {
        return misspelt(lexemes.indexOf(lexemeAt(e.currentToken.next.beginColumn)));
    }

    /**
     * The error for what is left when a statement should have ended here. After an operator or comma the culprit is what
     * follows, since the grammar looks ahead before it takes those.
     */
    MillraceException leftOver() {
        boolean wantsMore = peek().kind() == Kind.OPERATOR
                || peek().isSymbol(",")
                || peek().isWord("limit")
                || peek().isWord("offset");
        return misspelt(wantsMore ? Math.min(at + 1, lexemes.size() - 1) : at);
    }

    /** A syntax error at a place; a misspelt keyword may also be the word before, taken for an alias. */
    private MillraceException misspelt(int place) {
        MillraceException error = syntaxErrorAt(lexemes.get(place));
        Optional<String> meant = MisspeltWords.meant(lexemes, place);
        return meant.isPresent() ? error.withHint("did you mean \"" + meant.get() + "\"?") : error;
    }
}
