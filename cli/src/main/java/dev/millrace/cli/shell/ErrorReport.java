package dev.millrace.cli.shell;

import dev.millrace.error.MillraceException;
import dev.millrace.sql.text.ErrorText;

/** Errors as psql shows them with {@code VERBOSITY verbose}'s code. */
final class ErrorReport {
    private ErrorReport() {}

    /**
     * <pre>
     * ERROR:  42703: column "tmp" does not exist
     * LINE 1: SELECT tmp FROM readings
     *                ^
     * HINT:  did you mean "temp"?
     * </pre>
     *
     * @param sql the text that the error's position counts in
     */
    static String render(MillraceException error, String sql) {
        StringBuilder text = new StringBuilder("ERROR:  ")
                .append(error.sqlState().code())
                .append(": ")
                .append(error.getMessage());
        error.position().ifPresent(position -> text.append('\n').append(ErrorText.caret(sql, position)));
        error.detail().ifPresent(detail -> text.append("\nDETAIL:  ").append(detail));
        error.hint().ifPresent(hint -> text.append("\nHINT:  ").append(hint));
        return text.toString();
    }
}
