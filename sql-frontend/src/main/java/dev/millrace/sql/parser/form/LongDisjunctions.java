package dev.millrace.sql.parser.form;

import dev.millrace.interrupt.Interrupt;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;

/**
 * Puts the operands of long chains of OR that hold a LIKE or BETWEEN into parentheses: for each such operator the grammar's
 * library looks over all that follows in the expression, several times, so that the time grows with the cube of their number.
 *
 * <pre>
 *   x LIKE 'a' OR x LIKE 'b' OR x LIKE 'c' OR y    becomes    x LIKE 'a' OR (x LIKE 'b') OR (x LIKE 'c') OR y
 * </pre>
 *
 * An operand is what stands between one OR and the next in the same parentheses, if no word in it could mean that they are of
 * different expressions.
 */
public final class LongDisjunctions {
    private static final int MANY_LEXEMES = 256;
    private static final Set<String> SLOW = Set.of("like", "ilike", "similar", "between");
    private static final Set<String> OTHER_EXPRESSION = Set.of(
            "select",
            "from",
            "where",
            "group",
            "having",
            "window",
            "qualify",
            "order",
            "limit",
            "offset",
            "fetch",
            "union",
            "intersect",
            "except",
            "emit",
            "join",
            "on",
            "using",
            "when",
            "then",
            "else",
            "end",
            "case",
            "as",
            "by",
            "set",
            "values",
            "returning");

    private LongDisjunctions() {}

    /** The lexemes with those parentheses; the very list when it is short or has no such operands. */
    public static List<Lexeme> split(List<Lexeme> lexemes) {
        if (lexemes.size() <= MANY_LEXEMES) {
            return lexemes;
        }
        List<Integer> begins = new ArrayList<>();
        List<Integer> ends = new ArrayList<>();
        List<Operand> open = new ArrayList<>(List.of(new Operand()));
        for (int place = 0; place < lexemes.size(); place++) {
            Interrupt.checkSometimes(place);
            Lexeme lexeme = lexemes.get(place);
            Operand operand = open.get(open.size() - 1);
            if (LexemeEditor.opens(lexeme)) {
                open.add(new Operand());
            } else if (LexemeEditor.closes(lexeme)) {
                if (open.size() > 1) {
                    open.remove(open.size() - 1);
                }
            } else if (lexeme.isWord("or")) {
                if (operand.begin >= 0 && operand.slow) {
                    begins.add(operand.begin);
                    ends.add(place);
                }
                operand.begin(place + 1);
            } else if (lexeme.kind() == Kind.WORD) {
                operand.slow |= SLOW.contains(lexeme.text());
                if (OTHER_EXPRESSION.contains(lexeme.text())) {
                    operand.begin = -1;
                }
            } else if (lexeme.isSymbol(",") || lexeme.isSymbol(";") || lexeme.isSymbol("=>") || lexeme.isSymbol("->")) {
                operand.begin = -1;
            }
        }
        return begins.isEmpty() ? lexemes : parenthesized(lexemes, begins, ends);
    }

    /** What has been seen since the last OR in some parentheses; it begins nowhere when something else came between. */
    private static final class Operand {
        private int begin = -1;
        private boolean slow;

        void begin(int place) {
            begin = place;
            slow = false;
        }
    }

    private static List<Lexeme> parenthesized(List<Lexeme> lexemes, List<Integer> begins, List<Integer> ends) {
        List<Integer> closing = new ArrayList<>(ends); // an inner chain ends before the operand around it does
        List<Integer> opening = new ArrayList<>(begins);
        Collections.sort(opening);
        Collections.sort(closing);
        List<Lexeme> result = new ArrayList<>(lexemes.size() + 2 * begins.size());
        int nextOpening = 0;
        int nextClosing = 0;
        for (int place = 0; place < lexemes.size(); place++) {
            Lexeme lexeme = lexemes.get(place);
            while (nextClosing < closing.size() && closing.get(nextClosing) == place) {
                int end = lexemes.get(place - 1).end();
                result.add(new Lexeme(Kind.PUNCTUATION, ")", end, end));
                nextClosing++;
            }
            while (nextOpening < opening.size() && opening.get(nextOpening) == place) {
                result.add(new Lexeme(Kind.PUNCTUATION, "(", lexeme.start(), lexeme.start()));
                nextOpening++;
            }
            result.add(lexeme);
        }
        return result;
    }
}
