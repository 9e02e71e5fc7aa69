package dev.millrace.sql.parser;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.statement.SecretStatement;
import dev.millrace.sql.statement.Statement.IfExists;
import dev.millrace.sql.statement.Statement.Secret;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.sql.text.Lexeme;

/** CREATE and DROP SECRET. No error shows a secret's text. */
final class SecretParser {
    private final Words words;

    SecretParser(Words words) {
        this.words = words;
    }

    /** Whether a secret is what is created or dropped, behind that word. */
    boolean isNext() {
        return words.peek().isWord("secret");
    }

    Syntax create(boolean replace) {
        Lexeme secret = words.next();
        IfExists ifExists = StatementParser.ifNotExists(words, replace);
        String name = words.name();
        if (!words.peek().isWord("as") || words.peekAt(1).kind() != Lexeme.Kind.STRING) {
            throw form(secret);
        }
        words.next();
        String text = words.string();
        if (!words.atEnd() && !words.peek().isSymbol(";")) {
            throw form(secret);
        }
        return new Syntax.Complete(new SecretStatement.CreateSecret(name, ifExists, new Secret(text)));
    }

    private static MillraceException form(Lexeme at) {
        return MillraceException.user(SqlState.SYNTAX_ERROR, "the text of a secret stands behind AS, in quotes")
                .at(at.start() + 1);
    }

    Syntax drop() {
        words.expect("secret");
        boolean ifExists = words.acceptAll("if", "exists");
        return new Syntax.Complete(new SecretStatement.DropSecret(words.name(), ifExists));
    }
}
