package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** VALUES of many rows that are computed. */
class ComputedValuesTest {
    private TestDatabase db;

    @BeforeEach
    void open() {
        db = new TestDatabase();
    }

    @AfterEach
    void close() {
        db.close();
    }

    @Test
    void rowsThatDifferInConstantsAreOneComputation() {
        String rows = IntStream.range(0, 2_000)
                .mapToObj(i ->
                        "(" + i + ", 'a" + i + "' || random(), gen_random_uuid(), " + i + " + random() * " + i + ")")
                .collect(Collectors.joining(", "));
        assertEquals(
                List.of("2000|1999000|2000|2000|1999"),
                db.rows(
                        "SELECT count(*), sum(a), count(DISTINCT b), count(DISTINCT c), sum((floor(d) BETWEEN a AND 2 * a"
                                + " AND d > a)::int) FROM (VALUES " + rows + ") AS v(a, b, c, d)"));
        long lines = db.rows("EXPLAIN SELECT * FROM (VALUES " + rows + ") AS v").size();
        assertTrue(lines < 20, lines + " lines of a plan");
    }

    @Test
    void rowsStayInTheirOrder() {
        String rows = IntStream.range(0, 500)
                .mapToObj(i -> "(" + i * 7 % 500 + " + length(gen_random_uuid()::text))")
                .collect(Collectors.joining(", "));
        try (StatementResults results = db.session().execute("VALUES " + rows, List.of())) {
            assertEquals(
                    IntStream.range(0, 500)
                            .mapToObj(i -> "" + (i * 7 % 500 + 36))
                            .toList(),
                    TestDatabase.texts((StatementResult.Rows) results.next()));
        }
    }

    @Test
    void rowsThatReadAnotherRowAreMadeForEachOfIt() {
        db.run("CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t SELECT g FROM generate_series(1, 50) g(g)");
        String rows = IntStream.range(0, 40)
                .mapToObj(i -> "(a.id + " + i + ", (SELECT max(id) FROM t) * " + i + ")")
                .collect(Collectors.joining(", "));
        assertEquals(
                db.rows("SELECT a.id, a.id + i, 50 * i FROM t a, generate_series(0, 39) g(i)"),
                db.rows("SELECT a.id, x, y FROM t a, LATERAL (VALUES " + rows + ") s(x, y)"));
    }

    /** Whatever kinds of rows are neighbours: each is what it is alone. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void eachRowIsWhatItIsAlone(long seed) {
        RandomGenerator random = new SplittableRandom(seed);
        List<String> rows = new ArrayList<>();
        String row = row(random);
        for (int i = 0; i < 80; i++) {
            if (random.nextInt(3) == 0) {
                row = row(random);
            }
            String constants = row;
            while (constants.contains("#")) {
                constants = constants.replaceFirst("#", constant(random));
            }
            rows.add("(" + constants + ", " + i + " + length(upper('')))");
        }
        List<String> alone = rows.stream()
                .flatMap(each -> db.rows("VALUES " + each).stream())
                .toList();
        assertEquals(alone.stream().sorted().toList(), db.rows("VALUES " + String.join(", ", rows)));
    }

    private static String row(RandomGenerator random) {
        List<String> numbers = List.of(
                "#::numeric(10, 2)",
                "(# + length(repeat('a', 3)))::numeric(10, 2)",
                "CASE WHEN length(repeat('a', 2)) > # THEN # ELSE NULL END::numeric(10, 2)",
                "coalesce(NULL, #, abs(#))::numeric(10, 2)",
                "NULL::numeric(10, 2)",
                "(# / 3.0)::numeric(10, 2)");
        List<String> texts = List.of(
                "'t#'",
                "'t#' || upper('x') || #",
                "NULL",
                "to_char(timestamp '2026-01-0#' + interval '# hours', 'DD HH24')",
                "repeat('#', #)",
                "('{\"a\": #}'::jsonb -> 'a')::text",
                "regexp_replace('a#b#', '#', upper('y'))");
        List<String> truths = List.of(
                "# > 3", "# = # AND 'a' < upper('b')", "true", "'#' ~ '[1-#]'", "NOT (# < length('a'))", "NULL::bool");
        return numbers.get(random.nextInt(numbers.size())) + ", " + texts.get(random.nextInt(texts.size())) + ", "
                + truths.get(random.nextInt(truths.size()));
    }

    private static String constant(RandomGenerator random) {
        return "" + (1 + random.nextInt(9));
    }
}
