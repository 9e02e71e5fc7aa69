package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.error.MillraceException;
import dev.millrace.server.result.StatementResult;
import dev.millrace.sql.ParsedStatement;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.type.DataType;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the protocol prepares is analysed then, and what was found serves its execution. */
class PreparedOnceTest {
    private TestDatabase db;

    @BeforeEach
    void open() {
        db = new TestDatabase();
        db.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v BIGINT)");
        db.run("INSERT INTO t SELECT x, x * 10 FROM generate_series(1, 100) g(x)");
    }

    @AfterEach
    void close() {
        db.close();
    }

    private long analyses() {
        return db.database().instance().plans().analyses();
    }

    private long plannings() {
        return db.database().instance().plans().plannings();
    }

    private ParsedStatement prepare(String sql) {
        ParsedStatement parsed = db.session().parse(sql).get(0);
        db.session().prepared().analyze(parsed, List.of());
        return parsed;
    }

    private String execute(ParsedStatement parsed, String... texts) {
        Parameters parameters = Parameters.of(
                List.of(), Arrays.stream(texts).map(Optional::ofNullable).toList());
        try (StatementResult result = db.session().execute(parsed, parameters)) {
            return result instanceof StatementResult.Rows rows
                    ? String.join("; ", TestDatabase.texts(rows))
                    : result.toString();
        }
    }

    @Test
    void aStatementIsAnalysedAndPlannedOnceForBeingPreparedAndExecuted() {
        String[][] statements = {
            {"SELECT v FROM t WHERE id = $1", "50", "5"},
            {"SELECT v + 1 FROM t WHERE id = $1 AND v > 0", "51", "5"},
            {"UPDATE t SET v = v + $2 WHERE id = $1", "UPDATE 1", "6", "1"},
            {"INSERT INTO t VALUES ($1, $2)", "INSERT 0 1", "1000", "1"},
            {"DELETE FROM t WHERE id = $1", "DELETE 1", "1000"},
            {"SELECT count(*) + 0 FROM t", "100"},
            {"SELECT 41 + 1", "42"},
            {"INSERT INTO t VALUES (2000, 1), (2001, 2)", "INSERT 0 2"},
            {"UPDATE t SET v = 0 WHERE id > 1999", "UPDATE 2"},
            {"DELETE FROM t WHERE id > 1999 RETURNING id", "2000; 2001"},
            {"WITH d AS (DELETE FROM t WHERE id = 7 RETURNING v) SELECT v FROM d", "70"},
        };
        for (String[] statement : statements) {
            long analysed = analyses();
            long planned = plannings();
            ParsedStatement parsed = prepare(statement[0]);
            assertEquals(statement[1], execute(parsed, Arrays.copyOfRange(statement, 2, statement.length)));
            assertEquals(analysed + 1, analyses(), statement[0]);
            assertEquals(true, plannings() <= planned + 3, statement[0]);
        }
    }

    @Test
    void aStatementThatIsNotReadByKeyIsAnalysedOnceForAllItsValues() {
        String[][] statements = {
            {"SELECT count(*) FROM t WHERE v >= $1", "96", "50", "1", "1000"},
            {"SELECT id + $2::int FROM t WHERE v = $1", "13", "30", "10", "14", "40"},
            {"SELECT count(*) FROM t a JOIN t b ON a.id = b.id + $1 WHERE a.v < $2", "8", "1", "100", "7", "2"},
            {"SELECT max(v) FROM t WHERE v < (SELECT $1 * count(*) FROM t)", "90", "1", "190", "2"},
            {"SELECT count(*) FROM t WHERE v IN ($1, $2)", "2", "10", "20", "1", "10"},
            {"SELECT id FROM t WHERE v > $1 UNION ALL SELECT $2::int", "100; 3", "990", "3", "990", "4"},
            {"INSERT INTO t SELECT id + $1::int, v FROM t WHERE v >= $2", "INSERT 0 1", "1000", "1000"},
            {"UPDATE t SET v = v + $1 WHERE v > $2", "UPDATE 2", "1", "999"},
            {"DELETE FROM t WHERE v > $1 RETURNING id", "100; 1100", "1000"},
        };
        for (String[] statement : statements) {
            long analysed = analyses();
            ParsedStatement parsed = prepare(statement[0]);
            int count = parsed.parameterCount();
            assertEquals(statement[1], execute(parsed, Arrays.copyOfRange(statement, 2, 2 + count)), statement[0]);
            if (statement.length > 2 + count) {
                String[] others = Arrays.copyOfRange(statement, statement.length - count, statement.length);
                execute(parsed, others);
            }
            assertEquals(analysed + 1, analyses(), statement[0]);
        }
    }

    @Test
    void valuesThatAreNotOfTheirTypesAreToldAsWithoutPreparing() {
        ParsedStatement parsed = prepare("SELECT count(*) FROM t WHERE v > $1");
        assertEquals("100", execute(parsed, "0"));
        assertEquals("0", execute(parsed, (String) null));
        assertEquals(
                "invalid input syntax for type bigint: \"x\"",
                assertThrows(MillraceException.class, () -> execute(parsed, "x"))
                        .getMessage());
        ParsedStatement divided = prepare("SELECT v / $1 FROM t WHERE v > 990");
        assertEquals("500", execute(divided, "2"));
        assertEquals(
                "22012",
                assertThrows(MillraceException.class, () -> execute(divided, "0"))
                        .sqlState()
                        .code());
        assertEquals("100", execute(parsed, "0"));
    }

    @Test
    void permissionsAreAskedForAtEachExecution() {
        db.run("CREATE ROLE ann; GRANT SELECT ON t TO ann");
        ParsedStatement parsed = prepare("SELECT count(*) FROM t WHERE v > $1");
        db.run("SET ROLE ann");
        assertEquals("100", execute(parsed, "0"));
        db.run("RESET ROLE; REVOKE SELECT ON t FROM ann; SET ROLE ann");
        assertEquals(
                "42501",
                assertThrows(MillraceException.class, () -> execute(parsed, "0"))
                        .sqlState()
                        .code());
    }

    @Test
    void anotherExecutionIsOfTheRowsAndDefinitionsAsTheyAreThen() {
        ParsedStatement insert = prepare("INSERT INTO t SELECT max(id) + 1, 7 FROM t");
        assertEquals("INSERT 0 1", execute(insert));
        assertEquals("INSERT 0 1", execute(insert));
        assertEquals(List.of("102"), db.rows("SELECT count(*) FROM t"));
        ParsedStatement before = prepare("INSERT INTO t (id) VALUES (500)");
        db.run("ALTER TABLE t ALTER COLUMN v SET DEFAULT 9");
        assertEquals("INSERT 0 1", execute(before));
        assertEquals(List.of("9"), db.rows("SELECT v FROM t WHERE id = 500"));
    }

    @Test
    void whatHoldsForTheSessionAloneIsLookedUpWhenItIsExecuted() {
        db.run("CREATE ROLE ann; CREATE TABLE who (name TEXT); GRANT ALL ON who TO ann");
        ParsedStatement select = prepare("SELECT current_user");
        ParsedStatement insert = prepare("INSERT INTO who VALUES (current_user)");
        db.run("SET ROLE ann");
        assertEquals("INSERT 0 1", execute(insert));
        assertEquals("ann", execute(select));
        assertEquals(List.of("ann"), db.rows("SELECT name FROM who"));
    }

    @Test
    void declaredTypesOfAnotherExecutionAreHeard() {
        ParsedStatement parsed = prepare("SELECT v FROM t WHERE id = $1");
        Parameters numeric = Parameters.of(List.of(DataType.numeric(3, 1)), List.of(Optional.of("5.0")));
        try (StatementResult result = db.session().execute(parsed, numeric)) {
            assertEquals(List.of("50"), TestDatabase.texts((StatementResult.Rows) result));
        }
    }
}
