package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.statistic.QueryState;
import dev.millrace.error.MillraceException;
import dev.millrace.testing.time.Eventually;
import dev.millrace.testing.wasm.SampleModule;
import dev.millrace.testing.wasm.WasmAssembler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Functions in WebAssembly against what SQL says of the same rows, and what becomes of those that do harm. */
class WasmFunctionTest {
    @TempDir
    private Path folder;

    private final TestDatabase database = new TestDatabase(1);
    private Path file;

    @BeforeEach
    void write() throws IOException {
        file = Files.write(folder.resolve("sample.wasm"), SampleModule.bytes());
    }

    @AfterEach
    void close() {
        database.close();
    }

    private void create(TestDatabase in, String signature, String export) {
        in.run("CREATE FUNCTION " + signature + " LANGUAGE WASM AS '" + file + "', '" + export + "'");
    }

    private void create(String signature, String export) {
        create(database, signature, export);
    }

    private MillraceException fails(String sql) {
        return assertThrows(MillraceException.class, () -> database.rows(sql), sql);
    }

    private void createNumbers() {
        create("scaled(a DOUBLE PRECISION, b BIGINT) RETURNS DOUBLE PRECISION", "scaled");
        create("negated(DOUBLE PRECISION) RETURNS DOUBLE PRECISION", "negated");
        create("negated4(REAL) RETURNS REAL", "negated32");
        create("mixed(BIGINT, BIGINT) RETURNS BIGINT", "mixed");
        create("mixed4(INT, INT) RETURNS INT", "mixed32");
        create("all_of(BOOLEAN, BOOLEAN) RETURNS BOOLEAN", "both");
        create("reversed(TEXT) RETURNS TEXT", "reversed");
        create("same(BYTEA) RETURNS BYTEA", "same");
    }

    /** 100,000 rows of all types, a tenth of each column NULL. */
    private void createRows() {
        database.run(
                "CREATE TABLE r (k BIGINT PRIMARY KEY, d DOUBLE PRECISION, f REAL, n BIGINT, i INT, b BOOLEAN, t TEXT)");
        database.run("""
                INSERT INTO r SELECT k,
                       CASE WHEN k % 10 = 0 THEN NULL WHEN k % 97 = 0 THEN 'NaN' WHEN k % 89 = 0 THEN '-Infinity'
                            WHEN k % 83 = 0 THEN '-0' ELSE (random() - 0.5) * 1e9 END,
                       CASE WHEN k % 10 = 1 THEN NULL WHEN k % 79 = 0 THEN 'NaN' ELSE (random() - 0.5) * 1e9 END,
                       CASE WHEN k % 10 = 2 THEN NULL WHEN k % 73 = 0 THEN -9223372036854775808 WHEN k % 71 = 0 THEN 9223372036854775807
                            ELSE CAST((random() - 0.5) * 1e6 AS BIGINT) END,
                       CASE WHEN k % 10 = 3 THEN NULL WHEN k % 67 = 0 THEN -2147483648 WHEN k % 61 = 0 THEN 2147483647
                            ELSE CAST((random() - 0.5) * 1e6 AS INT) END,
                       CASE WHEN k % 10 = 4 THEN NULL ELSE random() < 0.5 END,
                       CASE WHEN k % 10 = 5 THEN NULL WHEN k % 59 = 0 THEN '' ELSE repeat(chr(97 + CAST(k % 26 AS INT)), CAST(k % 40 AS INT)) || k END
                FROM generate_series(1, 100000) AS g(k)""");
    }

    private static final String DIFFERENCES = """
            SELECT count(*) FILTER (WHERE scaled(d, i) IS DISTINCT FROM d * CAST(i AS BIGINT) + d) AS a,
                   count(*) FILTER (WHERE negated(d) IS DISTINCT FROM -d) AS b,
                   count(*) FILTER (WHERE negated4(f) IS DISTINCT FROM -f) AS c,
                   count(*) FILTER (WHERE mixed(n, k) IS DISTINCT FROM n # k) AS d,
                   count(*) FILTER (WHERE mixed4(i, 12345) IS DISTINCT FROM i # 12345) AS e,
                   count(*) FILTER (WHERE all_of(b, k % 2 = 0) IS DISTINCT FROM CASE WHEN b IS NOT NULL THEN b AND k % 2 = 0 END) AS f,
                   count(*) FILTER (WHERE reversed(t) IS DISTINCT FROM reverse(t)) AS g,
                   count(*) FILTER (WHERE same(CAST(t AS BYTEA)) IS DISTINCT FROM CAST(t AS BYTEA)) AS h,
                   count(*) AS n FROM r""";

    @Test
    void itSaysWhatSqlSays() {
        createNumbers();
        createRows();
        assertEquals(List.of("0|0|0|0|0|0|0|0|100000"), database.rows(DIFFERENCES));
        assertEquals(List.of(), database.rows("SELECT scaled(d, n), reversed(t) FROM r WHERE k < 0"));
        assertEquals(
                List.of("-1.5||cba|\\x00ff"),
                database.rows("SELECT negated(1.5), mixed(1, NULL), reversed('abc'), same('\\x00ff'::bytea)"));
    }

    @Test
    void aStandingQuerySaysTheSameOfRowsThatComeAndGo() {
        createNumbers();
        database.run(
                "CREATE TABLE r (k BIGINT PRIMARY KEY, d DOUBLE PRECISION, f REAL, n BIGINT, i INT, b BOOLEAN, t TEXT)");
        database.run(
                "CREATE MATERIALIZED VIEW v AS SELECT k, mixed(n, k) AS m, reversed(t) AS t FROM r WHERE all_of(b, k > 2)");
        database.run(
                "INSERT INTO r VALUES (1, 1, 1, 1, 1, true, 'ab'), (3, 1, 1, 5, 1, true, 'cd'), (4, 1, 1, 5, 1, NULL, 'ef')");
        assertEquals(List.of("3|6|dc"), database.flushedRows("SELECT * FROM v"));
        database.run("UPDATE r SET b = true, t = NULL WHERE k = 4");
        database.run("DELETE FROM r WHERE k = 3");
        assertEquals(List.of("4|1|"), database.flushedRows("SELECT * FROM v"));
    }

    /** A view whose row fails is in error while the row is there, and calls are as at first after it. */
    @Test
    void aTrapFailsItsQueryWithTheFunctionAndTheRow() {
        create("divided(BIGINT, BIGINT) RETURNS BIGINT", "divided");
        create("breaks(BIGINT) RETURNS BIGINT", "breaks");
        create("loads(INT) RETURNS INT", "loads");
        create("nests(BIGINT) RETURNS BIGINT", "nests");
        database.run("CREATE TABLE t (k INT PRIMARY KEY, n BIGINT)");
        database.run("INSERT INTO t VALUES (1, 2), (2, 0), (3, 4)");
        for (String call : List.of("divided(12, n)", "breaks(n)", "loads(2000000000)", "nests(n)")) {
            MillraceException why = fails("SELECT " + call + " FROM t");
            assertEquals("38000", why.sqlState().code(), why.getMessage());
            assertTrue(
                    why.getMessage().contains("function " + call.substring(0, call.indexOf('(')) + " failed: "),
                    why.getMessage());
        }
        assertTrue(fails("SELECT divided(12, n) FROM t").getMessage().contains("row 2"));
        database.run("CREATE MATERIALIZED VIEW v AS SELECT k, divided(12, n) AS q FROM t");
        assertEquals("38000", fails("SELECT * FROM v").sqlState().code());
        database.run("DELETE FROM t WHERE k = 2");
        assertEquals(List.of("1|6", "3|3"), database.flushedRows("SELECT * FROM v"));
    }

    @Test
    void resultsThatAreNoneOfTheirTypesAreErrors() {
        create("small(SMALLINT, SMALLINT) RETURNS SMALLINT", "added");
        create("day(INT, INT) RETURNS DATE", "added");
        create("moment(BIGINT) RETURNS TIMESTAMP", "same64");
        create("no_text(BYTEA) RETURNS TEXT", "same");
        create("outside(TEXT) RETURNS TEXT", "outside");
        create("nothing(TEXT) RETURNS TEXT", "nothing");
        assertEquals("22003", fails("SELECT small(32767, 1)").sqlState().code());
        assertEquals("22003", fails("SELECT day(2147483646, 0)").sqlState().code());
        assertEquals(
                "22003", fails("SELECT moment(9223372036854775806)").sqlState().code());
        assertEquals("22021", fails("SELECT no_text('\\xff'::bytea)").sqlState().code());
        assertEquals("22021", fails("SELECT no_text('\\x00'::bytea)").sqlState().code());
        assertEquals("38000", fails("SELECT outside('a')").sqlState().code());
        assertEquals(
                List.of("|1970-01-03|t"),
                database.rows("SELECT nothing('a'), day(1, 1), moment(0) = TIMESTAMP '1970-01-01'"));
    }

    @Test
    void whatDoesNotEndIsEndedAndOthersGoOn() {
        create("spins(BIGINT) RETURNS BIGINT", "spins");
        create("spins_at_3(BIGINT) RETURNS BIGINT", "spins_at_3");
        database.run("CREATE TABLE t (n BIGINT PRIMARY KEY)");
        database.run("INSERT INTO t VALUES (1), (2)");
        database.run("SET statement_timeout = '200ms'");
        assertEquals("57014", fails("SELECT spins(n) FROM t").sqlState().code());
        assertEquals("57014", fails("SELECT spins(1)").sqlState().code());
        database.run("SET statement_timeout = 0");
        database.run("SET row_timeout = '300ms'");
        database.run("CREATE MATERIALIZED VIEW total AS SELECT sum(n) AS s FROM t");
        database.run("CREATE MATERIALIZED VIEW v AS SELECT spins_at_3(n) AS n FROM t");
        database.run("INSERT INTO t VALUES (3)");
        Eventually.holds("it fails", () -> database.database().state("v").orElseThrow() == QueryState.FAILED);
        assertEquals(List.of("6"), database.flushedRows("SELECT s FROM total"));
        database.run("DROP MATERIALIZED VIEW v");
        database.run("RESET row_timeout");
        database.run("DELETE FROM t WHERE n = 3");
        database.run("CREATE MATERIALIZED VIEW v AS SELECT spins_at_3(n) AS n FROM t");
        database.run("INSERT INTO t VALUES (3)");
        database.run("DROP MATERIALIZED VIEW v");
        assertEquals(List.of("6"), database.flushedRows("SELECT s FROM total"));
    }

    @Test
    void whatStartsWithoutAnEndIsRefusedAtCreate() {
        byte[] module = new WasmAssembler()
                .function("f", WasmAssembler.types(), WasmAssembler.types(), 0x00)
                .start()
                .build();
        String base64 = Base64.getEncoder().encodeToString(module);
        MillraceException refused = fails("CREATE FUNCTION f() RETURNS BIGINT LANGUAGE WASM AS '" + base64 + "', 'f'");
        assertEquals("42P13", refused.sqlState().code()); // f gives nothing
        byte[] breaks = new WasmAssembler()
                .function("f", WasmAssembler.types(), WasmAssembler.types(WasmAssembler.I64), 0x42, 0)
                .function("begin", WasmAssembler.types(), WasmAssembler.types(), 0x00)
                .start()
                .build();
        refused = fails("CREATE FUNCTION f() RETURNS BIGINT LANGUAGE WASM AS '"
                + Base64.getEncoder().encodeToString(breaks) + "', 'f'");
        assertEquals("38000", refused.sqlState().code());
        database.run("CREATE TABLE f (k INT PRIMARY KEY)"); // the name is still free
    }

    @Test
    void whatIsNoModuleOrHasNoSuchTypesIsRefusedAtCreate() {
        for (String wrong : List.of(
                "f(BIGINT) RETURNS BIGINT LANGUAGE WASM AS '" + file + "', 'mixed'",
                "f(BIGINT) RETURNS BIGINT LANGUAGE WASM AS 'AGFzbQ', 'f'",
                "f(BIGINT) RETURNS BIGINT LANGUAGE WASM AS 'AGFzbQ*=', 'f'",
                "f(BIGINT) RETURNS BIGINT LANGUAGE WASM AS '" + file + "', 'a\"; System.exit(1); //'")) {
            assertEquals("42P13", fails("CREATE FUNCTION " + wrong).sqlState().code(), wrong);
        }
        assertEquals(
                "0A000",
                fails("CREATE FUNCTION f(NUMERIC) RETURNS BIGINT LANGUAGE WASM AS '" + file + "', 'mixed'")
                        .sqlState()
                        .code());
        assertEquals(
                "58P01",
                fails("CREATE FUNCTION f(BIGINT) RETURNS BIGINT LANGUAGE WASM AS 'none.wasm', 'f'")
                        .sqlState()
                        .code());
        assertEquals(
                "42601",
                fails("CREATE FUNCTION f(BIGINT) RETURNS BIGINT LANGUAGE WASM AS 'none.wasm'")
                        .sqlState()
                        .code());
    }

    /** Names of functions are in generated code. */
    @Test
    void namesAreNoCode() {
        create("\"a\\\"\";\\u0022 b\n\"(BIGINT, BIGINT) RETURNS BIGINT", "mixed");
        assertEquals(List.of("5"), database.rows("SELECT \"a\\\"\";\\u0022 b\n\"(6, 3)"));
    }

    @Test
    void modulesAreKeptInTheDataDirectoryOrTheirDefinitions() throws IOException {
        Path data = folder.resolve("data");
        String base64 = Base64.getMimeEncoder().encodeToString(SampleModule.bytes());
        try (TestDatabase kept = new TestDatabase(data)) {
            create(kept, "mixed(BIGINT, BIGINT) RETURNS BIGINT", "mixed");
            kept.run(
                    "CREATE FUNCTION inline(BIGINT, BIGINT) RETURNS BIGINT LANGUAGE WASM AS '" + base64 + "', 'mixed'");
            kept.run("CREATE TABLE t (k BIGINT PRIMARY KEY)");
            kept.run("CREATE MATERIALIZED VIEW v AS SELECT mixed(k, 1) AS a, inline(k, 2) AS b FROM t");
            kept.run("INSERT INTO t VALUES (4)");
        }
        Files.delete(file);
        try (TestDatabase again = new TestDatabase(data)) {
            assertEquals(List.of("5|6"), again.rows("SELECT mixed(4, 1), inline(4, 2)"));
            again.run("INSERT INTO t VALUES (8)");
            assertEquals(List.of("5|6", "9|10"), again.flushedRows("SELECT * FROM v"));
            assertEquals(
                    List.of("inline|wasm|EXTERNAL", "mixed|wasm|EXTERNAL"),
                    again.rows(
                            "SELECT proname, lanname, routine_body FROM pg_proc p JOIN pg_language l ON l.oid = prolang"
                                    + " JOIN information_schema.routines r ON r.routine_name = proname WHERE lanname = 'wasm'"));
        }
    }

    @Test
    void whoMayCreateThemIsGranted() {
        String base64 = Base64.getEncoder().encodeToString(SampleModule.bytes());
        String inline = "(BIGINT, BIGINT) RETURNS BIGINT LANGUAGE WASM AS '" + base64 + "', 'mixed'";
        database.run("CREATE ROLE ann");
        database.run("GRANT CREATE ON SCHEMA public TO ann");
        database.run("SET ROLE ann");
        assertEquals("42501", fails("CREATE FUNCTION f" + inline).sqlState().code());
        database.run("RESET ROLE");
        database.run("GRANT USAGE ON LANGUAGE wasm TO ann");
        database.run("SET ROLE ann");
        database.run("CREATE FUNCTION f" + inline);
        assertEquals(
                "42501",
                fails("CREATE FUNCTION g(BIGINT, BIGINT) RETURNS BIGINT LANGUAGE WASM AS '" + file + "', 'mixed'")
                        .sqlState()
                        .code());
        assertEquals(List.of("5"), database.rows("SELECT f(6, 3)"));
    }
}
