package dev.millrace.sql.parser;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.statement.SecretStatement;
import dev.millrace.sql.statement.Statement.IfExists;
import dev.millrace.sql.statement.Statement.Secret;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.sql.text.Lexeme;

/** CREATE, ALTER and DROP SECRET. No error shows a secret's text. */
final class SecretParser {
    /** What RisingWave calls it when the server keeps the texts, which is the only way here. */
    private static final String OURS = "meta";

    private final Words words;

    SecretParser(Words words) {
        this.words = words;
    }

    /** Whether a secret is what is created, altered or dropped, behind that word. */
    boolean isNext() {
        return words.peek().isWord("secret");
    }

    Syntax create(boolean replace) {
        Lexeme secret = words.next();
        IfExists ifExists = StatementParser.ifNotExists(words, replace);
        String name = name();
        return new Syntax.Complete(new SecretStatement.CreateSecret(name, ifExists, text(secret)));
    }

    Syntax alter() {
        Lexeme secret = words.next();
        String name = name();
        return new Syntax.Complete(new SecretStatement.AlterSecret(name, text(secret)));
    }

    /** Secrets are in no schema: that of what has plain names may be said. */
    private String name() {
        if (words.peekAt(1).isSymbol(".") && words.accept(RelationNames.PUBLIC)) {
            words.expectSymbol(".");
        }
        return words.name();
    }

    private Secret text(Lexeme secret) {
        words.optionalOptions().forEach((option, value) -> {
            if (!option.equals("backend") || !value.equals(OURS)) {
                throw MillraceException.user(
                                SqlState.FEATURE_NOT_SUPPORTED,
                                "option \"" + option + "\" of a secret is not supported")
                        .at(secret.start() + 1)
                        .withHint("the server keeps the text itself: AS 'text', or WITH (backend = '" + OURS
                                + "') AS 'text'");
            }
        });
        if (!words.peek().isWord("as") || words.peekAt(1).kind() != Lexeme.Kind.STRING) {
            throw form(secret);
        }
        words.next();
        String text = words.string();
        if (!words.atEnd() && !words.peek().isSymbol(";")) {
            throw form(secret);
        }
        return new Secret(text);
    }

    private static MillraceException form(Lexeme at) {
        return MillraceException.user(SqlState.SYNTAX_ERROR, "the text of a secret stands behind AS, in quotes")
                .at(at.start() + 1);
    }

    Syntax drop() {
        words.expect("secret");
        boolean ifExists = words.acceptAll("if", "exists");
        return new Syntax.Complete(new SecretStatement.DropSecret(name(), ifExists));
    }
}
