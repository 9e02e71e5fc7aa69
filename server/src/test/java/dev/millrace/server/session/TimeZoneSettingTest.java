package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.server.result.StatementResult;
import dev.millrace.sql.ParsedStatement;
import dev.millrace.sql.bind.type.Parameters;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The session's time zone, and those of what goes on without it. Answers beside PostgreSQL's are in TimeZonesTest. */
class TimeZoneSettingTest {
    private static final String NOON = "SELECT ('2020-07-01 12:00'::timestamptz AT TIME ZONE 'UTC')::text";

    @TempDir
    Path folder;

    @Test
    void namesAndDistancesAreZones() {
        try (TestDatabase db = new TestDatabase()) {
            for (String[] each : new String[][] {
                {"europe/berlin", "Europe/Berlin", "10"},
                {"UTC", "UTC", "12"},
                {"z", "UTC", "12"},
                {"cet", "Europe/Brussels", "10"},
                {"EDT", "EDT", "16"},
                {"2", "<+02>-02", "10"},
                {"+5.5", "<+05:30>-05:30", "06:30"},
                {"-03:30", "-03:30", "08:30"}, // as POSIX has it, which counts to the west
                {"XYZ+3", "XYZ+3", "15"}
            }) {
                db.run("SET TIME ZONE '" + each[0] + "'");
                assertEquals(List.of(each[1]), db.rows("SHOW timezone"));
                String time = each[2].length() == 2 ? each[2] + ":00" : each[2];
                assertEquals(List.of("2020-07-01 " + time + ":00"), db.rows(NOON), each[0]);
            }
            for (String none : List.of("Europe/Nowhere", "", "25", "'", "Europe/Berlin; DROP", "x".repeat(10_000))) {
                assertTrue(
                        db.error("SET timezone = '" + none.replace("'", "''") + "'")
                                .startsWith("22023 setting \"timezone\" cannot be"),
                        none);
            }
        }
    }

    /** What was prepared in one zone is executed in the other, again and again. */
    @Test
    void aStatementIsOfTheZoneInWhichItIsExecuted() {
        try (TestDatabase db = new TestDatabase()) {
            db.run("CREATE TABLE t (id INT PRIMARY KEY, t TIMESTAMPTZ)");
            ParsedStatement insert =
                    db.session().parse("INSERT INTO t VALUES ($1, $2)").get(0);
            ParsedStatement find = db.session()
                    .parse("SELECT id FROM t WHERE t = $1 AND id = $2")
                    .get(0);
            ParsedStatement constant = db.session()
                    .parse("SELECT '2020-07-01 12:00'::timestamptz = t FROM t WHERE id = 1")
                    .get(0);
            List<String> zones = List.of("UTC", "Europe/Berlin", "Asia/Tokyo", "UTC", "Europe/Berlin");
            for (int i = 0; i < zones.size(); i++) {
                db.run("SET timezone = '" + zones.get(i) + "'");
                String id = "" + (i + 1);
                execute(db, insert, id, "2020-07-01 12:00");
                assertEquals(List.of(id), execute(db, find, "2020-07-01 12:00", id));
                assertEquals(List.of(zones.get(i).equals("UTC") ? "t" : "f"), execute(db, constant));
                db.run("INSERT INTO t VALUES (" + (i + 100) + ", '2020-07-01 12:00')");
            }
            db.run("SET timezone = 'UTC'");
            assertEquals(
                    List.of("100|12", "101|10", "102|03", "103|12", "104|10", "1|12", "2|10", "3|03", "4|12", "5|10"),
                    db.rows("SELECT id, to_char(t, 'HH24') FROM t"));
        }
    }

    private static List<String> execute(TestDatabase db, ParsedStatement statement, String... values) {
        Parameters parameters = Parameters.of(
                List.of(), List.of(values).stream().map(Optional::of).toList());
        if (db.session().insertsAtOnce(statement)) {
            Optional<Session.Acceptance> accepted = db.session().insertAtOnce(statement, parameters);
            if (accepted.isPresent()) {
                accepted.get().result().close();
                db.session().endStatement();
                return List.of();
            }
        }
        try (StatementResult result = db.session().execute(statement, parameters)) {
            return result instanceof StatementResult.Rows rows ? TestDatabase.texts(rows) : List.of();
        }
    }

    /** A view is in UTC, and says so, or in its own zone, whoever made it and after a restart. */
    @Test
    void aStandingQueryIsInItsOwnZone() {
        try (TestDatabase db = new TestDatabase(folder.resolve("data"))) {
            db.run("CREATE STREAM s (t TIMESTAMPTZ, v INT)");
            db.run("SET timezone = 'Asia/Tokyo'");
            db.run(
                    "CREATE MATERIALIZED VIEW plain AS SELECT date_trunc('day', t)::text AS day, sum(v) AS v FROM s GROUP BY 1");
            assertEquals(
                    List.of(
                            "it computes in UTC, whatever the session's time zone is; WITH (timezone = 'Asia/Tokyo') has it"
                                    + " in that zone"),
                    db.notices());
            db.run(
                    "CREATE MATERIALIZED VIEW berlin WITH (timezone = 'Europe/Berlin') AS SELECT date_trunc('day', t)::text AS day,"
                            + " sum(v) AS v FROM s WHERE t >= '2020-03-28' GROUP BY 1");
            assertEquals(1, db.notices().size());
            db.run(
                    "INSERT INTO s VALUES ('2020-03-27 22:30+00', 1), ('2020-03-28 23:30+00', 2), ('2020-03-29 21:30+00', 4),"
                            + " ('2020-03-29 22:30+00', 8), ('2020-03-27 23:00+00', 16)");
            assertViews(db);
            assertTrue(
                    db.rows("SHOW CREATE MATERIALIZED VIEW berlin").toString().contains("Europe/Berlin"));
            assertEquals(
                    "0A000 ALTER of a query WITH (timezone = ..) is not available yet | CREATE OR REPLACE it",
                    db.error("ALTER MATERIALIZED VIEW berlin AS SELECT t::text AS day, v FROM s"));
            assertEquals(
                    "22023 option \"timezone\" cannot be \"Europe/Nowhere\" | it is a time zone, such as 'Europe/Berlin'",
                    db.error("CREATE MATERIALIZED VIEW no WITH (timezone = 'Europe/Nowhere') AS SELECT v FROM s"));
        }
        try (TestDatabase db = new TestDatabase(folder.resolve("data"))) {
            db.run("SET timezone = 'America/New_York'");
            assertViews(db);
            db.run("INSERT INTO s VALUES ('2020-03-29 22:30', 32)"); // in New York, so it is the 30th elsewhere
            assertEquals(
                    List.of("2020-03-30 00:00:00+02|40"), db.rows("SELECT * FROM berlin WHERE day LIKE '2020-03-30%'"));
            assertEquals(
                    List.of("2020-03-30 00:00:00+00|32"), db.rows("SELECT * FROM plain WHERE day LIKE '2020-03-30%'"));
        }
    }

    private static void assertViews(TestDatabase db) {
        assertEquals(
                List.of("2020-03-27 00:00:00+00|17", "2020-03-28 00:00:00+00|2", "2020-03-29 00:00:00+00|12"),
                db.rows("TABLE plain"));
        assertEquals(
                List.of("2020-03-28 00:00:00+01|16", "2020-03-29 00:00:00+01|6", "2020-03-30 00:00:00+02|8"),
                db.rows("TABLE berlin"));
    }
}
