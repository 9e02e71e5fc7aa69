package dev.millrace.sql.parser.form;

import dev.millrace.error.MillraceException;
import dev.millrace.sql.syntax.FromClauses;
import dev.millrace.sql.text.Keywords;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * PIVOT and UNPIVOT, as statements and behind an item of FROM, said by aggregates with FILTER and by rows of VALUES:
 *
 * <pre>
 * PIVOT t ON c IN ('x', 'y') USING sum(v) GROUP BY g
 * SELECT g, sum(v) FILTER (WHERE c = 'x') AS x, sum(v) FILTER (WHERE c = 'y') AS y FROM t GROUP BY g
 *
 * UNPIVOT t ON a, b INTO NAME n VALUE v
 * SELECT * EXCLUDE (a, b), n, v FROM t CROSS JOIN LATERAL (VALUES ('a', a), ('b', b)) AS u(n, v) WHERE v IS NOT NULL
 * </pre>
 */
final class PivotForms {
    private static final Set<String> PARTS = Set.of(
            "on",
            "using",
            "into",
            "group",
            "order",
            "limit",
            "offset",
            "where",
            "union",
            "intersect",
            "except",
            "emit",
            "having");

    private static final Set<String> BEFORE_QUERIES =
            Set.of("as", "for", "union", "all", "explain", "analyze", "except", "intersect");

    private final LexemeEditor text;

    PivotForms(LexemeEditor text) {
        this.text = text;
    }

    void rewrite() {
        for (int i = text.size() - 1; i >= 0; i--) {
            boolean pivot = text.word(i, "pivot") || text.word(i, "pivot_wider");
            boolean unpivot = text.word(i, "unpivot") || text.word(i, "pivot_longer");
            if (!pivot && !unpivot) {
                continue;
            }
            boolean behind = text.symbol(i - 1, ")") || i > 0 && text.get(i - 1).isName() && !beginsQuery(i);
            if (behind && (text.symbol(i + 1, "(") || unpivot && text.word(i + 2, "nulls"))) {
                behindItem(i, pivot);
            } else if (beginsQuery(i) && beginsItem(i + 1)) {
                statement(i, pivot);
            }
        }
    }

    /** Whether a query may begin at a place. */
    private boolean beginsQuery(int place) {
        Lexeme before = text.get(place - 1);
        return place == 0
                || before.isSymbol(";")
                || before.isSymbol("(")
                || before.isSymbol(")")
                || before.kind() == Kind.WORD && BEFORE_QUERIES.contains(before.text());
    }

    /** Whether an item of FROM may begin at a place: behind an alias a clause does, or a join. */
    private boolean beginsItem(int place) {
        Lexeme lexeme = text.get(place);
        return lexeme.isSymbol("(")
                || lexeme.isName() && !(lexeme.kind() == Kind.WORD && Keywords.isReserved(lexeme.text()));
    }

    // ---- statements ------------------------------------------------------------------------------------------------

    private void statement(int i, boolean pivot) {
        int on = text.next(i + 1, PARTS);
        if (!text.word(on, "on")) {
            return;
        }
        List<Lexeme> source = text.copy(i + 1, on);
        int end = text.next(on + 1, PARTS);
        List<List<Lexeme>> ons = text.items(on + 1, end);
        if (pivot) {
            List<List<Lexeme>> using = List.of();
            List<List<Lexeme>> groups = List.of();
            if (text.word(end, "using")) {
                int next = text.next(end + 1, PARTS);
                using = text.items(end + 1, next);
                end = next;
            }
            if (text.word(end, "group")) {
                int next = text.next(end + 1, PARTS);
                groups = text.items(end + 2, next);
                end = next;
            }
            text.replace(i, end, pivot(i, source, ons, using, groups));
            return;
        }
        String name = "name";
        String value = "value";
        if (text.word(end, "into")) {
            if (text.word(end + 1, "name") && text.word(end + 3, "value")) {
                name = text.get(end + 2).text();
                value = text.get(end + 4).text();
            }
            end = text.next(end + 1, PARTS);
        }
        text.replace(i, end, unpivot(i, source, ons, name, value, false));
    }

    // ---- behind an item of FROM ------------------------------------------------------------------------------------

    private void behindItem(int i, boolean pivot) {
        int open = text.symbol(i + 1, "(") ? i + 1 : i + 3;
        int close = text.symbol(open, "(") ? text.close(open) : -1;
        int loop = text.next(open + 1, Set.of("for"));
        int in = text.next(loop, Set.of("in"));
        if (close < 0 || loop >= close || in >= close || !text.symbol(in + 1, "(")) {
            return;
        }
        int first = text.symbol(i - 1, ")") ? text.open(i - 1) : i - 1;
        while (first > 1 && text.symbol(first - 1, ".")) {
            first -= 2;
        }
        List<Lexeme> source = text.copy(first, i);
        List<Lexeme> made;
        if (pivot) {
            List<Lexeme> on = text.copy(loop + 1, text.close(in + 1) + 1);
            int group = text.next(text.close(in + 1) + 1, Set.of("group"));
            List<List<Lexeme>> groups = group < close ? text.items(group + 2, close) : List.of();
            made = pivot(i, source, List.of(on), text.items(open + 1, loop), groups);
        } else {
            made = unpivot(
                    i,
                    source,
                    text.items(in + 2, text.close(in + 1)),
                    text.get(loop + 1).text(),
                    text.get(open + 1).text(),
                    text.word(i + 1, "include"));
        }
        made.addAll(0, text.made(i, "("));
        made.addAll(text.made(i, ")"));
        text.replace(first, close + 1, made);
    }

    // ---- what they become ------------------------------------------------------------------------------------------

    private List<Lexeme> pivot(
            int at, List<Lexeme> source, List<List<Lexeme>> ons, List<List<Lexeme>> using, List<List<Lexeme>> groups) {
        List<List<Lexeme>> aggregates = using.isEmpty() ? List.of(text.made(at, "count(*)")) : using;
        List<Lexeme> made = text.made(at, "select");
        if (groups.isEmpty()) {
            made.addAll(starWithout(at, ons, aggregates));
        }
        for (int i = 0; i < groups.size(); i++) {
            made.addAll(i == 0 ? List.of() : text.made(at, ","));
            made.addAll(groups.get(i));
        }
        for (List<Lexeme> on : ons) {
            int in = indexOf(on, "in");
            if (in < 0 || !on.get(in + 1).isSymbol("(")) {
                throw MillraceException.notAvailableYet("PIVOT without the values that become columns")
                        .withHint(
                                "say them: PIVOT t ON c IN ('x', 'y') USING ..; a query's columns cannot depend on rows to come")
                        .at(text.get(at).start() + 1);
            }
            List<Lexeme> column = on.subList(0, in);
            LexemeEditor values = new LexemeEditor(on.subList(in + 2, on.size()));
            for (List<Lexeme> value : values.items(0, values.size() - 1)) {
                for (List<Lexeme> aggregate : aggregates) {
                    made.addAll(text.made(at, ","));
                    made.addAll(filtered(at, column, value, aggregate, aggregates.size() > 1));
                }
            }
        }
        made.addAll(text.made(at, "from"));
        made.addAll(source);
        made.addAll(text.made(at, "group by " + LexemeEditor.quoted(FromClauses.ALL_COLUMNS)));
        return made;
    }

    private List<Lexeme> filtered(
            int at, List<Lexeme> column, List<Lexeme> value, List<Lexeme> aggregate, boolean several) {
        int as = indexOf(aggregate, "as");
        int aliased = indexOf(value, "as");
        String name = value.get(value.size() - 1).text();
        List<Lexeme> call = as < 0 ? aggregate : aggregate.subList(0, as);
        String suffix = as > 0
                ? "_" + aggregate.get(as + 1).text()
                : several
                        ? "_" + String.join("", call.stream().map(Lexeme::text).toList())
                        : "";
        List<Lexeme> made = new ArrayList<>(call);
        made.addAll(text.made(at, "filter (where"));
        made.addAll(column);
        made.addAll(text.made(at, "="));
        made.addAll(aliased < 0 ? value : value.subList(0, aliased));
        made.addAll(text.made(at, ") as " + LexemeEditor.quoted(name + suffix)));
        return made;
    }

    /** All columns but those that a pivot reads. */
    private List<Lexeme> starWithout(int at, List<List<Lexeme>> ons, List<List<Lexeme>> aggregates) {
        List<String> read = new ArrayList<>();
        for (List<Lexeme> on : ons) {
            int in = indexOf(on, "in");
            read.addAll(names(on.subList(0, in < 0 ? on.size() : in)));
        }
        for (List<Lexeme> aggregate : aggregates) {
            int as = indexOf(aggregate, "as");
            read.addAll(names(as < 0 ? aggregate : aggregate.subList(0, as)));
        }
        return text.made(at, star("star without", read));
    }

    private static List<String> names(List<Lexeme> lexemes) {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < lexemes.size(); i++) {
            boolean called = i + 1 < lexemes.size() && lexemes.get(i + 1).isSymbol("(");
            if (lexemes.get(i).isName() && !called) {
                names.add(lexemes.get(i).text());
            }
        }
        return names;
    }

    private static String star(String modifier, List<String> names) {
        return LexemeEditor.quoted(FromClauses.STAR_COLUMNS) + "('', " + LexemeEditor.quoted(modifier) + "("
                + String.join(", ", names.stream().map(LexemeEditor::constant).toList()) + "))";
    }

    private List<Lexeme> unpivot(
            int at, List<Lexeme> source, List<List<Lexeme>> columns, String name, String value, boolean withNulls) {
        List<String> names = new ArrayList<>();
        List<Lexeme> rows = new ArrayList<>();
        for (List<Lexeme> column : columns) {
            int as = indexOf(column, "as");
            Lexeme last = column.get(column.size() - 1);
            List<Lexeme> expression = as < 0 ? column : column.subList(0, as);
            if (expression.size() != 1 || !expression.get(0).isName()) {
                throw MillraceException.notAvailableYet("UNPIVOT of anything but columns by their names")
                        .withHint("UNPIVOT t ON a, b INTO NAME name VALUE value")
                        .at(text.get(at).start() + 1);
            }
            names.add(expression.get(0).text());
            rows.addAll(text.made(at, (rows.isEmpty() ? "(" : ", (") + LexemeEditor.constant(last.text()) + ","));
            rows.addAll(expression);
            rows.addAll(text.made(at, ")"));
        }
        String named = LexemeEditor.quoted(name);
        String valued = LexemeEditor.quoted(value);
        List<Lexeme> made = text.made(
                at,
                "select " + star("star exclude", names) + ", millrace_unpivoted." + named + ", millrace_unpivoted."
                        + valued + " from");
        made.addAll(source);
        made.addAll(text.made(at, "cross join lateral (values"));
        made.addAll(rows);
        made.addAll(text.made(at, ") as millrace_unpivoted(" + named + ", " + valued + ")"));
        if (!withNulls) {
            made.addAll(text.made(at, "where millrace_unpivoted." + valued + " is not null"));
        }
        return made;
    }

    private static int indexOf(List<Lexeme> lexemes, String word) {
        int depth = 0;
        for (int i = 0; i < lexemes.size(); i++) {
            Lexeme lexeme = lexemes.get(i);
            depth += LexemeEditor.opens(lexeme) ? 1 : LexemeEditor.closes(lexeme) ? -1 : 0;
            if (depth == 0 && lexeme.kind() == Kind.WORD && lexeme.text().equals(word)) {
                return i;
            }
        }
        return -1;
    }
}
