package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Queries that are rows: each gives what the same query with its values written in would. */
class TemplatesTest {
    private static final long SEED = Long.getLong("millrace.templates.seed", System.nanoTime() >>> 20);
    private static final int QUERIES = Integer.getInteger("millrace.templates.queries", 12);
    private static final String STREAM =
            "CREATE STREAM readings (device TEXT, ts TIMESTAMP, temp DOUBLE PRECISION," + " WATERMARK FOR ts AS ts)";
    private static final String TEMPLATE = "CREATE QUERY TEMPLATE over_limit(dev TEXT, lim DOUBLE PRECISION) AS"
            + " SELECT ts, temp FROM readings WHERE device = dev AND temp > lim";

    @TempDir
    Path folder;

    @Test
    void aQueryHasTheRowsOfItsParametersAndNoOthers() {
        try (TestDatabase db = new TestDatabase(2)) {
            db.run(STREAM);
            db.run(TEMPLATE);
            db.run("CREATE CONTINUOUS QUERY hot_boiler FROM TEMPLATE over_limit('boiler-4711', 80.0)");
            db.run("INSERT INTO over_limit VALUES ('hot_pump', 'pump-1', 10 + 20)");
            try (Heard all = new Heard(db, "over_limit_answers")) {
                db.run(
                        "INSERT INTO readings VALUES ('boiler-4711', '2026-01-01', 80), ('boiler-4711', '2026-01-02', 81),"
                                + " ('pump-1', '2026-01-03', 81), (NULL, '2026-01-03', 81)");
                db.run("FLUSH");
                assertEquals(
                        Map.of("hot_boiler|2026-01-02 00:00:00|81", 1L, "hot_pump|2026-01-03 00:00:00|81", 1L),
                        all.all());
            }
            assertEquals(
                    List.of(
                            "over_limit|2|dev text, lim double precision|SELECT ts, temp FROM readings WHERE device = dev AND"
                                    + " temp > lim"),
                    db.rows("SHOW QUERY TEMPLATES"));
            assertEquals(
                    List.of("2|over_limit_answers"), db.rows("SELECT queries, first_query FROM millrace.query_groups"));
        }
    }

    @Test
    void whoSubscribesToAQueryHearsItAlone() {
        try (TestDatabase db = new TestDatabase(2)) {
            db.run(STREAM);
            db.run(TEMPLATE);
            db.run("CREATE CONTINUOUS QUERY a FROM TEMPLATE over_limit('x', 1)");
            db.run("CREATE CONTINUOUS QUERY aa FROM TEMPLATE over_limit('y', 1)");
            try (Heard a = new Heard(db, "a");
                    Heard some = new Heard(db, "(SELECT temp * 2 AS twice FROM aa WHERE temp < 9)")) {
                db.run(
                        "INSERT INTO readings VALUES ('x', '2026-01-01', 5), ('y', '2026-01-02', 7), ('y', '2026-01-02', 9)");
                db.run("FLUSH");
                assertEquals(Map.of("2026-01-01 00:00:00|5", 1L), a.all());
                assertEquals(Map.of("14", 1L), some.all());
            }
        }
    }

    @Test
    void aNameIsOneObjects() {
        try (TestDatabase db = new TestDatabase(2)) {
            db.run(STREAM);
            db.run(TEMPLATE);
            db.run("CREATE CONTINUOUS QUERY q FROM TEMPLATE over_limit('x', 1)");
            String exists = "42P07 relation \"q\" already exists";
            assertTrue(db.error("CREATE CONTINUOUS QUERY q FROM TEMPLATE over_limit('y', 1)")
                    .startsWith(exists));
            assertTrue(db.error("CREATE TABLE q (a INT)").startsWith(exists));
            assertTrue(db.error("CREATE CONTINUOUS QUERY readings FROM TEMPLATE over_limit('y', 1)")
                    .startsWith("42P07 relation \"readings\" already exists"));
            db.run("CREATE CONTINUOUS QUERY IF NOT EXISTS q FROM TEMPLATE over_limit('y', 1)");
            assertEquals(List.of("q|x|1"), db.rows("SELECT * FROM over_limit"));
            db.run("DROP CONTINUOUS QUERY q; CREATE CONTINUOUS QUERY q FROM TEMPLATE over_limit('z', 1)");
            assertEquals(List.of("q|z|1"), db.rows("SELECT * FROM over_limit"));
            assertTrue(db.error("DROP CONTINUOUS QUERY r").startsWith("42P01"));
            db.run("DROP CONTINUOUS QUERY IF EXISTS r, q");
            assertEquals(List.of(), db.rows("SELECT * FROM over_limit"));
            db.run("DROP QUERY TEMPLATE over_limit");
            assertEquals(List.of(), db.rows("SHOW QUERY TEMPLATES"));
            db.run("CREATE TABLE over_limit (a INT); CREATE TABLE over_limit_answers (a INT)");
        }
    }

    @Test
    void aQueryThatIsMadeAgainWithOtherValuesHasGroupsOfItsOwn() {
        try (TestDatabase db = new TestDatabase(2)) {
            db.run(STREAM);
            db.run(
                    "CREATE QUERY TEMPLATE t(lim DOUBLE PRECISION) AS SELECT device, count(*) AS n FROM readings WHERE temp > lim"
                            + " GROUP BY device");
            db.run("CREATE CONTINUOUS QUERY q FROM TEMPLATE t(1)");
            db.run("INSERT INTO readings VALUES ('x', '2026-01-01', 5), ('x', '2026-01-01', 9); FLUSH");
            db.run("DROP CONTINUOUS QUERY q; CREATE CONTINUOUS QUERY q FROM TEMPLATE t(2)");
            try (Heard q = new Heard(db, "q")) {
                db.run("INSERT INTO readings VALUES ('x', '2026-01-01', 7); FLUSH");
                assertEquals(Map.of("x|1", 1L), q.all());
            }
        }
    }

    @Test
    void whatCannotBeAnsweredTogetherIsRefused() {
        try (TestDatabase db = new TestDatabase(2)) {
            db.run(STREAM);
            db.run("CREATE TABLE sites (device TEXT PRIMARY KEY, site TEXT)");
            List<String> bodies = List.of(
                    "SELECT count(*) FROM readings WHERE device = dev",
                    "SELECT ts FROM readings WHERE device = dev ORDER BY ts",
                    "SELECT ts FROM readings WHERE device = dev UNION ALL SELECT ts FROM readings",
                    "SELECT ts, row_number() OVER (ORDER BY ts) FROM readings WHERE device = dev",
                    "SELECT ts FROM readings WHERE device IN (SELECT device FROM sites WHERE site = dev)",
                    "SELECT ts FROM (SELECT * FROM readings WHERE device = dev) r",
                    "SELECT ts FROM readings r RIGHT JOIN sites s ON s.device = r.device WHERE r.device = dev",
                    "SELECT dev",
                    "VALUES (dev)");
            for (String body : bodies) {
                String error = db.error("CREATE QUERY TEMPLATE t(dev TEXT) AS " + body);
                assertTrue(error.startsWith("0A000"), body + ": " + error);
                assertEquals(List.of(), db.rows("SHOW QUERY TEMPLATES"));
            }
            assertTrue(db.error("CREATE QUERY TEMPLATE t(temp TEXT) AS SELECT ts FROM readings WHERE device = temp")
                    .startsWith("42702"));
            assertTrue(db.error("CREATE QUERY TEMPLATE t(dev TEXT) AS SELECT ts FROM readings WHERE devise = dev")
                    .startsWith("42703"));
            db.run(TEMPLATE);
            assertTrue(db.error("CREATE CONTINUOUS QUERY q FROM TEMPLATE over_limit('x')")
                    .contains("takes 2 values, not 1"));
            assertTrue(db.error("CREATE CONTINUOUS QUERY q FROM TEMPLATE over_limit('x', 'hot')")
                    .startsWith("22P02"));
            db.run("CREATE CONTINUOUS QUERY q FROM TEMPLATE over_limit('x', 1)");
            assertTrue(db.error("CREATE VIEW v AS SELECT * FROM q").startsWith("0A000"));
            assertTrue(db.error("CREATE MATERIALIZED VIEW v AS SELECT count(*) FROM q")
                    .startsWith("0A000"));
        }
    }

    @Test
    void templatesAndTheirQueriesOutliveARestart() {
        try (TestDatabase db = new TestDatabase(folder.resolve("data"), 2)) {
            db.run(STREAM);
            db.run(TEMPLATE);
            db.run("CREATE CONTINUOUS QUERY a FROM TEMPLATE over_limit('x', 1); CHECKPOINT;"
                    + "CREATE CONTINUOUS QUERY b FROM TEMPLATE over_limit('x', 6)");
        }
        try (TestDatabase db = new TestDatabase(folder.resolve("data"), 2)) {
            try (Heard all = new Heard(db, "over_limit_answers")) {
                db.run("INSERT INTO readings VALUES ('x', '2026-01-01', 5), ('x', '2026-01-01', 7)");
                db.run("FLUSH");
                assertEquals(3, all.all().values().stream().mapToLong(n -> n).sum(), all.rows.toString());
            }
            db.run("DROP CONTINUOUS QUERY b");
            assertTrue(db.error("SUBSCRIBE TO b").startsWith("42P01"));
        }
    }

    @Test
    void theDocumentsStatementsDoWhatItSays() throws IOException {
        String text = Files.readString(Path.of("..", "docs", "templates.md"));
        int begin = text.indexOf("```sql") + 6;
        String block = text.substring(begin, text.indexOf("```", begin)).replaceAll("--.*", "");
        try (TestDatabase db = new TestDatabase(2)) {
            for (String statement : block.split(";")) {
                if (statement.strip().startsWith("SUBSCRIBE TO")) {
                    new Heard(db, statement.strip().substring("SUBSCRIBE TO".length())).close();
                } else if (!statement.isBlank()) {
                    db.run(statement);
                }
            }
            assertEquals(
                    List.of("q_4712|75.5", "q_4713|60"), db.rows("SELECT query, lim FROM over_limit ORDER BY query"));
            db.run("UPDATE over_limit SET lim = lim + 5");
            try (Heard all = new Heard(db, "over_limit_answers")) {
                db.run(
                        "INSERT INTO readings VALUES ('boiler-4713', '2026-01-01', 63), ('boiler-4713', '2026-01-01', 66); FLUSH");
                assertEquals(Map.of("q_4713|2026-01-01 00:00:00+00|66", 1L), all.all());
            }
        }
    }

    /** A body with parameters a (TEXT), b and c (DOUBLE PRECISION), and the same with values. */
    private static final List<String> BODIES = List.of(
            "SELECT ts, temp FROM readings WHERE device = a AND temp > b",
            "SELECT * FROM readings WHERE temp BETWEEN b AND c",
            "SELECT device || a AS d, temp * b AS t FROM readings WHERE device <> a OR temp < c -- a comment",
            "SELECT DISTINCT device FROM readings WHERE temp > b",
            "SELECT device, count(*) AS n, sum(temp) AS s FROM readings WHERE temp > b GROUP BY device HAVING count(*) > 1",
            "SELECT device, round(temp), sum(temp) AS s FROM readings WHERE device = a OR temp > b GROUP BY 1, 2",
            "SELECT window_start, device, count(*) AS n, max(temp) AS m FROM TUMBLE(readings, ts, INTERVAL '10 seconds') r"
                    + " WHERE device = a AND temp < c GROUP BY device, window_start, window_end",
            "SELECT r.ts, s.site FROM readings r JOIN sites s ON s.device = r.device WHERE s.site = a AND r.temp > b",
            "SELECT r.ts, s.site FROM readings r LEFT JOIN sites s ON s.device = r.device AND s.site = a WHERE r.temp > b");

    @Test
    void eachQueryAnswersAsItsTextWithValuesDoes() {
        Random random = new Random(SEED);
        for (String body : BODIES) {
            try (TestDatabase db = new TestDatabase(1 + random.nextInt(2))) {
                db.run(STREAM);
                db.run("CREATE TABLE sites (device TEXT PRIMARY KEY, site TEXT);"
                        + "INSERT INTO sites VALUES ('d0', 'd1'), ('d1', 'd0'), ('d2', 'd1')");
                db.run("CREATE QUERY TEMPLATE t(a TEXT, b DOUBLE PRECISION, c DOUBLE PRECISION) AS " + body);
                compare(db, body, random);
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("seed " + SEED + ", " + body + ": " + e, e);
            }
        }
    }

    private static void compare(TestDatabase db, String body, Random random) {
        Map<String, Heard> alone = new TreeMap<>();
        List<String> there = new ArrayList<>();
        long seconds = 0;
        try (Heard together = new Heard(db, "t_answers")) {
            for (int i = 0; i < QUERIES; i++) {
                String a = "d" + random.nextInt(3);
                double b = random.nextInt(10);
                double c = b + random.nextInt(10);
                String name = "q" + i;
                db.run("CREATE CONTINUOUS QUERY " + name + " FROM TEMPLATE t('" + a + "', " + b + ", " + c + ")");
                String text = body.replaceAll("\\ba\\b(?! comment)", "'" + a + "'")
                        .replaceAll("\\bb\\b", "(" + b + ")::DOUBLE PRECISION")
                        .replaceAll("\\bc\\b", "(" + c + ")::DOUBLE PRECISION");
                db.run("CREATE CONTINUOUS QUERY alone_" + name + " AS " + text);
                alone.put(name, new Heard(db, "alone_" + name));
                there.add(name);
                StringBuilder rows = new StringBuilder("INSERT INTO readings VALUES ");
                for (int row = 0; row < 20; row++) {
                    seconds += random.nextInt(2);
                    rows.append(row == 0 ? "" : ", ")
                            .append(String.format(
                                    "('d%d', TIMESTAMP '2026-01-01' + INTERVAL '%d seconds', %d)",
                                    random.nextInt(4), seconds, random.nextInt(20)));
                }
                db.run(rows.toString());
                db.run("FLUSH");
                if (random.nextInt(4) == 0) {
                    String gone = there.remove(random.nextInt(there.size()));
                    alone.get(gone).all();
                    db.run("DROP CONTINUOUS QUERY " + gone);
                    together.all();
                    together.rows.keySet().removeIf(row -> row.startsWith(gone + "|"));
                    alone.remove(gone).close();
                    db.run("DROP CONTINUOUS QUERY alone_" + gone);
                }
            }
            Map<String, Map<String, Long>> found = new TreeMap<>();
            together.all()
                    .forEach((row, weight) -> found.computeIfAbsent(
                                    row.substring(0, row.indexOf('|')), name -> new TreeMap<>())
                            .put(row.substring(row.indexOf('|') + 1), weight));
            for (String name : there) {
                assertEquals(alone.get(name).all(), found.getOrDefault(name, Map.of()), name);
            }
        } finally {
            alone.values().forEach(Heard::close);
        }
    }
}
