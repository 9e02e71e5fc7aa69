package dev.millrace.error;

import java.nio.charset.StandardCharsets;

/**
 * What a failure of the user's says, as bytes that can be kept where rows are, and back. What it was thrown from and its hint are left
 * out.
 */
public final class FailureText {
    /** The most that is kept of a message, characters: it may quote a value of any length. */
    public static final int MOST_CHARACTERS = 500;

    private FailureText() {}

    /** The same failure, with the end of a long message left out. */
    public static MillraceException shortened(MillraceException why) {
        String message = why.getMessage();
        return message.length() <= MOST_CHARACTERS
                ? why
                : MillraceException.user(why.sqlState(), message.substring(0, end(message)) + "..");
    }

    /** Not between the halves of a character. */
    private static int end(String message) {
        return Character.isHighSurrogate(message.charAt(MOST_CHARACTERS - 1)) ? MOST_CHARACTERS - 1 : MOST_CHARACTERS;
    }

    /** The name of its SQLSTATE, a line's end and its message. */
    public static byte[] bytes(MillraceException why) {
        return (why.sqlState().name() + "\n" + why.getMessage()).getBytes(StandardCharsets.UTF_8);
    }

    /** What {@link #bytes} made bytes of. */
    public static MillraceException of(byte[] bytes) {
        String text = new String(bytes, StandardCharsets.UTF_8);
        int end = text.indexOf('\n');
        return MillraceException.user(SqlState.valueOf(text.substring(0, end)), text.substring(end + 1));
    }
}
