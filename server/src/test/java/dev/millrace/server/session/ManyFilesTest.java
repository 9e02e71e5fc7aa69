package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A stream of several files: what a view shows in the end is what a SELECT answers, whatever the files are named, however
 * they overlap in time, and however many workers share them.
 */
class ManyFilesTest {
    private static final String WINDOWS = "SELECT window_start, count(*) AS n, sum(n) AS total"
            + " FROM TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '1 minute') GROUP BY window_start, window_end";

    @TempDir
    private Path directory;

    private static String line(String key, int second, long n) {
        return String.format("%s,2024-01-01 %02d:%02d:%02d,%d", key, second / 3600, second / 60 % 60, second % 60, n);
    }

    private void write(String name, List<String> lines) throws IOException {
        byte[] bytes = ("k,ts,n\n" + String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8);
        Path file = directory.resolve(name);
        if (name.endsWith(".gz")) {
            try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(file))) {
                out.write(bytes);
            }
        } else {
            Files.write(file, bytes);
        }
    }

    private List<String> seconds(int from, int to, int step) {
        List<String> lines = new java.util.ArrayList<>();
        for (int second = from; second < to; second += step) {
            lines.add(line("a", second, second));
        }
        return lines;
    }

    private String stream(String options) {
        return "CREATE STREAM s (k TEXT, ts TIMESTAMP, n BIGINT, WATERMARK FOR ts AS ts - INTERVAL '10 seconds')"
                + " WITH (connector = 'file', path = '" + directory + "/*'" + options + ")";
    }

    private void assertViewEqualsSelect(TestDatabase db, String query) {
        db.run("CREATE MATERIALIZED VIEW w AS " + query);
        assertEquals(db.rows(query), db.flushedRows("SELECT * FROM w"));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void filesWhoseNamesAreNotInTheOrderOfTimeLoseNoRow(int workers) throws IOException {
        int[] hours = {7, 3, 5, 0, 6, 2, 4, 1};
        for (int file = 0; file < hours.length; file++) {
            write("part-" + file + ".csv", seconds(hours[file] * 3600, (hours[file] + 1) * 3600, 7));
        }
        try (TestDatabase db = new TestDatabase(workers)) {
            db.run(stream(""));
            assertViewEqualsSelect(db, WINDOWS);
            assertEquals(List.of("w|0"), db.rows("SELECT query, late_rows FROM millrace.query_stats"));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void filesThatOverlapInTimeLoseNoRow(int workers) throws IOException {
        write("a.csv", seconds(0, 7200, 5));
        write("b.csv.gz", seconds(600, 9000, 11));
        write("c.csv", seconds(601, 602, 1));
        write("d.csv", seconds(0, 10_000, 13));
        write("e.csv", List.of());
        try (TestDatabase db = new TestDatabase(workers)) {
            db.run(stream(", format = 'csv', header = true"));
            assertViewEqualsSelect(db, WINDOWS);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void aHeadWithoutATimeHoldsTheOthersBackUntilItIsRead(int workers) throws IOException {
        write("a.csv", seconds(3600, 7200, 5));
        List<String> dirty = new java.util.ArrayList<>(List.of("x,never,1", "y,,2", "z,2024-13-01 00:00:00,3"));
        dirty.addAll(seconds(0, 3600, 5));
        write("b.csv", dirty);
        List<String> long0 = new java.util.ArrayList<>(java.util.Collections.nCopies(20_000, "y,,2"));
        long0.addAll(seconds(100, 3600, 5));
        write("c.csv", long0);
        try (TestDatabase db = new TestDatabase(workers)) {
            db.run(stream(", on_error = 'dead_letter'"));
            assertViewEqualsSelect(db, WINDOWS.replace("GROUP BY", "WHERE ts IS NOT NULL GROUP BY"));
            assertEquals(
                    List.of("b.csv|2", "b.csv|4"),
                    db
                            .rows("SELECT DISTINCT replace(origin, '" + directory
                                    + "/', ''), line FROM millrace.rejected_rows")
                            .stream()
                            .toList());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void aRowIsLateByTheRowsBeforeItInItsFile(int workers) throws IOException {
        write("b.csv", List.of(line("a", 0, 1), line("a", 300, 2), line("late", 30, 4), line("a", 301, 8)));
        write("a.csv", List.of(line("b", 250, 16), line("b", 20, 32), line("b", 260, 64)));
        write("c.csv", List.of(line("c", 5, 128), line("c", 4000, 256)));
        try (TestDatabase db = new TestDatabase(workers)) {
            db.run(stream(""));
            db.run("CREATE MATERIALIZED VIEW w AS " + WINDOWS);
            assertEquals(
                    List.of(
                            "2024-01-01 00:00:00|2|129",
                            "2024-01-01 00:04:00|2|80",
                            "2024-01-01 00:05:00|2|10",
                            "2024-01-01 01:06:00|1|256"),
                    db.flushedRows("SELECT * FROM w"));
            assertEquals(List.of("w|2"), db.rows("SELECT query, late_rows FROM millrace.query_stats"));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void anEventTimeThatIsComputedOrdersFilesToo(int workers) throws IOException {
        write("a.csv", seconds(7200, 9000, 5));
        write("b.csv", seconds(0, 3600, 5));
        write("c.csv", seconds(3000, 8000, 5));
        try (TestDatabase db = new TestDatabase(workers)) {
            db.run(
                    "CREATE STREAM s (k TEXT, n BIGINT, at TIMESTAMP GENERATED ALWAYS AS (TIMESTAMP '2024-01-01 00:00:00'"
                            + " + n * INTERVAL '1 second') STORED, WATERMARK FOR at AS at - INTERVAL '1 second') WITH (connector = 'file', path = '"
                            + directory + "/*.csv')");
            assertViewEqualsSelect(db, WINDOWS.replace("(ts)", "(at)"));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void inTheOrderOfTheirNamesFilesAreOneFile(int workers) throws IOException {
        for (int file = 0; file < 8; file++) {
            write(file + ".csv", seconds(file * 600, file * 600 + 900, 3)); // a third of each is older than the last
        }
        try (TestDatabase db = new TestDatabase(workers)) {
            db.run(stream(", \"order\" = 'name'"));
            String numbers = java.util.stream.IntStream.range(0, 8)
                    .boxed()
                    .flatMap(file -> java.util.stream.IntStream.range(0, 300).mapToObj(i -> file * 600 + 3 * i))
                    .map(String::valueOf)
                    .collect(java.util.stream.Collectors.joining(","));
            assertEquals(List.of("{" + numbers + "}"), db.rows("SELECT array_agg(n) FROM s"));
            db.run("CREATE MATERIALIZED VIEW w AS " + WINDOWS);
            db.run("FLUSH");
            int late = 7 * 80; // those of windows that the file before has closed, ten seconds late
            assertEquals(
                    List.of(String.valueOf(late)),
                    db.rows("SELECT late_rows FROM millrace.query_stats WHERE query = 'w'"));
        }
    }
}
