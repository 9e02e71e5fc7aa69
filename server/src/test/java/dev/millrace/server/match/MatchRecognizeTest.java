package dev.millrace.server.match;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.server.match.ReferenceMatcher.Row;
import dev.millrace.server.session.TestDatabase;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * Random row patterns over random rows, against {@link ReferenceMatcher}. {@code -Dmillrace.match.cases} sets how many
 * (100 of each kind), {@code -Dmillrace.match.seed} where the seeds begin; a failure prints its seed and its SQL.
 */
class MatchRecognizeTest {
    private static final int CASES = Integer.getInteger("millrace.match.cases", 60);
    private static final long SEED = Long.getLong("millrace.match.seed", 1);
    private static final int DELAY_SECONDS = 5;
    private static final int BASE_SECOND = 60;

    private static List<Row> rows(SplittableRandom random, int most) {
        List<Row> rows = new ArrayList<>();
        long second = BASE_SECOND;
        for (int id = random.nextInt(most); id >= 0; id--) {
            second += random.nextInt(3);
            Optional<Integer> x = random.nextInt(12) == 0 ? Optional.empty() : Optional.of(random.nextInt(10));
            rows.add(new Row(random.nextInt(3) == 0 ? "p" : "q", second, id, x));
        }
        return rows;
    }

    private static String values(List<Row> rows) {
        return rows.stream()
                .map(row -> "('" + row.part() + "', TIMESTAMP '2024-01-01 00:00:00' + INTERVAL '" + row.second()
                        + " seconds', " + row.id() + ", "
                        + row.x().map(Object::toString).orElse("NULL") + ")")
                .collect(Collectors.joining(", "));
    }

    /** The answer over both partitions, sorted; empty if the query fails. */
    private static Optional<List<String>> answer(MatchCase random, List<Row> rows, boolean ended, long watermark) {
        List<String> all = new ArrayList<>();
        for (String part : List.of("p", "q")) {
            List<Row> partition = rows.stream()
                    .filter(row -> row.part().equals(part) && (ended || row.second() < watermark))
                    .sorted(Comparator.comparingLong(Row::second).thenComparingInt(Row::id))
                    .toList();
            Optional<List<String>> answer = random.answer(partition, ended, watermark);
            if (answer.isEmpty()) {
                return Optional.empty();
            }
            all.addAll(answer.get());
        }
        return Optional.of(all.stream().sorted().toList());
    }

    @Test
    void selectsWhatTheStandardPrefers() {
        try (TestDatabase database = new TestDatabase()) {
            int matched = 0;
            for (long seed = SEED; seed < SEED + CASES; seed++) {
                SplittableRandom random = new SplittableRandom(seed);
                MatchCase query = new MatchCase(seed, false);
                List<Row> rows = rows(random, 25);
                database.run("CREATE TABLE m (part TEXT, ts TIMESTAMP, id INTEGER PRIMARY KEY, x INTEGER)");
                database.run("INSERT INTO m VALUES " + values(rows));
                String sql = query.sql("m");
                Optional<List<String>> expected = answer(query, rows, true, Long.MAX_VALUE);
                Optional<List<String>> actual;
                try {
                    actual = Optional.of(database.rows(sql));
                } catch (MillraceException e) {
                    assertTrue(e.sqlState().code().startsWith("2202"), "seed " + seed + ": " + sql + "\n" + e);
                    actual = Optional.empty();
                }
                assertEquals(expected, actual, "seed " + seed + ": " + sql + "\nover " + values(rows));
                matched += expected.map(List::size).orElse(0);
                database.run("DROP TABLE m");
            }
            assertTrue(matched > CASES, "only " + matched + " rows in all: the cases are too narrow");
        }
    }

    @Test
    void viewsHoldAtEachWatermarkWhatIsCertain() {
        try (TestDatabase database = new TestDatabase()) {
            for (long seed = SEED; seed < SEED + CASES; seed++) {
                SplittableRandom random = new SplittableRandom(seed);
                MatchCase query = new MatchCase(seed, true);
                List<Row> rows = shuffled(rows(random, 60), random);
                String sql = query.sql("s");
                database.run("CREATE STREAM s (part TEXT, ts TIMESTAMP, id INTEGER, x INTEGER, WATERMARK FOR ts AS ts"
                        + " - INTERVAL '" + DELAY_SECONDS + " seconds')");
                database.run("CREATE MATERIALIZED VIEW v AS " + sql);
                boolean failed = false;
                for (int from = 0; from < rows.size() && !failed; ) {
                    int to = Math.min(rows.size(), from + 1 + random.nextInt(20));
                    database.run("INSERT INTO s VALUES " + values(rows.subList(from, to)));
                    from = to;
                    List<Row> sofar = rows.subList(0, to);
                    long watermark = sofar.stream().mapToLong(Row::second).max().getAsLong() - DELAY_SECONDS;
                    Optional<List<String>> expected = answer(query, sofar, false, watermark);
                    failed = expected.isEmpty();
                    if (!failed) {
                        assertEquals(
                                expected.get(),
                                database.rows("SELECT * FROM v"),
                                "seed " + seed + ": " + sql + "\nafter " + values(sofar));
                    }
                }
                database.run("DROP MATERIALIZED VIEW v");
                database.run("DROP STREAM s");
            }
        }
    }

    /** Out of order by less than the watermark's delay, so that no row is late. */
    private static List<Row> shuffled(List<Row> rows, SplittableRandom random) {
        record Arrival(Row row, double at) {}
        return rows.stream()
                .map(row -> new Arrival(row, row.second() + random.nextDouble() * DELAY_SECONDS))
                .sorted(Comparator.comparingDouble(Arrival::at))
                .map(Arrival::row)
                .toList();
    }
}
