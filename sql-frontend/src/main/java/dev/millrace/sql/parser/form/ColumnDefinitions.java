package dev.millrace.sql.parser.form;

import dev.millrace.sql.text.Lexeme;
import java.util.List;
import java.util.Set;

/**
 * Functions in FROM whose columns the query defines, as sub-queries:
 *
 * <pre>
 * jsonb_to_recordset(j) AS x(a int, b text)
 * becomes
 * LATERAL (SELECT CAST(v ->> 'a' AS int) AS a, CAST(v ->> 'b' AS text) AS b FROM jsonb_array_elements(j) AS e(v)) AS x
 * </pre>
 */
final class ColumnDefinitions {
    private static final Set<String> FUNCTIONS =
            Set.of("jsonb_to_record", "jsonb_to_recordset", "json_to_record", "json_to_recordset");

    private final LexemeEditor text;

    ColumnDefinitions(LexemeEditor text) {
        this.text = text;
    }

    void rewrite() {
        for (int i = text.size() - 1; i >= 0; i--) {
            if (FUNCTIONS.contains(text.get(i).text()) && text.get(i).isName() && text.symbol(i + 1, "(")) {
                rewrite(i);
            }
        }
    }

    private void rewrite(int function) {
        int close = text.close(function + 1);
        int alias = text.word(close + 1, "as") ? close + 2 : close + 1;
        boolean named = text.get(alias).isName();
        int open = named ? alias + 1 : alias;
        int end = text.symbol(open, "(") ? text.close(open) : -1;
        if (close < 0 || end < 0) {
            return;
        }
        boolean set = text.get(function).text().endsWith("set");
        List<Lexeme> json = text.copy(function + 2, close);
        List<Lexeme> made = text.made(function, "lateral (select");
        List<List<Lexeme>> columns = text.items(open + 1, end);
        for (int i = 0; i < columns.size(); i++) {
            List<Lexeme> column = columns.get(i);
            if (column.size() < 2 || !column.get(0).isName()) {
                return; // a list of names alone, which the binder refuses
            }
            made.addAll(i == 0 ? List.of() : text.made(function, ","));
            made.addAll(column(function, column, json, set));
        }
        if (set) {
            made.addAll(text.made(function, "from jsonb_array_elements("));
            made.addAll(cast(function, json));
            made.addAll(text.made(function, ") as millrace_rows(millrace_row)"));
        }
        made.addAll(text.made(function, ") as"));
        made.addAll(
                named
                        ? List.of(text.get(alias))
                        : text.made(function, text.get(function).text()));
        boolean lateral = text.word(function - 1, "lateral");
        text.replace(lateral ? function - 1 : function, end + 1, made);
    }

    private List<Lexeme> cast(int at, List<Lexeme> json) {
        List<Lexeme> made = text.made(at, "cast(");
        made.addAll(json);
        made.addAll(text.made(at, "as jsonb)"));
        return made;
    }

    private List<Lexeme> column(int at, List<Lexeme> column, List<Lexeme> json, boolean set) {
        Lexeme name = column.get(0);
        List<Lexeme> type = column.subList(1, column.size());
        List<Lexeme> row = set ? text.made(at, "millrace_row") : cast(at, json);
        String key = LexemeEditor.constant(name.text());
        boolean isJson =
                type.size() == 1 && (type.get(0).isWord("jsonb") || type.get(0).isWord("json"));
        boolean isArray = type.get(type.size() - 1).isSymbol("]");
        List<Lexeme> made = text.made(at, isJson ? "nullif(" : isArray ? "cast(json_elements_text(" : "cast(");
        made.addAll(row);
        made.addAll(text.made(at, isJson || isArray ? "-> " + key : "->> " + key));
        if (isJson) {
            made.addAll(text.made(at, ", 'null')"));
        } else {
            made.addAll(text.made(at, isArray ? ") as" : "as"));
            made.addAll(type);
            made.addAll(text.made(at, ")"));
        }
        made.addAll(text.made(at, "as " + LexemeEditor.quoted(name.text())));
        return made;
    }
}
