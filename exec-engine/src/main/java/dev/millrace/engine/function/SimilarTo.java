package dev.millrace.engine.function;

import dev.millrace.engine.function.regex.Regex;
import dev.millrace.engine.function.regex.RegexFlags;
import dev.millrace.engine.function.regex.RegexMatcher;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;

/** SIMILAR TO: the SQL standard's mixture of LIKE and regular expressions, translated to the latter. */
public final class SimilarTo {
    private final Pattern pattern = new Pattern();
    private final Pattern escape = new Pattern();
    private RegexMatcher matcher;
    private RegexMatcher parts;

    public void prepare(long patternAddress, int patternLength) {
        if (pattern.changed(patternAddress, patternLength)) {
            compile("\\");
        }
    }

    public void prepare(long patternAddress, int patternLength, long escapeAddress, int escapeLength) {
        if (pattern.changed(patternAddress, patternLength) | escape.changed(escapeAddress, escapeLength)) {
            compile(escape.text());
        }
    }

    private void compile(String escapeText) {
        pattern.forget();
        if (escapeText.codePointCount(0, escapeText.length()) > 1) {
            throw MillraceException.user(SqlState.INVALID_ESCAPE_SEQUENCE, "invalid escape string")
                    .withHint("Escape string must be empty or one character.");
        }
        matcher = new RegexMatcher(Regex.compile(translate(pattern.text(), escapeText, false), RegexFlags.NONE));
        parts = new RegexMatcher(Regex.compile(translate(pattern.text(), escapeText, true), RegexFlags.NONE));
        pattern.remember();
    }

    /** @param inParts whether an escaped double quote separates parts, the first of which takes as little as it can */
    private static String translate(String similar, String escape, boolean inParts) {
        StringBuilder regex = new StringBuilder("^(?:");
        boolean inBrackets = false;
        int separators = 0;
        for (int at = 0; at < similar.length(); at++) {
            char c = similar.charAt(at);
            if (!escape.isEmpty() && similar.startsWith(escape, at)) {
                at += escape.length();
                if (inParts && at < similar.length() && similar.charAt(at) == '"') {
                    regex.append(++separators == 1 ? ")(" : ")(?:");
                } else if (at < similar.length()) {
                    regex.append('\\').append(similar.charAt(at));
                }
            } else if (inBrackets) {
                regex.append(c == '\\' ? "\\\\" : String.valueOf(c));
                inBrackets = c != ']';
            } else {
                switch (c) {
                    case '%' -> regex.append(inParts && separators == 0 ? ".*?" : ".*");
                    case '_' -> regex.append('.');
                    case '(' -> regex.append("(?:");
                    case '\\', '.', '^', '$' -> regex.append('\\').append(c);
                    default -> {
                        inBrackets = c == '[';
                        regex.append(c);
                    }
                }
            }
        }
        return regex.append(")$").toString();
    }

    /**
     * {@code substring(text SIMILAR pattern ESCAPE escape)}: the pattern is in three parts that an escaped double quote
     * separates; gives what the middle one matches, NULL when not all matches.
     */
    public boolean substring(long address, int length, Text out) {
        parts.reset(address, length);
        if (!parts.find(0)) {
            return false;
        }
        int group = Math.min(1, parts.groups());
        out.slice(address + parts.start(group), parts.end(group) - parts.start(group));
        return true;
    }

    public boolean matches(long address, int length) {
        matcher.reset(address, length);
        return matcher.find(0);
    }
}
