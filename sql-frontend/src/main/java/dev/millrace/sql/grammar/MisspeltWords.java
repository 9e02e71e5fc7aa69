package dev.millrace.sql.grammar;

import dev.millrace.error.Suggestion;
import dev.millrace.sql.text.Keywords;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Which word of a query was meant by one that looks like it. */
final class MisspeltWords {
    /** Words of queries that are worth suggesting. */
    private static final List<String> LIKELY_WORDS = List.of(
            "from",
            "where",
            "group",
            "order",
            "having",
            "limit",
            "offset",
            "join",
            "inner",
            "left",
            "right",
            "union",
            "between",
            "like",
            "and",
            "then",
            "when",
            "else",
            "select",
            "values",
            "distinct",
            "using",
            "by");

    private MisspeltWords() {}

    /** The word, in capitals, that was meant at a place where the grammar goes no further, or right before it. */
    static Optional<String> meant(List<Lexeme> lexemes, int place) {
        for (int candidate = place; candidate >= Math.max(0, place - 1); candidate--) {
            Lexeme word = lexemes.get(candidate);
            if (word.kind() == Kind.WORD && word.text().length() > 2 && !Keywords.isReserved(word.text())) {
                Optional<String> nearest = Suggestion.nearest(word.text(), LIKELY_WORDS);
                if (nearest.isPresent() && !nearest.get().equals(word.text())) {
                    return nearest.map(found -> found.toUpperCase(Locale.ROOT));
                }
            }
        }
        return Optional.empty();
    }
}
