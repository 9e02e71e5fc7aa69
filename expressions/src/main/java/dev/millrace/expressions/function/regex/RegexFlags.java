package dev.millrace.expressions.function.regex;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;

/**
 * PostgreSQL's options of regular expressions.
 *
 * @param global all matches, not the first ({@code g}): the caller's business
 * @param expanded blanks and comments in the pattern do not count ({@code x})
 * @param newlineStopsAny a dot or negated set does not match a newline ({@code p}, {@code n})
 * @param lineAnchors {@code ^} and {@code $} match around newlines ({@code w}, {@code n})
 * @param literal the pattern is plain text ({@code q})
 */
public record RegexFlags(
        boolean ignoreCase,
        boolean global,
        boolean expanded,
        boolean newlineStopsAny,
        boolean lineAnchors,
        boolean literal) {
    public static final RegexFlags NONE = new RegexFlags(false, false, false, false, false, false);
    public static final RegexFlags IGNORE_CASE = new RegexFlags(true, false, false, false, false, false);

    /** These and those of the letters. */
    public RegexFlags with(String letters) {
        RegexFlags flags = this;
        for (char letter : letters.toCharArray()) {
            flags = flags.with(letter);
        }
        return flags;
    }

    /**
     * Refuses {@code g} for functions that look for one match, or for all anyway.
     *
     * @throws MillraceException 22023
     */
    public void requireNotGlobal(String function) {
        if (global) {
            MillraceException refused = MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE, function + "() does not support the \"global\" option");
            throw function.equals("regexp_match")
                    ? refused.withHint("Use the regexp_matches function instead.")
                    : refused;
        }
    }

    private RegexFlags with(char letter) {
        return switch (letter) {
            case 'i' -> new RegexFlags(true, global, expanded, newlineStopsAny, lineAnchors, literal);
            case 'c' -> new RegexFlags(false, global, expanded, newlineStopsAny, lineAnchors, literal);
            case 'g' -> new RegexFlags(ignoreCase, true, expanded, newlineStopsAny, lineAnchors, literal);
            case 'x' -> new RegexFlags(ignoreCase, global, true, newlineStopsAny, lineAnchors, literal);
            case 't' -> new RegexFlags(ignoreCase, global, false, newlineStopsAny, lineAnchors, literal);
            case 'n', 'm' -> new RegexFlags(ignoreCase, global, expanded, true, true, literal);
            case 'p' -> new RegexFlags(ignoreCase, global, expanded, true, false, literal);
            case 'w' -> new RegexFlags(ignoreCase, global, expanded, false, true, literal);
            case 's' -> new RegexFlags(ignoreCase, global, expanded, false, false, literal);
            case 'q' -> new RegexFlags(ignoreCase, global, expanded, newlineStopsAny, lineAnchors, true);
            default ->
                throw MillraceException.user(
                        SqlState.INVALID_PARAMETER_VALUE, "invalid regular expression option: \"" + letter + "\"");
        };
    }
}
