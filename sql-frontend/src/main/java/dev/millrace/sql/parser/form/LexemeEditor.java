package dev.millrace.sql.parser.form;

import dev.millrace.interrupt.Interrupt;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexeme.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * The lexemes of a text while forms of other dialects are put into ours. What is put in stands at the place in the text of
 * what it is put before, so that messages point there. Places past the end are the end. One thread, one text.
 */
final class LexemeEditor {
    /** Words that begin a query. */
    static final Set<String> QUERIES = Set.of("select", "values", "with", "table", "from");

    /** Words that end a part of a SELECT. */
    static final Set<String> CLAUSES = Set.of(
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
            "for",
            "select");

    private static final int LOOK_PLACES = 1024;

    private final List<Lexeme> lexemes;
    private final Interrupt interrupt = Interrupt.current();
    private int looks;

    LexemeEditor(List<Lexeme> lexemes) {
        this.lexemes = new ArrayList<>(lexemes);
    }

    List<Lexeme> lexemes() {
        return lexemes;
    }

    int size() {
        return lexemes.size();
    }

    Lexeme get(int place) {
        if (++looks % LOOK_PLACES == 0) {
            interrupt.check();
        }
        return place < 0 || place >= lexemes.size() ? lexemes.get(lexemes.size() - 1) : lexemes.get(place);
    }

    boolean word(int place, String word) {
        return get(place).isWord(word);
    }

    boolean symbol(int place, String symbol) {
        return get(place).isSymbol(symbol);
    }

    boolean isEnd(int place) {
        return get(place).kind() == Kind.END || symbol(place, ";");
    }

    static boolean opens(Lexeme lexeme) {
        return lexeme.isSymbol("(") || lexeme.isSymbol("[") || lexeme.isSymbol("{");
    }

    static boolean closes(Lexeme lexeme) {
        return lexeme.isSymbol(")") || lexeme.isSymbol("]") || lexeme.isSymbol("}");
    }

    /** The place of the bracket that closes the one at a place, or -1. */
    int close(int open) {
        Interrupt.checkCurrent(); // asked of each bracket of a deep text
        int depth = 0;
        for (int i = open; i < lexemes.size() && !isEnd(i); i++) {
            depth += opens(get(i)) ? 1 : closes(get(i)) ? -1 : 0;
            if (depth == 0) {
                return i;
            }
        }
        return -1;
    }

    /** The place of the bracket that the one at a place closes, or -1. */
    int open(int close) {
        Interrupt.checkCurrent();
        int depth = 0;
        for (int i = close; i >= 0; i--) {
            depth += closes(get(i)) ? 1 : opens(get(i)) ? -1 : 0;
            if (depth == 0) {
                return i;
            }
        }
        return -1;
    }

    /** Whether an item of FROM stands at a place: behind FROM, JOIN or LATERAL, or a comma among such items. */
    boolean isInFrom(int place) {
        if (word(place - 1, "join") || word(place - 1, "lateral")) {
            return true;
        }
        for (int i = place - 1; i >= 0 && (i == place - 1 || symbol(place - 1, ",")); i--) {
            if (closes(get(i))) {
                i = open(i);
            } else if (opens(get(i)) || symbol(i, ";")) {
                return false;
            } else if (get(i).kind() == Kind.WORD && CLAUSES.contains(get(i).text())) {
                return word(i, "from") && !word(i - 1, "distinct");
            }
        }
        return false;
    }

    /** The first place from {@code from} on, outside brackets opened there, where one of the words stands or the part ends. */
    int next(int from, Set<String> words) {
        int i = from;
        while (!isEnd(i) && !closes(get(i))) {
            if (get(i).kind() == Kind.WORD && words.contains(get(i).text())) {
                return i;
            }
            i = opens(get(i)) && close(i) > 0 ? close(i) + 1 : i + 1;
        }
        return i;
    }

    /** The places of the commas between two places, outside brackets opened there. */
    List<Integer> commas(int from, int to) {
        List<Integer> commas = new ArrayList<>();
        for (int i = from; i < to; i++) {
            if (symbol(i, ",")) {
                commas.add(i);
            } else if (opens(get(i)) && close(i) > 0) {
                i = close(i);
            }
        }
        return commas;
    }

    /** What stands between commas from one place up to another. */
    List<List<Lexeme>> items(int from, int to) {
        List<List<Lexeme>> items = new ArrayList<>();
        int start = from;
        for (int comma : commas(from, to)) {
            items.add(copy(start, comma));
            start = comma + 1;
        }
        if (start < to) {
            items.add(copy(start, to));
        }
        return items;
    }

    List<Lexeme> copy(int from, int to) {
        return new ArrayList<>(lexemes.subList(from, to));
    }

    /** Takes lexemes out; the one before them then reaches as far as they did. */
    void remove(int from, int to) {
        int end = take(from, to);
        if (from > 0) {
            reach(from - 1, end);
        }
    }

    /** Returns where in the text what was taken ended. */
    private int take(int from, int to) {
        List<Lexeme> taken = lexemes.subList(from, to);
        int end = taken.stream().mapToInt(Lexeme::end).max().orElse(0);
        taken.clear();
        return end;
    }

    /** Has a lexeme end there, if it ends before: what a statement's text is cut out by. */
    private void reach(int place, int end) {
        Lexeme lexeme = lexemes.get(place);
        lexemes.set(place, new Lexeme(lexeme.kind(), lexeme.text(), lexeme.start(), Math.max(lexeme.end(), end)));
    }

    void insert(int place, List<Lexeme> inserted) {
        lexemes.addAll(place, inserted);
    }

    /** Puts the lexemes that a text has before a place. */
    void insert(int place, String text) {
        lexemes.addAll(place, made(place, text));
    }

    /** Puts others in the place of lexemes; the last of them reaches as far in the text as those did. */
    void replace(int from, int to, List<Lexeme> by) {
        int end = take(from, to);
        insert(from, by);
        reach(from + by.size() - 1, end);
    }

    /** The lexemes of a text, as if they stood at a place. */
    List<Lexeme> made(int place, String text) {
        int at = get(place).start();
        List<Lexeme> made = new ArrayList<>();
        for (Lexeme lexeme : dev.millrace.sql.text.Lexer.tokens(text)) {
            if (lexeme.kind() != Kind.END) {
                made.add(new Lexeme(lexeme.kind(), lexeme.text(), at, at));
            }
        }
        return made;
    }

    /** A name in quotes as a text has it. */
    static String quoted(String name) {
        return "\"" + name.replace("\"", "\"\"") + "\"";
    }

    /** A constant as a text has it. */
    static String constant(String text) {
        return "'" + text.replace("'", "''") + "'";
    }

    /** Whether an expression can begin behind what is at a place. */
    boolean beginsExpression(int place) {
        Lexeme before = get(place);
        return place < 0
                || before.kind() == Kind.OPERATOR
                || before.kind() == Kind.PUNCTUATION && !closes(before) && !before.isSymbol(".")
                || before.kind() == Kind.WORD && BEFORE_EXPRESSIONS.contains(before.text());
    }

    private static final Set<String> BEFORE_EXPRESSIONS = Set.of(
            "select",
            "distinct",
            "in",
            "then",
            "else",
            "when",
            "case",
            "and",
            "or",
            "not",
            "by",
            "where",
            "on",
            "having",
            "all",
            "like",
            "between",
            "any",
            "default",
            "returning",
            "is",
            "using",
            "limit",
            "offset");
}
