package dev.millrace.sql.parser;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.error.Suggestion;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.grammar.Grammar;
import dev.millrace.sql.grammar.Tokens;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.sql.syntax.TypeSpec;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;

/** The tokens of a text, what statements often read there, and the way into the grammar of queries. */
final class Words extends Tokens {
    private Optional<Grammar> grammar = Optional.empty();

    Words(String sql, List<Lexeme> lexemes) {
        super(sql, lexemes);
    }

    private Words(Words other) {
        super(other);
    }

    /**
     * A syntax error of this text, with what to write instead of a form that others have; one of PostgreSQL's forms that is not here is no
     * syntax error, but 0A000. Other errors are as they were.
     *
     * @param statement the place where it begins
     */
    MillraceException explained(MillraceException error, int statement) {
        if (error.sqlState() != SqlState.SYNTAX_ERROR || error.position().isEmpty()) {
            return error;
        }
        int start = error.position().getAsInt() - 1;
        for (int place = 0; place < lexemes().size(); place++) {
            if (lexemes().get(place).start() == start) {
                int at = place;
                return PostgresForms.refused(lexemes(), statement, at)
                        .map(refused -> refused.at(start + 1))
                        .or(() -> ForeignForms.ours(lexemes(), at).map(error::withHint))
                        .orElse(error);
            }
        }
        return error;
    }

    /** Whether these words are next. */
    boolean isAt(WordPattern pattern) {
        return pattern.isAt(lexemes(), place());
    }

    /** The same place, to be read from once more. */
    Words copy() {
        return new Words(this);
    }

    /** The same place in the same text without the tokens from a place to before another one. */
    Words without(int first, int end) {
        List<Lexeme> rest = new ArrayList<>(lexemes().subList(0, first));
        rest.addAll(lexemes().subList(end, lexemes().size()));
        return new Words(sql(), rest);
    }

    // ---- what is often read ----------------------------------------------------------------------------------------

    /** A relation's name as it is written. */
    String relationName() {
        return RelationNames.written(identifier().names);
    }

    /** The name of a relation that is to be made: as the catalog has it if it is written with its schema, else without one. */
    String newRelationName() {
        SqlIdentifier name = identifier();
        int parts = name.names.size();
        if (parts > 3) {
            throw MillraceException.user(
                            SqlState.SYNTAX_ERROR,
                            "improper relation name (too many dotted names): " + String.join(".", name.names))
                    .at(name.getParserPosition().getColumnNum());
        }
        return RelationNames.of(name.names.subList(Math.max(0, parts - 2), parts));
    }

    /** The name of a temporary relation that is to be made, with its schema. */
    String newTemporaryName() {
        Lexeme first = peek();
        String name = newRelationName();
        if (RelationNames.isTemporary(name)) {
            return name;
        }
        if (peekAt(-2).isSymbol(".")) {
            throw MillraceException.user(
                            SqlState.INVALID_TABLE_DEFINITION,
                            "cannot create temporary relation in non-temporary schema")
                    .at(first.start() + 1);
        }
        return RelationNames.TEMPORARY + "." + name;
    }

    /** A kind of what is in schemas. */
    ObjectKind objectKind() {
        if (accept("source")) { // as RisingWave and Materialize call what reads from outside
            return ObjectKind.STREAM;
        }
        for (ObjectKind kind : ObjectKind.values()) {
            if (kind != ObjectKind.SCHEMA && acceptAll(kind.sqlName().split(" "))) {
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
                        SqlState.SYNTAX_ERROR, "unrecognized " + what + " \"" + written(word) + "\"")
                .at(word.start() + 1);
        throw error.withHint(Suggestion.nearest(word.text(), names)
                .map(nearest -> "did you mean \"" + nearest.toUpperCase(Locale.ROOT) + "\"?")
                .orElse("one of " + String.join(", ", names).toUpperCase(Locale.ROOT)));
    }

    /** {@code WITH (name = value, ...)}, or nothing. Names keep their dots. */
    Map<String, String> optionalOptions() {
        return peekAt(1).isSymbol("(") && accept("with") ? options() : Map.of();
    }

    /** Adds what {@code WITH (..)} behind a query says to what one before it said; each option once. */
    void moreOptions(Map<String, String> options) {
        int behind = peek().start() + 1;
        optionalOptions().forEach((option, value) -> {
            if (options.putIfAbsent(option, value) != null) {
                throw MillraceException.user(SqlState.SYNTAX_ERROR, "option \"" + option + "\" is given twice")
                        .at(behind);
            }
        });
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
        } while (acceptComma());
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

    /** Whether nothing follows of the statement. */
    boolean atStatementEnd() {
        return atEnd() || peek().isSymbol(";");
    }

    /** What follows up to the semicolon, as written. */
    String restOfStatement() {
        int start = place();
        while (!atStatementEnd()) {
            next();
        }
        return start == place() ? "" : textFrom(start);
    }

    /** The highest parameter number from a place to here; 42P02 for numbers out of range. */
    int highestParameter(int from) {
        int highest = 0;
        for (int i = from; i < place(); i++) {
            Lexeme lexeme = lexemes().get(i);
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

    // ---- queries and expressions -----------------------------------------------------------------------------------

    private Grammar grammar() {
        if (grammar.isEmpty()) {
            grammar = Optional.of(new Grammar(this));
        }
        return grammar.get();
    }

    /** SELECT, VALUES, TABLE, FROM, PIVOT, WITH, with ORDER BY and LIMIT. */
    SqlNode query() {
        return grammar().query();
    }

    SqlNode expression() {
        return grammar().expression();
    }

    /** The subscripts behind a name, with it: {@code a[1][2:3]}. */
    SqlNode subscripts(SqlNode name) {
        return grammar().subscripts(name);
    }

    /** An item of a SELECT list, or of RETURNING. */
    SqlNode item() {
        return grammar().item();
    }

    /** Relations and joins, as they stand behind FROM. */
    SqlNode fromClause() {
        return grammar().fromClause();
    }

    TypeSpec type() {
        return grammar().type();
    }
}
