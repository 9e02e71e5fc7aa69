package dev.millrace.expressions.function;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.expressions.function.time.DatePart;
import dev.millrace.expressions.function.time.DateTrunc;
import dev.millrace.expressions.function.time.Timestamps;
import dev.millrace.memory.Memory;
import dev.millrace.testing.memory.LeakCheck;
import java.time.DayOfWeek;
import java.time.LocalDateTime;
import java.time.Period;
import java.time.ZoneOffset;
import java.time.temporal.ChronoField;
import java.time.temporal.ChronoUnit;
import java.time.temporal.IsoFields;
import java.time.temporal.TemporalAdjusters;
import java.util.SplittableRandom;
import org.apache.arrow.memory.ArrowBuf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Fields, truncation and arithmetic of random times against java.time. */
class CalendarTest {
    private static final int RUNS = 20_000;
    private static final long SEED = 5;

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    private interface Prepared {
        void prepare(long address, int length);
    }

    private void prepare(String text, Prepared target) {
        byte[] bytes = text.getBytes(java.nio.charset.StandardCharsets.UTF_8);
        try (ArrowBuf buffer = memory.allocator().buffer(bytes.length)) {
            Memory.copyIn(bytes, 0, buffer.memoryAddress(), bytes.length);
            target.prepare(buffer.memoryAddress(), bytes.length);
        }
    }

    private static long micros(LocalDateTime time) {
        return time.toEpochSecond(ZoneOffset.UTC) * 1_000_000 + time.getNano() / 1000;
    }

    private static LocalDateTime random(SplittableRandom random) {
        long seconds = random.nextInt(4) == 0
                ? random.nextLong(-60_000_000_000L, 4_000_000_000_000L)
                : random.nextLong(-3_000_000_000L, 5_000_000_000L);
        return LocalDateTime.ofEpochSecond(seconds, random.nextInt(1_000_000) * 1000, ZoneOffset.UTC);
    }

    private interface Field {
        long of(LocalDateTime time);
    }

    private void checkPart(String name, Field field) {
        DatePart part = new DatePart();
        prepare(name, part::prepare);
        SplittableRandom random = new SplittableRandom(SEED);
        for (int run = 0; run < RUNS; run++) {
            LocalDateTime time = random(random);
            assertEquals(field.of(time), (long) part.ofTimestamp(micros(time)), () -> name + " of " + time);
        }
    }

    @Test
    void fieldsAreThoseOfTheCalendar() {
        checkPart("year", time -> time.getYear() > 0 ? time.getYear() : time.getYear() - 1);
        checkPart("month", LocalDateTime::getMonthValue);
        checkPart("day", LocalDateTime::getDayOfMonth);
        checkPart("doy", LocalDateTime::getDayOfYear);
        checkPart("isodow", time -> time.getDayOfWeek().getValue());
        checkPart("dow", time -> time.getDayOfWeek().getValue() % 7);
        checkPart("week", time -> time.get(IsoFields.WEEK_OF_WEEK_BASED_YEAR));
        checkPart("quarter", time -> time.get(IsoFields.QUARTER_OF_YEAR));
        checkPart("hour", LocalDateTime::getHour);
        checkPart("minute", LocalDateTime::getMinute);
        checkPart("microseconds", time -> time.getSecond() * 1_000_000L + time.get(ChronoField.MICRO_OF_SECOND));
    }

    private interface Truncation {
        LocalDateTime of(LocalDateTime time);
    }

    private void checkTrunc(String name, Truncation truncation) {
        DateTrunc trunc = new DateTrunc();
        prepare(name, trunc::prepare);
        SplittableRandom random = new SplittableRandom(SEED);
        LocalDateTime time = random(random);
        for (int run = 0; run < RUNS; run++) {
            LocalDateTime now = random.nextInt(3) == 0 ? random(random) : time.plusSeconds(random.nextInt(90));
            assertEquals(micros(truncation.of(now)), trunc.timestamp(micros(now)), () -> name + " of " + now);
            time = now;
        }
    }

    @Test
    void truncationBeginsThePeriod() {
        checkTrunc("millisecond", time -> time.truncatedTo(ChronoUnit.MILLIS));
        checkTrunc("second", time -> time.truncatedTo(ChronoUnit.SECONDS));
        checkTrunc("minute", time -> time.truncatedTo(ChronoUnit.MINUTES));
        checkTrunc("hour", time -> time.truncatedTo(ChronoUnit.HOURS));
        checkTrunc("day", time -> time.truncatedTo(ChronoUnit.DAYS));
        checkTrunc(
                "week",
                time -> time.truncatedTo(ChronoUnit.DAYS).with(TemporalAdjusters.previousOrSame(DayOfWeek.MONDAY)));
        checkTrunc("month", time -> time.truncatedTo(ChronoUnit.DAYS).withDayOfMonth(1));
        checkTrunc("year", time -> time.truncatedTo(ChronoUnit.DAYS).withDayOfYear(1));
    }

    @Test
    void monthsAreAddedUpToTheirLastDay() {
        SplittableRandom random = new SplittableRandom(SEED);
        for (int run = 0; run < RUNS; run++) {
            LocalDateTime time = random(random);
            int months = random.nextInt(-500, 500);
            int days = random.nextInt(-500, 500);
            long micros = random.nextLong(-1L << 50, 1L << 50);
            LocalDateTime expected =
                    time.plus(Period.ofMonths(months)).plusDays(days).plus(micros, ChronoUnit.MICROS);
            if (expected.getYear() > -4000) {
                assertEquals(micros(expected), Timestamps.add(micros(time), months, days, micros), time::toString);
            }
        }
    }
}
