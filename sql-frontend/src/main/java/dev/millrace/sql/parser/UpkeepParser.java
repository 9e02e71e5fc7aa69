package dev.millrace.sql.parser;

import dev.millrace.error.MillraceException;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.NoOperation;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.sql.text.Lexeme;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Statements of PostgreSQL that have nothing to do here, but say so: what they ask for holds already, or nobody would see it. */
final class UpkeepParser {
    private static final WordPattern SET_CONSTRAINTS = WordPattern.of("set constraints");
    private static final String REFRESH = "a materialized view is always current";

    private static final Map<String, String> NOTHING_TO_DO = Map.of(
            "vacuum", "memory is freed as rows change: there is nothing to do",
            "analyze", "rows are counted as they change: there is nothing to do",
            "analyse", "rows are counted as they change: there is nothing to do",
            "cluster", "an index has its own order, rows need none: there is nothing to do",
            "refresh", REFRESH);

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
        List<String> names = new ArrayList<>();
        if (!words.accept("all")) {
            do {
                names.add(words.relationName());
            } while (words.acceptComma());
        }
        boolean deferred = words.accept("deferred");
        if (!deferred) {
            words.expect("immediate");
        }
        return new Statement.SetConstraints(names, deferred);
    }

    private static Statement nothing(String command, List<String> relations, String notice) {
        return new NoOperation(command, relations, Optional.of(notice));
    }
}
