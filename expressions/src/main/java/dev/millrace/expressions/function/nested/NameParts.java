package dev.millrace.expressions.function.nested;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.function.Text;
import dev.millrace.memory.Memory;
import dev.millrace.nested.ImageWriter;
import dev.millrace.text.TextBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** {@code parse_ident}: a qualified name taken apart as the parser would, {@code a."B.c"} into {@code a} and {@code B.c}. */
public final class NameParts {
    private final String name;
    private int at;

    private NameParts(String name) {
        this.name = name;
    }

    public static void parse(long address, int length, Text out) {
        parse(address, length, true, out);
    }

    /** @param strict whether something behind the last part is an error */
    public static void parse(long address, int length, boolean strict, Text out) {
        byte[] bytes = new byte[length];
        Memory.copyOut(address, bytes, 0, length);
        List<String> parts = new NameParts(new String(bytes, StandardCharsets.UTF_8)).parts(strict);
        TextBuffer buffer = out.begin();
        ImageWriter.int32(buffer, parts.size());
        for (String part : parts) {
            byte[] text = part.getBytes(StandardCharsets.UTF_8);
            ImageWriter.some(buffer);
            ImageWriter.int32(buffer, text.length);
            buffer.append(text);
        }
        out.written();
    }

    private List<String> parts(boolean strict) {
        List<String> parts = new ArrayList<>();
        while (true) {
            skipBlanks();
            parts.add(at < name.length() && name.charAt(at) == '"' ? quoted() : plain(parts.isEmpty()));
            skipBlanks();
            if (at < name.length() && name.charAt(at) == '.') {
                at++;
            } else if (at < name.length() && strict) {
                throw invalid("");
            } else {
                return parts;
            }
        }
    }

    private void skipBlanks() {
        while (at < name.length() && Character.isWhitespace(name.charAt(at))) {
            at++;
        }
    }

    private String quoted() {
        StringBuilder part = new StringBuilder();
        for (at++; ; at++) {
            if (at >= name.length()) {
                throw invalid(": String has unclosed double quotes.");
            }
            if (name.charAt(at) != '"') {
                part.append(name.charAt(at));
            } else if (name.startsWith("\"\"", at)) {
                part.append('"');
                at++;
            } else {
                at++;
                break;
            }
        }
        if (part.isEmpty()) {
            throw invalid(": Quoted identifier must not be empty.");
        }
        return part.toString();
    }

    private String plain(boolean first) {
        int from = at;
        while (at < name.length() && isPartOfName(name.charAt(at), at > from)) {
            at++;
        }
        if (at == from) {
            boolean dot = at < name.length() && name.charAt(at) == '.';
            throw invalid(
                    dot
                            ? ": No valid identifier before \".\"."
                            : first || at < name.length() ? "" : ": No valid identifier after \".\".");
        }
        return name.substring(from, at).toLowerCase(Locale.ROOT);
    }

    private static boolean isPartOfName(char c, boolean behindFirst) {
        return c == '_'
                || c >= 0x80
                || c >= 'a' && c <= 'z'
                || c >= 'A' && c <= 'Z'
                || behindFirst && (c == '$' || c >= '0' && c <= '9');
    }

    private MillraceException invalid(String detail) {
        return MillraceException.user(
                SqlState.INVALID_PARAMETER_VALUE, "string is not a valid identifier: \"" + name + "\"" + detail);
    }
}
