package dev.millrace.planner.explain;

import dev.millrace.plan.node.WindowSpec;
import dev.millrace.plan.node.WindowSpec.Calendar;
import dev.millrace.text.CalendarUnits.Unit;

/** Windows that a calendar counts, as people write them. */
final class CalendarText {
    private static final int MONTHS_PER_YEAR = 12;

    private CalendarText() {}

    /** Such as {@code TUMBLE 3 months} or {@code TUMBLE 1 day in Europe/Berlin}. */
    static String of(Calendar calendar) {
        return windows(calendar) + (calendar.zone().equals("UTC") ? "" : " in " + calendar.zone());
    }

    private static String windows(Calendar calendar) {
        Unit unit = calendar.unit();
        if (calendar.counted() instanceof WindowSpec.Tumble tumble) {
            return "TUMBLE " + count(tumble.sizeMicros(), unit) + from(tumble.offsetMicros(), calendar);
        } else if (calendar.counted() instanceof WindowSpec.Hop hop) {
            return "HOP " + count(hop.sizeMicros(), unit) + " every " + count(hop.slideMicros(), unit)
                    + from(hop.offsetMicros(), calendar);
        }
        WindowSpec.Cumulate cumulate = (WindowSpec.Cumulate) calendar.counted();
        return "CUMULATE " + count(cumulate.sizeMicros(), unit) + " by " + count(cumulate.stepMicros(), unit)
                + from(cumulate.offsetMicros(), calendar);
    }

    /** What is kept of windows that overlap. */
    static String slice(Calendar calendar) {
        if (calendar.counted() instanceof WindowSpec.Tumble) {
            return "window";
        }
        long units = calendar.counted() instanceof WindowSpec.Hop hop
                ? greatestCommonDivisor(hop.sizeMicros(), hop.slideMicros())
                : ((WindowSpec.Cumulate) calendar.counted()).stepMicros();
        return "slice of " + count(units, calendar.unit());
    }

    static long greatestCommonDivisor(long a, long b) {
        return b == 0 ? a : greatestCommonDivisor(b, a % b);
    }

    private static String count(long units, Unit unit) {
        if (unit == Unit.DAY) {
            return plural(units, "day");
        }
        return units % MONTHS_PER_YEAR == 0 ? plural(units / MONTHS_PER_YEAR, "year") : plural(units, "month");
    }

    private static String plural(long count, String unit) {
        return count + " " + unit + (count == 1 ? "" : "s");
    }

    private static String from(long units, Calendar calendar) {
        if (units == 0 && calendar.laterMicros() == 0) {
            return "";
        }
        String later = calendar.laterMicros() == 0 ? "" : Durations.text(calendar.laterMicros());
        String whole = units == 0 ? "" : count(units, calendar.unit());
        return " offset " + (whole + " " + later).strip();
    }
}
