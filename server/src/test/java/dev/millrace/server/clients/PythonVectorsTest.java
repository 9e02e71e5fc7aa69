package dev.millrace.server.clients;

import static dev.millrace.server.clients.ClientPrograms.installed;
import static dev.millrace.server.clients.ClientPrograms.requireProgram;
import static dev.millrace.server.clients.ClientPrograms.step;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.expressions.python.PythonOptions;
import dev.millrace.expressions.python.PythonWorkers;
import dev.millrace.server.session.TestDatabase;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Functions in Python that are given pyarrow's arrays, against what SQL says of the same rows. */
class PythonVectorsTest {
    private static final String PACKAGE = "pyarrow==22.0.0";

    private final TestDatabase database = new TestDatabase(1);

    @BeforeEach
    void usePython() throws Exception {
        requireProgram("python", "python3", "--version");
        Path folder = installed("pyarrow", PACKAGE, at -> {
            var failure = step(at, "python3", "-m", "venv", "venv");
            return failure.isPresent()
                    ? failure
                    : step(at, "venv/bin/pip", "install", "-q", "--no-compile", "--disable-pip-version-check", PACKAGE);
        });
        PythonWorkers.all()
                .use(new PythonOptions(
                        folder.resolve("venv/bin/python").toAbsolutePath().toString(), 16, 2L << 30));
    }

    @AfterEach
    void close() {
        database.close();
        PythonWorkers.all().use(PythonOptions.defaults());
    }

    private void create(String signature, String body) {
        database.run("CREATE FUNCTION " + signature
                + " LANGUAGE PYTHON STRICT WITH (vectorized) AS $$\nimport pyarrow as pa\nimport pyarrow.compute as pc\n"
                + body
                + "\n$$");
    }

    @Test
    void arraysComeAndGo() {
        create(
                "scaled(DOUBLE PRECISION, BIGINT) RETURNS DOUBLE PRECISION",
                "def scaled(a, b): return pc.add(pc.multiply(a, 2), b)");
        create("flipped(BOOLEAN) RETURNS BOOLEAN", "def flipped(b): return pc.invert(b)");
        create("upped(TEXT) RETURNS TEXT", "def upped(t): return pc.utf8_upper(t)");
        create("opposite(NUMERIC(20, 4)) RETURNS NUMERIC(20, 4)", "def opposite(p): return pc.negate(p)");
        create(
                "parted(INT) RETURNS INT",
                "def parted(i): return pa.concat_arrays([pa.array([0, 0, 0], pa.int32()), i]).slice(3)");
        create(
                "listed(INT) RETURNS BIGINT",
                "def listed(i): return [None if n is None else n + 1 for n in i.to_pylist()]");
        create("same(DATE) RETURNS DATE", "def same(d): return d");
        database.run("""
                CREATE TABLE r AS SELECT k, CASE WHEN k % 10 = 0 THEN NULL ELSE random() * 1e6 END AS d,
                       CASE WHEN k % 10 = 1 THEN NULL ELSE k % 3 = 0 END AS b, CASE WHEN k % 10 = 2 THEN NULL ELSE 'ü' || k END AS t,
                       CASE WHEN k % 10 = 3 THEN NULL ELSE CAST(k * 3.25 AS NUMERIC(20, 4)) END AS p, CAST(nullif(k % 7, 0) AS INT) AS i
                FROM generate_series(1, 50000) AS g(k)""");
        assertEquals(List.of("0|0|0|0|0|0|0|50000"), database.rows("""
                        SELECT count(*) FILTER (WHERE a IS DISTINCT FROM d * 2 + k), count(*) FILTER (WHERE f IS DISTINCT FROM NOT b),
                               count(*) FILTER (WHERE u IS DISTINCT FROM upper(t)), count(*) FILTER (WHERE o IS DISTINCT FROM -p),
                               count(*) FILTER (WHERE q IS DISTINCT FROM i), count(*) FILTER (WHERE l IS DISTINCT FROM i + 1),
                               count(*) FILTER (WHERE s <> DATE '2024-02-29'), count(*)
                        FROM (SELECT *, scaled(d, k) AS a, flipped(b) AS f, upped(t) AS u, opposite(p) AS o, parted(i) AS q,
                                     listed(i) AS l, same(DATE '2024-02-29') AS s FROM r) AS x"""));
    }

    @Test
    void answersThatAreNoColumnOfTheRowsAreErrors() {
        create("shorter(INT) RETURNS INT", "def shorter(i): return i.slice(1)");
        create("other(INT) RETURNS INT", "def other(i): return pa.array(['x'] * len(i))");
        create("large(INT) RETURNS SMALLINT", "def large(i): return pc.multiply(i, 100000)");
        create("throws(INT) RETURNS INT", "def throws(i):\n    raise KeyError('k')");
        for (String[] each : new String[][] {
            {"shorter", "was given 10 rows and gave 9"},
            {"other", "ArrowInvalid"},
            {"large", "ArrowInvalid"},
            {"throws", "KeyError: 'k' (line 5)"}
        }) {
            MillraceException failure = assertThrows(
                    MillraceException.class,
                    () -> database.rows("SELECT " + each[0] + "(CAST(k AS INT)) FROM generate_series(1, 10) AS g(k)"));
            assertEquals("38000", failure.sqlState().code());
            assertTrue(failure.getMessage().contains(each[1]), failure.getMessage());
        }
    }
}
