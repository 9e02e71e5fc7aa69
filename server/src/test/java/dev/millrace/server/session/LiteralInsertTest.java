package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.Millrace;
import dev.millrace.error.MillraceException;
import dev.millrace.server.result.StatementResult;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Rows of literals go into columns without a query; they must become what the same expressions of a query become. */
class LiteralInsertTest {
    private static final List<String> TYPES = List.of(
            "SMALLINT",
            "INTEGER",
            "BIGINT",
            "REAL",
            "DOUBLE PRECISION",
            "NUMERIC(6,2)",
            "BOOLEAN",
            "TEXT",
            "VARCHAR(3)",
            "CHAR(4)",
            "DATE",
            "TIME",
            "TIMESTAMP",
            "TIMESTAMPTZ",
            "INTERVAL",
            "UUID",
            "BYTEA",
            "JSONB");

    private static final List<String> LITERALS = List.of(
            "NULL",
            "1",
            "-1",
            "0",
            "70000",
            "-70000",
            "3000000000",
            "99999999999999999999",
            "1.5",
            "-1.235",
            "1234567.891",
            "12.",
            ".5",
            "1e3",
            "true",
            "false",
            "'t'",
            "'no'",
            "'1'",
            "' 7 '",
            "'1.25'",
            "'NaN'",
            "'Infinity'",
            "''",
            "'abc'",
            "'abcde'",
            "'abc  '",
            "'it''s'",
            "E'a\\nb'",
            "'ünï'",
            "'2026-02-28'",
            "'2026-02-30'",
            "DATE '2026-02-28'",
            "TIMESTAMP '2026-02-28 12:34:56.789'",
            "'2026-02-28 12:34:56+02'",
            "'12:34:56'",
            "'1 day 2 hours'",
            "'8f14e45f-ceea-467f-a1d5-6e5d2a6e2c11'",
            "'\\xdeadbeef'",
            "'{\"b\": 1, \"a\": [1, 2]}'",
            "'{bad'");

    @Test
    void aLiteralBecomesWhatItBecomesInAQuery() {
        List<String> differences = new ArrayList<>();
        try (Database database = Millrace.open();
                Session session = database.session()) {
            for (String type : TYPES) {
                session.execute("CREATE TABLE t (n INTEGER, v " + type + ", left_out TEXT)")
                        .drain();
                for (String literal : LITERALS) {
                    String simple = inserted(session, "VALUES (1, " + literal + ")");
                    String query = inserted(session, "SELECT 1, " + literal);
                    if (!simple.equals(query)) {
                        differences.add(literal + " as " + type + ": " + simple + ", in a query: " + query);
                    }
                }
                session.execute("DROP TABLE t").drain();
            }
        }
        assertEquals(List.of(), differences);
    }

    /** The value as text, or the error's SQLSTATE. */
    private static String inserted(Session session, String rows) {
        try {
            session.execute("INSERT INTO t (n, v) " + rows).drain();
            try (StatementResult.Rows result = session.query("SELECT v::text FROM t")) {
                try (var batch = result.next().orElseThrow()) {
                    Object value = batch.column(0).getObject(0);
                    return String.valueOf(value);
                }
            }
        } catch (MillraceException e) {
            return e.sqlState().toString();
        } finally {
            session.execute("TRUNCATE t").drain();
        }
    }

    @Test
    void manyRowsColumnsInAnotherOrderAndParametersAreTaken() {
        try (Database database = Millrace.open();
                Session session = database.session()) {
            session.execute("CREATE TABLE t (a INTEGER NOT NULL, b TEXT, c DOUBLE PRECISION)")
                    .drain();
            session.execute("INSERT INTO t (c, a) VALUES (1.5, 1), (-2, 2), (NULL, 3)")
                    .drain();
            session.execute("INSERT INTO t VALUES ($1, $2, $3), ($1, 'x', 0) RETURNING a", List.of(4, "four", 4.5))
                    .drain();
            session.execute("INSERT INTO t VALUES (5), (6)").drain();
            assertEquals("22P02 31", failure(session, "INSERT INTO t VALUES (7, 'g', '1x')"));
            assertEquals("23502", failure(session, "INSERT INTO t VALUES (7, 'g', 1), (NULL, 'h', 2)"));
            assertEquals("23502 13", failure(session, "INSERT INTO t (b) VALUES ('h')"));
            assertEquals("42601 15", failure(session, "INSERT INTO t VALUES (1, 'a', 2, 3)"));
            assertEquals("42601 32", failure(session, "INSERT INTO t VALUES (1, 'a'), (1)"));
            assertEquals(
                    "42804", failure(session, "INSERT INTO t VALUES (true)").substring(0, 5));
            try (StatementResult.Rows rows = session.query(
                            "SELECT string_agg(a || coalesce(b, '-') || coalesce(c::text, '-'), ' ' ORDER BY a, b)"
                                    + " FROM t");
                    var batch = rows.next().orElseThrow()) {
                assertEquals(
                        "1-1.5 2--2 3-- 4four4.5 4x0 5-- 6--",
                        batch.column(0).getObject(0).toString());
            }
        }
    }

    private static String failure(Session session, String sql) {
        try {
            session.execute(sql).drain();
            return "none";
        } catch (MillraceException e) {
            return e.sqlState().code()
                    + (e.position().isPresent() ? " " + e.position().getAsInt() : "");
        }
    }
}
