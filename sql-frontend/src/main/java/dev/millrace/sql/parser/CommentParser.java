package dev.millrace.sql.parser;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.statement.CommentStatement;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.sql.text.Lexeme;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/** COMMENT ON. What there is none of here can have none, and the statement says so and does nothing, as dumps have it. */
final class CommentParser {
    private static final String NOT_HERE = "there are none here: this comment is not kept";

    /** In UTF-8: a catalog is read whole when a database is opened. */
    private static final int MOST_BYTES = 64 << 10;

    private final Words words;
    private final RoleParser roles;

    CommentParser(Words words, RoleParser roles) {
        this.words = words;
        this.roles = roles;
    }

    Syntax statement() {
        words.expect("comment");
        words.expect("on");
        Lexeme kind = words.peek();
        if (kind.kind() != Lexeme.Kind.WORD) {
            throw MillraceException.user(SqlState.SYNTAX_ERROR, "COMMENT ON takes a kind of object, such as TABLE")
                    .at(kind.start() + 1);
        }
        return new Syntax.Complete(target().apply(text()));
    }

    /** What the comment is on, which makes a statement of its text. */
    private Function<Optional<String>, Statement> target() {
        Optional<ObjectKind> kind = objectKind();
        if (kind.isPresent()) {
            String name = words.relationName();
            if (kind.get() == ObjectKind.FUNCTION) {
                skipToText(); // the types of its arguments
            }
            return text -> new CommentStatement.OnObject(kind.get(), name, text);
        } else if (words.accept("schema")) {
            String name = RelationNames.ofSchema(words.name());
            return text -> new CommentStatement.OnObject(ObjectKind.SCHEMA, name, text);
        } else if (words.accept("database")) {
            String name = words.name();
            return text -> new CommentStatement.OnDatabase(name, text);
        } else if (words.accept("role")) {
            String name = roles.role();
            return text -> new Statement.CommentOnRole(name, text);
        } else if (words.accept("column")) {
            return column();
        } else if (words.accept("constraint")) {
            return constraint();
        }
        return others();
    }

    private Optional<ObjectKind> objectKind() {
        if (Stream.of("function", "aggregate", "routine").anyMatch(words::accept)) {
            return Optional.of(ObjectKind.FUNCTION);
        }
        for (ObjectKind kind : ObjectKind.values()) {
            if (kind != ObjectKind.SCHEMA && words.acceptAll(kind.sqlName().split(" "))) {
                return Optional.of(kind);
            }
        }
        return Optional.empty();
    }

    private Function<Optional<String>, Statement> column() {
        List<String> names = words.identifier().names;
        int last = names.size() - 1;
        if (last == 0) {
            throw MillraceException.user(SqlState.SYNTAX_ERROR, "column name must be qualified")
                    .at(words.peekAt(-1).start() + 1);
        }
        String relation = RelationNames.written(names.subList(0, last));
        return text -> new CommentStatement.OnColumn(relation, names.get(last), text);
    }

    private Function<Optional<String>, Statement> constraint() {
        String name = words.name();
        words.expect("on");
        if (words.accept("domain")) {
            return others();
        }
        String relation = words.relationName();
        return text -> new CommentStatement.OnConstraint(relation, name, text);
    }

    private Function<Optional<String>, Statement> others() {
        skipToText();
        return text -> new Statement.NoOperation("COMMENT", List.of(), Optional.of(NOT_HERE));
    }

    private void skipToText() {
        while (!words.atStatementEnd() && !(words.peek().isWord("is") && isText(words.peekAt(1)))) {
            words.next();
        }
    }

    private static boolean isText(Lexeme lexeme) {
        return lexeme.kind() == Lexeme.Kind.STRING || lexeme.isWord("null");
    }

    /** As in PostgreSQL an empty text is none. */
    private Optional<String> text() {
        words.expect("is");
        if (words.accept("null")) {
            return Optional.empty();
        }
        int position = words.peek().start() + 1;
        String text = words.string();
        int bytes = text.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > MOST_BYTES) {
            throw MillraceException.user(
                            SqlState.PROGRAM_LIMIT_EXCEEDED,
                            "a comment has at most " + MOST_BYTES + " bytes, and this one has " + bytes)
                    .at(position)
                    .withHint("say where the rest can be read");
        }
        return Optional.of(text).filter(said -> !said.isEmpty());
    }
}
