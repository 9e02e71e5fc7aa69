package dev.millrace.server.ddl;

import dev.millrace.sql.text.Identifiers;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexer;
import dev.millrace.type.Field;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Columns that a source guessed, and options that it assumed, as part of the statement that did not say them. */
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

    /** {@code delimiter = ';', decimal_comma = 'true'} */
    static String text(Map<String, String> options) {
        return options.entrySet().stream()
                .map(option -> name(option.getKey()) + " = " + quoted(option.getValue()))
                .collect(Collectors.joining(", "));
    }

    private static String name(String option) {
        return option.matches("[a-z_]+(\\.[a-z_][a-z_0-9]*)?") ? option : quoted(option);
    }

    private static String quoted(String text) {
        return "'" + text.replace("'", "''") + "'";
    }

    /** The statement with more options at the end of its WITH clause, which it has. */
    static String withOptions(String statement, Map<String, String> options) {
        if (options.isEmpty()) {
            return statement;
        }
        List<Lexeme> lexemes = Lexer.tokens(statement);
        int depth = 0;
        boolean isWithin = false;
        for (int at = 0; at < lexemes.size(); at++) {
            Lexeme lexeme = lexemes.get(at);
            if (lexeme.isSymbol("(")) {
                isWithin |= depth == 0 && at > 0 && lexemes.get(at - 1).isWord("with");
                depth++;
            } else if (lexeme.isSymbol(")")) {
                depth--;
                if (isWithin && depth == 0) {
                    String separator = lexemes.get(at - 1).isSymbol("(") ? "" : ", ";
                    return statement.substring(0, lexeme.start())
                            + separator
                            + text(options)
                            + statement.substring(lexeme.start());
                }
            }
        }
        throw new IllegalArgumentException("no WITH clause: " + statement);
    }
}
