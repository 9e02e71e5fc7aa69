package dev.millrace.expressions.function.number;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A template of {@code to_char} for numbers, cut into its parts (PostgreSQL's manual, table 9.30).
 *
 * @param parts in order
 * @param integerDigits places for digits before the point
 * @param scale places for digits behind it
 * @param firstZero place of the first {@code 0} before the point, counted from the left, or {@code integerDigits}
 * @param lastZero places behind the point up to its last {@code 0}
 * @param shift digits that {@code V} shifts by
 * @param fill whether blanks fill up to the width; not with {@code FM}
 * @param explicitSign whether the sign has a place in the template; PL does not take the sign's
 */
record NumberTemplate(
        List<Part> parts,
        int integerDigits,
        int scale,
        int firstZero,
        int lastZero,
        int shift,
        boolean fill,
        boolean explicitSign) {

    /** The kinds of parts. */
    enum Kind {
        /** {@code 9} or {@code 0}. */
        DIGIT,
        /** {@code .} or {@code D}. */
        POINT,
        /** {@code ,} or {@code G}. */
        GROUP,
        /** {@code S}, as sign at its place. */
        SIGN,
        /** {@code MI}: a minus or a blank. */
        MINUS,
        /** {@code PL}: a plus or a blank. */
        PLUS,
        /** {@code SG}: a plus or a minus. */
        PLUS_OR_MINUS,
        /** {@code PR}: angle brackets around negative numbers. */
        BRACKETS,
        /** {@code RN}. */
        ROMAN,
        /** {@code TH} or {@code th}. */
        ORDINAL,
        /** {@code EEEE}. */
        EXPONENT,
        LITERAL
    }

    /** One part; {@code text} as it is in the template. */
    record Part(Kind kind, String text) {}

    NumberTemplate {
        parts = List.copyOf(parts);
    }

    boolean has(Kind kind) {
        return parts.stream().anyMatch(part -> part.kind() == kind);
    }

    static NumberTemplate parse(String template) {
        List<Part> parts = new ArrayList<>();
        int integerDigits = 0;
        int scale = 0;
        int firstZero = -1;
        int lastZero = 0;
        int shift = 0;
        boolean fill = true;
        boolean afterPoint = false;
        boolean afterShift = false;
        int at = 0;
        while (at < template.length()) {
            String upper =
                    template.substring(at, Math.min(template.length(), at + 4)).toUpperCase(Locale.ROOT);
            String word = word(upper);
            String text = template.substring(at, at + Math.max(1, word.length()));
            at += text.length();
            switch (word) {
                case "9", "0" -> {
                    if (afterShift) {
                        shift++;
                        integerDigits++;
                    } else if (afterPoint) {
                        scale++;
                        lastZero = word.equals("0") ? scale : lastZero;
                    } else {
                        firstZero = word.equals("0") && firstZero < 0 ? integerDigits : firstZero;
                        integerDigits++;
                    }
                    parts.add(new Part(Kind.DIGIT, text));
                }
                case ".", "D" -> {
                    if (afterPoint) {
                        throw MillraceException.user(SqlState.SYNTAX_ERROR, "multiple decimal points");
                    }
                    afterPoint = true;
                    parts.add(new Part(Kind.POINT, text));
                }
                case ",", "G" -> parts.add(new Part(Kind.GROUP, text));
                case "V" -> afterShift = true;
                case "FM" -> fill = false;
                case "S" -> parts.add(new Part(Kind.SIGN, text));
                case "MI" -> parts.add(new Part(Kind.MINUS, text));
                case "PL" -> parts.add(new Part(Kind.PLUS, text));
                case "SG" -> parts.add(new Part(Kind.PLUS_OR_MINUS, text));
                case "PR" -> parts.add(new Part(Kind.BRACKETS, text));
                case "RN" -> parts.add(new Part(Kind.ROMAN, text));
                case "TH" -> parts.add(new Part(Kind.ORDINAL, text));
                case "EEEE" -> parts.add(new Part(Kind.EXPONENT, text));
                case "L" -> parts.add(new Part(Kind.LITERAL, " "));
                case "\"" -> at = quoted(template, at, parts);
                case "\\\"" -> parts.add(new Part(Kind.LITERAL, "\""));
                default -> parts.add(new Part(Kind.LITERAL, text));
            }
        }
        boolean explicitSign = parts.stream().anyMatch(part -> switch (part.kind()) {
            case SIGN, MINUS, PLUS_OR_MINUS, BRACKETS -> true;
            default -> false;
        });
        return new NumberTemplate(
                parts,
                integerDigits,
                scale,
                firstZero < 0 ? integerDigits : firstZero,
                lastZero,
                shift,
                fill,
                explicitSign);
    }

    /** Text up to a quote, in which a backslash is before a character that stands for itself; returns the place behind it. */
    private static int quoted(String template, int start, List<Part> parts) {
        StringBuilder text = new StringBuilder();
        int at = start;
        while (at < template.length() && template.charAt(at) != '"') {
            at += template.charAt(at) == '\\' && at + 1 < template.length() ? 1 : 0;
            int codePoint = template.codePointAt(at);
            text.appendCodePoint(codePoint);
            at += Character.charCount(codePoint);
        }
        parts.add(new Part(Kind.LITERAL, text.toString()));
        return Math.min(template.length(), at + 1);
    }

    private static String word(String upper) {
        for (String word : List.of(
                "EEEE", "FM", "MI", "PL", "SG", "PR", "RN", "TH", "9", "0", ".", "D", ",", "G", "V", "S", "L", "\"",
                "\\\"")) {
            if (upper.startsWith(word)) {
                return word;
            }
        }
        return "";
    }
}
