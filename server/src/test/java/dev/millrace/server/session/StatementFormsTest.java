package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Forms of statements that users of PostgreSQL write, which were once read wrongly. */
@Tag("long")
class StatementFormsTest {
    @Nested
    class OverRows {
        private TestDatabase db;

        @BeforeEach
        void open() {
            db = new TestDatabase();
            db.run("CREATE TABLE t (a BIGINT, b BIGINT)");
            db.run("INSERT INTO t VALUES (1, 2), (1, 2), (3, 4)");
        }

        @AfterEach
        void close() {
            db.close();
        }

        @ParameterizedTest
        @CsvSource({
            "NULL + 1, 3",
            "1 + NULL, 3",
            "NULL, 3",
            "(NULL), 3",
            "-3+4, 1",
            "-3 + 4 + 1, 2",
            "-(-1), 1",
            "- 1 + 1, 0",
            "NULL::int, 3",
            "NULL OFFSET 1, 2",
            "NULL + 1 OFFSET -1 + 3, 1",
            "1 + 1 OFFSET 0, 2",
        })
        void limitTakesAnyConstant(String limit, int rows) {
            assertEquals(rows, db.rows("SELECT a FROM t LIMIT " + limit).size());
            assertEquals(
                    rows,
                    db.rows("SELECT * FROM (SELECT a FROM t LIMIT " + limit + ") q")
                            .size());
        }

        @ParameterizedTest
        @ValueSource(strings = {"-1", "-3+2", "- 3 + 2", "3-4"})
        void butNoNegativeOne(String limit) {
            assertEquals(
                    "2201W",
                    db.failure("SELECT a FROM t LIMIT " + limit).sqlState().code());
        }

        @Test
        void aLimitThatCannotBeComputedSaysWhy() {
            for (String limit : List.of("1/0", "OFFSET 1 % 0", "(1 / (2 - 2)) + 1")) {
                String clause = limit.startsWith("OFFSET") ? limit : "LIMIT " + limit;
                assertEquals(
                        "22012",
                        db.failure("SELECT a FROM t " + clause).sqlState().code(),
                        clause);
                assertEquals(
                        "22012",
                        db.failure("CREATE MATERIALIZED VIEW v AS SELECT a FROM t ORDER BY a " + clause)
                                .sqlState()
                                .code());
            }
            assertEquals(
                    "22003",
                    db.failure("SELECT a FROM t LIMIT 9223372036854775807 + 1")
                            .sqlState()
                            .code());
        }

        @ParameterizedTest
        @CsvSource(
                delimiter = ';',
                value = {
                    // two output columns of one expression are two keys, by name and by number
                    "SELECT a + 0 AS x, a + 0 AS y, count(*) FROM t GROUP BY x, ROLLUP (y); 1||2 1|1|2 3||1 3|3|1",
                    "SELECT a AS x, a AS y, count(*) FROM t GROUP BY 1, ROLLUP (2); 1||2 1|1|2 3||1 3|3|1",
                    "SELECT a AS x, a AS y, count(*) FROM t GROUP BY CUBE (x, y); "
                            + " 1||2 1|1|2 3||1 3|3|1 |1|2 |3|1 ||3",
                    "SELECT a AS x, a AS y FROM t GROUP BY GROUPING SETS ((x), (y)); 1| 3| |1 |3",
                    // an expression is the first column that is written alike
                    "SELECT a AS x, a AS y, count(*) FROM t GROUP BY a, ROLLUP (a); 1|1|2 1|1|2 3|3|1 3|3|1",
                    "SELECT a + 0 AS x, a + 0 AS y FROM t GROUP BY a + 0, ROLLUP (y); 1| 1|1 3| 3|3",
                    "SELECT a + 0 AS x, a + 0 AS y FROM t GROUP BY y, ROLLUP (a + 0); 1|1 3|3 |1 |3",
                    "SELECT a + 0 AS x FROM t GROUP BY x, ROLLUP (a + 0); 1 1 3 3",
                    "SELECT a AS x, a AS y FROM t GROUP BY x, y; 1|1 3|3",
                })
        void outputColumnsOfOneExpressionAreGroupedByEach(String query, String rows) {
            List<String> expected = Stream.of(rows.split(" ")).sorted().toList();
            assertEquals(expected, db.rows(query));
            db.run("CREATE MATERIALIZED VIEW g AS " + query);
            assertEquals(expected, db.flushedRows("SELECT * FROM g"));
        }

        @ParameterizedTest
        @CsvSource(
                quoteCharacter = '~',
                delimiter = ';',
                value = {
                    "'nosuch'::regnamespace; 3F000; schema \"nosuch\" does not exist",
                    "'nosuch'::regrole; 42704; role \"nosuch\" does not exist",
                    "'nosuch'::regproc; 42883; function \"nosuch\" does not exist",
                    "'nosuch(integer)'::regprocedure; 42883; function \"nosuch(integer)\" does not exist",
                    "'nosuch'::regprocedure; 22P02; expected a left parenthesis",
                    "'@#@'::regoper; 42883; operator does not exist: @#@",
                    "'@#@(integer,integer)'::regoperator; 42883; operator does not exist: @#@(integer,integer)",
                    "'@#@'::regoperator; 22P02; expected a left parenthesis",
                })
        void aNameOfNothingIsNothingsNumber(String cast, String state, String message) {
            MillraceException error = db.failure("SELECT " + cast);
            assertEquals(state, error.sqlState().code());
            assertTrue(error.getMessage().endsWith(message), error.getMessage());
        }

        @ParameterizedTest
        @CsvSource(
                delimiter = ';',
                quoteCharacter = '~',
                value = {
                    "'1.55 seconds'::interval(1); 00:00:01.6",
                    "'1.55 seconds'::interval second(1); 00:00:01.6",
                    "'1 day 1.55 seconds'::interval day to second(0); 1 day 00:00:02",
                    "CAST('1 day 1.55 seconds' AS interval hour to second); 1 day 00:00:01.55",
                    "x FROM (SELECT CAST('1.96' AS INTERVAL SECOND(1)) AS x) q; 00:00:02",
                    "CAST('1.5 s' AS interval(0)); 00:00:02",
                    "CAST('-1.5 s' AS interval(0)); -00:00:02",
                    "interval(2) '1.239 s'; 00:00:01.24",
                    "interval '1.66' second(1); 00:00:01.7",
                    "interval '3 4:05:06.75' day to second(1); 3 days 04:05:06.8",
                    "interval '4:05:06.75' hour to second(0); 04:05:07",
                    "interval '1.234567' second; 00:00:01.234567",
                    "interval '1-2' year to month; 1 year 2 mons",
                    "'1 month 2 days 0.96 s'::interval(1); 1 mon 2 days 00:00:01",
                })
        void secondsOfIntervalsHaveAsManyDigits(String interval, String text) {
            assertEquals(List.of(text), db.rows("SELECT " + interval));
        }

        @Test
        void namesOfAllKindsAreNumbers() {
            assertEquals(
                    List.of("t|t|t|t"),
                    db.rows("SELECT 'pg_catalog'::regnamespace = 11, NULL::regrole IS NULL, '-'::regproc = 0,"
                            + " '\"public\"'::regnamespace IS NOT NULL"));
            assertEquals(
                    List.of("-|-|-|-|-|99999999|t|"),
                    db.rows(
                            "SELECT '-'::regclass, '-'::regtype, 0::regclass, 0::regtype, 0::regproc, 99999999::regclass,"
                                    + " 't'::regclass::regclass, NULL::integer::regclass"));
        }

        @Test
        void whatIsAskedForByToRegMayBeMissing() {
            assertEquals(
                    List.of("t|t|t|t|t|t|t|t"),
                    db.rows("SELECT to_regclass('t') = 't'::regclass, to_regclass('public.t') = 't'::regclass,"
                            + " to_regclass('pg_catalog.pg_class') = 1259, to_regtype('integer') = 23,"
                            + " to_regnamespace('\"public\"') = 'public'::regnamespace, to_regproc('int4in') > 0,"
                            + " to_regprocedure('int4in(cstring)') > 0, to_regrole('millrace') > 0"));
            for (String missing : List.of(
                    "to_regclass('nosuch')",
                    "to_regclass('nosuch.t')",
                    "to_regclass('information_schema.t')",
                    "to_regtype('nosuch')",
                    "to_regnamespace('nosuch')",
                    "to_regproc('nosuch')",
                    "to_regprocedure('nosuch(integer)')",
                    "to_regrole('nosuch')",
                    "to_regoper('@#@')",
                    "to_regclass(NULL)")) {
                assertEquals(List.of("t"), db.rows("SELECT " + missing + " IS NULL"), missing);
            }
        }

        @Test
        void aNameOfNothingIsNoClass() {
            assertEquals("42P01 relation \"nosuch\" does not exist", db.error("SELECT 'nosuch'::regclass"));
            assertEquals("42P01 relation \"nosuch\" does not exist", db.error("SELECT 1, 'nosuch'::regclass::text"));
            assertEquals("22012 division by zero", db.error("SELECT 1 / count(*) FROM t WHERE a > 9"));
            assertTrue(db.error("SELECT 1 / (a - 1) FROM t").matches("22012 row [1-3]: division by zero"));
            assertEquals(
                    "42P01",
                    db.failure("SELECT 'nosuch.t'::regclass").sqlState().code());
            assertEquals(
                    "42704", db.failure("SELECT 'nosuch'::regtype").sqlState().code());
            assertEquals(
                    List.of("t|t|t|t|t|t"),
                    db.rows("SELECT 't'::regclass = 'public.t'::regclass, 'pg_class'::regclass = 1259,"
                            + " 'pg_catalog.pg_class'::regclass = 1259, NULL::regclass IS NULL,"
                            + " 'character varying'::regtype = 1043, to_regclass('nosuch') IS NULL"));
            assertEquals(
                    List.of("t"),
                    db.rows("SELECT bool_and(x::regclass IS NOT NULL) FROM (VALUES ('t'), ('pg_class')) v(x)"));
        }

        @ParameterizedTest
        @CsvSource(
                delimiter = ';',
                value = {
                    "SELECT (SELECT sum((SELECT o.b)) FROM t i LIMIT 1) FROM t o; 8",
                    "SELECT (SELECT sum(o.b + (SELECT 1)) FROM t i LIMIT 1) FROM t o; 11",
                    "SELECT (SELECT sum((SELECT max(x.b) FROM t x WHERE x.a = o.a)) FROM t i LIMIT 1) FROM t o; 8",
                    "SELECT (SELECT max((SELECT i.b + o.b)) FROM t i) FROM t o; 6 6 8",
                    "SELECT (SELECT sum((SELECT i.b)) FROM t i) FROM t o; 8 8 8",
                    "SELECT (SELECT sum((SELECT count(*) FROM t)) FROM t i) FROM t o; 9 9 9",
                    "SELECT (SELECT count(*) FILTER (WHERE o.b IN (SELECT 2)) FROM t i LIMIT 1) FROM t o; 2",
                    "SELECT o.a FROM t o GROUP BY o.a HAVING (SELECT max((SELECT o.b)) FROM t i LIMIT 1) > 2; 3",
                })
        void anAggregateIsOfTheInnermostQueryItReads(String query, String answers) {
            assertEquals(List.of(answers.split(" ")), db.rows(query));
        }

        @Test
        void equalIntervalsAreEqualInMultisets() {
            String both = "VALUES (interval '1 day'), (interval '24:00')";
            String one = " (VALUES (interval '24:00'))";
            assertEquals(2, db.rows(both + " INTERSECT ALL (" + both + ")").size());
            assertEquals(
                    2,
                    db.rows(both + " INTERSECT ALL (VALUES (interval '24:00'), (interval '24:00'))")
                            .size());
            assertEquals(1, db.rows(both + " INTERSECT ALL" + one).size());
            assertEquals(1, db.rows(both + " EXCEPT ALL" + one).size());
            assertEquals(
                    0,
                    db.rows(both + " EXCEPT ALL (VALUES (interval '24:00'), (interval '24:00'))")
                            .size());
        }
    }

    @Test
    void aTableFunctionInSqlIsKept(@TempDir Path folder) {
        Path data = folder.resolve("data");
        try (TestDatabase db = new TestDatabase(data)) {
            db.run("CREATE FUNCTION f(x INT) RETURNS TABLE (a INT, b TEXT) LANGUAGE SQL AS $$ SELECT x + 1, 'y' $$");
            db.run("CREATE VIEW v AS SELECT * FROM f(2)");
            assertEquals(List.of("3|y"), db.rows("SELECT * FROM v"));
        }
        try (TestDatabase again = new TestDatabase(data)) {
            assertEquals(List.of("8|y"), again.rows("SELECT * FROM f(7)"));
            assertEquals(List.of("3|y"), again.rows("SELECT * FROM v"));
            again.run("DROP FUNCTION f CASCADE");
        }
        try (TestDatabase gone = new TestDatabase(data)) {
            assertEquals("42883", gone.failure("SELECT * FROM f(7)").sqlState().code());
        }
    }
}
