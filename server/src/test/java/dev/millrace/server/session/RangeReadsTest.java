package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.names.ParameterValues;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import dev.millrace.sql.ParsedStatement;
import dev.millrace.sql.bind.type.Parameters;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What is read by an ordered index is what is read without one, from the rows of the range alone. */
@Tag("long")
class RangeReadsTest {
    private static final String COLUMNS =
            "id INT, a INT, b TEXT, c DOUBLE PRECISION, n NUMERIC(8,2), ts TIMESTAMP, i INTERVAL, f BOOLEAN, s SMALLINT, u UUID";
    private static final List<String> NAMES = List.of("id", "a", "b", "c", "n", "ts", "i", "f", "s", "u");

    /** How many databases are filled, changed and asked at random. */
    private static final int SEEDS = Integer.getInteger("millrace.index.seeds", 1);

    private long plannings;

    private static String value(SplittableRandom random, String column) {
        if (!column.equals("id") && random.nextInt(9) == 0) {
            return "NULL";
        }
        return switch (column) {
            case "id" -> "" + random.nextInt(60);
            case "a" -> "" + (random.nextInt(9) - 4);
            case "b" ->
                List.of("''", "'a'", "'ab'", "'abc'", "'abcdefghij'", "'abd'", "'b%'", "'é'", "'Z'")
                        .get(random.nextInt(9));
            case "c" ->
                List.of("0", "'-0'", "1.5", "-2.5", "'NaN'", "'Infinity'", "'-Infinity'", "1e300")
                                .get(random.nextInt(8))
                        + "::double precision";
            case "n" -> (random.nextInt(7) - 3) + "." + random.nextInt(3) * 25;
            case "ts" -> "TIMESTAMP '2026-01-0" + (1 + random.nextInt(5)) + " 10:00:00'";
            case "i" ->
                List.of("'1 day'", "'24:00:00'", "'1 month'", "'30 days'", "'-1 hour'", "'0'")
                                .get(random.nextInt(6)) + "::interval";
            case "f" -> random.nextBoolean() ? "true" : "false";
            case "s" -> random.nextInt(5) + "::smallint";
            default -> "'00000000-0000-0000-0000-00000000000" + random.nextInt(8) + "'::uuid";
        };
    }

    private static String row(SplittableRandom random) {
        List<String> values = new ArrayList<>();
        NAMES.forEach(name -> values.add(value(random, name)));
        return "(" + String.join(", ", values) + ")";
    }

    private static String condition(SplittableRandom random, String column) {
        String value = value(random, column);
        return switch (random.nextInt(8)) {
            case 0, 1, 2 -> column + " = " + value;
            case 3 -> column + " IN (" + value + ", " + value(random, column) + ", " + value(random, column) + ")";
            case 4 -> column + " BETWEEN " + value + " AND " + value(random, column);
            case 5 -> column.equals("b") ? "b LIKE 'ab%'" : value + " < " + column;
            default -> column + List.of(" < ", " <= ", " > ", " >= ").get(random.nextInt(4)) + value;
        };
    }

    private static String where(SplittableRandom random) {
        List<String> parts = new ArrayList<>();
        for (int left = 1 + random.nextInt(3); left > 0; left--) {
            parts.add(condition(random, NAMES.get(random.nextInt(4) == 0 ? random.nextInt(10) : random.nextInt(4))));
        }
        return " WHERE " + String.join(" AND ", parts);
    }

    private static String order(SplittableRandom random) {
        List<String> keys = new ArrayList<>();
        for (int left = 1 + random.nextInt(2); left > 0; left--) {
            keys.add(NAMES.get(random.nextInt(4))
                    + (random.nextBoolean() ? " DESC" : "")
                    + List.of("", "", " NULLS FIRST", " NULLS LAST").get(random.nextInt(4)));
        }
        return String.join(", ", keys);
    }

    private static String cut(SplittableRandom random) {
        return (random.nextInt(4) > 0 ? " LIMIT " + random.nextInt(8) : "")
                + (random.nextInt(4) > 0 ? " OFFSET " + random.nextInt(4) : "");
    }

    private static String index(SplittableRandom random, String relation) {
        List<String> keys = new ArrayList<>();
        List<String> names = new ArrayList<>(NAMES);
        for (int left = 1 + random.nextInt(3); left > 0; left--) {
            keys.add(names.remove(random.nextInt(random.nextInt(3) == 0 ? names.size() : 4))
                    + (random.nextInt(3) == 0 ? " DESC" : "")
                    + (random.nextInt(4) == 0 ? " NULLS FIRST" : ""));
        }
        return "CREATE INDEX ON " + relation + " (" + String.join(", ", keys) + ")";
    }

    /** Of a query with an order: the rows that are the answer whatever is made of ties. */
    private static void compare(TestDatabase db, SplittableRandom random, String indexed, String plain) {
        String where = where(random);
        String query;
        switch (random.nextInt(7)) {
            case 6 -> {
                String order = " ORDER BY " + order(random) + ", " + String.join(", ", NAMES);
                query = "SELECT * FROM (SELECT * FROM %s" + (random.nextBoolean() ? where : "") + order + cut(random)
                        + ") AS some" + order + cut(random);
            }
            case 0 -> query = "SELECT count(*), sum(a), min(b), max(ts) FROM %s" + where;
            case 1 -> {
                String order = order(random) + ", " + String.join(", ", NAMES);
                query = "SELECT * FROM %s" + (random.nextBoolean() ? where : "") + " ORDER BY " + order + cut(random);
            }
            case 2 -> {
                String order = order(random);
                String keys = order.replaceAll(" (DESC|NULLS FIRST|NULLS LAST)", "");
                query = "SELECT " + keys + " FROM %s" + (random.nextBoolean() ? where : "") + " ORDER BY " + order
                        + " LIMIT " + random.nextInt(20);
            }
            case 3 -> query = "SELECT a + 1, b || 'x' FROM %s" + where + " ORDER BY 1, 2";
            default -> query = "SELECT * FROM %s" + where;
        }
        assertEquals(
                told(db, query.replace("%s", plain)),
                told(db, query.replace("%s", indexed)),
                () -> query + "\n" + db.rows("SHOW INDEXES"));
    }

    /** An answer in which values that are equal are the same text: which of them a LIMIT leaves is anybody's. */
    private static List<String> told(TestDatabase db, String query) {
        return db.rows(query).stream()
                .map(row ->
                        ("|" + row + "|").replaceAll("(?<=\\|)-0(?=\\|)", "0").replace("30 days", "1 mon"))
                .sorted()
                .toList();
    }

    @Test
    void randomReadsAndChangesTellTheSameWithIndexesAndWithout() {
        for (int seed = 0; seed < SEEDS; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            try (TestDatabase db = new TestDatabase(1 + random.nextInt(2))) {
                for (String table : List.of("t", "p")) {
                    db.run("CREATE TABLE " + table + " (" + COLUMNS + ")");
                    db.run("CREATE MATERIALIZED VIEW v" + table + " AS SELECT "
                            + String.join(", ", NAMES).replace("a,", "abs(a) AS a,") + " FROM " + table);
                }
                for (int step = 0; step < 35; step++) {
                    switch (random.nextInt(6)) {
                        case 0, 1 -> {
                            List<String> rows = new ArrayList<>();
                            for (int left = 1 + random.nextInt(20); left > 0; left--) {
                                rows.add(row(random));
                            }
                            change(db, "INSERT INTO %s VALUES " + String.join(", ", rows));
                        }
                        case 2 -> change(db, "DELETE FROM %s" + where(random));
                        case 3 ->
                            change(
                                    db,
                                    "UPDATE %s SET a = " + value(random, "a") + ", b = " + value(random, "b")
                                            + where(random));
                        case 4 -> db.run(index(random, random.nextBoolean() ? "t" : "vt"));
                        default -> {
                            List<String> indexes =
                                    db.rows("SELECT indexname FROM pg_indexes WHERE tablename IN ('t', 'vt')");
                            if (indexes.size() > 6) {
                                db.run("DROP INDEX " + indexes.get(random.nextInt(indexes.size())));
                            }
                        }
                    }
                    boolean begun = random.nextInt(6) == 0;
                    if (begun) {
                        db.run("BEGIN");
                        change(db, "INSERT INTO %s VALUES " + row(random));
                        change(db, "DELETE FROM %s" + where(random));
                    }
                    for (int i = 0; i < 4; i++) {
                        compare(db, random, "t", "p");
                        if (!begun) {
                            compare(db, random, "vt", "vp");
                        }
                    }
                    if (begun) {
                        db.run(random.nextBoolean() ? "COMMIT" : "ROLLBACK");
                    }
                }
            }
        }
    }

    /** With one worker a cut of a sub-query stands right below that of the query, as the part of a task does. */
    @Test
    void aCutBelowACutHolds() {
        for (int workers = 1; workers < 3; workers++) {
            try (TestDatabase db = new TestDatabase(workers)) {
                db.run("CREATE TABLE t (k INT, v INT); INSERT INTO t SELECT i, -i FROM generate_series(1, 9) g(i);"
                        + " CREATE INDEX ON t (v DESC, k)");
                String some =
                        "SELECT k FROM (SELECT k, v FROM t ORDER BY v DESC, k LIMIT 3) AS some ORDER BY v DESC, k";
                assertEquals(List.of("1", "2", "3"), lines(db, some));
                assertEquals(List.of("1", "2", "3"), lines(db, some + " LIMIT 5"));
                assertEquals(List.of("1", "2"), lines(db, some + " LIMIT 2"));
                assertEquals(List.of("3"), lines(db, some + " LIMIT 2 OFFSET 2"));
                assertEquals(List.of("2", "3"), lines(db, some + " LIMIT 9223372036854775807 OFFSET 1"));
            }
        }
    }

    private static void change(TestDatabase db, String sql) {
        assertEquals(db.run(sql.replace("%s", "p")), db.run(sql.replace("%s", "t")), sql);
    }

    private static List<String> lines(TestDatabase db, String sql) {
        try (StatementResults results = db.session().execute(sql)) {
            return TestDatabase.texts((StatementResult.Rows) results.next());
        }
    }

    private static TestDatabase filled() {
        TestDatabase db = new TestDatabase();
        db.run("CREATE TABLE t (id INT PRIMARY KEY, a INT, b TEXT)");
        db.run("INSERT INTO t SELECT i, i % 100, 'b' || i FROM generate_series(1, 5000) g(i)");
        db.run("CREATE INDEX ON t (a, id DESC)");
        db.session().awaitOwnWrites();
        return db;
    }

    private static long touched(TestDatabase db) {
        return db.database().engine().kept("t").orElseThrow().indexes().rowsTouched();
    }

    private static void touches(TestDatabase db, int most, String sql, Object... values) {
        long before = touched(db);
        db.rows(sql, values);
        long touched = touched(db) - before;
        assertTrue(touched > 0 && touched <= most, () -> sql + " touched " + touched);
    }

    @Test
    void onlyRowsOfTheRangeAreTouched() {
        try (TestDatabase db = filled()) {
            touches(db, 51, "SELECT b FROM t WHERE a = 7");
            touches(db, 51, "SELECT b FROM t WHERE a = $1", 7);
            touches(db, 4, "SELECT b FROM t WHERE a = 7 AND id BETWEEN 1000 AND 1300");
            touches(db, 4, "SELECT b FROM t WHERE a = $1 AND id BETWEEN $2 AND $3", 7, 1000, 1300);
            touches(db, 102, "SELECT count(*) FROM t WHERE a IN (7, 8)");
            touches(db, 3, "SELECT b FROM t WHERE a = 7 ORDER BY id DESC LIMIT 3");
            touches(db, 3, "SELECT b FROM t WHERE a = 7 ORDER BY id LIMIT 3");
            touches(db, 10, "SELECT * FROM t ORDER BY a, id DESC LIMIT 10");
            touches(db, 10, "SELECT * FROM t ORDER BY id DESC LIMIT 10");
            touches(db, 11, "SELECT * FROM t WHERE id > 4990");
            touches(db, 12, "SELECT sum(a) FROM t WHERE id > 100 AND id <= 110");
            assertEquals(
                    List.of("b4907", "b4807", "b4707"),
                    lines(db, "SELECT b FROM t WHERE a = 7 ORDER BY id DESC LIMIT 3"));
            assertEquals(List.of("b7", "b107"), lines(db, "SELECT b FROM t WHERE a = 7 ORDER BY id LIMIT 2"));
            long before = touched(db);
            assertEquals("UPDATE 1", db.run("UPDATE t SET b = 'x' WHERE a = 7 AND id < 100"));
            assertEquals("DELETE 3", db.run("DELETE FROM t WHERE a = 8 AND id < 300"));
            assertTrue(touched(db) - before < 10);
            assertEquals(List.of("x"), db.rows("SELECT b FROM t WHERE a = 7 AND id <= 7"));
        }
    }

    @Test
    void aPreparedRangeIsPlannedOnce() {
        try (TestDatabase db = filled()) {
            ParsedStatement range = db.session()
                    .parse("SELECT b FROM t WHERE a = $1 AND id BETWEEN $2 AND $3 ORDER BY id LIMIT 2")
                    .get(0);
            for (int i = 0; i < 3; i++) {
                Parameters values =
                        ParameterValues.of(List.of(7 + i, 1_000, 2_000)).forStatement(3);
                try (StatementResult.Rows rows =
                        (StatementResult.Rows) db.session().execute(range, values)) {
                    assertEquals(List.of("b" + (1007 + i), "b" + (1107 + i)), TestDatabase.texts(rows));
                }
                if (i == 0) {
                    plannings = db.database().instance().plans().plannings();
                }
            }
            assertEquals(plannings, db.database().instance().plans().plannings());
            db.run("BEGIN");
            db.run("DELETE FROM t WHERE id = 1007");
            assertEquals(
                    List.of("b1107", "b1207"),
                    db.rows("SELECT b FROM t WHERE a = $1 AND id >= $2 ORDER BY id LIMIT 2", 7, 1_000));
            db.run("ROLLBACK");
            db.run("DROP INDEX t_a_id_idx");
            assertEquals(
                    List.of("b1007", "b1107"),
                    db.rows("SELECT b FROM t WHERE a = $1 AND id >= $2 ORDER BY id LIMIT 2", 7, 1_000));
        }
    }

    @Test
    void explainWritesConstantsAsSqlDoes() {
        try (TestDatabase db = new TestDatabase()) {
            db.run("CREATE TABLE e (ts TIMESTAMP, d DATE, i INTERVAL, u UUID PRIMARY KEY, k TEXT, n NUMERIC(6,2))");
            List.of("ts", "d", "i", "k", "n").forEach(column -> db.run("CREATE INDEX ON e (" + column + ")"));
            List.of("ts > '2024-01-01T00:00'", "d <= '2024-02-29'", "i >= '1 d'", "k IN ['it''s', 'a']", "n = 1.50")
                    .forEach(told -> assertEquals(
                            "Index Scan using e_" + told.split(" ")[0] + "_idx on e: " + told + ", in the place of:",
                            lines(db, "EXPLAIN SELECT * FROM e WHERE " + asked(told))
                                    .get(0)));
            String one = "u = '00000000-0000-0000-0000-000000000001'";
            assertEquals(
                    "Index Lookup on e using e_pkey: " + one + ", in the place of:",
                    lines(db, "EXPLAIN SELECT * FROM e WHERE " + one).get(0));
        }
    }

    private static String asked(String told) {
        return told.replace("['it''s', 'a']", "('a', 'it''s')");
    }

    @Test
    void explainNamesTheIndexAndWhatItIsReadBy() {
        try (TestDatabase db = filled()) {
            assertEquals(
                    "Index Scan using t_a_id_idx on t: a = 7, id > 100, id <= 200, in the place of:",
                    lines(db, "EXPLAIN SELECT b FROM t WHERE a = 7 AND id > 100 AND id <= 200")
                            .get(0));
            assertEquals(
                    "Index Scan using t_a_id_idx on t: a = 7, backward, the first 3, in the place of:",
                    lines(db, "EXPLAIN SELECT b FROM t WHERE a = 7 ORDER BY id LIMIT 3")
                            .get(0));
            assertEquals(
                    "Index Scan using t_pkey on t: id > 100, in the place of the Scan of:",
                    lines(db, "EXPLAIN SELECT count(*) FROM t WHERE id > 100").get(0));
            assertEquals(
                    "Index Scan using t_a_id_idx on t: a IN [2, 1], in the place of:",
                    lines(db, "EXPLAIN DELETE FROM t WHERE a IN (1, 2)").get(1));
            assertFalse(
                    lines(db, "EXPLAIN SELECT * FROM t WHERE b = 'x'").get(0).startsWith("Index"));
            assertFalse(lines(db, "EXPLAIN SELECT * FROM t ORDER BY a").get(0).startsWith("Index"));
            assertFalse(lines(db, "EXPLAIN SELECT * FROM t ORDER BY a DESC, id DESC LIMIT 3")
                    .get(0)
                    .startsWith("Index"));
        }
    }

    @Test
    void whoReadsMuchReadsAllByTasks() {
        try (TestDatabase db = new TestDatabase()) {
            db.run("CREATE TABLE t (id INT PRIMARY KEY, a INT)");
            db.run("INSERT INTO t SELECT i, i % 2 FROM generate_series(1, 30000) g(i)");
            db.run("CREATE INDEX ON t (a)");
            assertEquals(List.of("15000"), db.rows("SELECT count(*) FROM t WHERE a = 1"));
            assertEquals(15_000, db.rows("SELECT id FROM t WHERE a = 1").size());
            assertEquals(List.of("30000"), db.rows("SELECT count(*) FROM t WHERE a >= 0"));
        }
    }

    @Test
    void aRowThatIsThereVeryOftenIsReadSomeThousandAtATime() {
        try (TestDatabase db = new TestDatabase()) {
            db.run("CREATE TABLE t (a INT)");
            db.run("INSERT INTO t SELECT 7 FROM generate_series(1, 300000)");
            long plain = db.rows("SELECT a FROM t WHERE a >= 7 LIMIT 2").size();
            readsInParts(db, "SELECT a FROM t WHERE a >= 7");
            db.run("CREATE INDEX ON t (a)");
            readsInParts(db, "SELECT a FROM t WHERE a >= 6");
            assertEquals(plain, db.rows("SELECT a FROM t WHERE a >= 6 LIMIT 2").size());
        }
    }

    private static void readsInParts(TestDatabase db, String sql) {
        long all = 0;
        try (StatementResults results = db.session().execute(sql);
                StatementResult.Rows rows = (StatementResult.Rows) results.next()) {
            for (Optional<Batch> next = rows.next(); next.isPresent(); next = rows.next()) {
                try (Batch batch = next.get()) {
                    assertTrue(batch.rowCount() < 10_000, "so many cannot be stopped");
                    all += batch.rowCount();
                }
            }
        }
        assertEquals(300_000, all);
    }

    @Test
    void aRowThatIsThereVeryOftenCanBeStopped() {
        try (TestDatabase db = new TestDatabase()) {
            db.run("CREATE TABLE t (a INT)");
            db.run("INSERT INTO t SELECT 7 FROM generate_series(1, 300000)");
            try (StatementResults results = db.session().execute("SELECT a FROM t");
                    StatementResult.Rows rows = (StatementResult.Rows) results.next()) {
                rows.next().orElseThrow().close();
                db.session().cancel();
                MillraceException stopped = assertThrows(MillraceException.class, rows::next);
                assertEquals(SqlState.QUERY_CANCELED, stopped.sqlState());
            }
        }
    }
}
