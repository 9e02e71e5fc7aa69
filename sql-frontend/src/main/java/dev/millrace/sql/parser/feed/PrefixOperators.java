package dev.millrace.sql.parser.feed;

import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.List;
import java.util.Set;

/** PostgreSQL's operators before their one operand, which reaches as far as operators that bind tighter. */
final class PrefixOperators {
    /** What the name of the function begins with that a prefix operator is fed as a call of. */
    static final String NAME = "prefix ";

    private static final Set<String> SYMBOLS = Set.of("~", "@", "|/", "||/");
    private static final Set<String> TIGHTER = Set.of("+", "-", "*", "/", "%", "^", "::", ".");
    private static final Set<String> ENDING_WORDS = Set.of("""
            and or not is in like ilike similar between as from where group having order limit offset fetch union intersect
            except when then else end asc desc nulls using on join left right full inner cross natural window qualify emit
            isnull notnull for""".split("\\s+"));

    private PrefixOperators() {}

    /** Whether an operator has no left operand, judged by the token before it. */
    static boolean isPrefix(Lexeme operator, Lexeme previous) {
        return SYMBOLS.contains(operator.text()) && !endsOperand(previous);
    }

    private static boolean endsOperand(Lexeme lexeme) {
        return switch (lexeme.kind()) {
            case WORD ->
                !ENDING_WORDS.contains(lexeme.text())
                                && !Set.of("select", "distinct", "by", "values", "case", "all", "any")
                                        .contains(lexeme.text())
                        || lexeme.isWord("end");
            case QUOTED_NAME, STRING, BYTES, INTEGER, DECIMAL, APPROXIMATE, PARAMETER -> true;
            case PUNCTUATION, OPERATOR -> lexeme.isSymbol(")") || lexeme.isSymbol("]");
            case END -> false;
        };
    }

    /** The first token behind the operand that begins at a place. */
    static int operandEnd(List<Lexeme> lexemes, int first) {
        int depth = 0;
        int cases = 0;
        for (int i = first; ; i++) {
            Lexeme lexeme = lexemes.get(i);
            if (lexeme.kind() == Kind.END) {
                return i;
            }
            if (lexeme.isSymbol("(") || lexeme.isSymbol("[")) {
                depth++;
            } else if (lexeme.isSymbol(")") || lexeme.isSymbol("]")) {
                if (--depth < 0) {
                    return i;
                }
            } else if (lexeme.isWord("case")) {
                cases++;
            } else if (lexeme.isWord("end") && cases > 0) {
                cases--;
            } else if (depth == 0 && cases == 0 && i > first && ends(lexemes.get(i - 1), lexeme)) {
                return i;
            }
        }
    }

    private static boolean ends(Lexeme before, Lexeme lexeme) {
        return switch (lexeme.kind()) {
            case PUNCTUATION, OPERATOR -> !TIGHTER.contains(lexeme.text()) && endsOperand(before);
            case WORD -> ENDING_WORDS.contains(lexeme.text()) || endsOperand(before);
            default -> false;
        };
    }
}
