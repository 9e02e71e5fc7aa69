package dev.millrace.sql.parser;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * Refuses operators that follow each other without a parenthesis in such numbers that the generated grammar, whose time grows
 * with their square (with the cube for prefixes), would be at it for seconds and could not be stopped.
 */
final class OperatorChains {
    static final int MOST_OPERATORS = 10_000;
    static final int MOST_PREFIXES = 1_000;

    private static final int SLOW_COUNTS = 20; // as so many: see LongDisjunctions, which spares most chains
    private static final Set<String> SLOW = Set.of("like", "ilike", "between");
    private static final Set<String> OPERATORS = Set.of("and", "or", "not", "is", "like", "ilike", "between", "in");

    /** What a chain does not go beyond. */
    private static final Set<String> ENDS =
            Set.of("select", "from", "where", "having", "on", "when", "then", "else", "end", "union", "values", "set");

    private OperatorChains() {}

    /** @throws MillraceException 54001, at the operator that is too many */
    static void check(List<Lexeme> lexemes) {
        int[] counts = new int[64]; // by depth of parentheses
        int depth = 0;
        int prefixes = 0;
        int seen = 0;
        for (Lexeme lexeme : lexemes) {
            Interrupt.checkSometimes(++seen);
            boolean operator =
                    lexeme.kind() == Kind.OPERATOR || lexeme.kind() == Kind.WORD && OPERATORS.contains(lexeme.text());
            prefixes = operator ? prefixes + 1 : 0;
            if (operator) {
                counts[depth] += SLOW.contains(lexeme.text()) ? SLOW_COUNTS : 1;
                if (counts[depth] > MOST_OPERATORS || prefixes > MOST_PREFIXES) {
                    throw MillraceException.user(SqlState.STATEMENT_TOO_COMPLEX, "too many operators in one expression")
                            .withHint("put parts of it in parentheses, or write IN or = ANY of an array")
                            .at(lexeme.start() + 1);
                }
            } else if (lexeme.isSymbol("(") || lexeme.isSymbol("[")) {
                if (++depth == counts.length) {
                    counts = Arrays.copyOf(counts, 2 * depth);
                }
                counts[depth] = 0;
            } else if (lexeme.isSymbol(")") || lexeme.isSymbol("]")) {
                depth = Math.max(0, depth - 1);
            } else if (lexeme.isSymbol(",")
                    || lexeme.isSymbol(";")
                    || lexeme.kind() == Kind.WORD && ENDS.contains(lexeme.text())) {
                counts[depth] = 0;
            }
        }
    }
}
