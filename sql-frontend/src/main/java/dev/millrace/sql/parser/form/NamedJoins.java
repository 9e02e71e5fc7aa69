package dev.millrace.sql.parser.form;

import dev.millrace.sql.text.Keywords;
import dev.millrace.sql.text.Lexeme;
import java.util.Set;

/**
 * Joins in parentheses that have a name of their own, as the sub-queries that they are short for: {@code (a JOIN b USING (i))
 * AS j (x, y)} as {@code (SELECT * FROM a JOIN b USING (i)) AS j (x, y)}. One thread, one text.
 */
final class NamedJoins {
    private static final Set<String> JOIN = Set.of("join");

    /** Words that may follow a join in parentheses and are no name of it. */
    private static final Set<String> FOLLOWING =
            Set.of("asof", "semi", "anti", "positional", "pivot", "unpivot", "emit");

    private final LexemeEditor text;

    NamedJoins(LexemeEditor text) {
        this.text = text;
    }

    void rewrite() {
        for (int i = text.size() - 1; i > 0; i--) {
            int close = text.symbol(i, "(") && beginsRelation(i) ? text.close(i) : -1;
            if (close > 0 && text.next(i + 1, JOIN) < close && isNamed(close + 1)) {
                text.insert(i + 1, "select * from");
            }
        }
    }

    private boolean beginsRelation(int i) {
        Lexeme first = text.get(i + 1);
        return (text.word(i - 1, "from") || text.word(i - 1, "join") || text.symbol(i - 1, ","))
                && first.isName()
                && !LexemeEditor.QUERIES.contains(first.text());
    }

    private boolean isNamed(int i) {
        String word = text.get(i).text();
        return text.word(i, "as")
                || text.get(i).isName()
                        && !Keywords.isReserved(word)
                        && !FOLLOWING.contains(word)
                        && !LexemeEditor.CLAUSES.contains(word);
    }
}
