package dev.millrace.server.settings;

import dev.millrace.text.TimeZones;
import java.time.ZoneId;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** A time zone, or how many hours its clocks are ahead of UTC. */
final class ZoneForm implements SettingForm {
    private static final String UTC = "UTC";
    private static final double MOST_HOURS = 18;

    /** Zones whose names are abbreviations as well, which know no summer. */
    private static final Map<String, String> PLACES =
            Map.of("CET", "Europe/Brussels", "MET", "Europe/Brussels", "EET", "Europe/Athens", "WET", "Europe/Lisbon");

    /** The name of the tz database, {@code UTC} for what is that, or {@code <+02>-02} for two hours ahead, as PostgreSQL shows it. */
    @Override
    public Optional<String> canonical(String value) {
        String text = value.strip();
        Optional<String> name =
                ahead(text).or(() -> Optional.of(PLACES.getOrDefault(text.toUpperCase(Locale.ROOT), text)));
        Optional<ZoneId> zone = name.flatMap(TimeZones::find);
        if (zone.isEmpty()) {
            return Optional.empty();
        }
        return TimeZones.isUtc(zone.get()) ? Optional.of(UTC) : TimeZones.canonical(name.get());
    }

    private static Optional<String> ahead(String text) {
        if (!text.matches("[+-]?\\d{1,2}([.]\\d{1,4})?")) {
            return Optional.empty();
        }
        double hours = Double.parseDouble(text);
        if (Math.abs(hours) > MOST_HOURS) {
            return Optional.empty();
        }
        long minutes = Math.round(Math.abs(hours) * 60);
        String distance = "%02d".formatted(minutes / 60) + (minutes % 60 == 0 ? "" : ":%02d".formatted(minutes % 60));
        return Optional.of(hours < 0 ? "<-" + distance + ">+" + distance : "<+" + distance + ">-" + distance);
    }

    @Override
    public String expected() {
        return "a time zone, such as Europe/Berlin or UTC, or how many hours it is ahead of UTC";
    }
}
