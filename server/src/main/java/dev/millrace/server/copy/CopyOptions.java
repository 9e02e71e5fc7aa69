package dev.millrace.server.copy;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.error.Suggestion;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What follows WITH in a COPY.
 *
 * @param header whether the first line has the columns' names; only CSV and text have lines
 * @param delimiter between fields
 * @param nullText what stands for NULL, unquoted
 * @param quote around fields, of CSV
 * @param escape before a quote in quotes, of CSV
 */
public record CopyOptions(Form form, boolean header, byte delimiter, String nullText, byte quote, byte escape) {
    /** How rows are written. */
    public enum Form {
        TEXT,
        CSV,
        BINARY
    }

    /** An option of COPY FROM that has no meaning here: there are no hint bits of rows that could be set at once. */
    public static final String FREEZE = "freeze";

    private static final List<String> NAMES =
            List.of("format", "header", "delimiter", "null", "quote", "escape", "encoding", FREEZE);

    /** @throws MillraceException for an option or a value that does not exist (22023) */
    public static CopyOptions of(Map<String, String> options) {
        for (String name : options.keySet()) {
            if (!NAMES.contains(name)) {
                MillraceException unknown =
                        MillraceException.user(SqlState.SYNTAX_ERROR, "option \"" + name + "\" of COPY does not exist");
                throw unknown.withHint(Suggestion.nearest(name, NAMES)
                        .map(nearest -> "did you mean \"" + nearest + "\"?")
                        .orElse("options of COPY are: " + String.join(", ", NAMES)));
            }
        }
        Form form = switch (options.getOrDefault("format", "text").toLowerCase(Locale.ROOT)) {
            case "text" -> Form.TEXT;
            case "csv" -> Form.CSV;
            case "binary" -> Form.BINARY;
            default -> throw invalid("COPY format \"" + options.get("format") + "\" is not one of text, csv, binary");
        };
        String encoding = options.getOrDefault("encoding", "utf8").toLowerCase(Locale.ROOT);
        if (!encoding.equals("utf8") && !encoding.equals("utf-8")) {
            throw invalid("COPY encoding must be UTF8, not \"" + options.get("encoding") + "\"");
        }
        isOn(options, FREEZE);
        byte quote = one(options, "quote", "\"");
        return new CopyOptions(
                form,
                isOn(options, "header"),
                one(options, "delimiter", form == Form.CSV ? "," : "\t"),
                options.getOrDefault("null", form == Form.CSV ? "" : "\\N"),
                quote,
                options.containsKey("escape") ? one(options, "escape", "") : quote);
    }

    private static boolean isOn(Map<String, String> options, String name) {
        String value = options.getOrDefault(name, "false");
        return switch (value.toLowerCase(Locale.ROOT)) {
            case "", "true", "on", "1", "match" -> true;
            case "false", "off", "0" -> false;
            default -> throw invalid("COPY " + name + " must be true or false, not \"" + value + "\"");
        };
    }

    private static byte one(Map<String, String> options, String name, String otherwise) {
        String value = options.getOrDefault(name, otherwise);
        if (value.length() != 1 || value.charAt(0) > 127 || value.charAt(0) == '\n' || value.charAt(0) == '\r') {
            throw invalid("COPY " + name + " must be a single one-byte character, not \"" + value + "\"");
        }
        return (byte) value.charAt(0);
    }

    private static MillraceException invalid(String message) {
        return MillraceException.user(SqlState.INVALID_PARAMETER_VALUE, message);
    }
}
