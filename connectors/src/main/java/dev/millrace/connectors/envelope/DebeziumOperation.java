package dev.millrace.connectors.envelope;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;

/** What the field {@code op} of Debezium's envelope means. */
final class DebeziumOperation {
    /** What Debezium writes for a large value that did not change and that the other database did not log. */
    private static final String UNAVAILABLE = "__debezium_unavailable_value";

    private DebeziumOperation() {}

    /** Whether a text stands for a value that the row has and that was not told. */
    static boolean isUnavailable(String text) {
        return text.length() <= UNAVAILABLE.length() + 2
                && (text.equals(UNAVAILABLE) || text.equals('"' + UNAVAILABLE + '"'));
    }

    /**
     * What a record says.
     *
     * @param op empty if there is none
     * @throws MillraceException if it has not the row that its kind must have
     */
    static ChangeKind kind(String op, boolean hasBefore, boolean hasAfter) {
        switch (op) {
            case "c", "r", "u" -> {
                require(hasAfter, op, "after");
                return ChangeKind.PUT;
            }
            case "d" -> {
                require(hasBefore, op, "before");
                return ChangeKind.DELETE;
            }
            case "t" -> {
                return ChangeKind.TRUNCATE;
            }
            case "m" -> {
                return ChangeKind.MESSAGE;
            }
            case "" ->
                throw MillraceException.user(
                        SqlState.INVALID_TEXT_REPRESENTATION,
                        "a record of Debezium's envelope must have a text \"op\"");
            default ->
                throw MillraceException.user(
                        SqlState.INVALID_TEXT_REPRESENTATION,
                        "\"op\" of Debezium's envelope is one of c, r, u, d, t and m, and not \"" + op + "\"");
        }
    }

    private static void require(boolean isThere, String op, String row) {
        if (!isThere) {
            String hint = row.equals("before") ? "; PostgreSQL writes none for a table without a REPLICA IDENTITY" : "";
            throw MillraceException.user(
                    SqlState.NULL_VALUE_NOT_ALLOWED,
                    "a record of Debezium's envelope with op \"" + op + "\" must have a row \"" + row + "\"" + hint);
        }
    }
}
