package dev.millrace.sql.algebra;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.text.TimeStyle;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Reads the text of a constant array, {@code {1,NULL,"b c"}}, or row, {@code (1,,"b c")}. */
final class NestedConstant {
    private final DataType type;
    private final String text;
    private final TimeStyle style;
    private int at;

    /** @param style see {@link Literals} */
    NestedConstant(DataType type, String text, TimeStyle style) {
        this.type = type;
        this.text = text;
        this.style = style;
    }

    /** The elements or fields as values of a {@link dev.millrace.plan.expression.Expression.Literal}. */
    List<Object> values() {
        skipBlanks();
        List<Object> values = type.kind() == DataType.Kind.ARRAY ? array(type) : row();
        skipBlanks();
        if (at < text.length()) {
            throw malformed();
        }
        return values;
    }

    private List<Object> array(DataType array) {
        expect('{');
        List<Object> values = new ArrayList<>();
        skipBlanks();
        if (peek() == '}') {
            at++;
            return values;
        }
        while (true) {
            skipBlanks();
            values.add(array.element().kind() == DataType.Kind.ARRAY ? array(array.element()) : item(array.element()));
            skipBlanks();
            if (peek() == '}') {
                at++;
                return values;
            }
            expect(',');
        }
    }

    private Object item(DataType element) {
        StringBuilder item = new StringBuilder();
        boolean quoted = peek() == '"';
        int kept = 0;
        if (quoted) {
            at++;
            while (peek() != '"') {
                item.append(unescaped());
            }
            at++;
            kept = item.length();
        } else {
            while (peek() != ',' && peek() != '}') {
                if (peek() == '{' || peek() == '"') {
                    throw malformed();
                }
                boolean escaped = peek() == '\\';
                char c = unescaped();
                item.append(c);
                kept = escaped || !Character.isWhitespace(c) ? item.length() : kept;
            }
        }
        item.setLength(kept);
        if (!quoted && item.isEmpty()) {
            throw malformed();
        }
        return !quoted && item.toString().equalsIgnoreCase("null")
                ? Optional.empty()
                : Literals.parse(element, item.toString(), style).value();
    }

    private List<Object> row() {
        expect('(');
        List<Object> values = new ArrayList<>();
        for (int i = 0; i < type.fields().size(); i++) {
            if (i > 0) {
                expect(',');
            }
            values.add(field(type.fields().get(i).type()));
        }
        expect(')');
        return values;
    }

    /** What is in quotes may be a part of it, and a quote in quotes is two; nothing at all is NULL. */
    private Object field(DataType field) {
        StringBuilder item = new StringBuilder();
        boolean quoted = false;
        boolean inside = false;
        while (inside || peek() != ',' && peek() != ')') {
            if (peek() != '"') {
                item.append(unescaped());
                continue;
            }
            at++;
            if (inside && at < text.length() && peek() == '"') {
                item.append('"');
                at++;
            } else {
                inside = !inside;
                quoted = true;
            }
        }
        return !quoted && item.isEmpty()
                ? Optional.empty()
                : Literals.parse(field, item.toString(), style).value();
    }

    private char unescaped() {
        if (peek() == '\\') {
            at++;
        }
        char c = peek();
        at++;
        return c;
    }

    private char peek() {
        if (at >= text.length()) {
            throw malformed();
        }
        return text.charAt(at);
    }

    private void expect(char c) {
        if (peek() != c) {
            throw malformed();
        }
        at++;
    }

    private void skipBlanks() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
    }

    private MillraceException malformed() {
        boolean array = type.kind() == DataType.Kind.ARRAY;
        return MillraceException.user(
                        SqlState.INVALID_TEXT_REPRESENTATION,
                        "malformed " + (array ? "array" : "record") + " literal: \"" + text + "\"")
                .withHint(array ? "an array is written as {1,2,3}" : "a row of this type is written as " + example());
    }

    private String example() {
        return type.fields().stream().map(Field::name).collect(Collectors.joining(",", "(", ")"));
    }
}
