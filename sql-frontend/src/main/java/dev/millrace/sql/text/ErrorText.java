package dev.millrace.sql.text;

import dev.millrace.error.MillraceException;

/** An error as psql shows it. */
public final class ErrorText {
    private static final int WIDTH = 100;

    private ErrorText() {}

    /**
     * The message, its line of the text with a caret under the place, and the hint:
     *
     * <pre>
     * ERROR:  column "tmp" does not exist (42703)
     * LINE 2: WHERE tmp &gt; 3
     *               ^
     * HINT:  did you mean "temp"?
     * </pre>
     *
     * @param sql the whole text that the error's position counts in
     */
    public static String render(MillraceException error, String sql) {
        StringBuilder text = new StringBuilder("ERROR:  ")
                .append(error.getMessage())
                .append(" (")
                .append(error.sqlState().code())
                .append(')');
        error.position().ifPresent(position -> text.append('\n').append(caret(sql, position)));
        error.hint().ifPresent(hint -> text.append("\nHINT:  ").append(hint));
        return text.toString();
    }

    /** Two lines: the line of the text and the caret under the character at {@code position}, counted from 1. */
    public static String caret(String sql, int position) {
        int offset = Math.max(0, Math.min(position - 1, sql.length()));
        int lineStart = sql.lastIndexOf('\n', offset - 1) + 1;
        int lineEnd = sql.indexOf('\n', offset);
        if (lineEnd < 0) {
            lineEnd = sql.length();
        }
        long lineNumber =
                sql.substring(0, lineStart).chars().filter(c -> c == '\n').count() + 1;
        int from = offset - lineStart > WIDTH * 3 / 4 ? offset - WIDTH / 2 : lineStart;
        int to = Math.min(lineEnd, from + WIDTH);
        String prefix = "LINE " + lineNumber + ": " + (from > lineStart ? "..." : "");
        String shown = sql.substring(from, to).replace('\t', ' ').replace('\r', ' ');
        int indent = prefix.length() + sql.codePointCount(from, offset);
        return prefix + shown + (to < lineEnd ? "..." : "") + '\n' + " ".repeat(indent) + '^';
    }
}
