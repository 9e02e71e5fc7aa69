package dev.millrace.server.ddl;

import dev.millrace.sql.text.Identifiers;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexer;
import dev.millrace.type.Field;
import java.util.List;
import java.util.stream.Collectors;

/** Columns that a source guessed, as part of the statement that did not declare them. */
final class InferredColumns {
    private InferredColumns() {}

    /** {@code id bigint, name text} */
    static String text(List<Field> columns) {
        return columns.stream()
                .map(column ->
                        Identifiers.quote(column.name()) + " " + column.type() + (column.nullable() ? "" : " NOT NULL"))
                .collect(Collectors.joining(", "));
    }

    /** The statement {@code CREATE STREAM s ..} with the columns before all else that it says of the relation. */
    static String into(String statement, List<Field> columns) {
        List<Lexeme> lexemes = Lexer.tokens(statement);
        int at = 0;
        while (!lexemes.get(at).isWord("stream")) {
            at++;
        }
        at++;
        if (lexemes.get(at).isWord("if") && lexemes.get(at + 1).isWord("not")) {
            at += 3;
        }
        while (lexemes.get(at + 1).isSymbol(".")) {
            at += 2;
        }
        Lexeme next = lexemes.get(at + 1);
        if (next.isSymbol("(")) {
            String rest = statement.substring(next.end());
            boolean isEmpty = lexemes.get(at + 2).isSymbol(")");
            return statement.substring(0, next.end()) + text(columns) + (isEmpty ? "" : ", ") + rest.stripLeading();
        }
        int end = lexemes.get(at).end();
        return statement.substring(0, end) + " (" + text(columns) + ")" + statement.substring(end);
    }
}
