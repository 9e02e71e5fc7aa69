package dev.millrace.server.script;

import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexer;
import java.util.ArrayList;
import java.util.List;

/**
 * The foreign keys in a CREATE TABLE, as it is kept: elements of their own that begin with CONSTRAINT. A script has them behind all tables and
 * rows, as tables may reference each other.
 *
 * @param without the statement without them
 * @param foreignKeys these, each from CONSTRAINT on
 */
record ForeignKeyTexts(String without, List<String> foreignKeys) {
    static ForeignKeyTexts of(String sql) {
        List<Lexeme> lexemes = Lexer.tokens(sql);
        List<String> keys = new ArrayList<>();
        StringBuilder without = new StringBuilder();
        int kept = 0; // up to where the statement is in what is left
        int depth = 0;
        for (int at = 0; at < lexemes.size(); at++) {
            Lexeme lexeme = lexemes.get(at);
            depth += lexeme.isSymbol("(") ? 1 : lexeme.isSymbol(")") ? -1 : 0;
            boolean begins = depth == 1
                    && lexeme.isSymbol(",")
                    && at + 4 < lexemes.size()
                    && lexemes.get(at + 1).isWord("constraint")
                    && lexemes.get(at + 3).isWord("foreign")
                    && lexemes.get(at + 4).isWord("key");
            if (begins) {
                int end = end(lexemes, at + 1);
                without.append(sql, kept, lexeme.start());
                kept = lexemes.get(end).start();
                keys.add(sql.substring(lexemes.get(at + 1).start(), kept).strip());
                at = end - 1;
            }
        }
        return new ForeignKeyTexts(without.append(sql, kept, sql.length()).toString(), keys);
    }

    /** The comma or parenthesis behind an element. */
    private static int end(List<Lexeme> lexemes, int first) {
        int depth = 0;
        int at = first;
        while (depth > 0 || !lexemes.get(at).isSymbol(",") && !lexemes.get(at).isSymbol(")")) {
            depth += lexemes.get(at).isSymbol("(") ? 1 : lexemes.get(at).isSymbol(")") ? -1 : 0;
            at++;
        }
        return at;
    }
}
