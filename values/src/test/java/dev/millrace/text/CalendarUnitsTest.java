package dev.millrace.text;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.text.CalendarUnits.Unit;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Days and months against the JDK's calendar. */
class CalendarUnitsTest {
    private static final long DAY = CivilDays.MICROS_PER_DAY;

    private static long micros(Instant instant) {
        return ChronoUnit.MICROS.between(Instant.EPOCH, instant);
    }

    private static long micros(String instant) {
        return micros(Instant.parse(instant));
    }

    private static Instant instant(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }

    private static long dayNumber(LocalDate date) {
        return date.toEpochDay() - 4;
    }

    private static long monthNumber(LocalDate date) {
        return YearMonth.from(date).getLong(java.time.temporal.ChronoField.PROLEPTIC_MONTH);
    }

    /** Zones whose clocks are set at midnight, by half an hour, over a whole day, or not at all. */
    private static final List<String> ZONES = List.of(
            "UTC",
            "Europe/Berlin",
            "America/New_York",
            "America/Havana",
            "America/Sao_Paulo",
            "Asia/Beirut",
            "Asia/Kathmandu",
            "Australia/Lord_Howe",
            "Pacific/Apia",
            "Pacific/Kwajalein",
            "Asia/Tehran",
            "Africa/Cairo",
            "+05:45");

    @Test
    void unitsBeginWhereTheCalendarsDaysAndMonthsDo() {
        Random random = new Random(15);
        for (String name : ZONES) {
            ZoneId zone = ZoneId.of(name);
            CalendarUnits days = new CalendarUnits(Unit.DAY, 0, zone);
            CalendarUnits months = new CalendarUnits(Unit.MONTH, 0, zone);
            for (int i = 0; i < 3_000; i++) {
                LocalDate date = LocalDate.ofEpochDay(random.nextInt(60_000) - 20_000);
                assertEquals(
                        micros(date.atStartOfDay(zone).toInstant()),
                        days.start(dayNumber(date)),
                        () -> date + " in " + name);
                LocalDate first = date.withDayOfMonth(1);
                assertEquals(
                        micros(first.atStartOfDay(zone).toInstant()),
                        months.start(monthNumber(first)),
                        () -> first + " in " + name);
            }
        }
    }

    @Test
    void anInstantIsInTheUnitThatBeganLastBeforeIt() {
        Random random = new Random(16);
        for (String name : ZONES) {
            ZoneId zone = ZoneId.of(name);
            for (Unit unit : Unit.values()) {
                for (long later : new long[] {0, 6 * 3_600_000_000L, 23 * 3_600_000_000L}) {
                    CalendarUnits units = new CalendarUnits(unit, later, zone);
                    CalendarUnits others = new CalendarUnits(unit, later, zone);
                    for (int i = 0; i < 2_000; i++) {
                        long micros = random.nextLong(4_000_000_000_000_000L) - 1_000_000_000_000_000L;
                        if (random.nextInt(3) == 0) { // the beginning of one, or just before
                            micros = others.start(others.at(micros)) - random.nextInt(2);
                        }
                        long number = units.at(micros);
                        assertTrue(others.start(number) <= micros, name + " " + instant(micros));
                        assertTrue(others.start(number + 1) > micros, name + " " + instant(micros));
                    }
                }
            }
        }
    }

    @Test
    void aDayIsTheDateThatClocksShow() {
        Random random = new Random(17);
        for (String name : ZONES) {
            ZoneId zone = ZoneId.of(name);
            CalendarUnits days = new CalendarUnits(Unit.DAY, 0, zone);
            CalendarUnits months = new CalendarUnits(Unit.MONTH, 0, zone);
            for (int i = 0; i < 5_000; i++) {
                Instant instant = Instant.ofEpochSecond(random.nextInt());
                LocalDate date = ZonedDateTime.ofInstant(instant, zone).toLocalDate();
                LocalDate hoursLater = ZonedDateTime.ofInstant(instant.plus(Duration.ofHours(3)), zone)
                        .toLocalDate();
                if (hoursLater.isBefore(date)) {
                    continue; // clocks are set back over midnight: the date comes twice
                }
                assertEquals(dayNumber(date), days.at(micros(instant)), () -> instant + " in " + name);
                assertEquals(monthNumber(date), months.at(micros(instant)), () -> instant + " in " + name);
            }
        }
    }

    @Test
    void daysWithAClockThatIsSetHaveTwentyThreeAndTwentyFiveHours() {
        CalendarUnits days = new CalendarUnits(Unit.DAY, 0, ZoneId.of("Europe/Berlin"));
        long spring = days.at(micros("2026-03-29T12:00:00Z"));
        long autumn = days.at(micros("2026-10-25T12:00:00Z"));
        assertEquals(23 * 3_600_000_000L, days.start(spring + 1) - days.start(spring));
        assertEquals(25 * 3_600_000_000L, days.start(autumn + 1) - days.start(autumn));
        assertEquals(micros("2026-03-28T23:00:00Z"), days.start(spring));
        assertEquals(micros("2026-10-25T23:00:00Z"), days.start(autumn + 1));
        assertTrue(days.longestMicros() >= 25 * 3_600_000_000L);
    }

    @Test
    void clocksThatAreSetBackOverMidnightBeginTheirDayOnce() {
        ZoneId zone = ZoneId.of("America/St_Johns"); // at 00:01 an hour back, until 2011
        CalendarUnits days = new CalendarUnits(Unit.DAY, 0, zone);
        long midnight = micros(LocalDate.of(2006, 10, 29).atStartOfDay(zone).toInstant());
        long number = dayNumber(LocalDate.of(2006, 10, 29));
        for (long minute = -120; minute < 180; minute++) {
            long at = midnight + minute * 60_000_000;
            assertEquals(minute < 0 ? number - 1 : number, new CalendarUnits(Unit.DAY, 0, zone).at(at));
            assertEquals(minute < 0 ? number - 1 : number, days.at(at));
        }
    }

    @Test
    void aDayThatClocksLeaveOutIsEmpty() {
        CalendarUnits days = new CalendarUnits(Unit.DAY, 0, ZoneId.of("Pacific/Apia"));
        long leftOut = dayNumber(LocalDate.of(2011, 12, 30));
        assertEquals(days.start(leftOut), days.start(leftOut + 1));
        assertEquals(leftOut + 1, days.at(days.start(leftOut)));
        assertEquals(leftOut - 1, days.at(days.start(leftOut) - 1));
    }

    @Test
    void unitsMayBeginLater() {
        CalendarUnits days = new CalendarUnits(Unit.DAY, 6 * 3_600_000_000L, ZoneId.of("Europe/Berlin"));
        long number = dayNumber(LocalDate.of(2026, 3, 29)); // at six it is summer already
        assertEquals(
                micros(ZonedDateTime.of(LocalDate.of(2026, 3, 29), LocalTime.of(6, 0), ZoneId.of("Europe/Berlin"))
                        .toInstant()),
                days.start(number));
        CalendarUnits months = new CalendarUnits(Unit.MONTH, 14 * DAY, ZoneOffset.UTC);
        assertEquals(micros("2026-02-15T00:00:00Z"), months.start(months.at(micros("2026-03-14T23:59:59Z"))));
        assertEquals(micros("2026-03-15T00:00:00Z"), months.start(months.at(micros("2026-03-15T00:00:00Z"))));
    }

    @Test
    void theEndsOfAllTimesAreInSomeUnit() {
        for (String name : ZONES) {
            for (Unit unit : Unit.values()) {
                CalendarUnits units = new CalendarUnits(unit, 0, ZoneId.of(name));
                long least = units.at(Long.MIN_VALUE);
                long most = units.at(Long.MAX_VALUE);
                assertTrue(least < units.at(0) && units.at(0) < most);
                assertTrue(units.start(least) < units.start(least + 1));
                assertTrue(units.start(most) < units.start(most + 1));
                assertTrue(units.start(most + 1_000_000) > 0);
                assertTrue(units.start(least - 1_000_000) < 0);
            }
        }
    }
}
