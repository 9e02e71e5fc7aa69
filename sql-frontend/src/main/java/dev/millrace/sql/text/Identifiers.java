package dev.millrace.sql.text;

import java.util.List;

/** Names in SQL text. */
public final class Identifiers {
    private Identifiers() {}

    /** The name as it must be written: in double quotes unless it is a plain lower-case name that is no reserved word. */
    public static String quote(String name) {
        boolean plain = !name.isEmpty() && !(name.charAt(0) >= '0' && name.charAt(0) <= '9');
        for (int i = 0; plain && i < name.length(); i++) {
            char c = name.charAt(i);
            plain = c >= 'a' && c <= 'z' || c == '_' || c >= '0' && c <= '9';
        }
        return plain && !Keywords.isReserved(name) ? name : '"' + name.replace("\"", "\"\"") + '"';
    }

    /** A qualified name, each part quoted where it must be. */
    public static String quote(List<String> parts) {
        return String.join(".", parts.stream().map(Identifiers::quote).toList());
    }

    /** A text as a string literal. */
    public static String quoteText(String text) {
        return "'" + text.replace("'", "''") + "'";
    }
}
