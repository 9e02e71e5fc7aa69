package dev.millrace.sql.algebra;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads the text of an array constant, {@code {1,NULL,"b c"}}. */
final class ArrayConstant {
    private final DataType type;
    private final String text;
    private int at;

    ArrayConstant(DataType type, String text) {
        this.type = type;
        this.text = text;
    }

    /** The elements as values of a {@link dev.millrace.plan.expression.Expression.Literal}. */
    List<Object> elements() {
        skipBlanks();
        List<Object> elements = array(type);
        skipBlanks();
        if (at < text.length()) {
            throw malformed();
        }
        return elements;
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
                : Literals.parse(element, item.toString()).value();
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
        return MillraceException.user(SqlState.INVALID_TEXT_REPRESENTATION, "malformed array literal: \"" + text + "\"")
                .withHint("an array is written as {1,2,3}");
    }
}
