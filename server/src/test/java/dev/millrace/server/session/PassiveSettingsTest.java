package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Settings of PostgreSQL that change nothing here, names that programs give to settings of their own, and set_config. */
class PassiveSettingsTest {
    private final TestDatabase database = new TestDatabase();

    @AfterEach
    void close() {
        database.close();
    }

    private String shown(String setting) {
        return database.rows("SHOW " + setting).get(0);
    }

    private void assertFails(SqlState state, String sql) {
        MillraceException error = assertThrows(MillraceException.class, () -> database.run(sql));
        assertEquals(state, error.sqlState(), error::getMessage);
    }

    @Test
    void aSettingThatChangesNothingIsKeptAndShownInAnyCase() {
        assertEquals("4MB", shown("work_mem"));
        database.run("SET Work_Mem = '64MB'");
        assertEquals("64MB", shown("WORK_MEM"));
        assertEquals(List.of("64MB"), database.rows("SELECT current_setting('work_mem')"));
        database.run("RESET work_mem");
        assertEquals("4MB", shown("work_mem"));
        database.run("SET synchronize_seqscans TO off; RESET ALL");
        assertEquals("on", shown("synchronize_seqscans"));
        assertEquals(List.of(), database.notices());
    }

    @Test
    void oneOfRisingWaveSaysWhatHoldsInstead() {
        database.run(
                "SET RW_IMPLICIT_FLUSH TO true; SET streaming_parallelism = 4; SET streaming_parallelism TO DEFAULT");
        assertEquals("true", shown("implicit_flush"));
        assertEquals("default", shown("STREAMING_PARALLELISM"));
        assertEquals(
                List.of(
                        "setting \"rw_implicit_flush\" has no effect here: a session reads what it wrote unless read_your_writes is off,"
                                + " and FLUSH waits for all",
                        "setting \"streaming_parallelism\" has no effect here: each query is spread over all workers of the server"),
                database.notices());
        database.run("BEGIN; SET LOCAL rw_query_mode = local");
        assertEquals("local", shown("query_mode"));
        database.run("COMMIT");
        assertEquals("auto", shown("query_mode"));
        assertFails(SqlState.UNDEFINED_OBJECT, "SET upsert_dml = true"); // which would change answers
    }

    @Test
    void itEndsWithItsTransactionAsOthersDo() {
        database.run("SET jit = on; BEGIN; SET LOCAL jit = off");
        assertEquals("off", shown("jit"));
        database.run("COMMIT");
        assertEquals("on", shown("jit"));
        database.run("BEGIN; SET jit = off; ROLLBACK");
        assertEquals("on", shown("jit"));
        database.run("SET LOCAL jit = off");
        assertEquals("on", shown("jit"));
        assertEquals(List.of("SET LOCAL can only be used in transaction blocks"), database.notices());
    }

    @Test
    void programsHaveSettingsOfTheirOwn() {
        assertFails(SqlState.UNDEFINED_OBJECT, "SHOW app.tenant");
        assertFails(SqlState.UNDEFINED_OBJECT, "SELECT current_setting('app.tenant')");
        assertEquals(List.of(""), database.rows("SELECT current_setting('app.tenant', true)"));
        database.run("SET app.tenant = '7'");
        assertEquals(List.of("7"), database.rows("SELECT current_setting('app.tenant')"));
        assertFails(SqlState.UNDEFINED_OBJECT, "SET tenant = '7'");
        assertFails(SqlState.UNDEFINED_OBJECT, "SET transform_null_equals = on"); // which would change answers
    }

    @Test
    void whatASessionKeepsOfThemIsBounded() {
        StringBuilder sets = new StringBuilder();
        for (int i = 0; i < 1000; i++) {
            sets.append("SET app.v").append(i).append(" = 1;");
        }
        database.run(sets.toString());
        database.run("SET app.v7 = 2");
        assertFails(SqlState.PROGRAM_LIMIT_EXCEEDED, "SET app.one_more = 1");
        assertFails(SqlState.PROGRAM_LIMIT_EXCEEDED, "SET app.v7 = '" + "x".repeat(70_000) + "'");
    }

    @Test
    void setConfigSetsWhatSetDoesWhenItsStatementEnds() {
        assertEquals(
                List.of("5s|pg_catalog"),
                database.rows("SELECT set_config('statement_timeout', '5s', false),"
                        + " pg_catalog.set_config('search_path', 'pg_catalog', false)"));
        assertEquals("5s", shown("statement_timeout"));
        assertEquals("pg_catalog", shown("search_path"));
        database.run("BEGIN; SELECT set_config('work_mem', '1GB', true)");
        assertEquals("1GB", shown("work_mem"));
        database.run("COMMIT");
        assertEquals("4MB", shown("work_mem"));
        database.rows("SELECT set_config('statement_timeout', NULL, false)");
        assertEquals("0", shown("statement_timeout"));
    }

    @Test
    void setConfigOfAStatementThatFailsSetsNothing() {
        assertFails(SqlState.DIVISION_BY_ZERO, "SELECT set_config('app.x', '1', false), 1 / (random() * 0)::int");
        assertFails(SqlState.UNDEFINED_OBJECT, "SHOW app.x");
        assertFails(SqlState.INVALID_PARAMETER_VALUE, "SELECT set_config('statement_timeout', 'soon', false)");
        assertFails(SqlState.UNDEFINED_OBJECT, "SELECT set_config('nothing', '1', false)");
        assertFails(SqlState.NULL_VALUE_NOT_ALLOWED, "SELECT set_config(NULL, '1', false)");
        assertEquals("0", shown("statement_timeout"));
    }

    @Test
    void limitsAreForSuperusersHoweverTheyAreSet() {
        database.run("CREATE ROLE clerk; SET ROLE clerk");
        assertFails(SqlState.INSUFFICIENT_PRIVILEGE, "SELECT set_config('max_queries', '5', false)");
        database.run("SET work_mem = '1MB'");
        assertEquals("1MB", shown("work_mem"));
        assertEquals("0", shown("max_queries"));
    }
}
