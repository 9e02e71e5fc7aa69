package dev.millrace.sql.parser.form;

import dev.millrace.error.MillraceException;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.List;
import java.util.Set;

/**
 * DuckDB's operators and names in front of expressions, as PostgreSQL has them:
 *
 * <pre>
 * a // b                   a / b, which is whole for whole numbers
 * a GLOB 'x*'              a ~ glob_pattern('x*')
 * SELECT n: lower(a)       SELECT lower(a) AS n
 * STRUCT(a INTEGER)        ROW(a INTEGER)
 * </pre>
 *
 * <p>One thread, one text.
 */
final class OperatorForms {
    private static final Set<String> REDUCING = Set.of("list_reduce", "array_reduce", "reduce");
    private static final Set<String> BEFORE_NAME = Set.of("select", "distinct");

    private final LexemeEditor text;

    OperatorForms(LexemeEditor text) {
        this.text = text;
    }

    /** Whether a word and its neighbours may be such a form. */
    static boolean concerns(String word, Lexeme before, Lexeme next) {
        boolean named = next.isSymbol(":") && (before.isSymbol(",") || isBeforeName(before));
        return named
                || REDUCING.contains(word) && next.isSymbol("(")
                || word.equals("struct") && next.isSymbol("(")
                || word.equals("glob") && (endsOperand(before) || before.isWord("not"));
    }

    void rewrite() {
        for (int i = text.size() - 1; i > 0; i--) {
            Lexeme lexeme = text.get(i);
            if (lexeme.kind() == Kind.OPERATOR && lexeme.text().equals("//")) {
                text.lexemes().set(i, new Lexeme(Kind.OPERATOR, "/", lexeme.start(), lexeme.end()));
            } else if (REDUCING.contains(lexeme.text()) && text.symbol(i + 1, "(")) {
                rejectReducing(i);
            } else if (text.word(i, "struct") && text.symbol(i + 1, "(")) {
                text.replace(i, i + 1, text.made(i, "row"));
            } else if (text.word(i, "glob") && lexeme.kind() == Kind.WORD) {
                glob(i);
            } else if (text.symbol(i, ":") && isNamed(i)) {
                named(i);
            }
        }
    }

    private static boolean endsOperand(Lexeme lexeme) {
        return lexeme.isName() || lexeme.kind() == Kind.STRING || LexemeEditor.closes(lexeme);
    }

    /** What a lambda of two values makes of a list depends on an order that only a function knows. */
    private void rejectReducing(int function) {
        int close = text.close(function + 1);
        for (int i = function; i < close; i++) {
            if (text.symbol(i, "->") || text.word(i, "lambda")) {
                throw MillraceException.notAvailableYet(text.get(function).text() + " with a lambda")
                        .withHint("list_sum, list_product, list_max, list_string_agg; or a function in Java")
                        .at(text.get(function).start() + 1);
            }
        }
    }

    private void glob(int word) {
        boolean not = text.word(word - 1, "not");
        int end = patternEnd(word + 1);
        int operand = not ? word - 2 : word - 1;
        if (end < 0 || !endsOperand(text.get(operand)) || text.beginsExpression(operand)) {
            return;
        }
        text.insert(end, ")");
        text.replace(not ? word - 1 : word, word + 1, text.made(word, (not ? "!~" : "~") + " glob_pattern("));
    }

    /** Behind a constant, a name with its qualifiers, a call or what is in parentheses; -1 for anything else. */
    private int patternEnd(int first) {
        int end = first;
        if (text.get(first).kind() == Kind.STRING || text.get(first).kind() == Kind.PARAMETER) {
            return first + 1;
        }
        while (text.get(end).isName() && text.symbol(end + 1, ".")) {
            end += 2;
        }
        int open = text.get(end).isName() ? end + 1 : end;
        if (text.symbol(open, "(")) {
            return text.close(open) < 0 ? -1 : text.close(open) + 1;
        }
        return text.get(end).isName() ? end + 1 : -1;
    }

    private static boolean isBeforeName(Lexeme lexeme) {
        return lexeme.kind() == Kind.WORD && BEFORE_NAME.contains(lexeme.text());
    }

    /** Whether a colon has a name before it that begins an item of a SELECT list. */
    private boolean isNamed(int colon) {
        if (!text.get(colon - 1).isName()) {
            return false;
        }
        if (isBeforeName(text.get(colon - 2))) {
            return true;
        }
        for (int i = colon - 2; i >= 0 && text.symbol(colon - 2, ","); i--) {
            if (LexemeEditor.closes(text.get(i)) && text.open(i) > 0) {
                i = text.open(i);
            } else if (LexemeEditor.opens(text.get(i))) {
                return false;
            } else if (text.get(i).kind() == Kind.WORD
                    && LexemeEditor.CLAUSES.contains(text.get(i).text())) {
                return text.word(i, "select");
            }
        }
        return false;
    }

    private void named(int colon) {
        int end = Math.min(text.next(colon + 1, LexemeEditor.CLAUSES), nextComma(colon + 1));
        List<Lexeme> made = text.made(colon, "as");
        made.add(text.get(colon - 1));
        text.insert(end, made);
        text.remove(colon - 1, colon + 1);
    }

    private int nextComma(int from) {
        List<Integer> commas = text.commas(from, text.next(from, LexemeEditor.CLAUSES));
        return commas.isEmpty() ? Integer.MAX_VALUE : commas.get(0);
    }
}
