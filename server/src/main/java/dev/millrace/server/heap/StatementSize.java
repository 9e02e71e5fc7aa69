package dev.millrace.server.heap;

/** How much of the Java heap a statement's text asks for, before it is parsed. */
public final class StatementSize {
    /** Shorter texts are not looked at: as many as there are sessions take little. */
    static final int SHORT_CHARACTERS = 4 << 10;

    private static final long PLANNED_BYTES = 400; // of a part's syntax, algebra and plan, as long as it is planned
    private static final long KEPT_BYTES = 150; // of a part's syntax

    private StatementSize() {}

    /** What parsing and planning a text takes, bytes; 0 for a short one. */
    public static long planned(String sql) {
        return sql.length() < SHORT_CHARACTERS ? 0 : PLANNED_BYTES * parts(sql);
    }

    /** What is kept of the last statement that was prepared without a name, bytes; 0 for a short one. */
    public static long keptUnnamed(String sql) {
        return sql.length() < SHORT_CHARACTERS ? 0 : kept(sql);
    }

    /** What is kept of a statement that is prepared, bytes. */
    public static long kept(String sql) {
        return 1_000 + 2L * sql.length() + KEPT_BYTES * parts(sql);
    }

    /** Words, numbers, signs, and what is in quotes; those in comments do not count. About as many as the parser makes objects of. */
    static int parts(String sql) {
        int parts = 0;
        int length = sql.length();
        for (int at = 0; at < length; ) {
            char first = sql.charAt(at);
            if (first <= ' ') {
                at++;
            } else if (first == '-' && sql.startsWith("--", at)) {
                at = end(sql, "\n", at + 2);
            } else if (first == '/' && sql.startsWith("/*", at)) {
                at = end(sql, "*/", at + 2);
            } else {
                parts++;
                at = first == '\'' || first == '"' ? end(sql, String.valueOf(first), at + 1) : endOfWord(sql, at);
            }
        }
        return parts;
    }

    private static int end(String sql, String mark, int from) {
        int found = sql.indexOf(mark, from);
        return found < 0 ? sql.length() : found + mark.length();
    }

    /** A sign is one by itself. */
    private static int endOfWord(String sql, int from) {
        int at = from + 1;
        if (isOfWord(sql.charAt(from))) {
            while (at < sql.length() && isOfWord(sql.charAt(at))) {
                at++;
            }
        }
        return at;
    }

    private static boolean isOfWord(char c) {
        return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '.' || c >= 128;
    }
}
