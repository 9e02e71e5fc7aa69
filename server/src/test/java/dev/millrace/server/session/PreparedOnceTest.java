package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

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
