package dev.millrace.server.pgwire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What DateStyle and IntervalStyle do to dates, times and intervals is what they do in PostgreSQL: psql asks both the same. */
@Tag("peers")
@Timeout(120)
class TimeStylesTest {
    private static final List<String> FORMS = List.of("ISO", "SQL", "Postgres", "German");
    private static final List<String> ORDERS = List.of("YMD", "DMY", "MDY");
    private static final List<String> INTERVALS = List.of("postgres", "postgres_verbose", "sql_standard", "iso_8601");

    /** Of the columns d, a date, l, a timestamp, t, a timestamptz, and i, an interval. */
    private static final List<String> WRITTEN = List.of(
            "d",
            "l",
            "t",
            "i",
            "d::text",
            "l::text",
            "t::text",
            "i::text",
            "d || ' ' || l",
            "concat(t, i)",
            "ARRAY[l]",
            "ARRAY[i]",
            "row(d, i)",
            "format('%s', l)",
            "l::varchar(8)",
            "to_json(l)",
            "age(l, '2000-01-01 00:00')",
            "l - '2000-01-01 00:00'",
            "to_char(l, 'DD Mon')",
            "extract(day FROM l)");

    /** Days whose numbers say more or less of what they are. */
    private static final List<String> READ = List.of(
            "1/2/2003",
            "13/2/2003",
            "2/13/2003",
            "1-2-3",
            "01-02-03",
            "99-1-2",
            "1.2.1999",
            "1999-01-08",
            "08-Jan-1999",
            "Jan-08-99",
            "99-Jan-08",
            "08-Jan-99",
            "Jan 8 1999",
            "8 Jan 1999",
            "1999 Jan 8",
            "January 8, 99 BC",
            "19990108",
            "990108",
            "1999.008",
            "J2451187",
            "31.12.1999",
            "Fri Dec 31 1999",
            "2003-30-01",
            "30 12 2003",
            "12 30 2003");

    @TempDir
    Path folder;

    private static String questions() {
        StringBuilder script = new StringBuilder("SET timezone = 'America/New_York';\n"
                + "CREATE TABLE times (id INT PRIMARY KEY, d DATE, l TIMESTAMP, t TIMESTAMPTZ, i INTERVAL);\n"
                + "CREATE TABLE texts (id INT PRIMARY KEY, x TEXT);\n");
        Random random = new Random(1);
        for (int i = 0; i < 30; i++) {
            String time = "%04d-%02d-%02d %02d:%02d:%02d%s"
                    .formatted(
                            i < 3 ? 1 + random.nextInt(1900) : 1900 + random.nextInt(137),
                            1 + random.nextInt(12),
                            1 + random.nextInt(28),
                            random.nextInt(24),
                            random.nextInt(60),
                            random.nextInt(60),
                            random.nextBoolean() ? "" : "." + (1 + random.nextInt(999_999)));
            // What clocks of New York were called in the war, and before there were zones, only PostgreSQL knows.
            String instant = i < 3 ? "2020-01-01 00:00:00" : time.replaceFirst("^19[0-6]", "199");
            script.append("INSERT INTO times VALUES (%d, '%s', '%s', '%s', '%s');\n"
                    .formatted(i, time.substring(0, 10), time, instant, interval(random)));
        }
        script.append("INSERT INTO times VALUES (50, '0044-03-15 BC', '0044-03-15 12:00 BC', NULL, '0');\n");
        for (int i = 0; i < READ.size(); i++) {
            script.append("INSERT INTO texts VALUES (%d, '%s');\n".formatted(i, READ.get(i)));
        }
        for (String form : FORMS) {
            for (String order : ORDERS) {
                script.append("SET datestyle = '%s, %s';\nSHOW datestyle;\n".formatted(form, order));
                write(script, form + order);
                if (form.equals("ISO") || form.equals("German")) {
                    read(script, form + order);
                }
            }
        }
        script.append("SET datestyle = 'iso, mdy';\n");
        for (String style : INTERVALS) {
            script.append("SET intervalstyle = %s;\nSHOW intervalstyle;\n".formatted(style));
            write(script, style);
        }
        String[] intervals = {
            "1 day 1 day",
            "1 week 1 day",
            "1 2",
            "1 2:03",
            "1 -2:03:04.5",
            "1-2 3",
            "1-2 3:04",
            "1 mon 1-2",
            "1.5 s 3 ms",
            "1.0 s 3 ms",
            "1 s 3 ms 4 us",
            "1:02 3 us",
            "1:02 3 h",
            "1 h 3",
            "1 s 3",
            "3 h 1 mon 2 years 4 days",
            "1 year 1 decade 1 century",
            "2 days ago",
            "@ 1 day 2 hours ago",
            "1 day -2:00",
            "+1-2 +3 +4:05:06",
            "P1Y2M-3DT4H",
            "1 +2",
            "1 2 days"
        };
        for (int i = 0; i < intervals.length; i++) {
            script.append("SELECT 'intervals', %d, '%s'::interval;\n".formatted(i, intervals[i]));
        }
        for (String value : List.of("german", "ymd", "sql", "european", "us", "default", "")) {
            script.append("SET datestyle = '%s';\nSHOW datestyle;\n".formatted(value));
        }
        return script.append("BEGIN;\nSET LOCAL datestyle = german;\nSELECT date '2.1.2020';\nCOMMIT;\n")
                .append("SELECT date '2.1.2020';\nRESET datestyle;\n")
                .toString();
    }

    private static String interval(Random random) {
        StringBuilder text = new StringBuilder();
        String[] units = {"year", "month", "day", "hour", "minute", "second"};
        boolean sameSign = random.nextBoolean();
        int sign = random.nextBoolean() ? 1 : -1;
        for (String unit : units) {
            if (random.nextInt(3) == 0) {
                int amount = (sameSign ? sign : random.nextBoolean() ? 1 : -1) * random.nextInt(30);
                boolean hasFraction = unit.equals("second") && random.nextBoolean();
                text.append(amount).append(hasFraction ? "." + (1 + random.nextInt(999)) : "");
                text.append(' ').append(unit).append(' ');
            }
        }
        return text.length() == 0 ? "1 second" : text.toString();
    }

    private static void write(StringBuilder script, String style) {
        for (int i = 0; i < WRITTEN.size(); i++) {
            script.append("SELECT '%s', %d, id, %s FROM times ORDER BY id;\n".formatted(style, i, WRITTEN.get(i)));
        }
        script.append("COPY (SELECT * FROM times ORDER BY id) TO STDOUT;\n");
    }

    /** By constants, casts of a column, COPY, parameters and inserts. */
    private static void read(StringBuilder script, String style) {
        for (int i = 0; i < READ.size(); i++) {
            String text = READ.get(i);
            script.append(
                    "SELECT '%s', %d, to_char(date '%s', 'YYYY-MM-DD'), '%s 12:00'::timestamp - '2000-01-01'::timestamp;\n"
                            .formatted(style, i, text, text));
            script.append(
                    "SELECT '%s', %d, x::date, (x || ' 1:00')::timestamp, x::timestamptz FROM texts WHERE id = %d;\n"
                            .formatted(style, i, i));
            script.append("BEGIN;\nCOPY times (id, d, l) FROM STDIN;\n100\t%s\t%s\n\\.\n".formatted(text, text));
            script.append("SELECT '%s', %d, d, l FROM times WHERE id = 100;\nROLLBACK;\n".formatted(style, i));
            script.append("BEGIN;\nINSERT INTO times (id, d, t) VALUES (101, '%s', '%s');\n".formatted(text, text));
            script.append("SELECT '%s', %d, d, t FROM times WHERE id = 101;\nROLLBACK;\n".formatted(style, i));
        }
        script.append("PREPARE p (date) AS SELECT id FROM times WHERE d < $1 ORDER BY id;\n");
        script.append("EXECUTE p('1/2/2003');\nDEALLOCATE p;\n");
    }

    @Test
    void answersInAStyleAreThoseOfPostgresql() throws Exception {
        BesidePostgresql answers = BesidePostgresql.ask(questions(), folder);
        assertTrue(
                answers.expected().size() > 10_000,
                () -> "there are answers: " + answers.expected().size());
        assertEquals("", answers.differences());
    }
}
