package dev.millrace.edge.program;

import dev.millrace.edge.program.Term.Kind;
import dev.millrace.edge.program.Term.Operator;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Programs as texts and back. Reads each text once, from its beginning. */
final class ProgramText {
    private static final String VERSION = "1";
    private static final String WINDOWS = "2"; // the version of programs that have windows
    private static final int MOST_CHARACTERS = 8192;
    private static final int MOST_NODES = 256;
    private static final int MOST_DEPTH = 32;
    private static final int MOST_COLUMNS = 1000;

    private final String text;
    private int at;
    private int nodes;

    private ProgramText(String text) {
        this.text = text;
    }

    // ---- writing
    // ----------------------------------------------------------------------------------------------------

    static String write(RowProgram program) {
        StringBuilder to = new StringBuilder("(" + VERSION + " (");
        for (int i = 0; i < program.columns().size(); i++) {
            to.append(i == 0 ? "" : " ");
            quote(program.columns().get(i), to);
        }
        to.append(')');
        program.condition().ifPresent(condition -> write(condition, to.append(' ')));
        String text = to.append(')').toString();
        read(text); // nothing is written that nobody reads
        return text;
    }

    static String write(WindowProgram program) {
        StringBuilder to = new StringBuilder("(" + WINDOWS + " ");
        quote(program.id(), to);
        to.append(" (tumble ")
                .append(program.sizeMicros())
                .append(' ')
                .append(program.offsetMicros())
                .append(' ');
        quote(program.time(), to);
        to.append(") (keys");
        program.keys().forEach(key -> write(key, to.append(' ')));
        to.append(')');
        for (WindowProgram.Aggregate aggregate : program.aggregates()) {
            to.append(" (").append(word(aggregate.function())).append(' ');
            write(aggregate.argument(), to);
            where(aggregate.filter(), to);
            to.append(')');
        }
        where(program.condition(), to);
        String text = to.append(')').toString();
        readWindows(text); // nothing is written that nobody reads
        return text;
    }

    private static void where(Optional<Term> condition, StringBuilder to) {
        condition.ifPresent(term -> {
            write(term, to.append(" (where "));
            to.append(')');
        });
    }

    private static void write(Term term, StringBuilder to) {
        if (term instanceof Term.Column column) {
            to.append("(column ").append(word(column.kind())).append(' ');
            quote(column.name(), to);
        } else if (term instanceof Term.Truth truth) {
            to.append("(truth ").append(truth.value());
        } else if (term instanceof Term.Whole whole) {
            to.append("(whole ").append(whole.value());
        } else if (term instanceof Term.Number number) {
            to.append("(number ").append(number.value());
        } else if (term instanceof Term.Text constant) {
            to.append("(text ");
            quote(constant.value(), to);
        } else if (term instanceof Term.Call call) {
            to.append('(').append(word(call.operator()));
            call.arguments().forEach(argument -> write(argument, to.append(' ')));
        }
        to.append(')');
    }

    private static String word(Enum<?> name) {
        return name.name().toLowerCase(Locale.ROOT);
    }

    private static void quote(String value, StringBuilder to) {
        to.append('"');
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '"' || c == '\\') {
                to.append('\\').append(c);
            } else if (Character.isISOControl(c) || c == '\u2028' || c == '\u2029') {
                to.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
            } else {
                to.append(c);
            }
        }
        to.append('"');
    }

    // ---- reading
    // ----------------------------------------------------------------------------------------------------

    static RowProgram read(String text) {
        return bounded(text).program();
    }

    static WindowProgram readWindows(String text) {
        return bounded(text).windows();
    }

    private static ProgramText bounded(String text) {
        if (text.length() > MOST_CHARACTERS) {
            throw tooLarge("more than " + MOST_CHARACTERS + " characters");
        }
        return new ProgramText(text);
    }

    private void version(String expected) {
        expect('(');
        String version = word();
        if (!version.equals(expected)) {
            throw MillraceException.user(
                    SqlState.FEATURE_NOT_SUPPORTED,
                    "a program for devices of version \"" + version + "\", and not " + expected);
        }
    }

    private WindowProgram windows() {
        version(WINDOWS);
        String id = quoted();
        expect('(');
        named("tumble");
        long size = whole(word());
        long offset = whole(word());
        String time = quoted();
        expect(')');
        expect('(');
        named("keys");
        List<Term> keys = new ArrayList<>();
        while (peek() == '(') {
            keys.add(term(1));
        }
        expect(')');
        List<WindowProgram.Aggregate> aggregates = new ArrayList<>();
        Optional<Term> condition = Optional.empty();
        while (condition.isEmpty() && peek() == '(') {
            expect('(');
            String name = word();
            if (name.equals("where")) {
                condition = Optional.of(term(1));
            } else {
                aggregates.add(
                        new WindowProgram.Aggregate(named(WindowProgram.Function.class, name), term(1), where()));
            }
            expect(')');
        }
        expect(')');
        if (at != text.length()) {
            throw malformed();
        }
        return new WindowProgram(id, size, offset, time, keys, aggregates, condition);
    }

    private Optional<Term> where() {
        if (peek() != '(') {
            return Optional.empty();
        }
        expect('(');
        named("where");
        Term condition = term(1);
        expect(')');
        return Optional.of(condition);
    }

    private void named(String word) {
        if (!word().equals(word)) {
            throw malformed();
        }
    }

    private RowProgram program() {
        version(VERSION);
        expect('(');
        List<String> columns = new ArrayList<>();
        while (peek() == '"') {
            columns.add(quoted());
            if (columns.size() > MOST_COLUMNS) {
                throw tooLarge("more than " + MOST_COLUMNS + " columns");
            }
        }
        expect(')');
        Optional<Term> condition = peek() == '(' ? Optional.of(term(1)) : Optional.empty();
        expect(')');
        if (at != text.length()) {
            throw malformed();
        }
        return new RowProgram(columns, condition);
    }

    private Term term(int depth) {
        if (depth > MOST_DEPTH) {
            throw tooLarge("more than " + MOST_DEPTH + " lists in each other");
        }
        if (++nodes > MOST_NODES) {
            throw tooLarge("more than " + MOST_NODES + " nodes");
        }
        expect('(');
        String name = word();
        Term term = switch (name) {
            case "column" -> new Term.Column(named(Kind.class, word()), quoted());
            case "truth" -> new Term.Truth(truth(word()));
            case "whole" -> new Term.Whole(whole(word()));
            case "number" -> new Term.Number(number(word()));
            case "text" -> new Term.Text(quoted());
            default -> {
                List<Term> arguments = new ArrayList<>();
                while (peek() == '(') {
                    arguments.add(term(depth + 1));
                }
                yield new Term.Call(named(Operator.class, name), arguments);
            }
        };
        expect(')');
        return term;
    }

    private <E extends Enum<E>> E named(Class<E> of, String word) {
        for (E each : of.getEnumConstants()) {
            if (word(each).equals(word)) {
                return each;
            }
        }
        throw malformed();
    }

    private boolean truth(String word) {
        if (!word.equals("true") && !word.equals("false")) {
            throw malformed();
        }
        return word.equals("true");
    }

    private long whole(String word) {
        try {
            return Long.parseLong(word);
        } catch (NumberFormatException e) {
            throw malformed();
        }
    }

    private double number(String word) {
        try {
            return Double.parseDouble(word);
        } catch (NumberFormatException e) {
            throw malformed();
        }
    }

    private char peek() {
        while (at < text.length() && text.charAt(at) == ' ') {
            at++;
        }
        return at < text.length() ? text.charAt(at) : 0;
    }

    private void expect(char wanted) {
        if (peek() != wanted) {
            throw malformed();
        }
        at++;
    }

    /** Letters, digits and what numbers have besides. */
    private String word() {
        peek();
        int from = at;
        while (at < text.length() && " ()\"".indexOf(text.charAt(at)) < 0) {
            at++;
        }
        return text.substring(from, at);
    }

    private String quoted() {
        expect('"');
        StringBuilder value = new StringBuilder();
        while (at < text.length() && text.charAt(at) != '"') {
            char c = text.charAt(at++);
            value.append(c == '\\' ? escaped() : c);
        }
        if (at == text.length()) {
            throw malformed();
        }
        at++;
        return value.toString();
    }

    private char escaped() {
        char c = at < text.length() ? text.charAt(at++) : 0;
        if (c == '"' || c == '\\') {
            return c;
        }
        if (c != 'u' || at + 4 > text.length()) {
            throw malformed();
        }
        int code = 0;
        for (int i = 0; i < 4; i++) {
            int digit = Character.digit(text.charAt(at++), 16);
            if (digit < 0) {
                throw malformed();
            }
            code = code << 4 | digit;
        }
        return (char) code;
    }

    private MillraceException malformed() {
        int from = Math.max(0, Math.min(at, text.length()) - 10);
        return MillraceException.user(
                SqlState.INVALID_PARAMETER_VALUE,
                "no program for devices, at character " + (at + 1) + ": .."
                        + text.substring(from, Math.min(text.length(), from + 20))
                                .replaceAll("\\p{Cntrl}", "\ufffd"));
    }

    private static MillraceException tooLarge(String what) {
        return MillraceException.user(SqlState.PROGRAM_LIMIT_EXCEEDED, "a program for devices has " + what);
    }
}
