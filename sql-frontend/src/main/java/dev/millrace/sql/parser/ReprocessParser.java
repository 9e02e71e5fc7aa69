package dev.millrace.sql.parser;

import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.Optional;
import java.util.stream.Stream;

/** REPROCESS. */
final class ReprocessParser {
    private final Words words;

    ReprocessParser(Words words) {
        this.words = words;
    }

    Syntax reprocess() {
        words.expect("reprocess");
        ObjectKind kind = words.objectKind();
        String name = words.relationName();
        words.expect("from");
        Syntax.Moment from = moment();
        Optional<Syntax.Moment> to = words.accept("to") ? Optional.of(moment()) : Optional.empty();
        Optional<String> beside = Optional.empty();
        if (words.peek().isWord("as") && !isQuery(words.peekAt(1))) {
            words.next();
            beside = Optional.of(words.relationName());
        }
        Optional<String> query = words.accept("as")
                ? Optional.of(StatementParser.queryText(words).text())
                : Optional.empty();
        return new Syntax.Reprocess(kind, name, from, to, beside, query);
    }

    private static boolean isQuery(Lexeme first) {
        return first.isSymbol("(")
                || Stream.of("select", "with", "values", "table", "from", "pivot", "unpivot")
                        .anyMatch(first::isWord);
    }

    /** 'earliest', '7 days', INTERVAL '7' DAY, TIMESTAMP '..'. */
    private Syntax.Moment moment() {
        if (words.peek().kind() == Kind.STRING) {
            return new Syntax.Moment(Optional.of(words.string()), Optional.empty());
        }
        if (words.peek().isWord("interval") && words.peekAt(1).kind() == Kind.STRING) {
            words.next();
            String age = words.string();
            boolean hasUnit = Stream.of("second", "minute", "hour", "day", "seconds", "minutes", "hours", "days")
                    .anyMatch(words.peek()::isWord);
            return new Syntax.Moment(
                    Optional.of(hasUnit ? age + " " + words.next().text() : age), Optional.empty());
        }
        return new Syntax.Moment(Optional.empty(), Optional.of(words.expression()));
    }
}
