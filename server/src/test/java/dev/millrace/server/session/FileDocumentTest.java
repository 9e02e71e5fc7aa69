package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.testing.document.DocumentPage;
import dev.millrace.testing.s3.S3Server;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What docs/connectors.md says of files is so: its examples run over small files as they are found, Parquet of DuckDB's, and objects of a store. */
@Tag("peers")
@Timeout(120)
class FileDocumentTest {
    private static final DocumentPage PAGE = DocumentPage.connectors();

    @TempDir
    Path folder;

    private Path file(String name) throws IOException {
        Path file = folder.resolve(name);
        Files.createDirectories(file.getParent());
        return file;
    }

    private void write(String name, String... lines) throws IOException {
        Files.writeString(file(name), String.join("\n", lines) + "\n");
    }

    private void gzip(String name, String... lines) throws IOException {
        try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(file(name)))) {
            out.write((String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8));
        }
    }

    private Path parquet(String name, String select) throws IOException {
        Path file = file(name);
        try (Connection connection = DriverManager.getConnection("jdbc:duckdb:");
                Statement statement = connection.createStatement()) {
            statement.execute("COPY (" + select + ") TO '" + file + "' (FORMAT parquet)");
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        return file;
    }

    private void files() throws IOException {
        gzip(
                "plugs/a.csv.gz",
                "ts,device,power_1s_w",
                "2026-01-01 12:00:00,fridge,80",
                "2026-01-01 12:00:01,fridge,82");
        gzip("plugs/b.csv.gz", "device,ts,power_1s_w", "router,2026-01-01 12:00:00,9");
        write("readings/a.csv", "when;value;note", "31.12.2026 10:00;1,5;cold", "31.12.2026 11:00;2,25;-");
        write(
                "air/march.csv",
                "Date;Time;CO(GT);PT08;T;;",
                "10/03/2004;18.00.00;2,6;1360;13,6;;",
                "10/03/2004;19.00.00;-200;-200;13,3;;",
                "11/03/2004;20.00.00;2,2;1402;-200;;",
                "12/03/2004;21.00.00;-200;1376;11,0;;",
                "25/03/2004;22.00.00;1,6;-200;-200;;");
        write("runs/b.csv", "n", "3");
        write("runs/a.csv", "n", "1", "2");
        Files.setLastModifiedTime(folder.resolve("runs/a.csv"), FileTime.from(Instant.parse("2026-01-02T03:04:05Z")));
        Files.setLastModifiedTime(folder.resolve("runs/b.csv"), FileTime.from(Instant.parse("2026-01-02T03:04:06Z")));
        parquet("lake/orders/2026/a.parquet", "SELECT 1 AS id, 'a' AS customer, [1.5, 2.5] AS amounts");
        parquet("lake/orders/2027/b.parquet", "SELECT 2 AS id, 'b' AS customer, []::DECIMAL(2,1)[] AS amounts");
    }

    /** The NOTICEs that the examples show, up to where they leave something out. */
    private static List<String> notices() {
        return Pattern.compile("(?m)^-- NOTICE:  (.*)\\.\\.$")
                .matcher(String.join("", PAGE.examples("Source `file`")))
                .results()
                .map((MatchResult notice) -> notice.group(1))
                .toList();
    }

    @Test
    void theExamplesRun() throws IOException {
        files();
        try (S3Server store = new S3Server();
                TestDatabase database = new TestDatabase()) {
            store.put(
                    "orders/1.parquet",
                    Files.readAllBytes(parquet("1.parquet", "SELECT 7::BIGINT AS id, 'c' AS customer")));
            for (String statement : PAGE.statements("Source `file`")) {
                database.run(statement
                        .replaceAll("path = '(?!s3:)", "path = '" + folder + "/")
                        .replace("AS '...'", "AS '" + store.secret() + "'")
                        .replace("s3://lake/", "s3://" + S3Server.BUCKET + "/")
                        .replace("https://minio.example:9000", store.options().get("s3.endpoint")));
            }
            assertEquals(
                    List.of("fridge|2|162", "router|1|9"),
                    database.rows("SELECT device, count(*), sum(power_1s_w) FROM plugs GROUP BY device"));
            assertEquals(
                    List.of("2026-12-31 10:00:00|1.5|cold", "2026-12-31 11:00:00|2.25|-"),
                    database.rows("SELECT \"when\", value, note FROM anything"));
            assertEquals(2, notices().size(), () -> "" + notices());
            for (String notice : notices()) {
                assertTrue(
                        database.notices().stream().anyMatch(said -> said.startsWith(notice)),
                        () -> notice + " is not among " + database.notices());
            }
            assertEquals(
                    List.of("2004-03-10 18:00:00|2.6", "2004-03-10 19:00:00|", "2004-03-11 20:00:00|2.2"),
                    database.rows("SELECT at, \"co(gt)\" FROM air WHERE at < '2004-03-12'"));
            assertTrue(
                    database.rows("SHOW CREATE STREAM air").get(0).contains("decimal_comma = 'true'"),
                    () -> "" + database.rows("SHOW CREATE STREAM air"));
            String second = "2026-01-02 03:04:0";
            assertEquals(
                    List.of(
                            "1|a.csv|2|" + second + "5+00",
                            "2|a.csv|3|" + second + "5+00",
                            "3|b.csv|2|" + second + "6+00"),
                    database.rows("SELECT n, substring(file FROM '[^/]*$'), line, written FROM runs"));
            assertEquals(List.of("1|a|{1.5,2.5}", "2|b|{}"), database.rows("SELECT id, customer, amounts FROM lake"));
            database.run("CREATE MATERIALIZED VIEW of_store AS SELECT id, customer FROM orders_there");
            Eventually.holds(
                    "the object is read", () -> database.rows("TABLE of_store").equals(List.of("7|c")));
        }
    }

    private List<String> readBy(String dirt, String columns, String file) {
        String options = PAGE.tables("Source `file`").stream()
                .flatMap(List::stream)
                .filter(row -> row.get(0).contains(dirt))
                .findFirst()
                .orElseThrow()
                .get(1)
                .replace("`", "")
                .replace("\\|", "|");
        try (TestDatabase database = new TestDatabase()) {
            database.run("CREATE STREAM s (" + columns + ") WITH (connector = 'file', path = '" + folder.resolve(file)
                    + "', " + options + ")");
            return database.rows("SELECT * FROM s");
        }
    }

    @Test
    void theOptionsForRealDirtReadIt() throws IOException {
        write("power.csv", "Date;Time;Power", "16/12/2006;17:24:00;4.216", "1/1/07;00:01:00;?");
        assertEquals(
                List.of("2006-12-16|17:24:00|4.216", "2007-01-01|00:01:00|"),
                readBy("UCI household power", "date DATE, time TIME, power DOUBLE PRECISION", "power.csv"));
        write("air.csv", "Date;Time;CO", "10/03/2004;18.00.00;2,6");
        assertEquals(
                List.of("2004-03-10|18:00:00|2.6"),
                readBy("UCI air quality", "date DATE, time TIME, co DOUBLE PRECISION", "air.csv"));
        Files.write(
                file("motes"), "1388530800000 1\u00a0000,5 \u00e9t\u00e9\n".getBytes(Charset.forName("ISO-8859-1")));
        assertEquals(
                List.of("2013-12-31 23:00:00|1000.5|\u00e9t\u00e9"),
                readBy("ULB motes", "at TIMESTAMP, value DOUBLE PRECISION, note TEXT", "motes"));
    }
}
