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
import java.util.stream.Stream;

/** Time zones by the names that PostgreSQL takes. Safe on any thread. */
public final class TimeZones {
    private static final Map<String, String> BY_LOWER_CASE = ZoneId.getAvailableZoneIds().stream()
            .collect(Collectors.toMap(name -> name.toLowerCase(Locale.ROOT), Function.identity(), (one, other) -> one));
    private static final int LONGEST = 64; // characters

    /** Abbreviations that PostgreSQL has by default, and how far east they are, always: summer has others. */
    private static final Map<String, ZoneOffset> ABBREVIATIONS = Stream.of(
                    """
            acdt+10:30 acst+9:30 adt-3 aedt+11 aest+10 akdt-8 akst-9 art-3 ast-4 awst+8 bot-4 brst-2 brt-3 bst+1 cdt-5
            cest+2 cet+1 clst-3 clt-3 cot-5 cst-6 eat+3 edt-4 eest+3 eet+2 est-5 gmt+0 hkt+8 hst-10 ict+7 idt+3 ist+2
            jst+9 kst+9 mdt-6 mesz+2 met+1 mez+1 mst-7 myt+8 ndt-2:30 npt+5:45 nst-3:30 nzdt+13 nzst+12 pdt-7 pet-5
            pkt+5 pst-8 sast+2 sgt+8 utc+0 uct+0 ut+0 uyt-3 vet-4 wat+1 wet+0 z+0 zulu+0
            """.strip().split("\\s+"))
            .collect(Collectors.toMap(
                    TimeZones::letters,
                    word -> ZoneOffset.of(padded(word.substring(letters(word).length())))));

    /** Abbreviations that meant one distance and later another: what clocks there show. */
    private static final Map<String, ZoneId> OF_PLACES = Map.of("msk", ZoneId.of("Europe/Moscow"));

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
            ZoneOffset abbreviated = ABBREVIATIONS.get(text.toLowerCase(Locale.ROOT));
            if (abbreviated != null) {
                return Optional.of(abbreviated);
            }
            ZoneId place = OF_PLACES.get(text.toLowerCase(Locale.ROOT));
            if (place != null) {
                return Optional.of(place);
            }
            String known = BY_LOWER_CASE.get(text.toLowerCase(Locale.ROOT));
            if (known != null) {
                return Optional.of(ZoneId.of(known));
            }
            if (text.matches(OF_ONES_OWN)) {
                return find(text.replaceAll("^([A-Za-z]+|<[^>]*>)", ""));
            }
            return Optional.empty();
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }

    private static String letters(String word) {
        return word.replaceAll("[^a-z].*", "");
    }

    private static String padded(String offset) {
        return offset.matches(".\\d(:.*)?") ? offset.charAt(0) + "0" + offset.substring(1) : offset;
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
