package dev.millrace.engine.intake;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * When a query takes what has come (Granules, thesis section 2.2: data driven, periodic, count based, or a combination): as soon as one of these holds.
 *
 * @param everyNanos rows wait, and the last intake was so long ago
 * @param rows so many wait
 */
public record Schedule(OptionalLong everyNanos, OptionalLong rows) {
    /** As soon as there is something. */
    public static final Schedule DATA = new Schedule(OptionalLong.empty(), OptionalLong.empty());

    /** What an option may say. */
    public static final String EXPECTED = "'data', 'every 500 ms', 'every 1000 rows', or such with OR between them";

    private static final Pattern FORM = Pattern.compile("(?:every\\s+)?([0-9]{1,12})\\s*([a-z]+)");
    private static final Map<String, TimeUnit> UNITS = Map.ofEntries(
            Map.entry("ms", TimeUnit.MILLISECONDS),
            Map.entry("millisecond", TimeUnit.MILLISECONDS),
            Map.entry("milliseconds", TimeUnit.MILLISECONDS),
            Map.entry("s", TimeUnit.SECONDS),
            Map.entry("second", TimeUnit.SECONDS),
            Map.entry("seconds", TimeUnit.SECONDS),
            Map.entry("min", TimeUnit.MINUTES),
            Map.entry("minute", TimeUnit.MINUTES),
            Map.entry("minutes", TimeUnit.MINUTES),
            Map.entry("h", TimeUnit.HOURS),
            Map.entry("hour", TimeUnit.HOURS),
            Map.entry("hours", TimeUnit.HOURS));
    private static final long MOST_NANOS = TimeUnit.DAYS.toNanos(1);
    private static final long MOST_ROWS = 1_000_000_000;

    public Schedule {
        everyNanos.ifPresent(nanos -> require(nanos >= 1 && nanos <= MOST_NANOS));
        rows.ifPresent(count -> require(count >= 1 && count <= MOST_ROWS));
    }

    private static void require(boolean condition) {
        if (!condition) {
            throw new IllegalArgumentException("up to a day, and up to " + MOST_ROWS + " rows");
        }
    }

    /**
     * What a text says.
     *
     * @throws MillraceException 22023 for what is no schedule, is longer than a day or of more than 1,000,000,000 rows
     */
    public static Schedule of(String text) {
        OptionalLong every = OptionalLong.empty();
        OptionalLong rows = OptionalLong.empty();
        boolean isData = false;
        for (String part : text.strip().toLowerCase(Locale.ROOT).split("\\s+or\\s+", -1)) {
            Matcher matcher = FORM.matcher(part);
            if (part.equals("data")) {
                isData = true;
                continue;
            }
            if (!matcher.matches()) {
                throw invalid(text);
            }
            long number = Long.parseLong(matcher.group(1));
            String unit = matcher.group(2);
            if (unit.equals("rows") || unit.equals("row")) {
                rows = least(rows, checked(number, MOST_ROWS, text));
            } else if (UNITS.containsKey(unit)) {
                long nanos = UNITS.get(unit).toNanos(number); // as many as there are, of more than that
                every = least(every, checked(nanos, MOST_NANOS, text));
            } else {
                throw invalid(text);
            }
        }
        return isData ? DATA : new Schedule(every, rows);
    }

    private static OptionalLong least(OptionalLong one, long other) {
        return OptionalLong.of(Math.min(one.orElse(Long.MAX_VALUE), other));
    }

    private static long checked(long number, long most, String text) {
        if (number < 1 || number > most) {
            throw invalid(text);
        }
        return number;
    }

    private static MillraceException invalid(String text) {
        return MillraceException.user(
                SqlState.INVALID_PARAMETER_VALUE,
                "a schedule is " + EXPECTED + ", up to a day and " + MOST_ROWS + " rows, not '" + text + "'");
    }

    /** Whether nothing ever waits. */
    public boolean isData() {
        return everyNanos.isEmpty() && rows.isEmpty();
    }

    /** As {@link #of} reads it. */
    @Override
    public String toString() {
        if (isData()) {
            return "data";
        }
        String time =
                everyNanos.isPresent() ? "every " + TimeUnit.NANOSECONDS.toMillis(everyNanos.getAsLong()) + " ms" : "";
        String count = rows.isPresent() ? "every " + rows.getAsLong() + " rows" : "";
        return time + (time.isEmpty() || count.isEmpty() ? "" : " or ") + count;
    }
}
