package dev.millrace.sql.bind.query;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.IntervalValue;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.sql.algebra.Literals;
import dev.millrace.text.CalendarUnits.Unit;
import dev.millrace.text.CivilDays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.LongFunction;

/**
 * Windows from the intervals that say their sizes: of fixed durations, or counted by the calendar where these have months, or days in a time zone.
 *
 * @param function tumble, hop, cumulate or session
 * @param offset how much later they begin; none for sessions
 * @param zone whose clocks are meant
 */
record WindowSizes(String function, List<IntervalValue> sizes, Optional<IntervalValue> offset, Optional<String> zone) {
    private static final int MONTHS_PER_YEAR = 12;
    private static final long MOST_YEARS = 10_000;
    private static final long LONGEST_OFFSET_DAYS = 28; // each month has so many
    private static final String UTC = "UTC";

    /** Fails with 22023 for what makes no windows. */
    WindowSpec window() {
        boolean isOfMonths = sizes.stream().anyMatch(size -> size.months() != 0);
        if (function.equals("session") || !isOfMonths && zone.isEmpty()) {
            return windows(this::fixedMicros, offset.map(WindowSizes::micros).orElse(0L));
        }
        return isOfMonths ? ofMonths() : ofDays();
    }

    private WindowSpec ofMonths() {
        IntervalValue later = offset.orElse(new IntervalValue(0, 0, 0));
        long laterMicros = later.days() * CivilDays.MICROS_PER_DAY + later.micros();
        if (laterMicros < 0 || laterMicros >= LONGEST_OFFSET_DAYS * CivilDays.MICROS_PER_DAY) {
            throw invalid("besides months, the offset of windows of months must be from 0 to less than 28 days");
        }
        return new WindowSpec.Calendar(
                windows(this::months, later.months()), Unit.MONTH, laterMicros, zone.orElse(UTC));
    }

    private WindowSpec ofDays() {
        IntervalValue later = offset.orElse(new IntervalValue(0, 0, 0));
        long micros = micros(later);
        return new WindowSpec.Calendar(
                windows(this::days, Math.floorDiv(micros, CivilDays.MICROS_PER_DAY)),
                Unit.DAY,
                Math.floorMod(micros, CivilDays.MICROS_PER_DAY),
                zone.orElse(UTC));
    }

    private WindowSpec windows(LongFunction<Long> size, long moved) {
        long first = size.apply(0);
        if (function.equals("session")) {
            return new WindowSpec.Session(first);
        } else if (function.equals("tumble")) {
            return new WindowSpec.Tumble(first, Math.floorMod(moved, first));
        }
        long second = size.apply(1);
        if (function.equals("hop")) {
            if (first > second) {
                throw invalid("the slide of HOP must not be greater than its size: rows between windows would be lost");
            }
            return new WindowSpec.Hop(first, second, Math.floorMod(moved, first));
        }
        if (second % first != 0) {
            throw invalid("the step of CUMULATE must divide its size");
        }
        return new WindowSpec.Cumulate(first, second, Math.floorMod(moved, second));
    }

    private long fixedMicros(long which) {
        IntervalValue size = sizes.get((int) which);
        return positive(micros(size));
    }

    private long months(long which) {
        IntervalValue size = sizes.get((int) which);
        if (size.days() != 0 || size.micros() != 0) {
            throw invalid("the durations of " + function.toUpperCase(Locale.ROOT)
                    + " are all of months and years, or all of days, hours and less");
        }
        return notTooLong(positive(size.months()), MONTHS_PER_YEAR);
    }

    private long days(long which) {
        IntervalValue size = sizes.get((int) which);
        if (size.micros() != 0) {
            throw invalid("windows in a time zone are of days, weeks, months or years")
                    .withHint("hours are the same in all zones; an offset moves them");
        }
        return notTooLong(positive(size.days()), 365);
    }

    private long notTooLong(long units, int perYear) {
        if (units > MOST_YEARS * perYear) {
            throw invalid("windows of the calendar are of at most " + MOST_YEARS + " years");
        }
        return units;
    }

    private long positive(long size) {
        if (size <= 0) {
            throw invalid("a duration of " + function.toUpperCase(Locale.ROOT) + " must be greater than zero");
        }
        return size;
    }

    private static long micros(IntervalValue interval) {
        return Literals.durationMicros(interval);
    }

    private static MillraceException invalid(String message) {
        return MillraceException.user(SqlState.INVALID_PARAMETER_VALUE, message);
    }
}
