package dev.millrace.text;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Time zones by the names that PostgreSQL takes. Safe on any thread. */
public final class TimeZones {
    private static final Map<String, String> BY_LOWER_CASE = ZoneId.getAvailableZoneIds().stream()
            .collect(Collectors.toMap(name -> name.toLowerCase(Locale.ROOT), Function.identity(), (one, other) -> one));
    private static final int LONGEST = 64; // characters
    private static final String OF_ONES_OWN =
            "([A-Za-z]{3,}|<[A-Za-z0-9+:-]+>)[+-]\\d{1,2}(:\\d{2})?"; // a name, and how far west it is

    private TimeZones() {}

    /**
     * A zone of the tz database in any case, an abbreviation, {@code Z}, or a distance from Greenwich as POSIX has it, and with it PostgreSQL: {@code +2}
     * and {@code XYZ+2} are west of it.
     */
    public static Optional<ZoneId> find(String text) {
        if (text.length() > LONGEST) {
            return Optional.empty();
        }
        try {
            if (text.matches("[+-]?\\d{1,2}(:\\d{2})?")) {
                String[] parts = text.replaceAll("[+-]", "").split(":");
                int minutes = Integer.parseInt(parts[0]) * 60 + (parts.length > 1 ? Integer.parseInt(parts[1]) : 0);
                return Optional.of(ZoneOffset.ofTotalSeconds((text.startsWith("-") ? 60 : -60) * minutes));
            }
            String known = BY_LOWER_CASE.get(text.toLowerCase(Locale.ROOT));
            if (known != null) {
                return Optional.of(ZoneId.of(known));
            }
            if (text.matches(OF_ONES_OWN)) {
                return find(text.replaceAll("^([A-Za-z]+|<[^>]*>)", ""));
            }
            if (text.equalsIgnoreCase("z") || text.equalsIgnoreCase("zulu")) {
                return Optional.of(ZoneOffset.UTC);
            }
            return Optional.of(ZoneId.of(text.toUpperCase(Locale.ROOT), ZoneId.SHORT_IDS));
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }

    /** A name that {@link #find} takes, as it is shown: that of the tz database as it is written there, others as they are. */
    public static Optional<String> canonical(String text) {
        return find(text).map(zone -> BY_LOWER_CASE.getOrDefault(text.toLowerCase(Locale.ROOT), text));
    }

    /** Whether its clocks show UTC at all times. */
    public static boolean isUtc(ZoneId zone) {
        return zone.getRules().isFixedOffset()
                && zone.getRules().getOffset(Instant.EPOCH).getTotalSeconds() == 0;
    }
}
