package dev.millrace.sql.parser.form;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.parser.feed.TokenFeed;
import dev.millrace.sql.syntax.FromClauses;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * DuckDB's forms, and a few of PostgreSQL's, as lexemes that {@link TokenFeed} and the grammar read:
 *
 * <pre>
 * FROM t                              SELECT * FROM t
 * SELECT * EXCLUDE (a) REPLACE (..)   "star columns"(..), which the binder unfolds
 * (a JOIN b ..) AS j                  (SELECT * FROM a JOIN b ..) AS j
 * GROUP BY ALL, ORDER BY ALL          by "all columns"
 * [1, 2], {'a': 1}                    ARRAY[1, 2], "row of"('a', 1)
 * [x + 1 FOR x IN l IF x > 0]         ARRAY(SELECT x + 1 FROM unnest(l) .. WHERE x > 0 ORDER BY its place)
 * INTERVAL 3 DAYS, INTERVAL (n) DAY   INTERVAL '3 day', (n) * INTERVAL '1 day'
 * a UNION BY NAME b                   a UNION ALL TABLE "by name" UNION b
 * </pre>
 *
 * <p>Texts without such forms stay as they are. Pure functions.
 */
public final class DuckDbForms {
    /** Words that need no neighbours to tell that there may be something to do. */
    private static final Set<String> TRIGGERS = Set.of("""
            exclude rename pivot unpivot pivot_wider pivot_longer jsonb_to_record jsonb_to_recordset
            json_to_record json_to_recordset list_transform list_filter list_apply array_transform array_apply
            array_filter apply struct_pack normalize""".split("\\s+"));

    private static final Set<String> FORMS_OF_UNICODE = Set.of("nfc", "nfd", "nfkc", "nfkd");
    private static final Set<String> SYMBOLS = Set.of("[", "{", "==", "**", ":=", "//");
    private static final Set<String> MAPPING =
            Set.of("list_transform", "list_apply", "array_transform", "array_apply", "apply");
    private static final Set<String> FILTERING = Set.of("list_filter", "array_filter", "filter");
    private static final Set<String> UNITS = Set.of("""
            year years month months week weeks day days hour hours minute minutes second seconds millisecond
            milliseconds microsecond microseconds quarter quarters decade decades century centuries""".split("\\s+"));

    private final LexemeEditor text;

    private DuckDbForms(LexemeEditor text) {
        this.text = text;
    }

    /** The same text in forms that the parser knows. */
    public static List<Lexeme> rewrite(List<Lexeme> lexemes) {
        if (!concerns(lexemes)) {
            return lexemes;
        }
        LexemeEditor text = new LexemeEditor(lexemes);
        DuckDbForms forms = new DuckDbForms(text);
        forms.small();
        forms.brackets();
        new OperatorForms(text).rewrite();
        new NamedJoins(text).rewrite();
        new StarForms(text).rewrite();
        new PivotForms(text).rewrite();
        new ColumnDefinitions(text).rewrite();
        forms.fromFirst();
        new LimitForms(text).rewrite();
        return text.lexemes();
    }

    private static boolean concerns(List<Lexeme> lexemes) {
        Lexeme end = lexemes.get(lexemes.size() - 1);
        Lexeme before = end;
        boolean with = false;
        for (int i = 0; i < lexemes.size(); i++) {
            Lexeme lexeme = lexemes.get(i);
            Lexeme next = i + 1 < lexemes.size() ? lexemes.get(i + 1) : end;
            with |= lexeme.isWord("with");
            boolean concerned = switch (lexeme.kind()) {
                case WORD ->
                    concerns(lexeme.text(), before, next, with)
                            || OperatorForms.concerns(lexeme.text(), before, next)
                            || LimitForms.concerns(
                                    lexeme.text(), next, lexemes.get(Math.min(i + 2, lexemes.size() - 1)));
                case OPERATOR, PUNCTUATION ->
                    SYMBOLS.contains(lexeme.text()) || before.isSymbol(",") && LexemeEditor.closes(lexeme);
                default -> false;
            };
            if (concerned) {
                return true;
            }
            before = lexeme;
        }
        return false;
    }

    private static boolean concerns(String word, Lexeme before, Lexeme next, boolean with) {
        return switch (word) {
            case "select" -> next.isWord("from");
            case "from" ->
                before.kind() == Kind.END
                        || before.isSymbol("(")
                        || before.isSymbol(",")
                        || before.isSymbol(";")
                        || with && before.isSymbol(")")
                        || AROUND_QUERIES.contains(before.text());
            case "limit" -> next.isWord("null");
            case "using" -> next.isWord("sample");
            case "fetch" -> next.isWord("first") || next.isWord("next");
            case "map" -> next.isSymbol("{");
            case "by" -> before.isWord("union") || before.isWord("all") || before.isWord("distinct");
            case "positional" -> next.isWord("join");
            case "all" -> before.isWord("by");
            case "replace" -> before.isSymbol("*") || before.isSymbol(")");
            case "except", "like", "ilike", "not" -> before.isSymbol("*");
            case "join" -> true; // it may have a name
            case "interval" -> next.kind() != Kind.STRING;
            case "nulls" -> next.isSymbol(")");
            case "count", "filter", "columns", "range" -> next.isSymbol("(");
            default -> TRIGGERS.contains(word);
        };
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
            case "fetch" -> {
                boolean one = text.word(i + 2, "row") || text.word(i + 2, "rows");
                if (one && (text.word(i + 1, "first") || text.word(i + 1, "next"))) {
                    text.insert(i + 2, "1");
                }
            }
            case "limit" -> {
                if (text.word(i + 1, "null") && isEnd(text.get(i + 2))) {
                    text.replace(i + 1, i + 2, text.made(i + 1, "all"));
                }
            }
            case "select" -> {
                if (text.word(i + 1, "from") && text.symbol(i - 1, "(") && text.word(i - 2, "exists")) {
                    text.insert(i + 1, "1");
                }
            }
            case "normalize" -> {
                int close = text.symbol(i + 1, "(") ? text.close(i + 1) : -1;
                if (close > 0 && FORMS_OF_UNICODE.contains(text.get(close - 1).text()) && text.symbol(close - 2, ",")) {
                    String form =
                            LexemeEditor.constant(text.get(close - 1).text().toUpperCase(Locale.ROOT));
                    text.replace(close - 1, close, text.made(close - 1, form));
                }
            }
            case "range" -> {
                int close = text.isInFrom(i) && text.symbol(i + 1, "(") ? text.close(i + 1) : -1;
                if (close > 0) {
                    range(i, close);
                }
            }
            case "using" -> {
                if (text.word(i + 1, "sample")) {
                    throw MillraceException.notAvailableYet("USING SAMPLE")
                            .withHint("a sixteenth that stays the same: WHERE left(md5(key::text), 1) = '0'")
                            .at(text.get(i).start() + 1);
                }
            }
            case "union" -> {
                int by = text.word(i + 1, "all") || text.word(i + 1, "distinct") ? i + 2 : i + 1;
                if (text.word(by, "by") && text.word(by + 1, "name")) {
                    List<Lexeme> made = text.made(i, "union all table " + LexemeEditor.quoted(FromClauses.BY_NAME));
                    made.addAll(text.copy(i, by));
                    text.replace(i, by + 2, made);
                }
            }
            case "positional" -> {
                if (text.word(i + 1, "join")) {
                    throw MillraceException.user(
                                    SqlState.FEATURE_NOT_SUPPORTED,
                                    "POSITIONAL JOIN is not supported: rows that change have no positions")
                            .withHint("number them: (SELECT *, row_number() OVER (ORDER BY ..) AS n FROM a) AS a"
                                    + " FULL JOIN (..) AS b USING (n); lists side by side are unnest(a, b)")
                            .at(text.get(i).start() + 1);
                }
            }
            case "map" -> {
                if (text.symbol(i + 1, "{")) {
                    throw MillraceException.notAvailableYet("the type MAP")
                            .withHint(
                                    "jsonb_build_object('key', value), of which -> 'key' is the value; or {'key': value}")
                            .at(text.get(i).start() + 1);
                }
            }
            default -> {}
        }
    }

    /** {@code range(a, b)} in FROM as generate_series of all but its end. */
    private void range(int function, int close) {
        List<List<Lexeme>> bounds = text.items(function + 2, close);
        boolean down = bounds.size() == 3 && bounds.get(2).get(0).isSymbol("-");
        if (bounds.isEmpty() || bounds.size() > 3) {
            return;
        }
        List<Lexeme> made = text.made(function, "generate_series(");
        made.addAll(bounds.size() == 1 ? text.made(function, "0") : bounds.get(0));
        made.addAll(text.made(function, ", ("));
        made.addAll(bounds.size() == 1 ? bounds.get(0) : bounds.get(1));
        made.addAll(text.made(function, down ? ") + 1" : ") - 1"));
        if (bounds.size() == 3) {
            made.addAll(text.made(function, ","));
            made.addAll(bounds.get(2));
        }
        made.addAll(text.made(function, ")"));
        text.replace(function, close + 1, made);
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
            int at, List<Lexeme> value, String variable, String place, List<Lexeme> list, List<Lexeme> condition) {
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
            while (start > function + 1
                    && !text.symbol(start, ":=")
                    && !(text.symbol(start, "=") && text.symbol(start - 1, ":"))) {
                start--;
            }
            int names = text.symbol(start, ":=") ? start - 1 : start - 2;
            if (start <= function + 1 || !text.get(names).isName()) {
                return;
            }
            text.replace(
                    names,
                    start + 1,
                    text.made(names, LexemeEditor.constant(text.get(names).text()) + ","));
        }
        text.replace(function, function + 1, text.made(function, LexemeEditor.quoted(FromClauses.ROW_OF)));
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
        int word = text.word(before, "all") ? before - 1 : before; // of UNION ALL, not of FETCH ALL
        return word >= 0
                && text.get(word).kind() == Kind.WORD
                && AROUND_QUERIES.contains(text.get(word).text());
    }

    private static final Set<String> BEFORE_QUERIES = Set.of(
            "as",
            "from",
            "join",
            "in",
            "exists",
            "select",
            "lateral",
            "materialized",
            "any",
            "all",
            "some",
            "array",
            "union",
            "except",
            "intersect",
            "and",
            "or",
            "not",
            "where",
            "then",
            "else",
            "when",
            "on");
    private static final Set<String> AROUND_QUERIES = Set.of("as", "union", "intersect", "except", "explain");

    /** Whether a count that a lexeme follows is no part of a greater expression. */
    private static boolean isEnd(Lexeme next) {
        return next.kind() == Lexeme.Kind.END
                || next.kind() == Lexeme.Kind.WORD
                || LexemeEditor.closes(next)
                || next.isSymbol(";");
    }
}
