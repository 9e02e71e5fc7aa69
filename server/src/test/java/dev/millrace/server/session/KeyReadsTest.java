package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.names.ParameterValues;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import dev.millrace.sql.ParsedStatement;
import dev.millrace.sql.bind.type.Parameters;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Reads by key are answered from an index, and no other way than by the tasks of a query. */
class KeyReadsTest {
    private final Map<String, ParsedStatement> statements = new HashMap<>();
    private TestDatabase db;

    @BeforeEach
    void open() {
        db = new TestDatabase();
        db.run("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT UNIQUE, v BIGINT, n NUMERIC(10,2))");
        db.run("CREATE MATERIALIZED VIEW totals AS SELECT v, count(*) AS c, max(name) AS m FROM t GROUP BY v");
        db.run("CREATE TABLE two (a TEXT, b BIGINT, c INTEGER, PRIMARY KEY (a, b))");
        for (int i = 0; i < 300; i++) {
            db.run("INSERT INTO t VALUES ($1, $2, $3, $4)", i, "n" + i, (long) i % 7, i % 5);
            db.run("INSERT INTO two VALUES ($1, $2, $3)", "a" + i % 10, (long) i / 10, i);
        }
    }

    @AfterEach
    void close() {
        db.close();
    }

    private static Parameters values(Object... values) {
        return ParameterValues.of(List.of(values)).forStatement(values.length);
    }

    private List<String> lines(String sql) {
        try (StatementResults results = db.session().execute(sql)) {
            return TestDatabase.texts((StatementResult.Rows) results.next());
        }
    }

    /** An INTEGER and a BIGINT of one value, as drivers bind them, are one key. */
    @Test
    void rowsOfAKeyThatIsGivenTwiceAreFoundOnce() {
        List<String> once = List.of("5|n5|5|0.00");
        for (String both : List.of(
                "id = 5 OR id = 5::bigint", "id IN (5, 5::smallint, 5::bigint)", "name IN ('n5', 'n5'::varchar(3))")) {
            assertEquals(once, db.rows("SELECT * FROM t WHERE " + both), both);
        }
        for (int i = 0; i < 3; i++) {
            assertEquals(once, db.rows("SELECT * FROM t WHERE id = $1 OR id = $2", 5, 5L));
        }
        assertEquals(List.of("1"), db.rows("UPDATE t SET n = 1 WHERE id IN (6, 6::bigint) RETURNING 1"));
        db.run("DELETE FROM t WHERE id = 7 OR id = 7::bigint");
        db.run("INSERT INTO t VALUES (7, 'again', 7, 7)");
        assertEquals(
                List.of("6|n6|6|1.00", "7|again|7|7.00"), db.rows("SELECT * FROM t WHERE v + 0 IN (6, 7) AND id < 8"));
    }

    /** Whether a statement is answered from an index, after its first execution. */
    private boolean byKey(String sql, Object... values) {
        ParsedStatement statement = db.session().parse(sql).get(0);
        db.session().awaitOwnWrites();
        db.session().execute(statement, values(values)).close();
        return db.session().answersAtOnce(statement);
    }

    @Test
    void rowsAreFoundByTheirPrimaryKey() {
        assertEquals(List.of("7|n7|0|2.00"), db.rows("SELECT * FROM t WHERE id = 7"));
        assertEquals(List.of("n7|7"), db.rows("SELECT name, id FROM t WHERE id = $1", 7));
        assertEquals(List.of("n7|8"), db.rows("SELECT name, id + 1 FROM t WHERE $1 = id AND v >= $2", 7, 0));
        assertEquals(List.of(), db.rows("SELECT name FROM t WHERE id = $1 AND v > $2", 7, 0));
        assertEquals(List.of(), db.rows("SELECT name FROM t WHERE id = $1", 7_000));
        assertEquals(List.of(), db.rows("SELECT name FROM t WHERE id = $1", Optional.empty()));
        assertEquals(List.of("17"), db.rows("SELECT c FROM two WHERE a = 'a7' AND b = 1"));
        assertEquals(List.of("17"), db.rows("SELECT c FROM two WHERE b = $1 AND a = $2", 1L, "a7"));
        assertEquals(List.of("1|n1", "2|n2"), db.rows("SELECT id, name FROM t WHERE id IN (1, 2, 2, 999)"));
        assertTrue(byKey("SELECT * FROM t WHERE id = 7"));
        assertTrue(byKey("SELECT name, id FROM t WHERE id = $1", 7));
        assertTrue(byKey("SELECT name, id FROM t WHERE id = $1", 7L));
        assertTrue(byKey("SELECT name, id + 1 FROM t WHERE $1 = id AND v >= $2", 7, 0));
        assertTrue(byKey("SELECT c FROM two WHERE b = $1 AND a = $2", 1L, "a7"));
        assertTrue(byKey("SELECT id, name FROM t WHERE id IN (1, 2, 2, 999)"));
        assertFalse(byKey("SELECT c FROM two WHERE a = $1", "a7"));
        assertFalse(byKey("SELECT * FROM t WHERE id > 290"));
        assertFalse(byKey("SELECT * FROM t WHERE id = 7 OR v = 1"));
    }

    @Test
    void rowsAreFoundByUniqueColumnsAndByTheKeysOfViews() {
        assertEquals(List.of("7"), db.rows("SELECT id FROM t WHERE name = $1", "n7"));
        assertTrue(byKey("SELECT id FROM t WHERE name = $1", "n7"));
        assertEquals(List.of("3|43|n94"), db.rows("SELECT * FROM totals WHERE v = 3"));
        assertTrue(byKey("SELECT c FROM totals WHERE v = $1", 3L));
        db.run("UPDATE t SET v = 3 WHERE id = 7");
        assertEquals(List.of("44"), db.rows("SELECT c FROM totals WHERE v = $1", 3L));
        assertEquals(List.of("7|3"), db.rows("SELECT id, v FROM t WHERE name = $1", "n7"));
        db.run("DELETE FROM t WHERE v = 3");
        assertEquals(List.of(), db.rows("SELECT c FROM totals WHERE v = $1", 3L));
    }

    @Test
    void errorsAreThoseOfTheStatement() {
        assertTrue(db.error("SELECT id FROM t WHERE id = 'x'").startsWith("22P02"));
        assertTrue(db.error("SELECT 1 / v FROM t WHERE id = 7").startsWith("22012"));
        assertTrue(db.error("SELECT id FROM t WHERE id = 1 / (id - id)").startsWith("22012"));
        ParsedStatement open =
                db.session().parse("SELECT id FROM t WHERE id = $1").get(0);
        MillraceException missing =
                assertThrows(MillraceException.class, () -> db.session().execute(open, Parameters.none()));
        assertEquals(SqlState.UNDEFINED_PARAMETER, missing.sqlState());
    }

    @Test
    void aTransactionSeesItsOwnRowsAndOthersDoNot() {
        ParsedStatement read =
                db.session().parse("SELECT v FROM t WHERE id = $1").get(0);
        assertEquals(List.of("1"), db.rows("SELECT v FROM t WHERE id = $1", 1));
        db.run("BEGIN");
        db.run("UPDATE t SET v = 100 WHERE id = 1");
        assertFalse(db.session().answersAtOnce(read));
        assertEquals(List.of("100"), db.rows("SELECT v FROM t WHERE id = $1", 1));
        try (Session other = db.database().session();
                StatementResult.Rows rows = other.query("SELECT v FROM t WHERE id = $1", 1)) {
            List<Long> seen = new ArrayList<>();
            rows.forEach(batch -> seen.add((Long) batch.column(0).getObject(0)));
            assertEquals(List.of(1L), seen);
        }
        db.run("COMMIT");
        assertEquals(List.of("100"), db.rows("SELECT v FROM t WHERE id = $1", 1));
    }

    /** Without the index each of these would read, and hold, all of the table. */
    @Test
    void changesByKeyReadTheRowsTheyChangeAndSeeThoseOfTheirTransaction() {
        db.run("BEGIN");
        assertEquals("UPDATE 1", db.run("UPDATE t SET v = v + 10 WHERE id = $1", 8));
        assertEquals("UPDATE 1", db.run("UPDATE t SET v = v + 10 WHERE id = $1", 8));
        assertEquals(List.of("21"), db.rows("SELECT v FROM t WHERE id = 8"));
        assertEquals("DELETE 1", db.run("DELETE FROM t WHERE id = 9"));
        assertEquals(List.of(), db.rows("SELECT v FROM t WHERE id = 9"));
        assertEquals("UPDATE 0", db.run("UPDATE t SET v = 1 WHERE id = 9"));
        db.run("INSERT INTO t VALUES (9, 'nine', 9, 9), (1000, 'm', 4, 4)");
        assertEquals("UPDATE 1", db.run("UPDATE t SET id = 1001 WHERE id = 1000"));
        assertEquals(List.of("1001|4", "9|9"), db.rows("SELECT id, v FROM t WHERE id IN (9, 1000, 1001)"));
        db.run("COMMIT");
        assertEquals(List.of("1001|4", "8|21", "9|9"), db.rows("SELECT id, v FROM t WHERE id IN (8, 9, 1000, 1001)"));
        assertEquals("UPDATE 1", db.run("UPDATE t SET name = now()::text WHERE id = 9"));
        assertEquals("DELETE 2", db.run("DELETE FROM t WHERE id IN (9, 1001) AND v > 0"));
    }

    @Test
    void aRowThatATransactionHasVeryOftenIsLeftToTasks() {
        db.run("BEGIN");
        db.run("INSERT INTO two SELECT 'x' || a, b, 0 FROM range(101) r(a), range(101) q(b)");
        List<String> names = new ArrayList<>();
        List<String> numbers = new ArrayList<>();
        for (int i = 0; i < 101; i++) {
            names.add("'x" + i + "'");
            numbers.add("" + i);
        }
        String read = "SELECT c FROM two WHERE a IN (" + String.join(", ", names) + ") AND b IN (%s)";
        assertEquals(
                101 * 101,
                db.rows(String.format(read, String.join(", ", numbers))).size());
        assertEquals(202, db.rows(String.format(read, "7, 8")).size());
        db.run("ROLLBACK");
    }

    @Test
    void aNumberIsComparedWithAllItsDigits() {
        db.run("CREATE TABLE money (p NUMERIC(10,2) PRIMARY KEY, q NUMERIC(10,2))");
        db.run("CREATE INDEX ON money (q)");
        db.run("INSERT INTO money VALUES ('1.234', 1.23), (2, '2.005')");
        assertEquals(List.of("1.23|1.23", "2.00|2.01"), db.rows("SELECT * FROM money"));
        for (String column : List.of("p", "q")) {
            for (String given : List.of("'1.234'", "1.234", "$1")) {
                Object[] value = given.equals("$1") ? new Object[] {"1.234"} : new Object[0];
                String compared = "SELECT " + column + " FROM money WHERE ";
                for (int i = 0; i < 3; i++) {
                    assertEquals(List.of(), untyped(compared + column + " = " + given, value));
                    assertEquals(List.of("1.23"), untyped(compared + column + " < " + given, value));
                    assertEquals(List.of("1.23"), untyped(compared + column + " <= " + given, value));
                    assertEquals(
                            1, untyped(compared + column + " > " + given, value).size());
                    assertEquals(
                            1,
                            untyped(compared + column + " >= " + given, value).size());
                    assertEquals(
                            2,
                            untyped(compared + column + " <> " + given, value).size());
                    assertEquals(List.of(), untyped(compared + column + " IN (" + given + ", 7)", value));
                    assertEquals(List.of(), untyped(compared + column + " BETWEEN " + given + " AND 1.239", value));
                    assertEquals(
                            List.of(),
                            untyped(
                                    "SELECT a.p FROM money a JOIN money b ON a.p = b.p AND b." + column + " = " + given,
                                    value));
                    assertEquals(
                            List.of(),
                            untyped(
                                    "SELECT 1 FROM (VALUES (1)) v WHERE " + given + " IN (SELECT " + column
                                            + " FROM money)",
                                    value));
                }
            }
            String same = "SELECT " + column + " FROM money WHERE " + column;
            assertEquals(List.of("1.23"), db.rows(same + " = '1.230'"));
            assertEquals(List.of("1.23"), db.rows(same + " = '123e-2'"));
            assertEquals(List.of("1.23"), untyped(same + " = $1", "1.2300"));
            assertEquals(List.of(), db.rows(same + " = '12345678901'"));
            assertEquals(List.of(), db.rows(same + " = ANY('{1.234,NULL}')"));
            assertEquals(List.of("1.23"), db.rows(same + " = ANY('{1.23,1.234}')"));
            assertEquals("22P02", db.failure(same + " = 'x'").sqlState().code());
        }
        assertEquals("DELETE 0", db.run("DELETE FROM money WHERE p = '1.234'"));
        assertEquals("UPDATE 0", db.run("UPDATE money SET q = 0 WHERE q = '1.234'"));
        assertEquals(
                List.of("0.125|1.230", "0.125|2.000"),
                db.rows("SELECT coalesce(nullif(p, p), '0.125'), " + "coalesce(p, '0.125') FROM money"));
        assertTrue(byKey("SELECT q FROM money WHERE p = '1.23'"));
    }

    /** The answer with texts for parameters of no declared type. */
    private List<String> untyped(String sql, Object... texts) {
        if (texts.length == 0) {
            return db.rows(sql);
        }
        ParsedStatement statement =
                statements.computeIfAbsent(sql, text -> db.session().parse(text).get(0));
        Parameters parameters = Parameters.of(List.of(), List.of(Optional.of((String) texts[0])));
        db.session().awaitOwnWrites();
        try (StatementResult result = db.session().execute(statement, parameters)) {
            return TestDatabase.texts((StatementResult.Rows) result);
        }
    }

    @Test
    void explainShowsTheIndex() {
        assertEquals(
                "Index Lookup on t using t_pkey: id = 7, in the place of:",
                lines("EXPLAIN SELECT name FROM t WHERE id = 7").get(0));
        assertTrue(lines("EXPLAIN UPDATE t SET v = 1 WHERE name = 'x'")
                .get(1)
                .startsWith("Index Lookup on t using t_name_key: name = 'x'"));
        assertFalse(lines("EXPLAIN SELECT name FROM t WHERE id > 7").get(0).startsWith("Index"));
    }

    @Test
    void whatWasFoundOutIsForgottenWhenTheTableChanges() {
        assertEquals(List.of("1"), db.rows("SELECT v FROM t WHERE id = $1", 1));
        db.run("DROP MATERIALIZED VIEW totals");
        db.run("ALTER TABLE t ADD COLUMN w INTEGER DEFAULT 5");
        assertEquals(List.of("1|5"), db.rows("SELECT v, w FROM t WHERE id = $1", 1));
        db.run("DROP TABLE t");
        assertTrue(db.error("SELECT v FROM t WHERE id = 1").startsWith("42P01"));
        db.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)");
        db.run("INSERT INTO t VALUES (1, 'x')");
        assertEquals(List.of("x"), db.rows("SELECT v FROM t WHERE id = $1", 1));
    }

    @Test
    void aRoleThatMayNotReadIsRefusedAlsoWhenAnotherHasRead() {
        assertEquals(List.of("1"), db.rows("SELECT v FROM t WHERE id = $1", 1));
        db.run("CREATE ROLE guest LOGIN");
        db.run("SET ROLE guest");
        assertTrue(db.error("SELECT v FROM t WHERE id = 1").startsWith("42501"));
        db.run("RESET ROLE");
        db.run("GRANT SELECT ON t TO guest");
        db.run("SET ROLE guest");
        assertEquals(List.of("1"), db.rows("SELECT v FROM t WHERE id = $1", 1));
        db.run("RESET ROLE");
        db.run("REVOKE SELECT ON t FROM guest");
        db.run("SET ROLE guest");
        assertTrue(db.error("SELECT v FROM t WHERE id = 1").startsWith("42501"));
    }

    /** A condition with the key beside a like one without an index: both tell the same. */
    @Test
    void readsByKeyTellWhatScansTell() {
        SplittableRandom random = new SplittableRandom(3);
        for (int i = 0; i < 300; i++) {
            int id = random.nextInt(320);
            switch (random.nextInt(4)) {
                case 0 ->
                    db.run(
                            "INSERT INTO t VALUES ($1, $2, 1, 2) ON CONFLICT (id) DO UPDATE SET v = t.v + 1",
                            id,
                            "m" + i);
                case 1 -> db.run("DELETE FROM t WHERE id = $1", id);
                case 2 -> db.run("UPDATE t SET name = $2 WHERE id = $1", id, "u" + i);
                default -> {}
            }
            int other = random.nextInt(320);
            assertEquals(
                    db.rows("SELECT * FROM t WHERE id + 0 = $1 OR id + 0 = $2", id, other),
                    db.rows("SELECT * FROM t WHERE id = $1 OR id = $2", id, other));
            assertEquals(
                    db.rows("SELECT * FROM totals WHERE v + 0 = $1", (long) i % 9),
                    db.rows("SELECT * FROM totals WHERE v = $1", (long) i % 9));
        }
    }
}
