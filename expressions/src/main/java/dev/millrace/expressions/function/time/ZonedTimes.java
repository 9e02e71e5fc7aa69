package dev.millrace.expressions.function.time;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.function.Pattern;
import dev.millrace.text.TimeZones;
import dev.millrace.text.ZoneClock;
import java.time.ZoneOffset;

/** AT TIME ZONE, and what else depends on the zone that its last argument names. */
public final class ZonedTimes {
    private final Pattern name = new Pattern();
    private ZoneClock clock = new ZoneClock(ZoneOffset.UTC);

    public void prepare(long address, int length) {
        if (name.changed(address, length)) {
            name.forget();
            String text = name.text();
            clock = new ZoneClock(TimeZones.find(text)
                    .orElseThrow(() -> MillraceException.user(
                            SqlState.INVALID_PARAMETER_VALUE, "time zone \"" + text + "\" not recognized")));
            name.remember();
        }
    }

    /** The local time of an instant. */
    public long fromUtc(long utc) {
        return clock.fromUtc(utc);
    }

    /** The instant of a local time, see {@link ZoneClock#toUtc}. */
    public long toUtc(long local) {
        return clock.toUtc(local);
    }

    /** How far clocks are east of UTC at an instant. */
    public int seconds(long utc) {
        return (int) (clock.offset(utc) / 1_000_000);
    }

    /** Months and days later by the calendar of the zone, then so many microseconds. */
    public long add(long utc, int months, int days, long micros) {
        long then = (months | days) == 0 ? utc : clock.toUtc(Timestamps.add(clock.fromUtc(utc), months, days, 0));
        return Timestamps.add(then, 0, 0, micros);
    }

    /** As {@link #add}, earlier. */
    public long subtract(long utc, int months, int days, long micros) {
        long then = (months | days) == 0 ? utc : clock.toUtc(Timestamps.subtract(clock.fromUtc(utc), months, days, 0));
        return Timestamps.subtract(then, 0, 0, micros);
    }
}
