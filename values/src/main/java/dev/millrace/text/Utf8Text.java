package dev.millrace.text;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.StandardCharsets;

/** Makes texts of bytes from outside: nothing is put in the place of what is no UTF-8, and NUL is in no text. */
public final class Utf8Text {
    private static final int SHOWN_BYTES = 4;

    private Utf8Text() {}

    /**
     * The text of all bytes that are left in the buffer.
     *
     * @throws MillraceException 22021, naming the first bytes that are wrong
     */
    public static String decode(ByteBuffer bytes) {
        byte[] all = new byte[bytes.remaining()];
        bytes.get(all);
        if (isPlain(all)) {
            return new String(all, StandardCharsets.ISO_8859_1);
        }
        CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder(); // which reports what is wrong, unlike a String
        ByteBuffer left = ByteBuffer.wrap(all);
        CharBuffer text;
        try {
            text = decoder.decode(left);
        } catch (CharacterCodingException e) {
            throw invalid(left, left.position());
        }
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) == 0) {
                throw nul();
            }
        }
        return text.toString();
    }

    /** Whether all are ASCII and none is NUL, as nearly all texts are: a megabyte is then read in a millisecond. */
    private static boolean isPlain(byte[] bytes) {
        for (byte b : bytes) {
            if (b <= 0) {
                return false;
            }
        }
        return true;
    }

    /** The same of an array. */
    public static String decode(byte[] bytes) {
        return decode(ByteBuffer.wrap(bytes));
    }

    /**
     * A text of ours that a client made: as it is, unless it has NUL or half a surrogate pair.
     *
     * @throws MillraceException 22021
     */
    public static String checked(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == 0) {
                throw nul();
            }
            if (Character.isSurrogate(c)) {
                if (Character.isLowSurrogate(c)
                        || i + 1 == text.length()
                        || !Character.isLowSurrogate(text.charAt(i + 1))) {
                    throw error("half a surrogate pair");
                }
                i++;
            }
        }
        return text;
    }

    private static MillraceException nul() {
        return error("0x00");
    }

    private static MillraceException invalid(ByteBuffer bytes, int from) {
        int to = Math.min(bytes.limit(), from + SHOWN_BYTES);
        int end = from + 1;
        while (end < to && (bytes.get(end) & 0xc0) == 0x80) {
            end++;
        }
        StringBuilder shown = new StringBuilder();
        for (int i = from; i < end; i++) {
            shown.append(i > from ? " " : "").append(String.format("0x%02x", bytes.get(i) & 0xff));
        }
        return error(shown.toString());
    }

    private static MillraceException error(String what) {
        return MillraceException.user(
                SqlState.CHARACTER_NOT_IN_REPERTOIRE, "invalid byte sequence for encoding \"UTF8\": " + what);
    }
}
