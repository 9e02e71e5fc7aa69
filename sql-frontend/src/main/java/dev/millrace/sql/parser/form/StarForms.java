package dev.millrace.sql.parser.form;

import dev.millrace.sql.syntax.FromClauses;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * DuckDB's stars as calls that the binder unfolds: {@code t.* EXCLUDE (a)} as {@code "star columns"('t', "star
 * exclude"('a'))}, {@code COLUMNS('x.*')} as {@code "star columns"('', "star matching"('x.*'))}. One thread, one text.
 */
final class StarForms {
    private static final Set<String> MODIFIERS = Set.of("exclude", "replace", "rename");

    private final LexemeEditor text;

    StarForms(LexemeEditor text) {
        this.text = text;
    }

    void rewrite() {
        for (int i = text.size() - 1; i >= 0; i--) {
            if (text.word(i, "columns")
                    && text.symbol(i + 1, "(")
                    && text.close(i + 1) > 0
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
                        && (text.symbol(i + 1, "(") || text.get(i + 1).isName() && !text.word(i + 1, "from"))
                || isLike(i)
                || excepts(text.get(i), text.get(i + 1), text.get(i + 2));
    }

    /** {@code LIKE 'a%'}, {@code NOT ILIKE 'a%'} behind a star. */
    private boolean isLike(int i) {
        int like = text.word(i, "not") ? i + 1 : i;
        return (text.word(like, "like") || text.word(like, "ilike"))
                && text.get(like + 1).kind() == Kind.STRING;
    }

    /** A LIKE pattern as a regular expression over names. */
    private static String pattern(String like, boolean anyCase) {
        StringBuilder pattern = new StringBuilder(anyCase ? "(?is)^" : "(?s)^");
        for (char c : like.toCharArray()) {
            pattern.append(c == '%' ? ".*" : c == '_' ? "." : Pattern.quote(String.valueOf(c)));
        }
        return pattern.append('$').toString();
    }

    /** BigQuery's EXCEPT behind a star: names in parentheses, where a set operation has a query. */
    static boolean excepts(Lexeme word, Lexeme open, Lexeme name) {
        return word.isWord("except")
                && open.isSymbol("(")
                && name.isName()
                && !LexemeEditor.QUERIES.contains(name.text());
    }

    /** {@code t.* EXCLUDE (a) REPLACE (e AS b) RENAME (c AS d)}. */
    private void modified(int star) {
        int first = text.symbol(star - 1, ".") ? star - 2 : star;
        String qualifier = first < star ? text.get(first).text() : "";
        List<Lexeme> made = text.made(
                first, LexemeEditor.quoted(FromClauses.STAR_COLUMNS) + "(" + LexemeEditor.constant(qualifier));
        int i = star + 1;
        while (isModified(i)) {
            if (isLike(i)) {
                int like = text.word(i, "not") ? i + 1 : i;
                String pattern = pattern(text.get(like + 1).text(), text.word(like, "ilike"));
                String chosen = like > i ? "unlike" : "matching";
                made.addAll(text.made(i, ", \"star " + chosen + "\"(" + LexemeEditor.constant(pattern) + ")"));
                i = like + 2;
                continue;
            }
            boolean listed = text.symbol(i + 1, "(");
            int close = listed ? text.close(i + 1) : i + 2;
            if (close < 0) {
                return;
            }
            String modifier = text.word(i, "except") ? "exclude" : text.get(i).text();
            made.addAll(text.made(i, ", \"star " + modifier + "\"("));
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
}
