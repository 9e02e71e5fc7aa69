package dev.millrace.expressions.function.pattern;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.function.Pattern;
import dev.millrace.expressions.function.Text;
import dev.millrace.expressions.function.regex.Regex;
import dev.millrace.expressions.function.regex.RegexFlags;
import dev.millrace.expressions.function.regex.RegexMatcher;

/** SIMILAR TO: the SQL standard's mixture of LIKE and regular expressions, translated to the latter. */
public final class SimilarTo {
    private final Pattern pattern = new Pattern();
    private final Pattern escape = new Pattern();

    @SuppressWarnings("NullAway.Init") // by prepare, which generated code calls first
    private RegexMatcher matcher;

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
        matcher = new RegexMatcher(Regex.compile(translate(pattern.text(), escapeText), RegexFlags.NONE));
        pattern.remember();
    }

    /**
     * Two escaped double quotes divide the pattern into three: the first takes as little as it can, the second, a group, as
     * much.
     */
    private static String translate(String similar, String escape) {
        StringBuilder regex = new StringBuilder("^(?:");
        boolean inBrackets = false;
        int separators = 0;
        for (int at = 0; at < similar.length(); at++) {
            char c = similar.charAt(at);
            if (!escape.isEmpty() && similar.startsWith(escape, at)) {
                at += escape.length();
                if (at < similar.length() && similar.charAt(at) == '"' && !inBrackets) {
                    regex.append(separator(++separators));
                } else if (at < similar.length()) {
                    regex.append('\\').append(similar.charAt(at));
                }
            } else if (inBrackets) {
                regex.append(c == '\\' ? "\\\\" : String.valueOf(c));
                inBrackets = c != ']';
            } else {
                switch (c) {
                    case '%' -> regex.append(".*");
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

    private static String separator(int number) {
        if (number > 2) {
            throw MillraceException.user(
                    SqlState.INVALID_USE_OF_ESCAPE_CHARACTER,
                    "SQL regular expression may not contain more than two escape-double-quote separators");
        }
        return number == 1 ? "){1,1}?(" : "){1,1}(?:";
    }

    /**
     * {@code substring(text SIMILAR pattern ESCAPE escape)}: the pattern is in three parts that an escaped double quote
     * separates; gives what the middle one matches, NULL when not all matches.
     */
    public boolean substring(long address, int length, Text out) {
        matcher.reset(address, length);
        if (!matcher.find(0)) {
            return false;
        }
        int group = Math.min(1, matcher.groups());
        out.slice(address + matcher.start(group), matcher.end(group) - matcher.start(group));
        return true;
    }

    public boolean matches(long address, int length) {
        matcher.reset(address, length);
        return matcher.matches();
    }
}
