package dev.millrace.cli.plot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;
import picocli.CommandLine;

/** What is drawn is what the query answers. */
class PlotCommandTest {
    @TempDir
    private Path folder;

    private String url() {
        return "jdbc:millrace:" + folder.resolve("data");
    }

    private void run(String... statements) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url());
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
    }

    private Document plot(String query) throws Exception {
        Path file = folder.resolve("picture.svg");
        assertEquals("", complaint(query, "-o", file.toString()));
        return DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new InputSource(new StringReader(Files.readString(file))));
    }

    /** What it complains of. */
    private String complaint(String query, String... more) {
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        String[] arguments = IntStream.range(0, more.length + 3)
                .mapToObj(i -> i < more.length
                        ? more[i]
                        : List.of("--server", url(), query).get(i - more.length))
                .toArray(String[]::new);
        int code = PlotCommand.run(
                new CommandLine(PlotCommand.spec()).parseArgs(arguments),
                new PrintStream(new ByteArrayOutputStream(), true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8));
        assertEquals(err.size() == 0 ? 0 : 1, code);
        return err.toString(StandardCharsets.UTF_8);
    }

    private static List<Element> all(Document document, String name) {
        NodeList found = document.getElementsByTagName(name);
        return IntStream.range(0, found.getLength())
                .mapToObj(i -> (Element) found.item(i))
                .toList();
    }

    private static List<String> lines(Document document) {
        return all(document, "path").stream()
                .filter(path -> path.hasAttribute("fill"))
                .map(path -> path.getAttribute("d"))
                .toList();
    }

    @Test
    void aColumnIsALineFromItsLowestToItsHighestValueWithGapsWhereItIsNull() throws Exception {
        Document drawn = plot("SELECT * FROM (VALUES (0, 10.0, 5), (1, NULL, 5), (2, 20.0, NULL), (3, 0.0, 5)) t"
                + " (x, \"a < b\", \"c\") ORDER BY x");
        assertEquals(
                List.of("M60.0 170.0M520.0 20.0L750.0 320.0", "M60.0 245.0L290.0 245.0M750.0 245.0"), lines(drawn));
        List<String> texts =
                all(drawn, "text").stream().map(Element::getTextContent).toList();
        assertTrue(texts.containsAll(List.of("a < b", "c", "x", "0", "20", "3")), texts.toString());
    }

    @Test
    void betweenTheBoundsOfAColumnItIsShaded() throws Exception {
        Document drawn =
                plot("SELECT TIMESTAMPTZ '2026-01-01 00:00:00+00' + x * INTERVAL '1 minute' AS at, y, y - 1 AS y_low,"
                        + " y + 1 AS y_high, 4 AS z_low FROM (VALUES (0, 1), (1, 5)) t (x, y) ORDER BY x");
        assertEquals(2, lines(drawn).size(), "y and z_low, which is no bound of any");
        assertEquals(
                List.of("60.0,220.0 750.0,20.0 750.0,120.0 60.0,320.0"),
                all(drawn, "polygon").stream()
                        .map(each -> each.getAttribute("points"))
                        .toList());
        assertTrue(all(drawn, "text").stream().map(Element::getTextContent).anyMatch("00:00:20"::equals));
    }

    @Test
    void whatCannotBeDrawnIsSaid() {
        assertEquals(
                "millrace plot: the query has 1 columns; 2 to 20 can be drawn, the first one from left to right\n",
                complaint("SELECT 1"));
        assertEquals(
                "millrace plot: column \"b\" is neither a number nor a time\n",
                complaint("SELECT 1 AS a, 'x'::text AS b"));
        assertEquals(
                "millrace plot: the query has more than 20000 rows; aggregate them, or LIMIT them\n",
                complaint("SELECT g, g AS h FROM generate_series(1, 20001) g"));
        assertTrue(complaint("SELECT nothing FROM nowhere").contains("nowhere"));
    }

    @Test
    void noRowsAndOneRowAreDrawn() throws Exception {
        assertEquals(List.of(""), lines(plot("SELECT 1 AS x, 2 AS y WHERE false")));
        assertEquals(List.of("M405.0 170.0"), lines(plot("SELECT 1 AS x, 2 AS y")));
    }

    @Test
    void theTutorialsPictureHasItsThreeLines() throws Exception {
        String columns =
                " (device TEXT, window_start TIMESTAMPTZ, warm NUMERIC, warm_low NUMERIC, warm_high NUMERIC, running BIGINT)";
        run("CREATE TABLE plants" + columns, "CREATE TABLE plants_mended" + columns);
        for (String table : List.of("plants", "plants_mended")) {
            run("INSERT INTO " + table
                    + " SELECT 'd', TIMESTAMPTZ '2026-01-01 00:00:00+00' + g * INTERVAL '10 seconds', 40 + g,"
                    + " 39 + g, 41 + g, 7 FROM generate_series(1, 5) g");
        }
        Matcher query = Pattern.compile("millrace plot -o plants.svg \"(.*?)\"", Pattern.DOTALL)
                .matcher(Files.readString(Path.of("..", "docs", "tutorial.md")));
        assertTrue(query.find());
        Document drawn = plot(query.group(1));
        assertEquals(3, lines(drawn).size());
        assertEquals(1, all(drawn, "polygon").size());
    }
}
