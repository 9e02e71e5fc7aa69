package dev.millrace.server.pgwire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a session's time zone does to TIMESTAMPTZ is what it does in PostgreSQL: psql asks both the same. */
@Tag("peers")
@Timeout(120)
class TimeZonesTest {
    private static final List<String> ZONES = List.of(
            "Europe/Berlin",
            "america/new_york",
            "America/St_Johns",
            "Asia/Kolkata",
            "Australia/Lord_Howe",
            "Pacific/Apia",
            "UTC",
            "5.5",
            "-7");

    /** Local times; about half of them near a change of the clocks of one of the zones. */
    private static final String[] LOCAL = {
        "2020-03-29 01:59:59.999999",
        "2020-03-29 02:30:00",
        "2020-03-29 03:00:00",
        "2020-10-25 02:00:00",
        "2020-10-25 02:59:59",
        "2020-10-25 03:00:00",
        "2021-03-14 02:15:00",
        "2021-11-07 01:30:00",
        "2011-12-30 12:00:00",
        "1970-01-01 00:00:00",
        "1999-12-31 23:59:59",
        "2024-02-29 12:34:56.789"
    };

    /** Of the column t, a TIMESTAMPTZ, and l, a TIMESTAMP. */
    private static final List<String> EXPRESSIONS = List.of(
            "t",
            "t::timestamp",
            "t::date",
            "t::time",
            "t::text",
            "t || ''",
            "concat(t, '!')",
            "l::timestamptz",
            "l::date::timestamptz",
            "l::text::timestamptz",
            "(l::text || ' America/Chicago')::timestamptz",
            "(l::text || '+03:30')::timestamptz",
            "(l::text || ' PST')::timestamptz",
            "(l::text || ' CET')::timestamptz",
            "t AT TIME ZONE 'CEST'",
            "t AT TIME ZONE 'Asia/Tokyo'",
            "l AT TIME ZONE 'Asia/Tokyo'",
            "t AT TIME ZONE INTERVAL '2 hours'",
            "date_trunc('day', t)",
            "date_trunc('hour', t)",
            "date_trunc('month', t)",
            "date_part('hour', t)",
            "date_part('epoch', t)",
            "extract(dow FROM t)",
            "extract(epoch FROM t)",
            "extract(timezone FROM t)",
            "extract(timezone_hour FROM t)",
            "extract(timezone_minute FROM t)",
            "to_char(t, 'YYYY-MM-DD HH24:MI:SS.US')",
            "to_char(t, 'HH24:MI OF TZH:TZM of tzh')",
            "to_char(t, CASE WHEN id % 2 = 0 THEN 'OF' ELSE 'TZH' END)",
            "to_timestamp('2020-07-01 12:00', 'YYYY-MM-DD HH24:MI')",
            "to_timestamp('2020-07-01 12:00 +05:20', 'YYYY-MM-DD HH24:MI TZH:TZM')",
            "to_timestamp('2020-10-25 02:30', 'YYYY-MM-DD HH24:MI')",
            "make_timestamptz(2020, 7, 1, 12, 0, 0)",
            "age(t, '2001-04-10 12:00')",
            "t + INTERVAL '1 day'",
            "t - INTERVAL '1 month 1 day 3 hours'",
            "INTERVAL '24 hours' + t",
            "t - '2020-01-01'",
            "t > '2020-03-29 02:30'",
            "t = l",
            "t >= l::date",
            "t IN ('2020-03-29 03:00', '1970-01-01')",
            "t BETWEEN '2020-01-01' AND '2021-01-01'",
            "greatest(t, '2020-10-25 02:30')",
            "CASE WHEN l > '2000-01-01' THEN t ELSE l END",
            "coalesce(NULL, l, t)",
            "ARRAY[t]",
            "'{2020-07-01 12:00}'::timestamptz[]",
            "row(t, l)::text IS NULL");

    @TempDir
    Path folder;

    /** Each line says which question it answers. */
    private static String questions() {
        StringBuilder script =
                new StringBuilder("CREATE TABLE times (id INT PRIMARY KEY, t TIMESTAMPTZ, l TIMESTAMP);\n");
        Random random = new Random(1);
        List<String> locals = new ArrayList<>(List.of(LOCAL));
        for (int i = 0; i < 20; i++) {
            locals.add("%d-%02d-%02d %02d:%02d:%02d"
                    .formatted(
                            1971 + random.nextInt(60),
                            1 + random.nextInt(12),
                            1 + random.nextInt(28),
                            random.nextInt(24),
                            random.nextInt(60),
                            random.nextInt(60)));
        }
        for (String zone : ZONES) {
            script.append("SET timezone = '").append(zone).append("';\nSHOW timezone;\nDELETE FROM times;\n");
            for (int i = 0; i < locals.size(); i++) { // by constants, and one at a time
                script.append(
                        "INSERT INTO times VALUES (%d, '%s', '%s');\n".formatted(i, locals.get(i), locals.get(i)));
            }
            for (int i = 0; i < EXPRESSIONS.size(); i++) {
                script.append(
                        "SELECT '%s', %d, id, %s FROM times ORDER BY id;\n".formatted(zone, i, EXPRESSIONS.get(i)));
            }
            script.append("UPDATE times SET t = '2020-07-01 12:00' WHERE id = 0;\n");
            script.append("SELECT id, t FROM times WHERE t = '2020-07-01 12:00' ORDER BY id;\n");
            script.append("COPY times FROM STDIN;\n100\t2020-07-01 12:00\t2020-07-01 12:00\n\\.\n");
            script.append("COPY (SELECT * FROM times ORDER BY id) TO STDOUT;\n");
            script.append("PREPARE p (timestamptz) AS SELECT id, t FROM times WHERE t >= $1 ORDER BY id;\n");
            script.append("EXECUTE p('2020-07-01 12:00');\nDEALLOCATE p;\n");
        }
        script.append("SET timezone = 'Europe/Berlin';\nBEGIN;\nSET LOCAL timezone = 'Asia/Tokyo';\n"
                + "SELECT '2020-07-01 12:00+00'::timestamptz;\nCOMMIT;\nSELECT '2020-07-01 12:00+00'::timestamptz;\n"
                + "RESET timezone;\nSELECT TIMESTAMPTZ '2020-07-01 12:00' AT TIME ZONE 'UTC';\n");
        return script.toString();
    }

    @Test
    void answersInATimeZoneAreThoseOfPostgresql() throws Exception {
        String script = "SET timezone = 'UTC';\n" + questions().replace("RESET timezone", "SET timezone = 'UTC'");
        BesidePostgresql answers = BesidePostgresql.ask(script, folder);
        assertTrue(
                answers.expected().size() > 12_000,
                () -> "there are answers: " + answers.expected().size());
        assertEquals("", answers.differences());
        assertTrue(Stream.of("2020-07-01 12:00:00+02", "2020-07-01 12:00:00-04")
                .allMatch(shown -> answers.ours().stream().anyMatch(line -> line.contains(shown))));
    }
}
