package dev.millrace.connectors.csv;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How a date, perhaps with a time, is written, as patterns of {@link dev.millrace.text.TimestampFormat}.
 *
 * @param pattern for an order of day and month
 * @param isOrdered whether the order cannot be another: the year comes first, or the month has a name
 */
record DateShape(
        Optional<String> separator,
        String dayFirst,
        String monthFirst,
        boolean isOrdered,
        boolean hasTime,
        boolean hasZone) {
    private static final Pattern FORM = Pattern.compile("(?:"
            + "(?<a>\\d{1,2})(?<s>[./-])\\d{1,2}\\k<s>(?<year>\\d{4}|\\d{2})"
            + "|\\d{4}(?<t>[./-])\\d{1,2}\\k<t>\\d{1,2}"
            + "|(?<b>\\d{1,2})(?<u>[ ./-]?)(?<name>[A-Za-z]{3,9})\\k<u>(?<named>\\d{4}|\\d{2})"
            + ")(?:(?<gap>T| {1,2}|, ?)(?<time>\\d{1,2}(?<c>[:.])\\d{2}(?<seconds>\\k<c>\\d{2}(?:(?<point>[.,])\\d{1,9})?)?"
            + "(?<half> ?[AaPp][Mm])?(?<zone> ?(?:Z|UTC|[-+]\\d\\d(?::?\\d\\d)?))?))?");

    static Optional<DateShape> of(String text) {
        Matcher m = FORM.matcher(text);
        if (text.length() > 48 || !m.matches()) {
            return Optional.empty();
        }
        String time = time(m);
        boolean hasZone = m.group("zone") != null;
        boolean hasTime = m.group("time") != null;
        if (m.group("a") != null) {
            String s = m.group("s");
            String year = s + years(m.group("year")) + time;
            return Optional.of(new DateShape(
                    Optional.of(s), "DD" + s + "MM" + year, "MM" + s + "DD" + year, false, hasTime, hasZone));
        }
        String pattern;
        if (m.group("b") != null) {
            String u = m.group("u");
            pattern = "DD" + u + "MON" + u + years(m.group("named")) + time;
        } else {
            String t = m.group("t");
            pattern = "YYYY" + t + "MM" + t + "DD" + time;
        }
        return Optional.of(new DateShape(Optional.empty(), pattern, pattern, true, hasTime, hasZone));
    }

    private static String years(String digits) {
        return digits.length() == 4 ? "YYYY" : "YY";
    }

    private static String time(Matcher m) {
        if (m.group("time") == null) {
            return "";
        }
        String gap = m.group("gap");
        String c = m.group("c");
        String half = m.group("half");
        String point = m.group("point");
        String zone = m.group("zone");
        return (gap.equals("T") ? "\"T\"" : gap)
                + (half == null ? "HH24" : "HH12")
                + c
                + "MI"
                + (m.group("seconds") == null ? "" : c + "SS" + (point == null ? "" : point + "US"))
                + (half == null ? "" : half.startsWith(" ") ? " AM" : "AM")
                + (zone == null ? "" : zone.startsWith(" ") ? " TZ" : "TZ");
    }
}
