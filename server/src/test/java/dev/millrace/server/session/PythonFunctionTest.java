package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.statistic.QueryState;
import dev.millrace.error.MillraceException;
import dev.millrace.expressions.python.PythonOptions;
import dev.millrace.expressions.python.PythonWorkers;
import dev.millrace.testing.time.Eventually;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Functions in Python against what SQL says of the same rows, and what becomes of those whose processes do harm. */
class PythonFunctionTest {
    @TempDir
    private Path folder;

    private final TestDatabase database = new TestDatabase(1);

    @AfterEach
    void close() {
        database.close();
        PythonWorkers.all().use(PythonOptions.defaults());
    }

    private void create(String signature, String body) {
        database.run("CREATE FUNCTION " + signature + " LANGUAGE PYTHON AS $$\n" + body + "\n$$");
    }

    private MillraceException fails(String sql) {
        return assertThrows(MillraceException.class, () -> database.rows(sql), sql);
    }

    private static void says(MillraceException failure, String code, String... texts) {
        assertEquals(code, failure.sqlState().code(), failure.getMessage());
        for (String text : texts) {
            assertTrue(failure.getMessage().contains(text), failure.getMessage());
        }
    }

    private void createRows() {
        database.run(
                "CREATE TABLE r (k BIGINT PRIMARY KEY, d DOUBLE PRECISION, f REAL, n BIGINT, i INT, b BOOLEAN, t TEXT, p NUMERIC(30, 4))");
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
                       CASE WHEN k % 10 = 5 THEN NULL WHEN k % 59 = 0 THEN '' ELSE repeat('ü€' || chr(97 + CAST(k % 26 AS INT)), CAST(k % 40 AS INT)) || k END,
                       CASE WHEN k % 10 = 6 THEN NULL WHEN k % 53 = 0 THEN 99999999999999999999999999.9999
                            WHEN k % 47 = 0 THEN -99999999999999999999999999.9999 ELSE CAST((random() - 0.5) * 1e9 AS NUMERIC(30, 4)) END
                FROM generate_series(1, 100000) AS g(k)""");
    }

    private static final String DIFFERENCES = """
            SELECT count(*) FILTER (WHERE scaled IS DISTINCT FROM d * 2 + k) AS a,
                   count(*) FILTER (WHERE negated IS DISTINCT FROM -f) AS b,
                   count(*) FILTER (WHERE mixed IS DISTINCT FROM n # k) AS c,
                   count(*) FILTER (WHERE half IS DISTINCT FROM i / 2) AS d,
                   count(*) FILTER (WHERE flipped IS DISTINCT FROM NOT b) AS e,
                   count(*) FILTER (WHERE reversed IS DISTINCT FROM reverse(t)) AS f,
                   count(*) FILTER (WHERE opposite IS DISTINCT FROM -p) AS g,
                   count(*) FILTER (WHERE bytes IS DISTINCT FROM CAST(t AS BYTEA)) AS h,
                   count(*) FILTER (WHERE missing IS DISTINCT FROM (t IS NULL)) AS i,
                   count(*) AS n
            FROM (SELECT *, scaled(d, k) AS scaled, negated(f) AS negated, mixed(n, k) AS mixed, half(i) AS half, flipped(b) AS flipped,
                         reversed(t) AS reversed, opposite(p) AS opposite, same(CAST(t AS BYTEA)) AS bytes, missing(t) AS missing FROM r) AS x""";

    private void createAll() {
        String signature = "CREATE FUNCTION %s LANGUAGE PYTHON STRICT AS $$ def %s $$";
        for (String[] each : new String[][] {
            {"scaled(d DOUBLE PRECISION, k BIGINT) RETURNS DOUBLE PRECISION", "scaled(d, k): return d * 2 + k"},
            {"negated(REAL) RETURNS REAL", "negated(f): return -f"},
            {"mixed(BIGINT, BIGINT) RETURNS BIGINT", "mixed(a, b): return a ^ b"},
            {"half(INT) RETURNS INT", "half(i): return int(i / 2)"},
            {"flipped(BOOLEAN) RETURNS BOOLEAN", "flipped(b): return not b"},
            {"reversed(TEXT) RETURNS TEXT", "reversed(t): return t[::-1]"},
            {"opposite(NUMERIC(30, 4)) RETURNS NUMERIC(30, 4)", "opposite(p): return p.copy_negate()"},
            {"same(BYTEA) RETURNS BYTEA", "same(b): return b"}
        }) {
            database.run(signature.formatted(each[0], each[1]));
        }
        create("missing(TEXT) RETURNS BOOLEAN", "def missing(t): return t is None");
    }

    @Test
    void itSaysWhatSqlSays() {
        createAll();
        createRows();
        assertEquals(List.of("0|0|0|0|0|0|0|0|0|100000"), database.rows(DIFFERENCES));
        assertEquals(List.of(), database.rows("SELECT scaled(d, k), reversed(t) FROM r WHERE k < 0"));
        assertEquals(List.of("3||cba"), database.rows("SELECT scaled(1, 1), scaled(NULL, 1), reversed('abc')"));
    }

    @Test
    void datesTimesAndUuidsAreThoseOfPython() {
        create("day(DATE) RETURNS DATE", "import datetime\ndef day(d): return d + datetime.timedelta(days=1)");
        create("at(TIMESTAMP) RETURNS TIME", "def at(t): return t.time()");
        create("utc(TIMESTAMPTZ) RETURNS TIMESTAMPTZ", "def utc(t): return t.replace(hour=0)");
        create("same(UUID) RETURNS UUID", "def same(u): return u");
        create("said(TIME) RETURNS TEXT", "def said(t): return str(t)");
        assertEquals(
                List.of("2024-02-29|11:12:13.000014|t|00000000-0000-0000-0000-0000000000ff|10:00:00"),
                database.rows("SELECT day(DATE '2024-02-28'), at(TIMESTAMP '1969-12-31 11:12:13.000014'),"
                        + " utc(TIMESTAMPTZ '2024-01-01 10:00:00Z') = TIMESTAMPTZ '2024-01-01 00:00:00Z',"
                        + " same(UUID '00000000-0000-0000-0000-0000000000ff'), said(TIME '10:00')"));
        says(fails("SELECT day(DATE 'infinity')"), "38000", "years 1 to 9999");
    }

    @Test
    void aStandingQuerySaysTheSameOfRowsThatComeAndGo() {
        create("doubled(BIGINT) RETURNS BIGINT", "def doubled(n): return None if n is None else 2 * n");
        create("even(BIGINT) RETURNS BOOLEAN", "def even(n): return n is not None and n % 2 == 0");
        database.run("CREATE TABLE t (k INT PRIMARY KEY, n BIGINT)");
        database.run("CREATE MATERIALIZED VIEW v AS SELECT k, doubled(doubled(n) + 1) AS n FROM t WHERE even(k + 0)");
        database.run("INSERT INTO t SELECT k, k FROM generate_series(1, 5000) AS g(k)");
        assertEquals(List.of("2500|25020000"), database.flushedRows("SELECT count(*), sum(n) + 5000 FROM v"));
        database.run("UPDATE t SET n = 7 WHERE k = 2");
        database.run("DELETE FROM t WHERE k > 4");
        assertEquals(List.of("2|30", "4|18"), database.flushedRows("SELECT * FROM v"));
    }

    /** In a CASE the function is called for the rows that it is for. */
    @Test
    void itIsCalledForRowsThatAskForIt() {
        create("inverse(DOUBLE PRECISION) RETURNS DOUBLE PRECISION", "def inverse(x): return 1 / x");
        database.run("CREATE TABLE t (k INT PRIMARY KEY, x DOUBLE PRECISION)");
        database.run("INSERT INTO t VALUES (1, 0), (2, 4), (3, NULL)");
        assertEquals(
                List.of("1|-1", "2|0.25", "3|-1"),
                database.rows("SELECT k, CASE WHEN x <> 0 THEN inverse(x) ELSE -1 END FROM t"));
        assertEquals(List.of("2|1.25"), database.rows("SELECT k, inverse(x) + 1 FROM t WHERE x <> 0"));
        assertEquals(List.of("2"), database.rows("SELECT k FROM t WHERE x <> 0 AND inverse(x) < 1"));
    }

    @Test
    void anExceptionFailsItsQueryWithMessageLineAndRow() {
        create("checked(BIGINT) RETURNS BIGINT", """
                def helper(n):
                    raise ValueError(f"no {n}")

                def checked(n):
                    if n == 2: helper(n)
                    return n""".stripTrailing());
        create("typed(BIGINT) RETURNS BIGINT", "def typed(n): return 'x' if n == 3 else n * 10 ** 18");
        create("leaves(BIGINT) RETURNS BIGINT", "import sys\ndef leaves(n): sys.exit(3)");
        database.run("CREATE TABLE t (k BIGINT PRIMARY KEY)");
        database.run("INSERT INTO t VALUES (1), (2), (3)");
        says(fails("SELECT checked(k) FROM t"), "38000", "row 2", "function checked failed: ValueError: no 2 (line 3)");
        says(fails("SELECT typed(k) FROM t WHERE k = 3"), "38000", "TypeError: a str is no value of type bigint");
        says(fails("SELECT typed(k * 100) FROM t"), "38000", "out of range for type bigint");
        says(fails("SELECT leaves(k) FROM t"), "38000", "SystemExit: 3");
        database.run("CREATE MATERIALIZED VIEW v AS SELECT k, checked(k) AS c FROM t");
        says(fails("SELECT * FROM v"), "38000", "no 2");
        database.run("DELETE FROM t WHERE k = 2");
        assertEquals(List.of("1|1", "3|3"), database.flushedRows("SELECT * FROM v"));
    }

    @Test
    void whatCannotBeDefinedIsRefusedAtCreate() {
        says(
                fails("CREATE FUNCTION f(INT) RETURNS INT LANGUAGE PYTHON AS 'def f(a:'"),
                "38000",
                "SyntaxError",
                "(line 1)");
        says(fails("CREATE FUNCTION f(INT) RETURNS INT LANGUAGE PYTHON AS 'x = 1'"), "38000", "defines no function f");
        says(
                fails("CREATE FUNCTION f(INT) RETURNS INT LANGUAGE PYTHON AS 'def f(a, b): return a'"),
                "38000",
                "1 arguments");
        says(
                fails("CREATE FUNCTION f(INT) RETURNS INT LANGUAGE PYTHON AS 'import no_such_module'"),
                "38000",
                "no_such_module");
        says(fails("CREATE FUNCTION f(INT[]) RETURNS INT LANGUAGE PYTHON AS 'def f(a): return a'"), "0A000", "Python");
        says(
                fails("CREATE FUNCTION f(INT) RETURNS INT LANGUAGE PYTHON WITH (fast) AS 'def f(a): return a'"),
                "42601",
                "fast");
        PythonWorkers.all().use(new PythonOptions("/no/such/python", 16, 1L << 30));
        says(
                fails("CREATE FUNCTION f(INT) RETURNS INT LANGUAGE PYTHON AS 'def f(a): return a'"),
                "38000",
                "cannot run \"/no/such/python\"",
                "python.command");
        database.run("CREATE TABLE f (k INT PRIMARY KEY)"); // the name is still free
    }

    @Test
    void aProcessThatEndsOrWantsAllMemoryFailsItsQueryAlone() {
        create(
                "dies(BIGINT) RETURNS BIGINT",
                "import os, signal\ndef dies(n):\n    if n == 3: os.kill(os.getpid(), signal.SIGKILL)\n    return n");
        create("hoards(BIGINT) RETURNS BIGINT", "def hoards(n): return len(bytearray(1 << 34))");
        create("floods(BIGINT) RETURNS TEXT", "def floods(n): return 'x' * (100 << 10)");
        create(
                "prints(BIGINT) RETURNS BIGINT",
                "import os, sys\ndef prints(n):\n    print('x' * 20 if n % 1024 else 'y' * 1000000)\n    os.write(1, b'rubbish' * 1000)\n    return n");
        database.run("CREATE TABLE t (k BIGINT PRIMARY KEY)");
        database.run("INSERT INTO t SELECT k FROM generate_series(1, 5000) AS g(k)");
        for (int round = 0; round < 2; round++) {
            says(fails("SELECT dies(k) FROM t"), "38000", "its process ended, by signal 9");
            assertEquals(List.of("4997"), database.rows("SELECT count(dies(k)) FROM t WHERE k > 3"));
        }
        says(fails("SELECT hoards(k) FROM t"), "38000", "MemoryError");
        says(fails("SELECT floods(k) FROM t"), "38000", "its process gave an answer of ");
        assertEquals(List.of("12502500"), database.rows("SELECT sum(prints(k)) FROM t"));
        assertTrue(PythonWorkers.all().count() <= 16);
    }

    @Test
    void whatDoesNotEndIsEndedAndOthersGoOn() {
        create(
                "spins(BIGINT) RETURNS BIGINT",
                "def spins(n):\n    while n == 3:\n        try:\n            pass\n        except BaseException:\n            pass\n    return n");
        database.run("CREATE TABLE t (n BIGINT PRIMARY KEY)");
        database.run("INSERT INTO t VALUES (1), (2)");
        database.run("SET statement_timeout = '500ms'");
        assertEquals("57014", fails("SELECT spins(n + 1) FROM t").sqlState().code());
        assertEquals("57014", fails("SELECT spins(3)").sqlState().code());
        assertEquals(
                "57014",
                fails("SELECT CASE WHEN n = 1 THEN spins(3) END FROM t")
                        .sqlState()
                        .code());
        database.run("SET statement_timeout = 0");
        database.run("SET row_timeout = '500ms'");
        database.run("CREATE MATERIALIZED VIEW total AS SELECT sum(n) AS s FROM t");
        database.run("CREATE MATERIALIZED VIEW v AS SELECT spins(n) AS n FROM t");
        database.run("INSERT INTO t VALUES (3)");
        Eventually.holds("it fails", () -> database.database().state("v").orElseThrow() == QueryState.FAILED);
        assertEquals(List.of("6"), database.flushedRows("SELECT s FROM total"));
        database.run("DROP MATERIALIZED VIEW v");
        Eventually.holds(
                "its process ended",
                () -> ProcessHandle.current()
                        .children()
                        .noneMatch(child -> child.info()
                                .totalCpuDuration()
                                .map(used -> used.toSeconds() > 5)
                                .orElse(false)));
    }

    @Test
    void moreFunctionsThanProcessesTakeTurns() {
        PythonWorkers.all().use(new PythonOptions("python3", 1, 1L << 30));
        create("one(BIGINT) RETURNS BIGINT", "def one(n): return n + 1");
        create("two(BIGINT) RETURNS BIGINT", "def two(n): return n * 2");
        assertEquals(List.of("9"), database.rows("SELECT one(two(one(g))) FROM generate_series(3, 3) AS g"));
        assertEquals(1, PythonWorkers.all().count());
    }

    @Test
    void aProcessIsGivenNoSecrets() {
        create("seen() RETURNS TEXT", "import os\ndef seen(): return ' '.join(sorted(os.environ))");
        for (String name : database.rows("SELECT seen()").get(0).split(" ")) {
            assertTrue(
                    List.of(
                                            "PATH",
                                            "HOME",
                                            "LD_LIBRARY_PATH",
                                            "PYTHONHOME",
                                            "PYTHONPATH",
                                            "VIRTUAL_ENV",
                                            "TMPDIR",
                                            "LC_ALL",
                                            "LC_CTYPE",
                                            "PWD",
                                            "OLDPWD",
                                            "SHLVL",
                                            "_") // the last ones are of shells that start an interpreter
                                    .contains(name)
                            || name.contains("PYENV_"),
                    name);
        }
    }

    @Test
    void definitionsOutliveARestartWithoutPython() {
        Path data = folder.resolve("data");
        try (TestDatabase kept = new TestDatabase(data)) {
            kept.run(
                    "CREATE FUNCTION doubled(BIGINT) RETURNS BIGINT LANGUAGE PYTHON STRICT AS $$ def doubled(n): return 2 * n $$");
            kept.run("CREATE TABLE t (k BIGINT PRIMARY KEY)");
            kept.run("CREATE MATERIALIZED VIEW v AS SELECT doubled(k) AS k FROM t");
            kept.run("INSERT INTO t VALUES (4)");
        }
        PythonWorkers.all().use(new PythonOptions("/no/such/python", 16, 1L << 30));
        try (TestDatabase without = new TestDatabase(data)) {
            says(
                    assertThrows(MillraceException.class, () -> without.rows("SELECT doubled(4)")),
                    "38000",
                    "cannot run \"/no/such/python\"");
        }
        PythonWorkers.all().use(PythonOptions.defaults());
        try (TestDatabase again = new TestDatabase(data)) {
            assertEquals(List.of("8|"), again.rows("SELECT doubled(4), doubled(NULL)"));
            assertEquals(
                    List.of("doubled|python"),
                    again.rows(
                            "SELECT proname, lanname FROM pg_proc p JOIN pg_language l ON l.oid = prolang WHERE lanname = 'python'"));
        }
    }

    @Test
    void onlySuperusersMayCreateThem() {
        String f = "(BIGINT) RETURNS BIGINT LANGUAGE PYTHON AS $$ def f(n): return n $$";
        database.run("CREATE ROLE ann");
        database.run("GRANT CREATE ON SCHEMA public TO ann");
        database.run("SET ROLE ann");
        says(fails("CREATE FUNCTION f" + f), "42501", "language python");
        database.run("RESET ROLE");
        database.run("CREATE FUNCTION f" + f);
        database.run("SET ROLE ann");
        assertEquals(List.of("5"), database.rows("SELECT f(5)"));
    }
}
