package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.error.MillraceException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What an index answers is what reading all rows answers: the same questions to two tables of the same rows, of which one has an
 * index. {@code -Dmillrace.indexes.all=true} asks all of them, which takes some minutes, instead of those that are drawn.
 */
@Tag("long")
class IndexedReadsTest {
    private static final boolean ALL = Boolean.getBoolean("millrace.indexes.all");
    private static final long SEED = Long.getLong("millrace.indexes.seed", 1);
    private static final int ONE_OF = 80;

    private static final List<String> INDEXES = List.of(
            "(v)", "(v DESC)", "(v NULLS FIRST)", "(v DESC NULLS LAST, k)", "USING hash (v)", "(g, v)", "(v, g DESC)");

    private static final List<String> ORDERS = List.of(
            "",
            " ORDER BY v, k LIMIT 3",
            " ORDER BY v DESC, k LIMIT 4",
            " ORDER BY v NULLS FIRST, k LIMIT 4",
            " ORDER BY v DESC NULLS LAST, k OFFSET 1 LIMIT 3",
            " ORDER BY g, v, k LIMIT 5",
            " ORDER BY g DESC, v DESC, k LIMIT 5");

    private final SplittableRandom random = new SplittableRandom(SEED);

    /** Values that are equal though they look otherwise, at the ends of their type, and next to each other in some order. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "DOUBLE PRECISION|0.0, -0.0, 'NaN', 'Infinity', '-Infinity', 1.5, -2, 1e300",
                "REAL|0.0, -0.0, 'NaN', 'Infinity', 0.1, 1.5, -2",
                "INTERVAL|'1 day', '24 hours', '1 month', '30 days', '-1 day', '0', '720 hours'",
                "NUMERIC(8,2)|0, 1.10, 1.1, -3.25, 999999.99",
                "NUMERIC|0, 1.10, 1.1, -3.25, 12345678.5",
                "TEXT|'', 'a', 'A', 'ab', 'ä', 'z', 'a ', 'ab%', '😀'",
                "VARCHAR(5)|'', 'a', 'A', 'ab', 'ä', 'abcde'",
                "CHAR(3)|'', 'a', 'A', 'ab', 'a ', 'abc'",
                "BYTEA|'\\x00', '\\x', '\\xff', '\\x0001'",
                "BOOLEAN|true, false",
                "SMALLINT|0, 1, -1, 32767, -32768",
                "BIGINT|0, 1, -1, 9223372036854775807, -9223372036854775807",
                "DATE|'2020-01-01', '1969-12-31', '0001-01-01'",
                "TIMESTAMP|'2020-01-01 00:00', '1969-12-31 23:59:59.999999', '1900-01-01'",
                "TIMESTAMPTZ|'2020-01-01 00:00+00', '2020-01-01 02:00+02', '1969-12-31 23:59:59.999999+00'",
                "TIME|'00:00', '23:59:59.999999', '12:00', '24:00'",
                "UUID|'00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff',"
                        + " '80000000-0000-0000-0000-000000000001', '7fffffff-ffff-ffff-ffff-ffffffffffff'",
            })
    void anIndexAnswersAsAllRowsDo(String type, String constants) {
        List<String> values = List.of(constants.split(", ?"));
        try (TestDatabase db = new TestDatabase()) {
            for (String table : List.of("plain", "indexed")) {
                db.run("CREATE TABLE " + table + " (k INT, g INT, v " + type + ")");
                db.run("INSERT INTO " + table + " VALUES " + rows(type, values));
            }
            for (String index : INDEXES) {
                db.run("CREATE INDEX of_v ON indexed " + index);
                for (String condition : conditions(type, values)) {
                    for (String order : ORDERS) {
                        if (ALL || random.nextInt(ONE_OF) == 0) {
                            String query = "SELECT k, v FROM TABLE" + condition + order;
                            assertEquals(
                                    answer(db, query.replace("TABLE", "plain")),
                                    answer(db, query.replace("TABLE", "indexed")),
                                    index + ": " + query);
                        }
                    }
                }
                db.run("DROP INDEX of_v");
            }
        }
    }

    /** Each value twice, in other groups, and NULLs. */
    private static String rows(String type, List<String> values) {
        List<String> rows = new ArrayList<>(List.of("(0, 1, NULL)", "(1, 2, NULL)"));
        for (String value : values) {
            for (int copy = 2; copy <= 3; copy++) {
                rows.add("(%d, %d, CAST(%s AS %s))".formatted(rows.size(), rows.size() % copy, value, type));
            }
        }
        return String.join(", ", rows);
    }

    private static List<String> conditions(String type, List<String> values) {
        List<String> conditions = new ArrayList<>(
                List.of("v IS NULL", "v IS NOT NULL", "v = NULL", "g = NULL AND v IS NULL", "g IN (0, 2)"));
        String first = values.get(0);
        for (String value : values) {
            String cast = "CAST(" + value + " AS " + type + ")";
            for (String operator : List.of("=", "<", "<=", ">", ">=", "<>")) {
                conditions.add("v " + operator + " " + value);
                conditions.add("v " + operator + " " + cast);
                conditions.add("g = 1 AND v " + operator + " " + cast);
            }
            conditions.add("v IN (" + value + ", " + first + ", NULL)");
            conditions.add("v = " + first + " OR v = " + cast);
            conditions.add("v BETWEEN " + first + " AND " + value);
            conditions.add("v > " + cast + " AND v < NULL");
            conditions.add("v IS NOT DISTINCT FROM " + cast);
            if (type.equals("TEXT") || type.startsWith("VARCHAR")) {
                conditions.add("v LIKE " + value);
                conditions.add("v LIKE " + value + " || '%'");
            }
        }
        conditions.replaceAll(condition -> " WHERE " + condition);
        conditions.add("");
        return conditions;
    }

    /** Rows without an order are compared as a set; an error by its code. */
    private static String answer(TestDatabase db, String query) {
        try {
            return db.rows(query).toString();
        } catch (MillraceException e) {
            return "error " + e.sqlState().code();
        }
    }

    @Test
    void queriesAndChangesFindByIndexesWhatTheyFindWithout() {
        List<String> queries = List.of(
                "SELECT a.k, b.k FROM % a, % b WHERE a.g = 3 AND a.k = b.k + 50 AND b.v = 2",
                "SELECT a.k FROM % a WHERE a.g = 3 AND NOT EXISTS (SELECT 1 FROM % b WHERE b.g = 3 AND b.k = a.k + 50)",
                "SELECT count(*), sum(v) FROM % WHERE g = 3 OR g = 4::bigint",
                "SELECT count(*) FROM % WHERE g IN (SELECT g FROM % WHERE k < 5)",
                "SELECT g, count(*) FROM % WHERE g BETWEEN 3 AND 5 GROUP BY g"
                        + " HAVING count(*) > (SELECT count(*) FROM % WHERE g = 3) - 1",
                "SELECT * FROM (SELECT k, row_number() OVER (ORDER BY k) r FROM % WHERE g = 3) x WHERE r < 5",
                "SELECT DISTINCT v FROM % WHERE s = 's3' ORDER BY v DESC LIMIT 2",
                "SELECT k FROM % WHERE s = 's3' AND v < 4 ORDER BY v DESC, k LIMIT 3",
                "SELECT k FROM % WHERE s IN ('s3', 's4') AND v = 2 ORDER BY s, v DESC, k LIMIT 3",
                "SELECT k FROM % WHERE s > 's3' ORDER BY s, v DESC, k LIMIT 3",
                "SELECT g FROM % WHERE g = 3 UNION ALL SELECT g FROM % WHERE g = 4",
                "SELECT x.k FROM % x LEFT JOIN % y ON x.k = y.k AND y.g = 4 WHERE x.g = 3 AND y.k IS NULL",
                "SELECT max(k) FROM % WHERE g = 3",
                "SELECT min(k), max(k) FROM %",
                "SELECT k FROM % WHERE k > 990 ORDER BY k DESC LIMIT 3",
                "SELECT l.k FROM % t, LATERAL (SELECT u.k FROM % u WHERE u.g = t.g AND u.k > t.k ORDER BY u.k LIMIT 1) l"
                        + " WHERE t.k < 5",
                "SELECT (SELECT count(*) FROM % u WHERE u.g = t.g) FROM % t WHERE t.k IN (1, 2, 51)",
                "WITH w AS (SELECT * FROM % WHERE g = 3) SELECT count(*) FROM w a JOIN w b ON a.v = b.v",
                "SELECT count(*) FROM % a FULL JOIN % b ON a.k = b.k + 1 AND a.g = 3 WHERE coalesce(a.k, b.k) < 100",
                "SELECT k FROM % WHERE g = 3 AND random() >= 0 ORDER BY k LIMIT 3",
                "SELECT * FROM %");
        List<String> changes = List.of(
                "UPDATE % SET v = v + 1 WHERE g = 3",
                "UPDATE % SET g = g + 1 WHERE g = 7 AND k < 500",
                "UPDATE % t SET v = u.v FROM % u WHERE u.k = t.k + 1 AND u.g = 9 AND t.g = 8",
                "DELETE FROM % WHERE s = 's9' AND v = 3",
                "DELETE FROM % t USING % u WHERE t.k = u.k + 50 AND u.g = 11 AND t.k > 600",
                "MERGE INTO % t USING (SELECT * FROM % WHERE g = 12) u ON t.k = u.k AND t.g = 12 WHEN MATCHED AND t.v > 3"
                        + " THEN DELETE WHEN MATCHED THEN UPDATE SET v = 99",
                "INSERT INTO % SELECT k + 10000, g, v, s FROM % WHERE g = 13 AND k < 10000");
        try (TestDatabase db = new TestDatabase()) {
            for (String table : List.of("plain", "indexed")) {
                db.run("CREATE TABLE " + table + " (k INT, g INT, v INT, s TEXT)");
                db.run("INSERT INTO " + table
                        + " SELECT i, i % 50, i % 7, 's' || (i % 30) FROM generate_series(1, 1000) AS x(i)");
            }
            db.run("CREATE INDEX by_g ON indexed (g); CREATE INDEX by_s ON indexed (s, v DESC);"
                    + " CREATE UNIQUE INDEX by_k ON indexed (k)");
            for (String change : changes) {
                for (String around : List.of("BEGIN; %s; ROLLBACK", "BEGIN; %s; COMMIT")) {
                    for (String table : List.of("plain", "indexed")) {
                        db.run(around.formatted(change.replace("%", table)));
                    }
                    for (String query : queries) {
                        assertEquals(
                                answer(db, query.replace("%", "plain")),
                                answer(db, query.replace("%", "indexed")),
                                query + " after " + change);
                    }
                }
            }
        }
    }
}
