package dev.millrace.text;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.error.MillraceException;
import dev.millrace.type.DataType;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TimeTextTest {
    private final Texts texts = new Texts();
    private final long seed = Long.getLong("seed", 1);
    private final Random random = new Random(seed);

    @AfterEach
    void close() {
        texts.close();
    }

    private String timestamp(String text) {
        return texts.echo(text, (address, length) -> {
            long micros = texts.parser.timestamp(address, length);
            return out -> ValueWriter.timestamp(out, micros);
        });
    }

    private String timestamptz(String text) {
        return texts.echo(text, (address, length) -> {
            long micros = texts.parser.timestamptz(address, length);
            return out -> ValueWriter.timestamptz(out, micros);
        });
    }

    private String interval(String text) {
        return texts.echo(text, (address, length) -> {
            if (!texts.parser.tryInterval(address, length)) {
                throw texts.parser.failure(DataType.INTERVAL, address, length);
            }
            int months = texts.parser.months();
            int days = texts.parser.days();
            long micros = texts.parser.value();
            return out -> ValueWriter.interval(out, months, days, micros);
        });
    }

    private String formatted(String pattern, String text) {
        TimestampFormat format = TimestampFormat.compile(pattern);
        return texts.echo(text, (address, length) -> {
            boolean read = texts.parser.tryTimestamp(format, address, length);
            long micros = texts.parser.value();
            return out -> {
                if (read) {
                    ValueWriter.timestamp(out, micros);
                } else {
                    out.appendAscii(texts.parser
                            .failure(DataType.TIMESTAMP, address, length)
                            .sqlState()
                            .code());
                }
            };
        });
    }

    @Test
    void datesAgreeWithTheJdkOverAllYears() {
        for (int i = 0; i < 50_000; i++) {
            long days = random.nextInt(3_600_000) - 719_162; // years 1 to 9857
            LocalDate date = LocalDate.ofEpochDay(days);
            assertEquals(days, (long) texts.read(date.toString(), texts.parser::date), date + ", seed " + seed);
            assertEquals(date.toString(), texts.write(out -> ValueWriter.date(out, days)));
        }
    }

    @Test
    void timestampsAgreeWithTheJdk() {
        DateTimeFormatter plain = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss.SSSSSS");
        for (int i = 0; i < 50_000; i++) {
            long micros = (random.nextLong() >>> 10) / 40 - 60_000_000_000_000_000L;
            LocalDateTime time = LocalDateTime.ofEpochSecond(
                    Math.floorDiv(micros, 1_000_000L), (int) Math.floorMod(micros, 1_000_000L) * 1000, ZoneOffset.UTC);
            String text = plain.format(time);
            assertEquals(micros, texts.read(text, texts.parser::timestamp), text + ", seed " + seed);
            assertEquals(micros, texts.read(text.replace(' ', 'T') + "Z", texts.parser::timestamptz), text);
            int minutes = random.nextInt(1600) - 800;
            String zone = (minutes < 0 ? "-" : "+")
                    + String.format("%02d:%02d", Math.abs(minutes) / 60, Math.abs(minutes) % 60);
            assertEquals(
                    micros - minutes * 60_000_000L,
                    texts.read(text + zone, texts.parser::timestamptz),
                    text + zone + ", seed " + seed);
            String trimmed = text.replaceAll("\\.?0{1,6}$", "");
            trimmed = text.endsWith(".000000") ? text.substring(0, 19) : trimmed;
            assertEquals(trimmed, texts.write(out -> ValueWriter.timestamp(out, micros)));
        }
    }

    @Test
    void timestampsTakeTheFormsThatPostgresTakes() {
        String[][] cases = {
            {"2020-01-01", "2020-01-01 00:00:00"},
            {"2020-01-01 00:00:00.123", "2020-01-01 00:00:00.123"},
            {"2020-1-5 7:08", "2020-01-05 07:08:00"},
            {"20200105T070809", "2020-01-05 07:08:09"},
            {"2020/01/05 07:08:09.5", "2020-01-05 07:08:09.5"},
            {"1/8/1999", "1999-01-08 00:00:00"},
            {"January 8, 1999", "1999-01-08 00:00:00"},
            {"8-Jan-99 04:05 PM", "1999-01-08 16:05:00"},
            {"1999-Jan-08", "1999-01-08 00:00:00"},
            {"  2020-01-01T01:02:03.1234567  ", "2020-01-01 01:02:03.123457"},
            {"2020-12-31 23:59:59.9999999", "2021-01-01 00:00:00"},
            {"2020-01-01 24:00:00", "2020-01-02 00:00:00"},
            {"2020-01-01 10:00:00+05", "2020-01-01 10:00:00"},
            {"epoch", "1970-01-01 00:00:00"},
            {"0044-03-15 BC", "0044-03-15 00:00:00 BC"},
            {"2012-02-22T16:46:28.9670320+00:00", "2012-02-22 16:46:28.967032"},
            {"10000-01-01", "10000-01-01 00:00:00"},
        };
        for (String[] pair : cases) {
            assertEquals(pair[1], timestamp(pair[0]), pair[0]);
        }
        assertEquals("2020-01-01 08:00:00+00", timestamptz("2020-01-01 10:00:00+02"));
        assertEquals("2020-01-01 04:30:00+00", timestamptz("2020-01-01 10:00:00 +0530"));
        assertEquals("2020-01-01 10:00:00+00", timestamptz("2020-01-01T10:00:00Z"));
        assertEquals("2020-01-01 10:00:00.5+00", timestamptz("2020-01-01 10:00:00.5 UTC"));
    }

    @Test
    void timestampErrors() {
        assertEquals("22007 invalid input syntax for type timestamp: \"abc\"", texts.error(DataType.TIMESTAMP, "abc"));
        assertEquals(
                "22007 invalid input syntax for type timestamp with time zone: \"\"",
                texts.error(DataType.TIMESTAMPTZ, ""));
        assertEquals(
                "22008 date/time field value out of range: \"2020-13-01\"",
                texts.error(DataType.TIMESTAMP, "2020-13-01"));
        assertEquals(
                "22008 date/time field value out of range: \"2017-02-29\"", texts.error(DataType.DATE, "2017-02-29"));
        assertEquals(
                "22008 date/time field value out of range: \"2020-01-01 25:00:00\"",
                texts.error(DataType.TIMESTAMP, "2020-01-01 25:00:00"));
        assertEquals("22008 timestamp out of range: \"300000-01-01\"", texts.error(DataType.TIMESTAMP, "300000-01-01"));
        assertEquals("22008 timestamp out of range: \"294276-01-01\"", texts.error(DataType.TIMESTAMP, "294276-01-01"));
        assertEquals(
                "22007 invalid input syntax for type date: \"\0\0\0\0\0\0\0\0\0\0\"".replace('\0', '\ufffd'),
                texts.error(DataType.DATE, "\0\0\0\0\0\0\0\0\0\0"));
        assertEquals(
                "22007 invalid input syntax for type timestamp: \"2020-01-01 10:00:00x\"",
                texts.error(DataType.TIMESTAMP, "2020-01-01 10:00:00x"));
        assertEquals(
                "22007 invalid input syntax for type timestamp: \"infinity 12:00\"",
                texts.error(DataType.TIMESTAMP, "infinity 12:00"));
        assertEquals("22007 invalid input syntax for type time: \"infinity\"", texts.error(DataType.TIME, "infinity"));
        assertEquals("22007 invalid input syntax for type time: \"12\"", texts.error(DataType.TIME, "12"));
    }

    @Test
    void infinityReadsAndWritesAsTheEndsOfTheNumbers() {
        assertEquals("infinity", timestamp(" Infinity "));
        assertEquals("-infinity", timestamp("-infinity"));
        assertEquals("infinity", timestamptz("infinity"));
        assertEquals("-infinity", timestamptz("-INFINITY"));
        assertEquals(Integer.MAX_VALUE, texts.read("infinity", texts.parser::date));
        assertEquals(Integer.MIN_VALUE, texts.read("-infinity", texts.parser::date));
        assertEquals("-infinity", texts.write(out -> ValueWriter.date(out, Integer.MIN_VALUE)));
        ZoneClock clock = new ZoneClock(ZoneId.of("America/St_Johns"));
        assertEquals(Long.MAX_VALUE, clock.fromUtc(Long.MAX_VALUE));
        assertEquals(Long.MIN_VALUE, clock.toUtc(Long.MIN_VALUE));
    }

    @Test
    void timesReadAndWrite() {
        assertEquals(60_000_000L, texts.read("0:01:00", texts.parser::time));
        assertEquals(86_400_000_000L, texts.read("24:00:00", texts.parser::time));
        assertEquals("04:05:06.789", texts.write(out -> ValueWriter.time(out, 14_706_789_000L)));
        assertEquals("24:00:00", texts.write(out -> ValueWriter.time(out, 86_400_000_000L)));
    }

    @Test
    void intervalsTakeTheFormsThatPostgresTakes() {
        String[][] cases = {
            {"1 day 02:03:04", "1 day 02:03:04"},
            {"5 minutes", "00:05:00"},
            {"P1DT2H", "1 day 02:00:00"},
            {"1 year 2 mons 3 days 04:05:06.789", "1 year 2 mons 3 days 04:05:06.789"},
            {"1 month", "1 mon"},
            {"-1 day +02:03:04", "-1 days +02:03:04"},
            {"1 day ago", "-1 days"},
            {"1.5 days", "1 day 12:00:00"},
            {"1.5 months", "1 mon 15 days"},
            {"1.5 years", "1 year 6 mons"},
            {"2 weeks", "14 days"},
            {"1.5 weeks", "10 days 12:00:00"},
            {"0", "00:00:00"},
            {"90", "00:01:30"},
            {"1-2", "1 year 2 mons"},
            {"3 4:05:06", "3 days 04:05:06"},
            {"-00:00:01.5", "-00:00:01.5"},
            {"100:00:00", "100:00:00"},
            {"@ 1 hour 30 min", "01:30:00"},
            {"250 ms", "00:00:00.25"},
            {"P1Y2M3DT4H5M6.5S", "1 year 2 mons 3 days 04:05:06.5"},
            {"P2W", "14 days"},
            {"0.1 seconds", "00:00:00.1"},
            {"1 mon -1 days", "1 mon -1 days"},
            {"-1 year", "-1 years"},
            {"10 us", "00:00:00.00001"},
        };
        for (String[] pair : cases) {
            assertEquals(pair[1], interval(pair[0]), pair[0]);
        }
        assertEquals(
                "22007 invalid input syntax for type interval: \"1 fortnight\"",
                texts.error(DataType.INTERVAL, "1 fortnight"));
        assertEquals("22007", texts.error(DataType.INTERVAL, "").substring(0, 5));
        assertEquals(
                "22008 interval field value out of range: \"99999999999999999999 days\"",
                texts.error(DataType.INTERVAL, "99999999999999999999 days"));
    }

    @Test
    void intervalsReadBackWhatTheyWrite() {
        for (int i = 0; i < 50_000; i++) {
            int months = random.nextInt(2000) - 1000;
            int days = random.nextInt(2000) - 1000;
            long micros = (random.nextLong() >> 20) / (random.nextBoolean() ? 1 : 1_000_000) * 1;
            String text = texts.write(out -> ValueWriter.interval(out, months, days, micros));
            assertEquals(true, texts.read(text, texts.parser::tryInterval), text);
            assertEquals(months, texts.parser.months(), text + ", seed " + seed);
            assertEquals(days, texts.parser.days(), text + ", seed " + seed);
            assertEquals(micros, texts.parser.value(), text + ", seed " + seed);
        }
    }

    @Test
    void formatsReadWhatTheyDescribe() {
        assertEquals("2007-01-13 00:00:00", formatted("D/M/YY|D/M/YYYY", "13/1/2007"));
        assertEquals("2007-01-02 00:00:00", formatted("D/M/YY|D/M/YYYY", "2/1/07"));
        assertEquals("2004-03-10 00:00:00", formatted("DD/MM/YYYY", "10/03/2004"));
        assertEquals("1970-01-01 18:30:05", formatted("HH24.MI.SS", "18.30.05"));
        assertEquals("2020-02-03 04:05:06.789", formatted("YYYY-MM-DD HH24:MI:SS.US", "2020-02-03 04:05:06.789"));
        assertEquals("2020-02-03 04:05:06", formatted("YYYYMMDDHH24MISS", "20200203040506"));
        assertEquals("2013-08-04 06:44:30", formatted("unix", "1375598670"));
        assertEquals("2013-08-04 06:44:30.5", formatted("unix", "1375598670.5"));
        assertEquals("2006-11-13 17:14:01.123", formatted("unix_ms", "1163438041123"));
        assertEquals("2006-11-13 17:14:01.123456", formatted("unix_us", "1163438041123456"));
        assertEquals("1969-12-31 23:59:59", formatted("unix", "-1"));
        assertEquals("2026-01-02 00:00:00", formatted("unix_days", "20455"));
        assertEquals("1969-12-31 00:00:00", formatted("unix_days", "-1"));
        assertEquals("22008", formatted("unix_days", "123456789"));
        assertEquals("2020-03-07 16:00:00", formatted("DD-MON-YYYY HH12:MI AM", "7-Mar-2020 4:00 pm"));
        assertEquals("2020-03-07 14:00:00", formatted("YYYY-MM-DD\"T\"HH24:MITZ", "2020-03-07T16:00+02:00"));
        assertEquals("2020-03-07 14:00:00", formatted("iso", "2020-03-07T16:00+02:00"));
        assertEquals("22008", formatted("DD/MM/YYYY", "10/13/2004"));
        assertEquals("22007", formatted("DD/MM/YYYY", "10/13/04"));
        assertEquals("22007", formatted("DD/MM/YYYY", "10/12/2004 " + "x"));
        assertThrows(MillraceException.class, () -> TimestampFormat.compile("DD||MM"));
        assertThrows(MillraceException.class, () -> TimestampFormat.compile("DD\"x"));
    }
}
