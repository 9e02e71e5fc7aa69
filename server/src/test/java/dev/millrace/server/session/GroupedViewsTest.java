package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.server.group.QueryGroups;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Materialized views that differ in literals alone share what runs them, and each has its own answer. */
class GroupedViewsTest {
    private static final String STREAM = "CREATE STREAM readings (device TEXT, n INT, temp DOUBLE PRECISION)";
    private static final String FILTERS = "SELECT n, temp FROM readings WHERE device = '%s' AND n > %d";
    private static final String GROUPS =
            "SELECT n %% 3 AS k, count(*) AS c, sum(n) AS s FROM readings WHERE device = '%s' AND n > %d GROUP BY n %% 3";
    private static final String TOTALS =
            "SELECT count(*) AS c, max(n) AS m FROM readings WHERE device = '%s' AND n > %d";
    private static final List<String> FORMS = List.of(FILTERS, GROUPS, TOTALS);

    @TempDir
    Path folder;

    private static String view(String name, String form, String device, int above) {
        return "CREATE MATERIALIZED VIEW " + name + " AS " + String.format(form, device, above);
    }

    /** Makes so many of a form that the next is a member. */
    private static void fill(TestDatabase db, String form) {
        for (int i = 0; i < QueryGroups.APART; i++) {
            db.run(view("apart_" + i, form, "none", 0));
        }
    }

    private static boolean isMember(TestDatabase db, String name) {
        return db.database()
                .instance()
                .standing(name)
                .flatMap(StandingQuery::group)
                .isPresent();
    }

    private static void insert(TestDatabase db, String... rows) {
        db.run("INSERT INTO readings VALUES " + String.join(", ", rows));
    }

    /** Rows of three devices. */
    private static void insert(TestDatabase db, SplittableRandom random) {
        String[] rows = new String[random.nextInt(1, 20)];
        for (int i = 0; i < rows.length; i++) {
            rows[i] = "('" + (char) ('x' + random.nextInt(3)) + "', " + random.nextInt(40) + ", " + random.nextInt(9)
                    + ")";
        }
        insert(db, rows);
    }

    private static List<String> rows(TestDatabase db, String view) {
        return db.rows("SELECT * FROM " + view).stream().sorted().toList();
    }

    private static void same(TestDatabase db, String view, String alone) {
        assertEquals(rows(db, alone), rows(db, view), view);
    }

    @Test
    void aMemberIsReadInWhateverWayAsAViewByItself() {
        try (TestDatabase db = new TestDatabase(2)) {
            db.run(STREAM);
            fill(db, FILTERS);
            db.run(view("x", FILTERS, "x", 10) + ";" + view("y", FILTERS, "y", 0));
            assertFalse(isMember(db, "apart_0"));
            assertTrue(isMember(db, "x") && isMember(db, "y"));
            assertEquals(List.of(), rows(db, "x"));
            insert(db, "('x', 10, 1)", "('x', 11, 2)", "('x', 12, 3)", "('x', 12, 3)", "('y', 1, 4)");
            assertEquals(List.of("11|2", "12|3", "12|3"), rows(db, "x")); // what was written is read
            assertEquals(List.of("1|4"), rows(db, "y"));
            assertEquals(List.of("12|3", "12|3"), db.rows("SELECT * FROM x WHERE n = 12"));
            db.run("CREATE INDEX ON x (n)");
            assertEquals(List.of("12|3", "12|3"), db.rows("SELECT * FROM x WHERE n > 11 ORDER BY n"));
            insert(db, "('x', 13, 5)");
            assertEquals(List.of("12|3", "12|3", "13|5"), db.rows("SELECT * FROM x WHERE n > 11 ORDER BY n"));
            assertEquals(
                    List.of("1|11", "1|12", "1|12", "1|13"),
                    db.rows("SELECT y.n, x.n FROM x, y WHERE y.n < x.n ORDER BY 1, 2"));
            db.run("BEGIN");
            assertEquals(List.of("4|5"), db.rows("SELECT count(*), max(temp) FROM x"));
            db.run("COMMIT");
            assertTrue(isMember(db, "x") && isMember(db, "y"));
            try (Heard x = new Heard(db, "x WITH (SNAPSHOT)");
                    Heard changes = new Heard(db, "x")) {
                insert(db, "('x', 20, 0)", "('y', 20, 0)");
                db.run("FLUSH");
                assertEquals(Map.of("11|2", 1L, "12|3", 2L, "13|5", 1L, "20|0", 1L), x.all());
                assertEquals(Map.of("20|0", 1L), changes.all());
            }
        }
    }

    @Test
    void whatIsSaidOfAMemberIsWhatIsSaidOfAViewByItself() {
        try (TestDatabase db = new TestDatabase(2)) {
            db.run(STREAM);
            fill(db, FILTERS);
            db.run(view("x", FILTERS, "x", 10) + ";" + view("y", FILTERS, "y", 0));
            insert(db, "('x', 11, 1)", "('x', 12, 2)", "('y', 1, 4)");
            db.run("FLUSH");
            assertEquals(
                    List.of("apart_0|materialized view|running|3|0|0", "x|materialized view|running|3|2|2"),
                    db.rows("SELECT query, kind, state, rows_in, rows_out, view_rows FROM millrace.query_stats"
                            + " WHERE query IN ('apart_0', 'x') ORDER BY query"));
            assertEquals(
                    List.of("x|running|2|3|0"),
                    db.rows("SHOW MATERIALIZED VIEWS").stream()
                            .filter(row -> row.startsWith("x|"))
                            .map(row -> row.replaceAll("[|]+$", ""))
                            .toList());
            assertEquals(
                    List.of((QueryGroups.APART + 2) + "|apart_0|readings|2"),
                    db.rows("SELECT queries, first_query, relation, shared FROM millrace.query_groups"));
            List<String> plan = db.rows("EXPLAIN " + view("next", FILTERS, "y", 2));
            assertEquals("shared with 2 queries that differ in literals alone", plan.get(plan.size() - 1));
            assertTrue(db.rows("EXPLAIN ANALYZE MATERIALIZED VIEW x").stream()
                    .anyMatch(row -> row.startsWith("shared by 2 queries that differ in literals alone|1|3|2")));
            assertTrue(db.rows("EXPLAIN CREATE CONTINUOUS QUERY q AS " + String.format(FILTERS, "x", 1)).stream()
                    .noneMatch(line -> line.startsWith("shared")));
            db.run("COMMENT ON MATERIALIZED VIEW x IS 'said'");
            assertTrue(isMember(db, "x"));
        }
    }

    @Test
    void whoIsPausedAlteredRenamedOrReadLeavesTheGroupWithoutLoss() {
        for (String form : FORMS) {
            try (TestDatabase db = new TestDatabase(2)) {
                db.run(STREAM);
                db.run("SET query_groups = off; " + view("alone", form, "x", 3) + "; SET query_groups = on");
                fill(db, form);
                for (String name : List.of("p", "a", "r", "s", "t", "n")) {
                    db.run(view(name, form, "x", 3));
                }
                SplittableRandom random = new SplittableRandom(form.hashCode());
                insert(db, random);
                try (Heard heard = new Heard(db, "p WITH (SNAPSHOT)");
                        Heard alone = new Heard(db, "alone WITH (SNAPSHOT)")) {
                    db.run("PAUSE MATERIALIZED VIEW p");
                    List<String> before = rows(db, "p");
                    insert(db, random);
                    assertEquals(before, rows(db, "p"));
                    db.run("RESUME MATERIALIZED VIEW p; FLUSH");
                    same(db, "p", "alone");
                    insert(db, random);
                    db.run("FLUSH");
                    assertEquals(alone.all(), heard.all(), form);
                }
                db.run("CREATE MATERIALIZED VIEW of_r AS SELECT * FROM r");
                db.run("ALTER MATERIALIZED VIEW n RENAME TO m");
                assertFalse(isMember(db, "p") || isMember(db, "r") || isMember(db, "m"));
                assertTrue(isMember(db, "s") && isMember(db, "a") && isMember(db, "t"));
                insert(db, random);
                for (String name : List.of("p", "r", "of_r", "m", "s", "t")) {
                    same(db, name, "alone");
                }
                db.run("ALTER STREAM readings RENAME TO measured");
                assertTrue(isMember(db, "s") && isMember(db, "t"));
                db.run("ALTER STREAM measured RENAME TO readings");
                db.run("ALTER MATERIALIZED VIEW a AS " + String.format(form, "y", 3));
                assertFalse(isMember(db, "a"));
                insert(db, random);
                for (String name : List.of("p", "r", "of_r", "m", "s", "t")) {
                    same(db, name, "alone");
                }
                db.run("DROP MATERIALIZED VIEW t; " + view("t", form, "x", 3));
                assertTrue(isMember(db, "t"));
                assertEquals(form.equals(TOTALS) ? List.of("0|") : List.of(), rows(db, "t"));
            }
        }
    }

    @Test
    void aStreamThatIsRenamedKeepsItsMembers() {
        try (TestDatabase db = new TestDatabase(2)) {
            db.run(STREAM);
            fill(db, GROUPS);
            db.run(view("x", GROUPS, "x", 0) + ";" + view("y", GROUPS, "x", 0));
            insert(db, "('x', 1, 1)", "('x', 4, 1)");
            db.run("ALTER STREAM readings RENAME TO measured");
            db.run("INSERT INTO measured VALUES ('x', 7, 1)");
            assertEquals(List.of("1|3|12"), rows(db, "x"));
            assertTrue(isMember(db, "x"));
            assertEquals(
                    List.of("measured|2"),
                    db.rows("SELECT relation, shared FROM millrace.query_groups WHERE shared > 0"));
            db.run("PAUSE MATERIALIZED VIEW x; RESUME MATERIALIZED VIEW x; INSERT INTO measured VALUES ('x', 10, 1)");
            assertEquals(List.of("1|4|22"), rows(db, "x"));
            assertEquals(List.of("1|4|22"), rows(db, "y"));
        }
    }

    @Test
    void aMemberThatFailsFailsAloneAndGoesOnWithoutTheRow() {
        String form = "SELECT n, 10 / (n - %2$d) AS d FROM readings WHERE device = '%1$s'";
        try (TestDatabase db = new TestDatabase(2)) {
            db.run(STREAM);
            fill(db, form);
            db.run(view("a", form, "x", 3) + ";" + view("b", form, "x", 5));
            insert(db, "('y', 3, 0)", "('x', 4, 0)");
            insert(db, "('x', 3, 0)", "('x', 13, 0)");
            db.run("FLUSH");
            String told = db.error("SELECT * FROM a");
            assertTrue(told.startsWith("22012 materialized view \"a\" failed: row 3: division by zero"), told);
            assertEquals(List.of("13|1", "3|-5", "4|-10"), rows(db, "b"));
            assertTrue(isMember(db, "b"));
            assertEquals(
                    List.of("a|failed|22012", "b|running|"),
                    db.rows(
                            "SELECT query, state, sqlstate FROM millrace.query_stats WHERE query IN ('a', 'b') ORDER BY query"));
            db.run("RESUME MATERIALIZED VIEW a SKIP ROW");
            insert(db, "('x', 5, 0)");
            assertEquals(List.of("13|1", "4|10", "5|5"), rows(db, "a"));
            assertTrue(db.error("SELECT * FROM b").startsWith("22012"));
        }
    }

    @Test
    void aGroupThatFailsAndComesBackIsAnErrorAsLongAsItIs() {
        String form = "SELECT n, 100 / (count(*) - 3) AS q FROM readings WHERE device = '%s' AND n > %d GROUP BY n";
        try (TestDatabase db = new TestDatabase(folder)) {
            db.run(STREAM);
            fill(db, form);
            db.run(view("a", form, "x", 0) + ";" + view("b", form, "y", 0));
            insert(db, "('x', 1, 0)", "('x', 1, 0)", "('x', 1, 0)", "('y', 2, 0)");
            assertTrue(db.error("SELECT * FROM a").startsWith("22012"));
            assertEquals(List.of("2|-50"), rows(db, "b"));
            db.run("CHECKPOINT");
        }
        try (TestDatabase db = new TestDatabase(folder)) {
            assertTrue(db.error("SELECT * FROM a").startsWith("22012"));
            assertEquals(List.of("2|-50"), rows(db, "b"));
            insert(db, "('x', 1, 0)");
            assertEquals(List.of("1|100"), rows(db, "a"));
        }
    }

    @Test
    void optionsAndTheSettingKeepAViewByItself() {
        try (TestDatabase db = new TestDatabase(2)) {
            db.run(STREAM);
            fill(db, FILTERS);
            db.run("CREATE MATERIALIZED VIEW first WITH (priority = '1') AS " + String.format(FILTERS, "x", 1));
            db.run("SET query_groups = off; " + view("off", FILTERS, "x", 1) + "; SET query_groups = on");
            db.run(view("on_again", FILTERS, "x", 1));
            assertFalse(isMember(db, "first") || isMember(db, "off"));
            assertTrue(isMember(db, "on_again"));
        }
    }

    @Test
    void aMemberWithoutRowsHasNoView() {
        try (TestDatabase db = new TestDatabase(2)) {
            db.run(STREAM);
            fill(db, FILTERS);
            for (int i = 0; i < 100; i++) {
                db.run(view("v" + i, FILTERS, "d" + i, 0));
            }
            long before = db.database().engine().allocatedBytes();
            insert(db, "('d1', 1, 1)");
            db.run("FLUSH");
            assertEquals(List.of("1"), db.rows("SELECT count(*) FROM millrace.query_stats WHERE view_rows > 0"));
            assertTrue(db.database().engine().allocatedBytes() - before < 64 << 10);
        }
    }

    @Test
    void whatASessionSetsOrAViewIsAlteredToAfterACheckpointTakesNoRowFromIt() {
        try (TestDatabase db = new TestDatabase(folder)) {
            db.run(STREAM);
            db.run("SET row_timeout = '20s'");
            fill(db, GROUPS);
            db.run(view("x", GROUPS, "x", 0) + ";" + view("y", GROUPS, "x", 0));
            db.run("SET row_timeout = '30s'; " + view("other", GROUPS, "x", 0));
            assertTrue(isMember(db, "x") && isMember(db, "y"));
            assertFalse(isMember(db, "other")); // who would be stopped at another time
            insert(db, "('x', 1, 1)", "('x', 4, 1)");
            db.run("FLUSH; CHECKPOINT");
            db.run("ALTER MATERIALIZED VIEW y SET (schedule = 'every 1 hour')");
        }
        try (TestDatabase db = new TestDatabase(folder)) {
            assertEquals(List.of(), db.rows("SELECT name FROM millrace.recovery WHERE way = 'anew'"));
            for (String name : List.of("x", "y", "other")) {
                assertEquals(List.of("1|2|5"), rows(db, name), name);
            }
            assertTrue(isMember(db, "x"));
            assertFalse(isMember(db, "y") || isMember(db, "other"));
            insert(db, "('x', 7, 1)");
            assertEquals(List.of("1|3|12"), rows(db, "x"));
            assertEquals(List.of("1|2|5"), rows(db, "y")); // within the hour
        }
    }

    @Test
    void membersWithoutMemoryFailTogetherAndAreFailedWhenTheDatabaseIsOpenedAgain() {
        String form = "SELECT device || repeat('.', 1000) AS d, n FROM readings WHERE device = '%s' AND n > %d";
        try (TestDatabase db = new TestDatabase(folder)) {
            db.run(STREAM);
            fill(db, form);
            db.run(view("x", form, "x", 0) + ";" + view("y", form, "y", 0));
            insert(db, "('x', 1, 1)", "('y', 1, 1)");
            db.run("FLUSH; ALTER SYSTEM SET spill_limit = '0'; ALTER SYSTEM SET memory_limit = '16MB'");
            db.run("INSERT INTO readings SELECT 'x', i, 0 FROM generate_series(1, 30000) g(i)");
            db.run("FLUSH");
            assertTrue(db.error("SELECT * FROM x").startsWith("53200 materialized view \"x\" failed:"));
            assertTrue(db.error("SELECT * FROM y").startsWith("53200 materialized view \"y\" failed:"));
            db.run("CHECKPOINT");
        }
        try (TestDatabase db = new TestDatabase(folder)) {
            assertTrue(db.error("SELECT * FROM x").startsWith("53200 materialized view \"x\" failed:"));
            db.run("RESUME MATERIALIZED VIEW y");
            insert(db, "('y', 2, 1)");
            assertEquals(List.of("2"), db.rows("SELECT n FROM y"));
            db.run("DROP MATERIALIZED VIEW x, y");
        }
    }

    @Tag("long")
    @Test
    void aDatabaseThatIsOpenedAgainHasItsMembersWithTheirRows() {
        for (int checkpoints = 0; checkpoints < 2; checkpoints++) {
            for (int form = 0; form < FORMS.size(); form++) {
                try {
                    openedAgain(folder.resolve(checkpoints + "-" + form), FORMS.get(form), checkpoints == 1);
                } catch (RuntimeException | AssertionError e) {
                    throw new AssertionError(FORMS.get(form) + ", checkpoints " + checkpoints + ": " + e, e);
                }
            }
        }
    }

    private static void openedAgain(Path directory, String form, boolean withCheckpoints) {
        SplittableRandom random = new SplittableRandom(form.hashCode());
        for (int round = 0; round < 5; round++) {
            try (TestDatabase db = new TestDatabase(directory)) {
                String stream = round < 3 ? "readings" : "measured";
                if (round == 0) {
                    db.run(STREAM);
                    db.run("SET query_groups = off; " + view("alone", form, "x", 2) + "; SET query_groups = on");
                    fill(db, form);
                    for (String name : List.of("one", "two", "three", "four", "five")) {
                        db.run(view(name, form, "x", 2));
                    }
                    db.run(view("other", form, "y", 2));
                }
                assertEquals(List.of(), db.rows("SELECT name FROM millrace.not_restored"));
                assertEquals(
                        List.of(),
                        db.rows(
                                "SELECT name FROM millrace.recovery WHERE way = 'anew' AND name NOT IN ('of_four', 'other')"));
                String three = round < 2 ? "three" : "third";
                List<String> all = round < 2
                        ? List.of("one", "two", three, "four")
                        : List.of("one", "two", three, "four", "of_four");
                for (String name : all) {
                    same(db, name, "alone");
                }
                if (withCheckpoints || round < 3) { // else they are made again in another order, and others are first
                    assertTrue(isMember(db, "one") && isMember(db, "two") && isMember(db, "other"), "round " + round);
                }
                assertEquals(round < 2, isMember(db, "four"));
                db.run("INSERT INTO " + stream + " VALUES ('x', " + random.nextInt(50)
                        + ", 1), ('x', 30, 2), ('y', 5, 3)");
                all.forEach(name -> same(db, name, "alone"));
                if (withCheckpoints) {
                    db.run("CHECKPOINT");
                }
                if (round == 1) { // after the checkpoint
                    db.run("ALTER MATERIALIZED VIEW three RENAME TO third");
                    db.run("CREATE MATERIALIZED VIEW of_four AS SELECT * FROM four");
                    db.run("DROP MATERIALIZED VIEW other; " + view("other", form, "y", 2));
                } else if (round == 2) {
                    db.run("ALTER STREAM readings RENAME TO measured");
                    stream = "measured";
                    assertFalse(rows(db, "other").isEmpty());
                }
                db.run("INSERT INTO " + stream + " VALUES ('x', " + random.nextInt(50)
                        + ", 1), ('x', 31, 2), ('y', 6, 3)");
            }
        }
    }
}
