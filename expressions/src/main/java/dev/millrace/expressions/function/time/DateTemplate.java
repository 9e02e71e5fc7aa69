package dev.millrace.expressions.function.time;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A template of {@code to_char}, {@code to_timestamp} and {@code to_date}, cut into its parts (PostgreSQL's manual,
 * section 9.8). Names of fields count in any case; that of a word decides the case of what is written.
 */
final class DateTemplate {
    private static final int WORD = 1;

    /** What stands for a part of a time; longer names first where one begins another. */
    enum Field {
        YEAR_WITH_COMMA("Y,YYY"),
        IYYY("IYYY"),
        IYY("IYY"),
        IY("IY"),
        IDDD("IDDD"),
        ID("ID"),
        IW("IW"),
        I("I"),
        YYYY("YYYY"),
        YYY("YYY"),
        YY("YY"),
        Y("Y"),
        MONTH_NAME("MONTH", WORD),
        MONTH_SHORT("MON", WORD),
        MS("MS"),
        MM("MM"),
        MI("MI"),
        HH24("HH24"),
        HH12("HH12"),
        HH("HH"),
        SECOND_OF_DAY_5("SSSSS"),
        SECOND_OF_DAY("SSSS"),
        SS("SS"),
        US("US"),
        FF1("FF1"),
        FF2("FF2"),
        FF3("FF3"),
        FF4("FF4"),
        FF5("FF5"),
        FF6("FF6"),
        DAY_NAME("DAY", WORD),
        DDD("DDD"),
        DD("DD"),
        DAY_SHORT("DY", WORD),
        D("D"),
        WW("WW"),
        W("W"),
        CC("CC"),
        J("J"),
        Q("Q"),
        ROMAN("RM", WORD),
        TZH("TZH"),
        TZM("TZM"),
        TZ("TZ", WORD),
        OF("OF"),
        MERIDIEM_DOTS("A.M.", WORD),
        MERIDIEM_DOTS_PM("P.M.", WORD),
        MERIDIEM("AM", WORD),
        MERIDIEM_PM("PM", WORD),
        ERA_DOTS("B.C.", WORD),
        ERA_DOTS_AD("A.D.", WORD),
        ERA("BC", WORD),
        ERA_AD("AD", WORD),
        /** Not a field: text as it is. */
        LITERAL("");

        private final String name;
        private final boolean isWord;

        Field(String name) {
            this(name, 0);
        }

        Field(String name, int kind) {
            this.name = name;
            this.isWord = kind == WORD;
        }
    }

    /** The case of a word. */
    enum Letters {
        UPPER,
        CAPITAL,
        LOWER
    }

    /**
     * One part.
     *
     * @param fill whether it is filled up to its width with zeros or blanks; not with {@code FM} before it
     * @param ordinal {@code th} or {@code TH} behind the number, or nothing
     * @param text of a literal
     * @param quoted whether a literal was in quotes: then it is text, else separators
     * @param exact whether it is behind {@code FX}: a text that is read has no blanks and separators more or less
     */
    record Part(
            Field field, boolean fill, Letters letters, String ordinal, String text, boolean quoted, boolean exact) {
        /** As templates have it. */
        String name() {
            return field.name;
        }

        boolean isNumber() {
            return field != Field.LITERAL && !field.isWord;
        }

        /** Whether it stands for any character between values, and not for text. */
        boolean isSeparator() {
            return field == Field.LITERAL && !quoted && !Character.isLetterOrDigit(text.charAt(0));
        }
    }

    private DateTemplate() {}

    static List<Part> parse(String template) {
        List<Part> parts = new ArrayList<>();
        int at = 0;
        boolean exact = false;
        while (at < template.length()) {
            if (isModifier(template, at, "FX")) {
                exact = true;
                at += 2;
                continue;
            }
            boolean fill = true;
            while (isModifier(template, at, "FM") || isModifier(template, at, "TM")) {
                fill &= !isModifier(template, at, "FM");
                at += 2;
            }
            if (at == template.length()) {
                break;
            }
            Field field = fieldAt(template, at);
            if (field == Field.LITERAL) {
                at = literal(template, at, exact, parts);
                continue;
            }
            String name = template.substring(at, at + field.name.length());
            at += field.name.length();
            String ordinal = template.startsWith("TH", at) || template.startsWith("th", at)
                    ? template.substring(at, at + 2)
                    : "";
            at += ordinal.length();
            parts.add(new Part(field, fill, letters(name), ordinal, "", false, exact));
        }
        return parts;
    }

    /** In large letters or in small ones: {@code tM} is a letter and the beginning of a field. */
    private static boolean isModifier(String template, int at, String name) {
        return template.startsWith(name, at) || template.startsWith(name.toLowerCase(Locale.ROOT), at);
    }

    private static Field fieldAt(String template, int at) {
        for (Field field : Field.values()) {
            if (template.regionMatches(true, at, field.name, 0, field.name.length())) {
                return field;
            }
        }
        throw new AssertionError("the literal matches everywhere");
    }

    private static Letters letters(String name) {
        if (Character.isLowerCase(name.charAt(0))) {
            return Letters.LOWER;
        }
        return name.length() > 1 && name.equals(name.toUpperCase(Locale.ROOT)) ? Letters.UPPER : Letters.CAPITAL;
    }

    private static int literal(String template, int start, boolean exact, List<Part> parts) {
        int at = start;
        StringBuilder text = new StringBuilder();
        boolean quoted = template.charAt(at) == '"';
        if (quoted) {
            at++;
            while (at < template.length() && template.charAt(at) != '"') {
                if (template.charAt(at) == '\\' && at + 1 < template.length()) {
                    at++;
                }
                text.append(template.charAt(at++));
            }
            at++;
        } else {
            if (template.startsWith("\\\"", at)) {
                at++;
            }
            int codePoint = template.codePointAt(at);
            text.appendCodePoint(codePoint);
            at += Character.charCount(codePoint);
        }
        parts.add(new Part(Field.LITERAL, true, Letters.UPPER, "", text.toString(), quoted, exact));
        return Math.min(at, template.length());
    }
}
