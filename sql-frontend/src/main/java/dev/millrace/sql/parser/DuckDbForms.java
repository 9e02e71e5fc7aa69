package dev.millrace.sql.parser;

import dev.millrace.sql.syntax.FromClauses;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.List;
import java.util.Set;

/**
 * DuckDB's forms, and a few of PostgreSQL's, as lexemes that {@link TokenFeed} and the grammar read:
 *
 * <pre>
 * FROM t                              SELECT * FROM t
 * SELECT * EXCLUDE (a) REPLACE (..)   "star columns"(..), which the binder unfolds
 * GROUP BY ALL, ORDER BY ALL          by "all columns"
 * [1, 2], {'a': 1}                    ARRAY[1, 2], "row of"('a', 1)
 * [x + 1 FOR x IN l IF x > 0]         ARRAY(SELECT x + 1 FROM unnest(l) .. WHERE x > 0 ORDER BY its place)
 * INTERVAL 3 DAYS, INTERVAL (n) DAY   INTERVAL '3 day', (n) * INTERVAL '1 day'
 * </pre>
 *
 * <p>Texts without such forms stay as they are. Pure functions.
 */
final class DuckDbForms {
    private static final Set<String> TRIGGERS = Set.of(
            "exclude", "replace", "rename", "columns", "all", "interval", "count", "filter", "nulls", "pivot", "unpivot",
            "from", "jsonb_to_record", "jsonb_to_recordset", "json_to_record", "json_to_recordset", "list_transform",
            "list_filter", "list_apply", "array_transform", "array_apply", "array_filter", "apply", "try_cast",
            "struct_pack");
    private static final Set<String> SYMBOLS = Set.of("[", "{", "==", "**", ":=");
    private static final Set<String> MAPPING =
            Set.of("list_transform", "list_apply", "array_transform", "array_apply", "apply");
    private static final Set<String> FILTERING = Set.of("list_filter", "array_filter", "filter");
    private static final Set<String> UNITS = Set.of(
            "year", "years", "month", "months", "week", "weeks", "day", "days", "hour", "hours", "minute", "minutes",
            "second", "seconds", "millisecond", "milliseconds", "microsecond", "microseconds", "quarter", "quarters",
            "decade", "decades", "century", "centuries");
    private static final Set<String> MODIFIERS = Set.of("exclude", "replace", "rename");

    private final LexemeEditor text;

    private DuckDbForms(LexemeEditor text) {
        this.text = text;
    }

    /** The same text in forms that the parser knows. */
    static List<Lexeme> rewrite(List<Lexeme> lexemes) {
        if (!concerns(lexemes)) {
            return lexemes;
        }
        LexemeEditor text = new LexemeEditor(lexemes);
        DuckDbForms forms = new DuckDbForms(text);
        forms.small();
        forms.brackets();
        forms.stars();
        new PivotForms(text).rewrite();
        new ColumnDefinitions(text).rewrite();
        forms.fromFirst();
        return text.lexemes();
    }

    private static boolean concerns(List<Lexeme> lexemes) {
        Lexeme before = lexemes.get(lexemes.size() - 1);
        for (Lexeme lexeme : lexemes) {
            if (lexeme.kind() == Kind.WORD && TRIGGERS.contains(lexeme.text())
                    || (lexeme.kind() == Kind.OPERATOR || lexeme.kind() == Kind.PUNCTUATION)
                            && (SYMBOLS.contains(lexeme.text())
                                    || before.isSymbol(",") && LexemeEditor.closes(lexeme))) {
                return true;
            }
            before = lexeme;
        }
        return false;
    }

    // ---- one lexeme or a few ---------------------------------------------------------------------------------------

    private void small() {
        for (int i = 0; i < text.size(); i++) {
            Lexeme lexeme = text.get(i);
            if (lexeme.kind() == Kind.OPERATOR) {
                String same = lexeme.text().equals("==") ? "=" : lexeme.text().equals("**") ? "^" : lexeme.text();
                text.lexemes().set(i, new Lexeme(Kind.OPERATOR, same, lexeme.start(), lexeme.end()));
            } else if (lexeme.isSymbol(",") && (LexemeEditor.closes(text.get(i + 1)) || endsSelectList(i + 1))) {
                text.remove(i, i + 1);
                i--;
            } else if (lexeme.kind() == Kind.WORD) {
                smallWord(i, lexeme.text());
            }
        }
    }

    /** FROM behind a comma. */
    private boolean endsSelectList(int place) {
        return text.word(place, "from") && !text.symbol(place + 1, ",") && !text.symbol(place + 1, ".");
    }

    private void smallWord(int i, String word) {
        switch (word) {
            case "count" -> {
                if (text.symbol(i + 1, "(") && text.symbol(i + 2, ")")) {
                    text.insert(i + 2, "*");
                }
            }
            case "filter" -> {
                if (text.symbol(i - 1, ")") && text.symbol(i + 1, "(") && !text.word(i + 2, "where")) {
                    text.insert(i + 2, "where");
                }
            }
            case "nulls" -> {
                boolean inCall = text.symbol(i + 1, ")")
                        && (text.word(i - 1, "ignore") || text.word(i - 1, "respect"))
                        && !text.symbol(i - 2, ")")
                        && text.word(i + 2, "over");
                if (inCall) {
                    List<Lexeme> moved = text.copy(i - 1, i + 1);
                    text.insert(i + 2, moved);
                    text.remove(i - 1, i + 1);
                }
            }
            case "all" -> {
                boolean by = text.word(i - 1, "by") && (text.word(i - 2, "group") || text.word(i - 2, "order"));
                Lexeme next = text.get(i + 1);
                boolean ends = text.isEnd(i + 1)
                        || LexemeEditor.closes(next)
                        || next.kind() == Kind.WORD
                                && (LexemeEditor.CLAUSES.contains(next.text())
                                        || Set.of("asc", "desc", "nulls").contains(next.text()));
                if (by && ends) {
                    text.replace(i, i + 1, text.made(i, LexemeEditor.quoted(FromClauses.ALL_COLUMNS)));
                }
            }
            case "interval" -> interval(i);
            case "try_cast" -> {
                int close = text.symbol(i + 1, "(") ? text.close(i + 1) : -1;
                if (close > 0) {
                    text.insert(close, ")");
                    text.insert(i + 1, "(cast");
                    text.replace(i, i + 1, text.made(i, LexemeEditor.quoted(FromClauses.TRY_CAST)));
                }
            }
            default -> {}
        }
    }

    private void interval(int i) {
        Lexeme number = text.get(i + 1);
        boolean constant = number.kind() == Kind.INTEGER || number.kind() == Kind.DECIMAL;
        boolean computed = number.isSymbol("(") || number.isName();
        int last = number.isSymbol("(") ? text.close(i + 1) : i + 1;
        if (last < 0 || !constant && !computed || text.get(last + 1).kind() != Kind.WORD) {
            return;
        }
        String unit = text.get(last + 1).text();
        if (!UNITS.contains(unit)) {
            return;
        }
        if (constant) {
            text.replace(i + 1, last + 2, text.made(i, LexemeEditor.constant(number.text() + " " + unit)));
            return;
        }
        List<Lexeme> count = text.copy(i + 1, last + 1);
        count.addAll(0, text.made(i, "( (")); // the cast takes the whole of it
        count.addAll(text.made(i, ") * interval " + LexemeEditor.constant("1 " + unit) + ")"));
        text.replace(i, last + 2, count);
    }

    // ---- lists, structs and lambdas --------------------------------------------------------------------------------

    /** From the back, so that inner ones are done before those around them. */
    private void brackets() {
        for (int i = text.size() - 1; i >= 0; i--) {
            Lexeme lexeme = text.get(i);
            if (lexeme.isSymbol("[") && text.beginsExpression(i - 1) && text.close(i) > 0) {
                list(i, text.close(i));
            } else if (lexeme.isSymbol("{") && text.close(i) > 0) {
                struct(i, text.close(i));
            } else if (lexeme.kind() == Kind.WORD && text.symbol(i + 1, "(") && text.close(i + 1) > 0) {
                if (MAPPING.contains(lexeme.text()) || FILTERING.contains(lexeme.text())) {
                    lambda(i, text.close(i + 1), MAPPING.contains(lexeme.text()));
                } else if (lexeme.text().equals("struct_pack")) {
                    structPack(i, text.close(i + 1));
                }
            }
        }
    }

    private void list(int open, int close) {
        int loop = text.next(open + 1, Set.of("for"));
        if (loop < close) {
            int in = text.next(loop, Set.of("in"));
            int condition = Math.min(text.next(in, Set.of("if")), close);
            if (in < close && in == loop + 2) {
                List<Lexeme> made = elements(
                        open,
                        text.copy(open + 1, loop),
                        text.get(loop + 1).text(),
                        "millrace_place",
                        text.copy(in + 1, condition),
                        condition < close ? text.copy(condition + 1, close) : List.of());
                text.replace(open, close + 1, made);
            }
            return;
        }
        if (text.word(open - 1, "in") && !text.word(open - 3, "for")) {
            boolean not = text.word(open - 2, "not");
            text.insert(close + 1, ")");
            text.replace(open - (not ? 2 : 1), open, text.made(open, not ? "<> all (array" : "= any (array"));
        } else {
            text.insert(open, "array");
        }
    }

    /** {@code CASE WHEN list IS NOT NULL THEN ARRAY(SELECT value FROM its elements WHERE condition ORDER BY place) END}. */
    private List<Lexeme> elements(
            int at,
            List<Lexeme> value,
            String variable,
            String place,
            List<Lexeme> list,
            List<Lexeme> condition) {
        String name = LexemeEditor.quoted(variable);
        List<Lexeme> made = text.made(at, "case when (");
        made.addAll(list);
        made.addAll(text.made(at, ") is not null then array(select "));
        made.addAll(value);
        made.addAll(text.made(at, "from unnest("));
        made.addAll(list);
        made.addAll(text.made(at, ") with ordinality as millrace_elements(" + name + ", " + place + ")"));
        if (!condition.isEmpty()) {
            made.addAll(text.made(at, "where"));
            made.addAll(condition);
        }
        made.addAll(text.made(at, "order by " + place + ") end"));
        return made;
    }

    /** {@code list_transform(l, x -> e)}, {@code (x, i) -> e} or {@code lambda x: e}. */
    private void lambda(int function, int close, boolean maps) {
        List<Integer> commas = text.commas(function + 2, close);
        if (commas.isEmpty()) {
            return;
        }
        int at = commas.get(0) + 1;
        boolean worded = text.word(at, "lambda");
        int first = worded ? at + 1 : text.symbol(at, "(") ? at + 1 : at;
        boolean indexed = text.symbol(first + 1, ",");
        int arrow = indexed ? first + 3 : first + 1;
        arrow += !worded && first > at ? 1 : 0;
        if (!text.get(first).isName() || !text.symbol(arrow, worded ? ":" : "->")) {
            return;
        }
        String variable = text.get(first).text();
        String place = indexed ? LexemeEditor.quoted(text.get(first + 2).text()) : "millrace_place";
        List<Lexeme> body = text.copy(arrow + 1, close);
        List<Lexeme> list = text.copy(function + 2, commas.get(0));
        List<Lexeme> element = text.made(function, LexemeEditor.quoted(variable));
        text.replace(
                function,
                close + 1,
                elements(function, maps ? body : element, variable, place, list, maps ? List.of() : body));
    }

    private void struct(int open, int close) {
        if (text.word(open - 1, "map")) {
            return;
        }
        List<Lexeme> made = text.made(open, LexemeEditor.quoted(FromClauses.ROW_OF) + "(");
        int start = open + 1;
        for (int end : ends(open, close)) {
            Lexeme name = text.get(start);
            if (name.kind() != Kind.STRING && !name.isName() || !text.symbol(start + 1, ":")) {
                return;
            }
            made.addAll(text.made(start, (start > open + 1 ? "," : "") + LexemeEditor.constant(name.text()) + ","));
            made.addAll(text.copy(start + 2, end));
            start = end + 1;
        }
        made.addAll(text.made(close, ")"));
        text.replace(open, close + 1, made);
    }

    private List<Integer> ends(int open, int close) {
        List<Integer> ends = text.commas(open + 1, close);
        ends.add(close);
        return ends;
    }

    private void structPack(int function, int close) {
        List<Integer> ends = ends(function + 1, close);
        for (int argument = ends.size() - 1; argument >= 0; argument--) {
            int start = ends.get(argument) - 1;
            while (start > function + 1 && !text.symbol(start, ":=") && !(text.symbol(start, "=") && text.symbol(start - 1, ":"))) {
                start--;
            }
            int names = text.symbol(start, ":=") ? start - 1 : start - 2;
            if (start <= function + 1 || !text.get(names).isName()) {
                return;
            }
            text.replace(
                    names, start + 1, text.made(names, LexemeEditor.constant(text.get(names).text()) + ","));
        }
        text.replace(function, function + 1, text.made(function, LexemeEditor.quoted(FromClauses.ROW_OF)));
    }

    // ---- stars -----------------------------------------------------------------------------------------------------

    private void stars() {
        for (int i = text.size() - 1; i >= 0; i--) {
            if (text.word(i, "columns") && text.symbol(i + 1, "(") && text.close(i + 1) > 0
                    && text.beginsExpression(i - 1)) {
                columns(i, text.close(i + 1));
            } else if (text.symbol(i, "*") && isStar(i) && isModified(i + 1)) {
                modified(i);
            }
        }
    }

    private boolean isStar(int i) {
        return text.symbol(i - 1, ".")
                || text.symbol(i - 1, ",")
                || text.symbol(i - 1, "(")
                || text.word(i - 1, "select")
                || text.word(i - 1, "distinct");
    }

    private boolean isModified(int i) {
        return text.get(i).kind() == Kind.WORD
                && MODIFIERS.contains(text.get(i).text())
                && (text.symbol(i + 1, "(") || text.get(i + 1).isName() && !text.word(i + 1, "from"));
    }

    /** {@code t.* EXCLUDE (a) REPLACE (e AS b) RENAME (c AS d)}. */
    private void modified(int star) {
        int first = text.symbol(star - 1, ".") ? star - 2 : star;
        String qualifier = first < star ? text.get(first).text() : "";
        List<Lexeme> made = text.made(
                first, LexemeEditor.quoted(FromClauses.STAR_COLUMNS) + "(" + LexemeEditor.constant(qualifier));
        int i = star + 1;
        while (isModified(i)) {
            boolean listed = text.symbol(i + 1, "(");
            int close = listed ? text.close(i + 1) : i + 2;
            if (close < 0) {
                return;
            }
            made.addAll(text.made(i, ", \"star " + text.get(i).text() + "\"("));
            List<List<Lexeme>> items = text.items(listed ? i + 2 : i + 1, close);
            for (int item = 0; item < items.size(); item++) {
                made.addAll(item == 0 ? List.of() : text.made(i, ","));
                made.addAll(modifier(i, items.get(item)));
            }
            made.addAll(text.made(i, ")"));
            i = listed ? close + 1 : close;
        }
        made.addAll(text.made(i, ")"));
        text.replace(first, i, made);
    }

    /** A name as a constant; {@code e AS n} as e and a constant. */
    private List<Lexeme> modifier(int at, List<Lexeme> item) {
        int last = item.size() - 1;
        List<Lexeme> made = text.made(at, LexemeEditor.constant(item.get(last).text()));
        if (last > 1 && item.get(last - 1).isWord("as")) {
            made.addAll(0, text.made(at, ","));
            made.addAll(0, item.subList(0, last - 1));
        }
        return made;
    }

    /** {@code COLUMNS(*)}, of a pattern or of a list of names. */
    private void columns(int word, int close) {
        String head = LexemeEditor.quoted(FromClauses.STAR_COLUMNS);
        Lexeme first = text.get(word + 2);
        if (first.isSymbol("*") && close == word + 3) {
            text.replace(word, close + 1, text.made(word, head + "('')"));
        } else if (first.kind() == Kind.QUOTED_NAME && first.text().equals(FromClauses.STAR_COLUMNS)) {
            text.remove(close, close + 1);
            text.remove(word, word + 2);
        } else if (first.kind() == Kind.STRING && close == word + 3) {
            text.replace(
                    word,
                    close + 1,
                    text.made(word, head + "('', \"star matching\"(" + LexemeEditor.constant(first.text()) + "))"));
        } else if (first.isWord("array") && text.symbol(word + 3, "[")) {
            List<Lexeme> made = text.made(word, head + "('', \"star only\"(");
            made.addAll(text.copy(word + 4, close - 1));
            made.addAll(text.made(word, "))"));
            text.replace(word, close + 1, made);
        }
    }

    // ---- FROM first ------------------------------------------------------------------------------------------------

    private void fromFirst() {
        for (int i = text.size() - 1; i >= 0; i--) {
            if (text.word(i, "from") && beginsQuery(i)) {
                int end = text.next(i + 1, LexemeEditor.CLAUSES);
                int rest = end;
                if (text.word(end, "select")) {
                    rest = text.next(end + 1, LexemeEditor.CLAUSES);
                    List<Lexeme> from = text.copy(i, end);
                    List<Lexeme> list = text.copy(end, rest);
                    list.addAll(from);
                    text.replace(i, rest, list);
                } else {
                    text.insert(i, "select *");
                }
            }
        }
    }

    private boolean beginsQuery(int from) {
        int before = from - 1;
        if (before < 0 || text.symbol(before, ";")) {
            return true;
        }
        if (text.symbol(before, ")")) {
            int open = text.open(before); // of WITH t AS (..)
            return text.word(open - 1, "as") || text.word(open - 1, "materialized");
        }
        if (text.symbol(before, "(")) {
            Lexeme function = text.get(before - 1);
            boolean call = before > 0 && function.isName() && !BEFORE_QUERIES.contains(function.text());
            return !call;
        }
        return text.get(before).kind() == Kind.WORD
                && AROUND_QUERIES.contains(text.get(before).text())
                && !(text.word(before, "all") && text.word(before - 1, "by"));
    }

    private static final Set<String> BEFORE_QUERIES =
            Set.of("as", "from", "join", "in", "exists", "select", "lateral", "materialized", "any", "all", "some", "array",
                    "union", "except", "intersect", "and", "or", "not", "where", "then", "else", "when", "on");
    private static final Set<String> AROUND_QUERIES = Set.of("as", "union", "all", "intersect", "except", "explain");
}
