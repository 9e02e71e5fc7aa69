package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Windows of days, weeks, months and years as clocks of a zone show them, against the JDK's calendar, over changes of the clocks. */
@Tag("long")
@Timeout(120)
class CalendarWindowsTest {
    private static final DateTimeFormatter SHOWN =
            DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss").withZone(ZoneOffset.UTC);

    private record Reading(Instant at, long value) {}

    private record Span(Instant start, Instant end) {}

    /** Which windows a reading is in. */
    private interface Calendar {
        Collection<Span> of(LocalDate day, ZoneId zone);
    }

    /**
     * A window function's arguments behind the time column, and what it says by the JDK.
     *
     * @param beginsAt the time of day
     */
    private record Shape(String function, String arguments, LocalTime beginsAt, Calendar calendar) {}

    private static Span span(LocalDate from, LocalDate to, LocalTime at, ZoneId zone) {
        return new Span(begin(from, at, zone), begin(to, at, zone));
    }

    private static Instant begin(LocalDate date, LocalTime at, ZoneId zone) {
        return at.equals(LocalTime.MIDNIGHT)
                ? date.atStartOfDay(zone).toInstant()
                : ZonedDateTime.of(date, at, zone).toInstant();
    }

    private static LocalDate monday(LocalDate day) {
        return day.minusDays(day.getDayOfWeek().getValue() - 1);
    }

    private static LocalDate quarter(LocalDate day) {
        return LocalDate.of(day.getYear(), (day.getMonthValue() - 1) / 3 * 3 + 1, 1);
    }

    private static final LocalTime MIDNIGHT = LocalTime.MIDNIGHT;

    private static final List<Shape> SHAPES = List.of(
            new Shape(
                    "TUMBLE",
                    "INTERVAL '1 day', ",
                    MIDNIGHT,
                    (day, zone) -> List.of(span(day, day.plusDays(1), MIDNIGHT, zone))),
            new Shape(
                    "TUMBLE",
                    "INTERVAL '1 day', INTERVAL '6 hours', ",
                    LocalTime.of(6, 0),
                    (day, zone) -> List.of(span(day, day.plusDays(1), LocalTime.of(6, 0), zone))),
            new Shape(
                    "TUMBLE",
                    "INTERVAL '1 week', ",
                    MIDNIGHT,
                    (day, zone) -> List.of(span(monday(day), monday(day).plusDays(7), MIDNIGHT, zone))),
            new Shape(
                    "TUMBLE",
                    "'1 week', INTERVAL '-1 day', ",
                    MIDNIGHT,
                    (day, zone) -> List.of(span(
                            monday(day.plusDays(1)).minusDays(1),
                            monday(day.plusDays(1)).plusDays(6),
                            MIDNIGHT,
                            zone))),
            new Shape(
                    "TUMBLE",
                    "INTERVAL '1 month', ",
                    MIDNIGHT,
                    (day, zone) -> List.of(
                            span(day.withDayOfMonth(1), day.withDayOfMonth(1).plusMonths(1), MIDNIGHT, zone))),
            new Shape(
                    "TUMBLE",
                    "INTERVAL '3 months', ",
                    MIDNIGHT,
                    (day, zone) -> List.of(span(quarter(day), quarter(day).plusMonths(3), MIDNIGHT, zone))),
            new Shape("TUMBLE", "INTERVAL '1 year', INTERVAL '3 months', ", MIDNIGHT, (day, zone) -> {
                LocalDate april = LocalDate.of(day.minusMonths(3).getYear(), 4, 1);
                return List.of(span(april, april.plusYears(1), MIDNIGHT, zone));
            }),
            new Shape("HOP", "INTERVAL '1 day', INTERVAL '3 days', ", MIDNIGHT, (day, zone) -> {
                List<Span> spans = new ArrayList<>();
                for (int before = 2; before >= 0; before--) {
                    spans.add(span(day.minusDays(before), day.minusDays(before - 3), MIDNIGHT, zone));
                }
                return spans;
            }),
            new Shape("CUMULATE", "INTERVAL '1 month', INTERVAL '1 year', ", MIDNIGHT, (day, zone) -> {
                List<Span> spans = new ArrayList<>();
                for (int month = day.getMonthValue(); month <= 12; month++) {
                    LocalDate first = LocalDate.of(day.getYear(), 1, 1);
                    spans.add(span(first, first.plusMonths(month), MIDNIGHT, zone));
                }
                return spans;
            }));

    private static List<Reading> readings(Random random, int count) {
        List<Reading> readings = new ArrayList<>();
        long begin = Instant.parse("2025-09-01T00:00:00Z").getEpochSecond();
        long[] changes = {
            Instant.parse("2025-10-26T01:00:00Z").getEpochSecond(),
            Instant.parse("2026-03-29T01:00:00Z").getEpochSecond(),
            Instant.parse("2026-03-08T07:00:00Z").getEpochSecond()
        };
        for (int i = 0; i < count; i++) {
            long at = i % 2 == 0
                    ? begin + random.nextInt(400 * 86_400)
                    : changes[random.nextInt(changes.length)] + random.nextInt(3 * 86_400) - 86_400;
            readings.add(new Reading(Instant.ofEpochSecond(at), random.nextInt(100)));
        }
        readings.sort(Comparator.comparing(Reading::at));
        return readings;
    }

    private static String values(List<Reading> readings) {
        StringBuilder text = new StringBuilder();
        for (Reading reading : readings) {
            text.append(text.isEmpty() ? "" : ", ")
                    .append("('")
                    .append(SHOWN.format(reading.at()))
                    .append("Z', ")
                    .append(reading.value())
                    .append(')');
        }
        return text.toString();
    }

    /** Start, end, how many and their sum, of windows that ended by a time. */
    private static List<String> expected(Shape shape, ZoneId zone, List<Reading> readings, Instant until) {
        Map<Span, long[]> sums = new TreeMap<>(Comparator.comparing(Span::start).thenComparing(Span::end));
        for (Reading reading : readings) {
            LocalDate day = LocalDate.ofInstant(reading.at(), zone);
            if (reading.at().isBefore(begin(day, shape.beginsAt(), zone))) {
                day = day.minusDays(1);
            }
            for (Span span : shape.calendar().of(day, zone)) {
                assertTrue(!reading.at().isBefore(span.start()) && reading.at().isBefore(span.end()));
                long[] sum = sums.computeIfAbsent(span, s -> new long[2]);
                sum[0]++;
                sum[1] += reading.value();
            }
        }
        List<String> rows = new ArrayList<>();
        sums.forEach((span, sum) -> {
            if (!span.end().isAfter(until)) {
                rows.add(SHOWN.format(span.start()) + "+00|" + SHOWN.format(span.end()) + "+00|" + sum[0] + "|"
                        + sum[1]);
            }
        });
        return rows;
    }

    private static final String SELECT = "SELECT window_start, window_end, count(*), sum(v) FROM ";

    @Test
    void whatClocksShowDecides(@TempDir Path folder) {
        Random random = new Random(20261129);
        List<Reading> readings = readings(random, 3_000);
        List<String> zones = List.of("Europe/Berlin", "America/New_York", "Asia/Kathmandu", "UTC");
        int before = 1_700;
        Path data = folder.resolve("data");
        try (TestDatabase db = new TestDatabase(data)) {
            db.run("CREATE STREAM r (ts TIMESTAMPTZ, v INT, WATERMARK FOR ts AS ts)");
            db.run("CREATE TABLE kept (ts TIMESTAMPTZ, v INT)");
            for (int i = 0; i < SHAPES.size(); i++) {
                for (int zone = 0; zone < zones.size(); zone++) {
                    db.run("CREATE MATERIALIZED VIEW v" + i + "_" + zone + " AS SELECT window_start, window_end,"
                            + " count(*) AS n, sum(v) AS s FROM " + windows("r", SHAPES.get(i), zones.get(zone))
                            + " GROUP BY window_start, window_end");
                }
            }
            db.run("INSERT INTO r VALUES " + values(readings.subList(0, 900)));
            db.run("CHECKPOINT");
            db.run("INSERT INTO r VALUES " + values(readings.subList(900, before)));
            db.run("INSERT INTO kept VALUES " + values(readings.subList(0, before)));
            compare(db, zones, readings.subList(0, before));
        }
        try (TestDatabase db = new TestDatabase(data, 2)) {
            compare(db, zones, readings.subList(0, before));
            db.run("INSERT INTO r VALUES " + values(readings.subList(before, readings.size())));
            db.run("INSERT INTO kept VALUES " + values(readings.subList(before, readings.size())));
            compare(db, zones, readings);
        }
    }

    private static String windows(String relation, Shape shape, String zone) {
        return shape.function() + "(" + relation + ", ts, " + shape.arguments() + "'" + zone + "')";
    }

    private static void compare(TestDatabase db, List<String> zones, List<Reading> readings) {
        Instant last = readings.get(readings.size() - 1).at();
        for (int i = 0; i < SHAPES.size(); i++) {
            Shape shape = SHAPES.get(i);
            for (int zone = 0; zone < zones.size(); zone++) {
                ZoneId id = ZoneId.of(zones.get(zone));
                String name = shape + " in " + id;
                assertEquals(
                        expected(shape, id, readings, Instant.MAX),
                        db.rows(SELECT + windows("kept", shape, zones.get(zone))
                                + " GROUP BY window_start, window_end"),
                        name);
                assertEquals(
                        expected(shape, id, readings, last),
                        db.flushedRows("SELECT window_start, window_end, n, s FROM v" + i + "_" + zone),
                        name);
            }
        }
    }
}
