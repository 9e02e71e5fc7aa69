package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A folder of raw files becomes a stream by one statement, which says what it took for granted and stays as it is. */
class FoundFolderTest {
    private static final String COUNTED =
            "SELECT window_start, count(*), sum(temp) FROM TUMBLE(TABLE s, DESCRIPTOR(at), INTERVAL '1 day')"
                    + " GROUP BY window_start, window_end ORDER BY 1";

    @TempDir
    Path folder;

    private void file(String name, String text) throws IOException {
        Files.createDirectories(folder.resolve("raw"));
        Files.write(folder.resolve("raw").resolve(name), text.getBytes(StandardCharsets.ISO_8859_1));
    }

    private void files() throws IOException {
        file("b.csv", "Datum;Zeit;Temp;Ort\n13.02.2020;10:00;2,5;Köln\n14.02.2020;11:00;-;Köln\n");
        file("a.csv", "Datum;Zeit;Ort;Temp\n01.02.2020;12:00;Graz;3\n");
        file("c.csv", "Zeit;Datum\n13:00;02.02.2020\n");
    }

    private String create() {
        return "CREATE STREAM s (at TIMESTAMP GENERATED ALWAYS AS (datum + zeit) STORED, WATERMARK FOR at AS at)"
                + " WITH (connector = 'file', path = '" + folder + "/raw/*.csv')";
    }

    @Test
    void oneStatementLoadsItAndOutlivesARestart() throws IOException {
        files();
        List<String> all;
        List<String> counted;
        try (TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            database.run(create());
            assertEquals(
                    List.of(
                            "columns of \"s\" were inferred: datum date, zeit time without time zone, ort text, temp double"
                                    + " precision",
                            "options of \"s\" were inferred: encoding = 'latin-1', delimiter = ';', header = 'true',"
                                    + " union_by_name = 'true', decimal_comma = 'true', null = '|-', date_format = 'DD.MM.YYYY'"),
                    database.notices());
            all = database.rows("SELECT * FROM s ORDER BY datum");
            assertEquals(
                    List.of(
                            "2020-02-01|12:00:00|Graz|3|2020-02-01 12:00:00",
                            "2020-02-02|13:00:00|||2020-02-02 13:00:00",
                            "2020-02-13|10:00:00|Köln|2.5|2020-02-13 10:00:00",
                            "2020-02-14|11:00:00|Köln||2020-02-14 11:00:00"),
                    all);
            counted = database.rows(COUNTED);
            assertEquals(4, counted.size());
            database.run("CREATE MATERIALIZED VIEW v AS " + COUNTED.replace(" ORDER BY 1", ""));
            String shown = database.rows("SHOW CREATE STREAM s").get(0);
            assertTrue(shown.contains("delimiter = ';'") && shown.contains("datum date, zeit time"), shown);
        }
        file("0.csv", "a,b\n1,2\n"); // would be guessed to be something else
        Files.delete(folder.resolve("raw/0.csv"));
        try (TestDatabase again = new TestDatabase(folder.resolve("data"))) {
            assertEquals(List.of(), again.notices());
            assertEquals(all, again.rows("SELECT * FROM s ORDER BY datum"));
            assertEquals(counted, again.flushedRows("SELECT * FROM v ORDER BY 1"));
        }
    }

    @Test
    void filesWithoutTimeAreAskedByTheirNamesAndWhenTheyWereWritten() throws IOException {
        for (int i = 0; i < 6; i++) {
            file("run" + i + ".csv", "v\n" + i + "\n" + 10 * i + "\n");
            Files.setLastModifiedTime(
                    folder.resolve("raw/run" + i + ".csv"),
                    FileTime.from(Instant.parse("2020-01-0" + (6 - i) + "T00:00:00Z")));
        }
        try (TestDatabase database = new TestDatabase(folder.resolve("data"))) {
            database.run("CREATE STREAM s (WATERMARK FOR written AS written) INCLUDE FILENAME AS file, LINE AS line,"
                    + " MODIFIED AS written WITH (connector = 'file', path = '" + folder + "/raw/*.csv')");
            String query =
                    "SELECT window_start, max(right(file, 8)) AS last_file, sum(v) AS total, max(line) AS last_line FROM TUMBLE(TABLE s,"
                            + " DESCRIPTOR(written), INTERVAL '1 day') GROUP BY window_start, window_end";
            database.run("CREATE MATERIALIZED VIEW v AS " + query);
            List<String> expected = IntStream.range(0, 6)
                    .mapToObj(day ->
                            "2020-01-0" + (day + 1) + " 00:00:00+00|run" + (5 - day) + ".csv|" + 11 * (5 - day) + "|3")
                    .toList();
            assertEquals(expected, database.rows(query + " ORDER BY 1"));
            assertEquals(expected, database.flushedRows("SELECT * FROM v ORDER BY 1"));
            assertEquals(List.of(), database.rows("SELECT * FROM millrace.late_rows"));
        }
    }
}
