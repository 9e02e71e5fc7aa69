package dev.millrace.sql.parser;

import dev.millrace.sql.statement.RenameStatement;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.sql.syntax.Syntax;
import java.util.Optional;

/** RENAME TO, SET SCHEMA and SWAP WITH, behind the name of what is altered. */
final class RenameParser {
    private final Words words;

    RenameParser(Words words) {
        this.words = words;
    }

    /** Empty if something else follows; then nothing was read. */
    Optional<Syntax> at(ObjectKind kind, String name, boolean ifExists) {
        if (words.acceptAll("rename", "to")) {
            return statement(new RenameStatement.Rename(kind, name, ifExists, words.name()));
        } else if (words.acceptAll("set", "schema")) {
            return statement(new RenameStatement.SetSchema(kind, name, ifExists, words.name()));
        } else if (words.acceptAll("swap", "with")) {
            return statement(new RenameStatement.Swap(kind, name, words.relationName()));
        }
        return Optional.empty();
    }

    private static Optional<Syntax> statement(RenameStatement statement) {
        return Optional.of(new Syntax.Complete(statement));
    }
}
