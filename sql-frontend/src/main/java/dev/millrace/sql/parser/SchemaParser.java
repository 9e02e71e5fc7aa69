package dev.millrace.sql.parser;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.statement.RenameStatement;
import dev.millrace.sql.statement.SchemaStatement;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.sql.text.Lexeme;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Supplier;

/** CREATE, ALTER and DROP SCHEMA. */
final class SchemaParser {
    private final Words words;
    private final StatementParser statements;

    /** @param statements reads what is in a schema, from the same words */
    SchemaParser(Words words, StatementParser statements) {
        this.words = words;
        this.statements = statements;
    }

    /** Whether a schema is what is created, altered or dropped, behind that word. */
    boolean isNext() {
        return words.peek().isWord("schema");
    }

    /** @param role reads the name of a role */
    Syntax create(Supplier<String> role) {
        words.expect("schema");
        boolean ifNotExists = words.acceptAll("if", "not", "exists");
        Optional<String> name = words.peek().isWord("authorization") ? Optional.empty() : Optional.of(name());
        Optional<String> owner = words.accept("authorization") ? Optional.of(role.get()) : Optional.empty();
        if (name.isEmpty() && owner.isEmpty()) {
            throw words.syntaxError();
        }
        List<String> elements = elements(ifNotExists);
        return new Syntax.Complete(new SchemaStatement.CreateSchema(name, ifNotExists, owner, elements));
    }

    /** What is in it: as in PostgreSQL relations come before what reads them, and privileges last. */
    private List<String> elements(boolean ifNotExists) {
        List<List<String>> inOrder =
                List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        while (words.peek().isWord("create") || words.peek().isWord("grant")) {
            if (ifNotExists) {
                throw MillraceException.notAvailableYet("CREATE SCHEMA IF NOT EXISTS with what is in it")
                        .at(words.peek().start() + 1)
                        .withHint("CREATE SCHEMA IF NOT EXISTS, and each CREATE TABLE IF NOT EXISTS by itself");
            }
            int first = words.place();
            int rank = rank();
            statements.statement();
            inOrder.get(rank).add(words.textFrom(first));
        }
        return inOrder.stream().flatMap(List::stream).toList();
    }

    private int rank() {
        if (words.peek().isWord("grant")) {
            return 3;
        }
        Lexeme kind = words.peekAt(1);
        return switch (kind.text()) {
            case "table", "stream", "unlogged" -> 0;
            case "view", "materialized", "continuous" -> 1;
            case "index", "unique" -> 2;
            default ->
                throw MillraceException.notAvailableYet(
                                "CREATE " + kind.text().toUpperCase(Locale.ROOT) + " as a part of CREATE SCHEMA")
                        .at(kind.start() + 1)
                        .withHint(
                                "tables, streams, views, queries, indexes and GRANT can be; all else is a statement of its own behind it");
        };
    }

    Syntax drop() {
        words.expect("schema");
        boolean ifExists = words.acceptAll("if", "exists");
        List<String> names = new ArrayList<>();
        do {
            names.add(RelationNames.ofSchema(words.name()));
        } while (words.acceptComma());
        boolean cascade = words.accept("cascade");
        if (!cascade) {
            words.accept("restrict");
        }
        return new Syntax.Complete(new Statement.Drop(ObjectKind.SCHEMA, names, ifExists, cascade));
    }

    Syntax alter(RoleParser roles) {
        words.expect("schema");
        String name = RelationNames.ofSchema(words.name());
        if (words.acceptAll("rename", "to")) {
            return new Syntax.Complete(
                    new RenameStatement.Rename(ObjectKind.SCHEMA, name, false, RelationNames.ofSchema(name())));
        }
        if (!words.peek().isWord("owner")) {
            throw words.expected(List.of("owner", "rename"));
        }
        return roles.owner(ObjectKind.SCHEMA, name);
    }

    /** Of one to be made: names in the catalog have a point behind their schema, and it has none in it. */
    private String name() {
        int position = words.peek().start() + 1;
        String name = words.name();
        if (name.indexOf('.') >= 0 || name.isEmpty()) {
            throw MillraceException.user(
                            SqlState.INVALID_NAME, "\"" + name + "\" cannot be the name of a schema: it has a point")
                    .at(position);
        }
        return name;
    }
}
