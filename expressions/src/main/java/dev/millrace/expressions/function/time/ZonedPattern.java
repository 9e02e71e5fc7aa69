package dev.millrace.expressions.function.time;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.function.Pattern;
import dev.millrace.expressions.function.Text;
import dev.millrace.memory.Memory;
import dev.millrace.text.CivilDays;
import dev.millrace.text.TimeRange;
import dev.millrace.text.TimeZones;
import dev.millrace.text.ZoneClock;
import java.nio.charset.StandardCharsets;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;

/**
 * TO_CHAR and TO_TIMESTAMP of instants in a time zone: what its clocks show, what they are called and how far they are from UTC. Remembers for which times
 * the last text written holds, unless it has what clocks are called, which may change while they go on.
 */
public final class ZonedPattern {
    private final Pattern template = new Pattern();
    private final Pattern name = new Pattern();
    private List<DateTemplate.Part> parts = List.of();
    private ZoneClock clock = new ZoneClock(ZoneOffset.UTC);
    private boolean asksName;
    private long granularity; // microseconds within which the text stays the same
    private long from; // local
    private long to;
    private int offset; // of clocks from UTC, in seconds

    public void prepare(long format, int formatLength, long zone, int zoneLength) {
        if (template.changed(format, formatLength)) {
            template.forget();
            parts = DateTemplate.parse(template.text());
            asksName = parts.stream().anyMatch(part -> part.field() == DateTemplate.Field.TZ);
            granularity = asksName ? 0 : TimestampPattern.granularity(parts);
            from = 0;
            to = 0;
            template.remember();
        }
        if (name.changed(zone, zoneLength)) {
            name.forget();
            String text = name.text();
            clock = new ZoneClock(TimeZones.find(text)
                    .orElseThrow(() -> MillraceException.user(
                            SqlState.INVALID_PARAMETER_VALUE, "time zone \"" + text + "\" not recognized")));
            from = 0;
            to = 0;
            name.remember();
        }
    }

    /** Whether an instant has a text: an infinite one has none. */
    public boolean isDefined(long utc) {
        return TimeRange.isFinite(utc);
    }

    public void format(long utc, Text out) {
        if (!TimeRange.isFinite(utc)) {
            throw TimestampPattern.infinite();
        }
        int before = offset;
        offset = (int) (clock.offset(utc) / 1_000_000);
        long local = clock.fromUtc(utc);
        if (local >= from && local < to && offset == before) {
            return; // the result is still there: no other call writes to it
        }
        from = granularity == 0 ? 0 : Math.floorDiv(local, granularity) * granularity;
        to = from + granularity;
        long day = Math.floorDiv(local, Intervals.DAY_MICROS);
        long date = CivilDays.packed(day);
        long time = local - day * Intervals.DAY_MICROS;
        String zone = asksName ? clock.abbreviation(utc).orElseGet(this::offsetAsName) : "";
        new DateFormatter(out.begin(), zone, offset)
                .time(time / Intervals.HOUR_MICROS, time % Intervals.HOUR_MICROS)
                .date(day, Timestamps.year(date), Timestamps.month(date), Timestamps.day(date))
                .write(parts);
        out.written();
    }

    private String offsetAsName() {
        int minutes = Math.abs(offset) / 60;
        String hours = (offset < 0 ? "-" : "+") + (minutes / 60 < 10 ? "0" : "") + minutes / 60;
        return minutes % 60 == 0 ? hours : hours + (minutes % 60 < 10 ? ":0" : ":") + minutes % 60;
    }

    /** The instant that a text says: of what clocks show, unless it says how far these are from UTC. */
    public long parse(long address, int length) {
        byte[] bytes = new byte[length];
        Memory.copyOut(address, bytes, 0, length);
        return new DateReader(new String(bytes, StandardCharsets.UTF_8), Optional.of(clock)).read(parts);
    }
}
