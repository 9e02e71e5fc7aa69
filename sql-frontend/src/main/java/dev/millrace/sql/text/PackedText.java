package dev.millrace.sql.text;

import com.google.common.collect.Interner;
import com.google.common.collect.Interners;
import java.nio.charset.StandardCharsets;

/**
 * The text of a definition, kept in little room where many differ in constants and in one name: what they have in common is there once.
 *
 * <pre>
 *   CREATE CONTINUOUS QUERY q7 AS SELECT ts FROM readings WHERE device = 'x' AND temp > 80.5
 *
 *   form   CREATE CONTINUOUS QUERY ? AS SELECT ts FROM readings WHERE device = '?' AND temp > ?
 *   parts  q7, x, 80.5
 * </pre>
 *
 * Nothing of SQL decides what a part is: digits are, and whatever is between two quotes. Whatever the text is, it is given back letter by letter. Immutable; equal if the texts are.
 */
public final class PackedText {
    private static final Interner<String> FORMS = Interners.newWeakInterner(); // there as long as a text has them
    private static final char PART = '\0'; // in forms, and between parts
    private static final byte[] NONE = {};

    private final String form;
    private final byte[] parts;

    private PackedText(String form, byte[] parts) {
        this.form = form;
        this.parts = parts;
    }

    /** @param name of what it defines, whose first place in it is a part */
    public static PackedText of(String text, String name) {
        StringBuilder form = new StringBuilder(text.length());
        StringBuilder parts = new StringBuilder();
        int named = text.indexOf(name);
        boolean isQuoted = false;
        for (int at = 0; at < text.length(); ) {
            int end = at == named ? at + name.length() : isQuoted ? endOfQuoted(text, at) : endOfNumber(text, at);
            if (end > at) {
                parts.append(text, at, end).append(PART);
                form.append(PART);
                at = end;
            } else {
                isQuoted ^= text.charAt(at) == '\'';
                form.append(text.charAt(at++));
            }
        }
        PackedText packed =
                new PackedText(FORMS.intern(form.toString()), parts.toString().getBytes(StandardCharsets.UTF_8));
        return packed.toString().equals(text) ? packed : new PackedText(text, NONE);
    }

    private static int endOfQuoted(String text, int at) {
        int quote = text.indexOf('\'', at);
        return quote < 0 ? at : quote;
    }

    private static int endOfNumber(String text, int at) {
        int end = at;
        while (end < text.length() && (isDigit(text.charAt(end)) || end > at && text.charAt(end) == '.')) {
            end++;
        }
        return end;
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    /** The text. */
    @Override
    public String toString() {
        if (parts.length == 0) {
            return form;
        }
        String all = new String(parts, StandardCharsets.UTF_8);
        StringBuilder text = new StringBuilder(form.length() + all.length());
        int part = 0;
        for (int i = 0; i < form.length(); i++) {
            char c = form.charAt(i);
            if (c == PART) {
                int end = all.indexOf(PART, part);
                text.append(all, part, end < 0 ? all.length() : end);
                part = end + 1;
            } else {
                text.append(c);
            }
        }
        return text.toString();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof PackedText text && text.toString().equals(toString());
    }

    @Override
    public int hashCode() {
        return toString().hashCode();
    }
}
