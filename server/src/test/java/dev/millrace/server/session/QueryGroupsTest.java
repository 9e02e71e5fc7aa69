package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.server.group.QueryGroups;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Ordinary queries that differ in literals alone share what runs them, and nobody sees it. */
class QueryGroupsTest {
    private static final String STREAM = "CREATE STREAM readings (device TEXT, n INT, temp DOUBLE PRECISION)";

    @TempDir
    Path folder;

    /** Makes so many of a form that the next is a member. */
    private static void fill(TestDatabase db) {
        for (int i = 0; i < QueryGroups.APART; i++) {
            db.run(query("apart_" + i, "none", 0));
        }
    }

    private static String query(String name, String device, double above) {
        return "CREATE CONTINUOUS QUERY " + name + " AS SELECT n, temp FROM readings WHERE device = '" + device
                + "' AND temp > " + above;
    }

    private static boolean isMember(TestDatabase db, String name) {
        return db.database()
                .instance()
                .standing(name)
                .flatMap(StandingQuery::group)
                .isPresent();
    }

    private static void insert(TestDatabase db, String... rows) {
        db.run("INSERT INTO readings VALUES " + String.join(", ", rows) + "; FLUSH");
    }

    @Test
    void membersAreToldTheirRowsAndNoOthers() {
        try (TestDatabase db = new TestDatabase(2)) {
            db.run(STREAM);
            fill(db);
            db.run(query("x", "x", 10) + ";" + query("y", "y", 20) + ";" + query("z", "x", 30));
            assertFalse(isMember(db, "apart_0"));
            assertTrue(isMember(db, "x") && isMember(db, "y") && isMember(db, "z"));
            try (Heard x = new Heard(db, "x");
                    Heard y = new Heard(db, "y");
                    Heard z = new Heard(db, "z")) {
                insert(
                        db,
                        "('x', 1, 10)",
                        "('x', 2, 20)",
                        "('x', 3, 40)",
                        "('y', 4, 21)",
                        "(NULL, 5, 50)",
                        "('y', 6, NULL)");
                assertEquals(Map.of("2|20", 1L, "3|40", 1L), x.all());
                assertEquals(Map.of("4|21", 1L), y.all());
                assertEquals(Map.of("3|40", 1L), z.all());
            }
            assertEquals(
                    List.of("x|continuous query|running|6|2", "y|continuous query|running|6|1"),
                    db.rows("SELECT query, kind, state, rows_in, rows_out FROM millrace.query_stats"
                            + " WHERE query IN ('x', 'y') ORDER BY query"));
            assertEquals(
                    List.of((QueryGroups.APART + 3) + "|apart_0|readings|3"),
                    db.rows("SELECT queries, first_query, relation, shared FROM millrace.query_groups"));
        }
    }

    @Test
    void otherFormsAndOtherConstantsOfCodeAreOtherGroups() {
        try (TestDatabase db = new TestDatabase(2)) {
            db.run(STREAM);
            for (int i = 0; i < QueryGroups.APART + 2; i++) {
                db.run("CREATE CONTINUOUS QUERY a" + i + " AS SELECT 'rule " + i
                        + "' AS rule, n * 2 + " + i + " AS m FROM readings WHERE temp BETWEEN " + i + " AND " + (i + 5)
                        + " AND device LIKE 'b%'");
                db.run("CREATE CONTINUOUS QUERY b" + i + " AS SELECT 'rule " + i
                        + "' AS rule, n * 2 + " + i + " AS m FROM readings WHERE temp BETWEEN " + i + " AND " + (i + 5)
                        + " AND device LIKE 'c%'");
            }
            assertTrue(isMember(db, "a7") && isMember(db, "b8"));
            try (Heard a = new Heard(db, "a7");
                    Heard b = new Heard(db, "b8")) {
                insert(db, "('boiler', 1, 7)", "('car', 2, 8)", "('boiler', 3, 12.5)", "('car', 4, 13)");
                assertEquals(Map.of("rule 7|9", 1L), a.all());
                assertEquals(Map.of("rule 8|12", 1L, "rule 8|16", 1L), b.all());
            }
        }
    }

    @Test
    void aMemberSeesNoRowThatCameBeforeIt() {
        try (TestDatabase db = new TestDatabase(2)) {
            db.run(STREAM);
            fill(db);
            db.run(query("first", "x", 0));
            db.run("INSERT INTO readings VALUES ('x', 1, 1)"); // the epoch may be open still
            db.run(query("q", "x", 0));
            db.run("INSERT INTO readings VALUES ('x', 2, 2); FLUSH");
            assertEquals(
                    List.of("first|2|2", "q|1|1"),
                    db.rows("SELECT query, rows_in, rows_out FROM millrace.query_stats"
                            + " WHERE query IN ('first', 'q') ORDER BY query"));
        }
    }

    @Test
    void aDroppedMemberAnswersNoMoreAndItsNameIsFree() {
        try (TestDatabase db = new TestDatabase(2)) {
            db.run(STREAM);
            fill(db);
            db.run(query("x", "x", 0) + ";" + query("y", "y", 0));
            try (Heard x = new Heard(db, "x");
                    Heard y = new Heard(db, "y")) {
                db.run("DROP CONTINUOUS QUERY x");
                db.run(query("x", "z", 0));
                try (Heard again = new Heard(db, "x")) {
                    insert(db, "('x', 1, 1)", "('y', 2, 2)", "('z', 3, 3)");
                    assertEquals(Map.of(), x.all());
                    assertEquals(Map.of("2|2", 1L), y.all());
                    assertEquals(Map.of("3|3", 1L), again.all());
                }
            }
            db.run("DROP CONTINUOUS QUERY x, y");
            db.run(query("y", "y", 1));
            try (Heard y = new Heard(db, "y")) {
                insert(db, "('y', 2, 2)");
                assertEquals(Map.of("2|2", 1L), y.all());
            }
            db.run("DROP STREAM readings CASCADE");
        }
    }

    @Test
    void aMemberThatFailsFailsAloneAndGoesOnWithoutTheRow() {
        try (TestDatabase db = new TestDatabase(2)) {
            db.run(STREAM);
            for (int i = 0; i < QueryGroups.APART; i++) {
                db.run("CREATE CONTINUOUS QUERY q" + i + " AS SELECT n, 10 / (n - " + i
                        + ") AS d FROM readings WHERE device = 'none'");
            }
            db.run("CREATE CONTINUOUS QUERY a AS SELECT n, 10 / (n - 3) AS d FROM readings WHERE device = 'x'");
            db.run("CREATE CONTINUOUS QUERY b AS SELECT n, 10 / (n - 5) AS d FROM readings WHERE device = 'x'");
            assertTrue(isMember(db, "a") && isMember(db, "b"));
            try (Heard a = new Heard(db, "a");
                    Heard b = new Heard(db, "b")) {
                insert(db, "('y', 3, 0)", "('x', 4, 0)", "('x', 3, 0)");
                insert(db, "('x', 6, 0)");
                assertEquals(Map.of("4|-10", 1L, "3|-5", 1L, "6|10", 1L), b.all());
                String told = db.error("SUBSCRIBE TO a");
                assertTrue(told.startsWith("22012 continuous query \"a\" failed: row 3: division by zero"), told);
            }
            assertEquals(
                    List.of("a|failed|22012", "b|running|"),
                    db.rows(
                            "SELECT query, state, sqlstate FROM millrace.query_stats WHERE query IN ('a', 'b') ORDER BY query"));
            assertTrue(db.error("RESUME CONTINUOUS QUERY a").startsWith("22012"));
            db.run("RESUME CONTINUOUS QUERY a SKIP ROW");
            assertTrue(isMember(db, "b"));
            try (Heard a = new Heard(db, "a")) {
                insert(db, "('x', 13, 0)");
                assertEquals(Map.of("13|1", 1L), a.all());
            }
            assertEquals(
                    List.of("a|row 3: division by zero|1"),
                    db.rows("SELECT stream, reason, rows FROM millrace.rejected_rows"));
        }
    }

    @Test
    void whoIsPausedAlteredOrReadLeavesTheGroupWithoutLoss() {
        try (TestDatabase db = new TestDatabase(2)) {
            db.run(STREAM);
            fill(db);
            for (String name : List.of("p", "q", "r", "s")) {
                db.run(query(name, "x", 0));
            }
            try (Heard p = new Heard(db, "p");
                    Heard q = new Heard(db, "q");
                    Heard r = new Heard(db, "r");
                    Heard s = new Heard(db, "s")) {
                insert(db, "('x', 1, 1)");
                db.run("PAUSE CONTINUOUS QUERY p");
                db.run("ALTER CONTINUOUS QUERY q AS SELECT n, temp FROM readings WHERE device = 'y' AND temp > 0");
                db.run("CREATE MATERIALIZED VIEW of_r AS SELECT sum(n) AS n FROM r");
                assertFalse(isMember(db, "p") || isMember(db, "q") || isMember(db, "r"));
                assertTrue(isMember(db, "s"));
                insert(db, "('x', 2, 2)", "('y', 3, 3)");
                assertEquals(Map.of("1|1", 1L), p.all());
                db.run("RESUME CONTINUOUS QUERY p; FLUSH");
                assertEquals(Map.of("1|1", 1L, "2|2", 1L), p.all());
                assertEquals(Map.of("1|1", 1L, "3|3", 1L), q.all());
                assertEquals(Map.of("1|1", 1L, "2|2", 1L), r.all());
                assertEquals(Map.of("1|1", 1L, "2|2", 1L), s.all());
                assertEquals(List.of("2"), db.rows("SELECT n FROM of_r"));
            }
        }
    }

    @Test
    void changesSinceATimeAreToldToWhoComesAgainAlsoAfterTheMemberLeft() {
        try (TestDatabase db = new TestDatabase(2)) {
            db.run(STREAM);
            fill(db);
            db.run(query("x", "x", 0));
            try (Heard first = new Heard(db, "x")) {
                insert(db, "('x', 1, 1)", "('y', 9, 9)");
                assertEquals(Map.of("1|1", 1L), first.all());
            }
            String since = db.rows("SELECT to_char(now() - INTERVAL '1 hour', 'YYYY-MM-DD HH24:MI:SS')")
                    .get(0);
            assertTrue(db.error("SUBSCRIBE TO x AS OF '" + since + "'").startsWith("72000"));
            assertTrue(db.error("SUBSCRIBE TO x WITH (SNAPSHOT)").startsWith("55000"));
        }
    }

    @Test
    void optionsAndTheSettingKeepAQueryByItself() {
        try (TestDatabase db = new TestDatabase(2)) {
            db.run(STREAM);
            fill(db);
            db.run(
                    "CREATE CONTINUOUS QUERY first WITH (priority = '1') AS SELECT n, temp FROM readings WHERE device = 'x' AND temp > 1");
            db.run("SET query_groups = off");
            db.run(query("off", "x", 1));
            db.run("SET query_groups = on");
            db.run(query("on_again", "x", 1));
            assertFalse(isMember(db, "first") || isMember(db, "off"));
            assertTrue(isMember(db, "on_again"));
            List<String> plan = db.rows("EXPLAIN " + query("next", "y", 2));
            assertEquals("shared with 1 queries that differ in literals alone", plan.get(plan.size() - 1));
        }
    }

    @Test
    void aDatabaseThatIsOpenedAgainHasItsMembers() {
        List<String> names = new ArrayList<>();
        try (TestDatabase db = new TestDatabase(folder)) {
            db.run(STREAM);
            fill(db);
            for (int i = 0; i < 20; i++) {
                names.add("m" + i);
                db.run(query("m" + i, "d" + i, i));
            }
            db.run("CREATE MATERIALIZED VIEW of_m1 AS SELECT n FROM m1");
            db.run("PAUSE CONTINUOUS QUERY m2");
            insert(db, "('d1', 1, 50)", "('d2', 2, 50)");
            db.run("DROP CONTINUOUS QUERY m0");
        }
        for (int round = 0; round < 2; round++) {
            try (TestDatabase db = new TestDatabase(folder)) {
                assertEquals(List.of(), db.rows("SELECT name FROM millrace.not_restored"));
                assertFalse(isMember(db, "m1") || isMember(db, "m2"));
                assertTrue(isMember(db, "m3") && isMember(db, "m19"));
                try (Heard m3 = new Heard(db, "m3")) {
                    insert(db, "('d3', 3, 50)", "('d4', 4, 50)", "('d1', 5, 50)");
                    assertEquals(Map.of("3|50", 1L), m3.all());
                }
                assertEquals(2 + round, db.rows("SELECT n FROM of_m1").size());
                assertEquals(
                        "paused",
                        db.rows("SELECT state FROM millrace.query_stats WHERE query = 'm2'")
                                .get(0));
                db.run("CHECKPOINT");
            }
        }
        try (TestDatabase db = new TestDatabase(folder)) {
            try (Heard m2 = new Heard(db, "m2")) {
                db.run("RESUME CONTINUOUS QUERY m2; FLUSH");
                assertEquals(Map.of("2|50", 1L), m2.all());
            }
        }
    }
}
