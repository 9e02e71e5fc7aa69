package dev.millrace.cli.shell;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.millrace.cli.format.ResultFormat;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;
import dev.millrace.server.session.Session;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringReader;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whatever is wrong with the input, the shell says it in one line that names the thing, and other queries go on. */
class BadInputTest {
    private static final int COLUMNS = 80;

    @TempDir
    private Path directory;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String script) throws IOException {
        Streams streams = new Streams(out, new PrintWriter(err, true), false, false, false, () -> COLUMNS);
        ShellMode mode = new ShellMode(ResultFormat.CSV, false, true, true, true);
        DatabaseOptions options = DatabaseOptions.defaults();
        try (Database database = Database.open(options);
                Session session = database.session();
                Shell shell = new Shell(session, options.clock(), streams, mode)) {
            return shell.runScript(new StringReader(script.replace("DIR", directory.toString())));
        }
    }

    private void file(String name, byte[] bytes) throws IOException {
        Files.write(directory.resolve(name), bytes);
    }

    private void file(String name, String text) throws IOException {
        file(name, text.getBytes(StandardCharsets.UTF_8));
    }

    /** What a query over a file of (k TEXT, n BIGINT) says, while another goes on. */
    private String complaint(String name) throws IOException {
        file("good.csv", "k,n\na,1\n");
        int code = run("""
                CREATE STREAM good (k TEXT, n BIGINT) WITH (connector = 'file', path = 'DIR/good.csv');
                CREATE MATERIALIZED VIEW healthy AS SELECT count(*) AS n FROM good;
                CREATE STREAM bad (k TEXT, n BIGINT) WITH (connector = 'file', path = 'DIR/%s');
                SELECT sum(n) FROM bad;
                SELECT n FROM healthy;
                """.formatted(name));
        assertEquals(1, code, err.toString());
        assertEquals("n\n1\n", out.toString());
        return err.toString().replace(directory.toString(), "DIR");
    }

    private static String without(String lines, String prefix) {
        return lines.lines().filter(line -> !line.startsWith(prefix)).reduce("", (a, b) -> a + b + "\n");
    }

    @Test
    void aMissingFileAndADirectoryAreRefusedWhenTheStreamIsCreated() throws IOException {
        String undefined = "ERROR:  42P01: relation \"bad\" does not exist\n";
        assertTrue(complaint("none.csv")
                .startsWith(
                        "ERROR:  58P01: could not open file \"DIR/none.csv\" for reading: no such file or directory\n"
                                + undefined));
        out.getBuffer().setLength(0);
        err.getBuffer().setLength(0);
        assertTrue(complaint("").contains("ERROR:  42809: \"DIR\" is a directory\n"), err.toString());
    }

    @Test
    void whatIsNoNumberIsNamedWithItsLineAndColumn() throws IOException {
        file("bad.csv", "k,n\na,1\nb,x\n");
        assertEquals(
                "ERROR:  22P02: DIR/bad.csv:3, column \"n\": invalid input syntax for type bigint: \"x\"\n",
                complaint("bad.csv"));
    }

    @Test
    void theFirstBadLineIsNamedWhateverIsWrongWithIt() throws IOException {
        file("bad.csv", "k,n\na,1\nb,x\nc,3,4\n\0d,5\n");
        assertEquals(
                "ERROR:  22P02: DIR/bad.csv:3, column \"n\": invalid input syntax for type bigint: \"x\"\n",
                complaint("bad.csv"));
    }

    @Test
    void aNulByteIsNoText() throws IOException {
        file("bad.csv", "k,n\na,1\nb\0c,2\n");
        assertEquals(
                "ERROR:  22021: DIR/bad.csv:3, column \"k\": invalid byte sequence for encoding \"UTF8\": 0x00\n",
                complaint("bad.csv"));
    }

    @ParameterizedTest
    @CsvSource({"1, 100", "2, 5000", "3, 1000000"})
    void binaryJunkIsOneLine(long seed, int bytes) throws IOException {
        byte[] junk = new byte[bytes];
        new SplittableRandom(seed).nextBytes(junk);
        file("bad.csv", junk);
        String complaint = complaint("bad.csv");
        assertTrue(complaint.startsWith("ERROR:  22"), complaint);
        assertEquals(1, without(complaint, "HINT").lines().count(), complaint);
        assertTrue(complaint.contains("DIR/bad.csv"), complaint);
    }

    @Test
    void aGzipFileThatEndsInTheMiddleSaysHowFarItWent() throws IOException {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(packed)) {
            SplittableRandom random = new SplittableRandom(4);
            StringBuilder lines = new StringBuilder("k,n\n");
            for (int i = 0; i < 20_000; i++) {
                lines.append('k')
                        .append(random.nextLong())
                        .append(',')
                        .append(i)
                        .append('\n');
            }
            gzip.write(lines.toString().getBytes(StandardCharsets.UTF_8));
        }
        file("bad.csv.gz", Arrays.copyOf(packed.toByteArray(), packed.size() / 2));
        String complaint = complaint("bad.csv.gz");
        assertTrue(complaint.startsWith("ERROR:  XX001: gzip file \"DIR/bad.csv.gz\" ends in the middle, after "));
        assertEquals(1, without(complaint, "HINT").lines().count(), complaint);
    }

    @Test
    void whatIsNoGzipFileIsSaidToBeNone() throws IOException {
        file("bad.csv.gz", "k,n\na,1\n");
        assertTrue(
                complaint("bad.csv.gz").startsWith("ERROR:  XX001: file \"DIR/bad.csv.gz\" is not in gzip format\n"));
    }

    @Test
    void aRowThatFailsLateInALargeFileStopsItsQueryAlone() throws IOException {
        int rows = 300_000;
        StringBuilder lines = new StringBuilder("n\n");
        for (int i = 1; i <= rows; i++) {
            lines.append(i == rows - 10 ? 0 : 1).append('\n');
        }
        file("zero.csv", lines.toString());
        int code = run("""
                CREATE STREAM s (n BIGINT) WITH (connector = 'file', path = 'DIR/zero.csv');
                CREATE MATERIALIZED VIEW counted AS SELECT count(*) AS n FROM s;
                CREATE MATERIALIZED VIEW inverse AS SELECT sum(10 / n) AS x FROM s;
                SELECT n FROM counted;
                SELECT x FROM inverse;
                """);
        assertEquals(1, code);
        assertEquals("n\n" + rows + "\n", out.toString());
        assertEquals(
                "ERROR:  22012: materialized view \"inverse\" failed: row 299990: division by zero\n",
                without(err.toString(), "HINT"));
    }

    @Test
    void aConstantThatFailsNamesNoRow() throws IOException {
        assertEquals(1, run("SELECT 1 / 0;\nSELECT n / 0 FROM (VALUES (1)) AS t(n);"));
        assertEquals("ERROR:  22012: division by zero\nERROR:  22012: row 1: division by zero\n", err.toString());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "connector = 'file', paht = 'x' | option \"paht\" does not exist | did you mean \"path\"?",
                "connector = 'datagen', rwos = 5 | option \"rwos\" does not exist | did you mean \"rows\"?",
                "connector = 'datgen' | there is no connector \"datgen\" for a source | did you mean \"datagen\"?"
            })
    void aMisspeltOptionIsToldWithTheRightOne(String options, String message, String hint) throws IOException {
        assertEquals(1, run("CREATE STREAM s (n BIGINT) WITH (" + options + ");"));
        assertEquals("ERROR:  22023: " + message + "\nHINT:  " + hint + "\n", err.toString());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "TUMBLE(s, ts, INTERVAL '0 seconds') | a duration of TUMBLE must be greater than zero",
                "SESSION(s, ts, INTERVAL '1 month') | a duration cannot have months or years: their length varies",
                "TUMBLE(s, n, INTERVAL '1 second') | the time column of TUMBLE must be of type timestamp or timestamptz,"
                        + " but \"n\" is bigint",
                "HOP(s, ts, INTERVAL '-1 second', INTERVAL '9 seconds') | a duration of HOP must be greater than zero",
                "CUMULATE(TABLE s, DESCRIPTOR(ts), INTERVAL '3 seconds', INTERVAL '10 seconds') | the step of CUMULATE must"
                        + " divide its size",
                "SESSION(TABLE s PARTITION BY kk, DESCRIPTOR(ts), INTERVAL '3 seconds') | column \"kk\" does not exist"
            })
    void anImpossibleWindowIsRefused(String window, String message) throws IOException {
        assertEquals(
                1,
                run("CREATE STREAM s (k TEXT, n BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts);\n"
                        + "CREATE MATERIALIZED VIEW v AS SELECT window_start, count(*) AS n FROM " + window
                        + " GROUP BY window_start, window_end;"));
        String first = err.toString().lines().findFirst().orElse("");
        assertTrue(first.startsWith("ERROR:  ") && first.endsWith(": " + message), err.toString());
        assertTrue(err.toString().contains("\nLINE 1: "), err.toString());
    }

    @Test
    void aFullDiskFailsItsSinkAloneAndTheScript() throws IOException {
        assumeTrue(Files.exists(Path.of("/dev/full")));
        file("n.csv", "n\n1\n2\n");
        int code = run("""
                CREATE STREAM s (n BIGINT) WITH (connector = 'file', path = 'DIR/n.csv');
                CREATE MATERIALIZED VIEW total AS SELECT sum(n) AS n FROM s;
                CREATE SINK copy FROM s WITH (connector = 'file', path = '/dev/full', format = 'csv');
                SELECT n FROM total;
                """);
        assertEquals("n\n3\n", out.toString());
        assertEquals(
                "ERROR:  53100: sink \"copy\" failed: could not write to file \"/dev/full\": no space left on device\n",
                without(err.toString(), "HINT"));
        assertEquals(1, code);
    }

    @Test
    void aScriptEndsWhenItsSinksHaveAll() throws IOException {
        StringBuilder lines = new StringBuilder("n\n");
        for (int i = 0; i < 100_000; i++) {
            lines.append(i).append('\n');
        }
        file("n.csv", lines.toString());
        assertEquals(0, run("""
                CREATE STREAM s (n BIGINT) WITH (connector = 'file', path = 'DIR/n.csv');
                CREATE SINK copy FROM s WITH (connector = 'file', path = 'DIR/copy.csv', format = 'csv');
                """), err.toString());
        assertEquals(lines.toString(), Files.readString(directory.resolve("copy.csv")));
    }

    @Test
    void theSchedulingPolicyIsASettingOfAll() throws IOException {
        assertEquals(1, run("""
                SET scheduling_policy = 'round_robin';
                SHOW scheduling_policy;
                RESET ALL;
                SHOW scheduling_policy;
                RESET scheduling_policy;
                SHOW scheduling_policy;
                SET scheduling_policy = 'fastest';
                """));
        String header = "scheduling_policy\n";
        assertEquals(header + "round_robin\n" + header + "round_robin\n" + header + "fcfs\n", out.toString());
        assertTrue(err.toString().startsWith("ERROR:  22023: setting \"scheduling_policy\" cannot be \"fastest\""));
    }
}
