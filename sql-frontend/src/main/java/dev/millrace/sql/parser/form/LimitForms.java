package dev.millrace.sql.parser.form;

import dev.millrace.error.MillraceException;
import dev.millrace.sql.syntax.FromClauses;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.List;
import java.util.Set;

/**
 * {@code LIMIT} and {@code OFFSET} of expressions, as calls that are last order keys: the grammar knows only numbers there.
 *
 * <pre>
 * ORDER BY a LIMIT 2 * 5      ORDER BY a, "limit is"(2 * 5)
 * OFFSET (3)                  ORDER BY "offset is"(3)
 * FETCH FIRST (2 - 1) ROWS ONLY   LIMIT (2 - 1), and so on
 * </pre>
 *
 * <p>One thread, one text.
 */
final class LimitForms {
    private static final Set<String> BEGINS = Set.of("select", "union", "intersect", "except", "values");
    private static final Set<String> ROWS = Set.of("row", "rows");
    private static final Set<String> COUNTS = Set.of("limit", "offset", "fetch");
    private static final Set<String> ENDS =
            Set.of("limit", "offset", "fetch", "union", "intersect", "except", "emit", "for", "on", "returning");

    private final LexemeEditor text;

    LimitForms(LexemeEditor text) {
        this.text = text;
    }

    /** Whether a word and the two lexemes behind it may be such a clause. */
    static boolean concerns(String word, Lexeme next, Lexeme after) {
        boolean clause = (word.equals("limit") || word.equals("offset")) && !next.isSymbol("=>");
        boolean ends = after.kind() == Kind.END
                || LexemeEditor.closes(after)
                || after.isSymbol(";")
                || after.kind() == Kind.WORD && (ENDS.contains(after.text()) || ROWS.contains(after.text()));
        return clause && !(isPlain(next, word.equals("offset")) && ends);
    }

    /** Whether the grammar knows it: ALL and NULL behind LIMIT only. */
    private static boolean isPlain(Lexeme lexeme, boolean isOffset) {
        return lexeme.kind() == Kind.INTEGER
                || lexeme.kind() == Kind.PARAMETER
                || lexeme.kind() == Kind.END
                || lexeme.isWord("all")
                || lexeme.isWord("null") && !isOffset;
    }

    void rewrite() {
        fetches();
        int i = text.size() - 1;
        while (i > 0) {
            boolean clause = text.get(i).kind() == Kind.WORD
                    && (text.word(i, "limit") || text.word(i, "offset"))
                    && !text.symbol(i + 1, "=>")
                    && beginOfQuery(i) >= 0;
            i = clause && rewrite(i) ? text.size() - 1 : i - 1; // what was put in moved those before it
        }
    }

    /** FETCH of an expression, which is one in parentheses, as LIMIT. */
    private void fetches() {
        for (int i = text.size() - 1; i > 0; i--) {
            boolean fetch = text.get(i).kind() == Kind.WORD
                    && text.word(i, "fetch")
                    && (text.word(i + 1, "first") || text.word(i + 1, "next"))
                    && text.symbol(i + 2, "(");
            int close = fetch ? text.close(i + 2) : -1;
            if (close > 0 && ROWS.contains(text.get(close + 1).text()) && text.word(close + 2, "only")) {
                text.remove(close + 1, close + 3);
                text.replace(i, i + 2, text.made(i, "limit"));
            }
        }
    }

    /** Whether there was anything to do. */
    private boolean rewrite(int clause) {
        int end = text.next(clause + 1, ENDS);
        boolean isOffset = text.word(clause, "offset");
        boolean words = isOffset && ROWS.contains(text.get(end - 1).text());
        end -= words ? 1 : 0;
        boolean negative = end == clause + 3
                && text.symbol(clause + 1, "-")
                && text.get(clause + 2).kind() == Kind.INTEGER;
        if (end <= clause + 1 || end == clause + 2 && isPlain(text.get(clause + 1), isOffset) || negative) {
            return false;
        }
        Lexeme last = text.get(end - 1);
        if (last.isSymbol("%") || last.isWord("percent")) {
            throw MillraceException.notAvailableYet("a LIMIT in percent")
                    .withHint("QUALIFY row_number() OVER (ORDER BY ..) <= 0.1 * count(*) OVER ()")
                    .at(text.get(clause).start() + 1);
        }
        List<Lexeme> count = text.copy(clause + 1, end);
        text.remove(clause, words ? end + 1 : end);
        int place = firstCount(clause);
        String name = LexemeEditor.quoted(isOffset ? FromClauses.OFFSET_IS : FromClauses.LIMIT_IS);
        List<Lexeme> made = text.made(clause, (isOrdered(place) ? ", " : "order by ") + name + "(");
        made.addAll(count);
        made.addAll(text.made(clause, ")"));
        text.insert(place, made);
        return true;
    }

    /** Where the counts of a query begin: order keys stand before all of them. */
    private int firstCount(int clause) {
        int first = clause;
        for (int i = clause - 1; i > beginOfQuery(clause); i--) {
            if (LexemeEditor.closes(text.get(i)) && text.open(i) > 0) {
                i = text.open(i);
            } else if (text.get(i).kind() == Kind.WORD
                    && COUNTS.contains(text.get(i).text())) {
                first = i;
            }
        }
        return first;
    }

    private boolean isOrdered(int clause) {
        for (int i = clause - 1; i > beginOfQuery(clause); i--) {
            if (LexemeEditor.closes(text.get(i)) && text.open(i) > 0) {
                i = text.open(i);
            } else if (text.word(i, "by") && text.word(i - 1, "order")) {
                return true;
            }
        }
        return false;
    }

    /** Where the last part of the query begins that a clause is of, or -1. */
    private int beginOfQuery(int clause) {
        for (int i = clause - 1; i >= 0; i--) {
            if (LexemeEditor.closes(text.get(i)) && text.open(i) >= 0) {
                i = text.open(i);
                if (i == 0) {
                    return 0;
                }
            } else if (LexemeEditor.opens(text.get(i)) || text.symbol(i, ";")) {
                return -1;
            } else if (text.get(i).kind() == Kind.WORD
                    && BEGINS.contains(text.get(i).text())) {
                return i;
            }
        }
        return -1;
    }
}
