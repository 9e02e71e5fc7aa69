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
import java.util.Optional;
import java.util.function.Supplier;

/** CREATE, ALTER and DROP SCHEMA. */
final class SchemaParser {
    private final Words words;

    SchemaParser(Words words) {
        this.words = words;
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
        Lexeme rest = words.peek();
        if (rest.isWord("create") || rest.isWord("grant")) {
            throw MillraceException.notAvailableYet("CREATE SCHEMA with what is in it")
                    .at(rest.start() + 1)
                    .withHint("BEGIN; CREATE SCHEMA s; CREATE TABLE s.t (..); COMMIT makes both or none");
        }
        return new Syntax.Complete(new SchemaStatement.CreateSchema(name, ifNotExists, owner));
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
