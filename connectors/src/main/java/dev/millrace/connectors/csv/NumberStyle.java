package dev.millrace.connectors.csv;

import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * How numbers are written that are not written as in SQL.
 *
 * @param decimalComma whether a comma stands for the point
 * @param thousands between groups of three digits; empty for none
 */
record NumberStyle(boolean decimalComma, String thousands) {
    static final NumberStyle PLAIN = new NumberStyle(false, "");

    static final NumberStyle ENGLISH = new NumberStyle(false, ",");

    /** Those that are looked for; the first of several that read as much is taken. */
    static final List<NumberStyle> OTHERS = List.of(
            new NumberStyle(true, ""),
            new NumberStyle(true, "."),
            ENGLISH,
            new NumberStyle(true, "\u00a0"),
            new NumberStyle(false, "\u00a0"),
            new NumberStyle(false, "'"),
            new NumberStyle(true, " "));

    private static final Pattern PLAIN_FORM = Pattern.compile("[-+]?(\\d+(\\.\\d*)?|\\.\\d+)([eE][-+]?\\d{1,3})?");

    /** The number as SQL has it, where the text is one: groups are of three digits, but for the first. */
    Optional<String> plain(String text) {
        String number = text;
        if (!thousands.isEmpty() && text.contains(thousands)) {
            String whole = decimalComma ? "(,\\d+)?" : "(\\.\\d+)?";
            if (!text.matches("[-+]?\\d{1,3}(" + Pattern.quote(thousands) + "\\d{3})+" + whole)) {
                return Optional.empty();
            }
            number = text.replace(thousands, "");
        }
        if (decimalComma) {
            number = number.replace(',', '.');
        }
        return PLAIN_FORM.matcher(number).matches() ? Optional.of(number) : Optional.empty();
    }
}
