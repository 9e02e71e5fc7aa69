package dev.millrace.connectors.file;

import dev.millrace.connector.Options;
import java.util.Map;

/** Formats of dates and times as C's strptime and DuckDB have them, in PostgreSQL's words: {@code %d/%m/%Y} is {@code DD/MM/YYYY}. */
final class DateTemplates {
    private static final Map<Character, String> WORDS = Map.ofEntries(
            Map.entry('Y', "YYYY"),
            Map.entry('y', "YY"),
            Map.entry('m', "MM"),
            Map.entry('d', "DD"),
            Map.entry('b', "Mon"),
            Map.entry('B', "Month"),
            Map.entry('H', "HH24"),
            Map.entry('I', "HH12"),
            Map.entry('M', "MI"),
            Map.entry('S', "SS"),
            Map.entry('f', "US"),
            Map.entry('g', "MS"),
            Map.entry('p', "AM"));

    private DateTemplates() {}

    /** @param format as it is if it has no per cent sign */
    static String template(String option, String format) {
        if (format.indexOf('%') < 0) {
            return format;
        }
        StringBuilder template = new StringBuilder();
        for (int i = 0; i < format.length(); i++) {
            char c = format.charAt(i);
            if (c != '%') {
                template.append(c == 'T' ? "\"T\"" : String.valueOf(c));
                continue;
            }
            i += i + 1 < format.length() && format.charAt(i + 1) == '-'
                    ? 2
                    : 1; // %-d: digits may be fewer, which they always may
            String word = i < format.length() ? WORDS.get(format.charAt(i)) : null;
            if (word == null) {
                throw Options.invalid(
                        option, format, "of %Y %y %m %d %b %B %H %I %M %S %f %g %p, or such as DD/MM/YYYY HH24:MI:SS");
            }
            template.append(word);
        }
        return template.toString();
    }
}
