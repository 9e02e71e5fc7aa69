package dev.millrace.expressions.function;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.Utf8;
import java.text.Normalizer;
import java.util.Locale;
import java.util.Set;

/** Texts as SQL writes them, padded, or made of escapes. */
public final class QuotedTexts {
    /** Words that a name must be quoted to be: PostgreSQL's reserved ones and those that are names of functions or types. */
    private static final Set<String> KEYWORDS = Set.of("""
            all analyse analyze and any array as asc asymmetric authorization between bigint binary bit boolean both case cast
            char character check coalesce collate collation column concurrently constraint create cross current_catalog
            current_date current_role current_schema current_time current_timestamp current_user dec decimal default
            deferrable desc distinct do else end except exists extract false fetch float for foreign freeze from full grant
            greatest group grouping having ilike in initially inner inout int integer intersect interval into is isnull join
            lateral leading least left like limit localtime localtimestamp national natural nchar none normalize not notnull
            null nullif numeric offset on only or order out outer overlaps overlay placing position precision primary real
            references returning right row select session_user setof similar smallint some substring symmetric table
            tablesample then time timestamp to trailing treat trim true union unique user using values varchar variadic
            verbose when where window with xmlattributes xmlconcat xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi
            xmlroot xmlserialize xmltable""".split("\\s+"));

    private QuotedTexts() {}

    /** As a name: in quotes where it needs them. */
    public static void identifier(long address, int length, Text out) {
        String name = Text.read(address, length);
        boolean plain = name.matches("[a-z_][a-z0-9_]*") && !KEYWORDS.contains(name);
        out.write(plain ? name : "\"" + name.replace("\"", "\"\"") + "\"");
    }

    /** What {@code format('%I', NULL)} is: an error. */
    public static void nullName(boolean ignored, Text out) {
        throw MillraceException.user(
                SqlState.NULL_VALUE_NOT_ALLOWED, "null values cannot be formatted as an SQL identifier");
    }

    /** As a constant: in quotes, with an E before them where it has backslashes. */
    public static void literal(long address, int length, Text out) {
        String text = Text.read(address, length).replace("'", "''");
        boolean escapes = text.indexOf('\\') >= 0;
        out.write((escapes ? "E'" : "'") + (escapes ? text.replace("\\", "\\\\") : text) + "'");
    }

    /** With blanks before it up to a width, behind it for a negative one. */
    public static void pad(long address, int length, int width, Text out) {
        long missing = Math.abs((long) width) - Utf8.characters(address, length);
        if (missing <= 0) {
            out.slice(address, length);
            return;
        }
        Texts.checkLength(missing + length);
        TextBuffer buffer = out.begin();
        if (width < 0) {
            buffer.append(address, length);
        }
        for (long i = 0; i < missing; i++) {
            buffer.append((byte) ' ');
        }
        if (width > 0) {
            buffer.append(address, length);
        }
        out.written();
    }

    /** {@code \0061}, {@code \+000061}, {@code \u0061}, {@code \U00000061} as the characters of those numbers. */
    public static void unescape(long address, int length, Text out) {
        String text = Text.read(address, length);
        StringBuilder result = new StringBuilder();
        for (int at = 0; at < text.length(); at++) {
            char c = text.charAt(at);
            if (c != '\\') {
                result.append(c);
            } else if (text.startsWith("\\\\", at)) {
                result.append('\\');
                at++;
            } else {
                int skipped =
                        text.startsWith("\\+", at) || text.startsWith("\\u", at) || text.startsWith("\\U", at) ? 2 : 1;
                int digits = text.startsWith("\\+", at) ? 6 : text.startsWith("\\U", at) ? 8 : 4;
                int from = at + skipped;
                if (from + digits > text.length()
                        || !text.substring(from, from + digits).matches("[0-9a-fA-F]+")) {
                    throw MillraceException.user(SqlState.SYNTAX_ERROR, "invalid Unicode escape")
                            .withHint("Unicode escapes must be \\XXXX, \\+XXXXXX, \\uXXXX, or \\UXXXXXXXX.");
                }
                result.appendCodePoint(codePoint(text.substring(from, from + digits)));
                at = from + digits - 1;
            }
        }
        if (result.codePoints().anyMatch(code -> Character.getType(code) == Character.SURROGATE)) {
            throw MillraceException.user(SqlState.SYNTAX_ERROR, "invalid Unicode surrogate pair");
        }
        out.write(result.toString());
    }

    private static int codePoint(String digits) {
        long value = Long.parseLong(digits, 16);
        if (value > Character.MAX_CODE_POINT) {
            throw MillraceException.user(SqlState.SYNTAX_ERROR, "invalid Unicode code point: " + digits);
        }
        return (int) value;
    }

    public static void normalize(long address, int length, Text out) {
        out.write(Normalizer.normalize(Text.read(address, length), Normalizer.Form.NFC));
    }

    /** To NFC, NFD, NFKC or NFKD. */
    public static void normalize(long address, int length, long form, int formLength, Text out) {
        String name = Text.read(form, formLength).toUpperCase(Locale.ROOT);
        if (!Set.of("NFC", "NFD", "NFKC", "NFKD").contains(name)) {
            throw MillraceException.user(SqlState.INVALID_PARAMETER_VALUE, "invalid normalization form: " + name);
        }
        out.write(Normalizer.normalize(Text.read(address, length), Normalizer.Form.valueOf(name)));
    }
}
