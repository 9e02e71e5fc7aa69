package dev.millrace.expressions.function.time;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.function.Pattern;
import dev.millrace.expressions.function.Text;
import dev.millrace.text.TimeStyle;
import dev.millrace.text.ValueParser;
import dev.millrace.text.ValueWriter;
import dev.millrace.text.ZoneClock;
import java.util.Optional;

/** Conversions between dates, times and texts in a {@link TimeStyle}, which the last argument names. */
public final class StyledTimes {
    private final Pattern name = new Pattern();
    private final ValueParser parser = new ValueParser();
    private TimeStyle style = TimeStyle.PLAIN;
    private Optional<ZoneClock> clock = Optional.empty();

    public void prepare(long address, int length) {
        if (name.changed(address, length)) {
            name.forget();
            String text = name.text();
            style = TimeStyle.parse(text)
                    .orElseThrow(() -> MillraceException.user(
                            SqlState.INVALID_PARAMETER_VALUE, "time zone \"" + text + "\" not recognized"));
            clock = style.clock();
            parser.inStyle(style);
            name.remember();
        }
    }

    public void date(long days, Text out) {
        ValueWriter.date(out.begin(), days, style.dates());
        out.written();
    }

    public void timestamp(long micros, Text out) {
        ValueWriter.timestamp(out.begin(), micros, style.dates());
        out.written();
    }

    /** An instant as clocks of the zone show it, and how far these are from UTC. */
    public void timestamptz(long utc, Text out) {
        ValueWriter.timestamptz(out.begin(), utc, clock, style.dates());
        out.written();
    }

    public void interval(int months, int days, long micros, Text out) {
        ValueWriter.interval(out.begin(), months, days, micros, style.intervals());
        out.written();
    }

    /** Days since 1970-01-01. */
    public int parseDate(long address, int length) {
        return parser.date(address, length);
    }

    public long parseTimestamp(long address, int length) {
        return parser.timestamp(address, length);
    }

    /** The instant of a text; if that says no zone, of what clocks of the style's show. */
    public long parseTimestamptz(long address, int length) {
        return parser.timestamptz(address, length);
    }
}
