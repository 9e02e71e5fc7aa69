package dev.millrace.expressions.function.time;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.function.Pattern;
import dev.millrace.expressions.function.Text;
import dev.millrace.memory.Memory;
import dev.millrace.text.CivilDays;
import dev.millrace.text.TimeZones;
import dev.millrace.text.ZoneClock;
import java.nio.charset.StandardCharsets;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;

/** TO_CHAR and TO_TIMESTAMP of instants in a time zone: what its clocks show, what they are called and how far they are from UTC. */
public final class ZonedPattern {
    private final Pattern template = new Pattern();
    private final Pattern name = new Pattern();
    private List<DateTemplate.Part> parts = List.of();
    private ZoneClock clock = new ZoneClock(ZoneOffset.UTC);

    public void prepare(long format, int formatLength, long zone, int zoneLength) {
        if (template.changed(format, formatLength)) {
            template.forget();
            parts = DateTemplate.parse(template.text());
            template.remember();
        }
        if (name.changed(zone, zoneLength)) {
            name.forget();
            String text = name.text();
            clock = new ZoneClock(TimeZones.find(text)
                    .orElseThrow(() -> MillraceException.user(
                            SqlState.INVALID_PARAMETER_VALUE, "time zone \"" + text + "\" not recognized")));
            name.remember();
        }
    }

    public void format(long utc, Text out) {
        int offset = (int) (clock.offset(utc) / 1_000_000);
        long local = clock.fromUtc(utc);
        long day = Math.floorDiv(local, Intervals.DAY_MICROS);
        long date = CivilDays.packed(day);
        long time = local - day * Intervals.DAY_MICROS;
        String zone = clock.abbreviation(utc).orElseGet(() -> {
            int minutes = Math.abs(offset) / 60;
            String hours = (offset < 0 ? "-" : "+") + (minutes / 60 < 10 ? "0" : "") + minutes / 60;
            return minutes % 60 == 0 ? hours : hours + (minutes % 60 < 10 ? "0" : "") + minutes % 60;
        });
        new DateFormatter(out.begin(), zone, offset)
                .time(time / Intervals.HOUR_MICROS, time % Intervals.HOUR_MICROS)
                .date(day, Timestamps.year(date), Timestamps.month(date), Timestamps.day(date))
                .write(parts);
        out.written();
    }

    /** The instant that a text says: of what clocks show, unless it says how far these are from UTC. */
    public long parse(long address, int length) {
        byte[] bytes = new byte[length];
        Memory.copyOut(address, bytes, 0, length);
        return new DateReader(new String(bytes, StandardCharsets.UTF_8), Optional.of(clock)).read(parts);
    }
}
