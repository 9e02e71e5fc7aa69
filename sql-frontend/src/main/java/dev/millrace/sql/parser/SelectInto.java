package dev.millrace.sql.parser;

import dev.millrace.sql.statement.Statement.IfExists;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.sql.text.Lexeme;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** {@code SELECT a INTO t FROM s}, which is {@code CREATE TABLE t AS SELECT a FROM s}: read without what INTO says, and then that. */
final class SelectInto {
    private final Words words;
    private final int into; // where the word is

    private SelectInto(Words words, int into) {
        this.words = words;
        this.into = into;
    }

    /** The statement where the words are, at SELECT; empty for a SELECT without INTO before its FROM. */
    static Optional<Syntax> at(Words words) {
        OptionalInt into = place(words);
        return into.isEmpty() ? Optional.empty() : Optional.of(new SelectInto(words, into.getAsInt()).statement());
    }

    private static OptionalInt place(Words words) {
        int depth = 0;
        for (int i = 1;
                words.peekAt(i).kind() != Lexeme.Kind.END && !words.peekAt(i).isSymbol(";");
                i++) {
            Lexeme lexeme = words.peekAt(i);
            depth += lexeme.isSymbol("(") ? 1 : lexeme.isSymbol(")") ? -1 : 0;
            if (depth == 0 && lexeme.isWord("into") && !words.peekAt(i - 1).isWord("as")) {
                return OptionalInt.of(words.place() + i);
            }
            if (depth == 0 && lexeme.isWord("from")) {
                return OptionalInt.empty(); // it would stand before
            }
        }
        return OptionalInt.empty();
    }

    /** {@code [LOCAL] TEMP} before a name, or before TABLE and one. */
    private boolean temporary() {
        int scope = words.peek().isWord("local") || words.peek().isWord("global") ? 1 : 0;
        Lexeme word = words.peekAt(scope);
        Lexeme behind = words.peekAt(scope + 1);
        boolean named = behind.isName() && !behind.isWord("from") || behind.isWord("table");
        boolean temporary = named && (word.isWord("temporary") || word.isWord("temp"));
        if (temporary) {
            words.backTo(words.place() + scope + 1);
        }
        return temporary;
    }

    private Syntax statement() {
        int select = words.place();
        words.backTo(into);
        words.expect("into");
        boolean temporary = temporary();
        boolean unlogged = !temporary && words.peekAt(1).isName() && words.accept("unlogged");
        words.accept("table");
        String name = temporary ? words.newTemporaryName() : words.newRelationName();
        int behind = words.place();
        Words query = words.without(into, behind);
        query.backTo(select);
        Syntax.QueryText read = StatementParser.queryText(query);
        words.backTo(query.place() + behind - into);
        String text = words.textBetween(select, into) + " " + words.textFrom(behind);
        return new Syntax.CreateTableAs(
                name,
                IfExists.FAIL,
                List.of(),
                new Syntax.QueryText(read.query(), read.emit(), text),
                true,
                unlogged ? Map.of("unlogged", "true") : Map.of());
    }
}
