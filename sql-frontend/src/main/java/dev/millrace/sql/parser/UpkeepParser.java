package dev.millrace.sql.parser;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.NoOperation;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.sql.text.Lexeme;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** Statements of PostgreSQL that have nothing to do here, but say so: what they ask for holds already, or nobody would see it. */
final class UpkeepParser {
    private static final WordPattern SET_CONSTRAINTS = WordPattern.of("set constraints");
    private static final String REFRESH = "a materialized view is always current";
    private static final String COMMENT = "comments are not kept";

    private static final Map<String, String> NOTHING_TO_DO = Map.of(
            "vacuum", "memory is freed as rows change: there is nothing to do",
            "analyze", "rows are counted as they change: there is nothing to do",
            "analyse", "rows are counted as they change: there is nothing to do",
            "cluster", "an index has its own order, rows need none: there is nothing to do",
            "refresh", REFRESH,
            "comment", COMMENT);

    /** What can have a comment and is a relation. */
    private static final Set<String> RELATIONS = Set.of("table", "view", "stream");

    private final Words words;

    UpkeepParser(Words words) {
        this.words = words;
    }

    /** Whether such a statement is next. */
    boolean isNext() {
        Lexeme head = words.peek();
        return head.kind() == Lexeme.Kind.WORD && NOTHING_TO_DO.containsKey(head.text()) || words.isAt(SET_CONSTRAINTS);
    }

    Syntax statement() {
        Lexeme head = words.next();
        return new Syntax.Complete(
                switch (head.text()) {
                    case "refresh" -> refresh();
                    case "comment" -> comment();
                    case "set" -> constraints();
                    default -> relations(head);
                });
    }

    /** VACUUM, ANALYZE and CLUSTER of some relations, or of all. */
    private Statement relations(Lexeme head) {
        words.skipParentheses();
        boolean more = true;
        while (more) {
            more = Stream.of("full", "freeze", "verbose", "analyze", "analyse").anyMatch(words::accept);
        }
        List<String> relations = new ArrayList<>();
        if (!words.atStatementEnd()) {
            do {
                relations.add(words.relationName());
                words.skipParentheses(); // columns
            } while (words.acceptComma());
        }
        if (head.isWord("cluster") && words.accept("using")) {
            words.name();
        }
        String command = head.isWord("analyse") ? "ANALYZE" : head.text().toUpperCase(Locale.ROOT);
        return nothing(command, relations, NOTHING_TO_DO.getOrDefault(head.text(), ""));
    }

    private Statement refresh() {
        words.expect("materialized");
        words.expect("view");
        words.accept("concurrently");
        String view = words.relationName();
        Lexeme with = words.peek();
        if (words.acceptAll("with", "no", "data")) {
            throw MillraceException.notAvailableYet("REFRESH .. WITH NO DATA")
                    .at(with.start() + 1)
                    .withHint("DROP MATERIALIZED VIEW frees its rows; PAUSE has it stand still");
        }
        words.acceptAll("with", "data");
        return nothing("REFRESH MATERIALIZED VIEW", List.of(view), REFRESH);
    }

    private Statement constraints() {
        words.expect("constraints");
        if (!words.accept("all")) {
            int position = words.peek().start() + 1;
            do {
                words.identifier();
            } while (words.acceptComma());
            throw MillraceException.notAvailableYet("SET CONSTRAINTS of some")
                    .at(position)
                    .withHint("no constraint is deferrable: each holds at the end of each statement");
        }
        boolean deferred = words.accept("deferred");
        if (!deferred) {
            words.expect("immediate");
        }
        return deferred
                ? nothing("SET CONSTRAINTS", List.of(), "no constraint is deferrable: each is checked at once")
                : new NoOperation("SET CONSTRAINTS", List.of(), Optional.empty());
    }

    /** COMMENT ON something IS a text. */
    private Statement comment() {
        words.expect("on");
        Lexeme kind = words.next();
        if (kind.kind() != Lexeme.Kind.WORD) {
            throw MillraceException.user(SqlState.SYNTAX_ERROR, "COMMENT ON takes a kind of object, such as TABLE")
                    .at(kind.start() + 1);
        }
        boolean materialized = kind.isWord("materialized") && words.accept("view");
        List<String> relations = new ArrayList<>();
        if (materialized || RELATIONS.contains(kind.text())) {
            relations.add(words.relationName());
        } else if (kind.isWord("column")) {
            List<String> names = words.identifier().names;
            if (names.size() < 2) {
                throw MillraceException.user(SqlState.SYNTAX_ERROR, "column name must be qualified")
                        .at(words.peekAt(-1).start() + 1);
            }
            relations.add(RelationNames.written(names.subList(0, names.size() - 1)));
        }
        while (!words.atStatementEnd() && !(words.peek().isWord("is") && isText(words.peekAt(1)))) {
            words.next();
        }
        words.expect("is");
        words.next();
        return nothing("COMMENT", relations, COMMENT);
    }

    private static boolean isText(Lexeme lexeme) {
        return lexeme.kind() == Lexeme.Kind.STRING || lexeme.isWord("null");
    }

    private static Statement nothing(String command, List<String> relations, String notice) {
        return new NoOperation(command, relations, Optional.of(notice));
    }
}
