package dev.millrace.server.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.edge.agent.Fleet;
import dev.millrace.edge.config.EdgeConfig;
import dev.millrace.edge.config.EdgeConfigFile;
import dev.millrace.server.pgwire.Authentication;
import dev.millrace.server.session.TestDatabase;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** docs/tutorial.md is so, in the order of its statements; with shorter windows, and plants that read more often. */
class TutorialTest {
    private static final Pattern EXAMPLE = Pattern.compile("```sql\n(.*?)```", Pattern.DOTALL);

    private static final Pattern PLOT = Pattern.compile("millrace plot -o plants.svg \"(.*?)\"", Pattern.DOTALL);

    @TempDir
    private Path directory;

    private TestDatabase server;
    private EdgeGateway gateway;

    private static Iterator<String> statements() throws IOException {
        String text = Files.readString(Path.of("..", "docs", "tutorial.md"))
                .replace("'15 seconds'", "'1 second'")
                .replace("'10 seconds'", "'1 second'");
        List<String> statements = new ArrayList<>();
        Matcher examples = EXAMPLE.matcher(text);
        while (examples.find()) {
            statements.addAll(List.of(examples.group(1).split(";\\s*\n")));
        }
        return statements.iterator();
    }

    /** What the picture is drawn of. */
    private static String plotted() throws IOException {
        Matcher plot = PLOT.matcher(Files.readString(Path.of("..", "docs", "tutorial.md")));
        assertTrue(plot.find());
        return plot.group(1);
    }

    private List<EdgeConfig> plants(int port) {
        return IntStream.of(1, 2)
                .mapToObj(plant -> EdgeConfigFile.parse(
                        """
                        device = "millrace/%d", data = "%s", commit = 50ms, status = 100ms
                        server { address = "localhost:%d", token = secret, tls = false }
                        streams { sensors {
                          input { type = sensor, every = 5ms, seed = %d }
                          sketch { segment = 200ms, error = 1%% }
                        } }
                        """.formatted(plant, directory.resolve("plant" + plant), port, plant), "test"))
                .toList();
    }

    private void begin(int port) {
        server = new TestDatabase(directory.resolve("db"));
        gateway = EdgeGateway.listen(
                server.database(), new Authentication.Trust(), List.of("localhost"), port, 100, Optional.empty());
    }

    private void end() {
        gateway.close();
        server.close();
    }

    /** Until a statement answers with so many rows; the last answer. */
    private List<String> answers(String statement, int least) {
        Eventually.holds(
                statement + " has " + least + " rows",
                () -> server.rows(statement).size() >= least);
        return server.rows(statement);
    }

    @Test
    void aPlantIsReadThroughAnOutageAndAskedAgain() throws IOException {
        Iterator<String> tutorial = statements();
        begin(0);
        server.run(tutorial.next());
        server.run(tutorial.next());
        try (BufferAllocator allocator = new RootAllocator();
                Fleet fleet = new Fleet(plants(gateway.port()), 2, allocator)) {
            answers(tutorial.next(), 4);
            for (String plant : answers(tutorial.next(), 2)) {
                assertTrue(plant.contains("|t|"), plant);
            }
            int port = gateway.port();
            end();
            begin(port);
            Eventually.holds(
                    "both are back",
                    () -> server.rows("SELECT count(*) FROM millrace.edges WHERE connected")
                            .equals(List.of("2")));
            for (String plant : answers(tutorial.next(), 2)) {
                String[] counts = plant.split("\\|");
                assertEquals(
                        List.of(counts[1], counts[1]), List.of(counts[2], counts[3]), "each reading once: " + plant);
            }
            server.run(tutorial.next());
            assertTrue(answers(tutorial.next(), 1).get(0).startsWith("plants_mended|"));
            for (String window : answers(tutorial.next(), 4)) {
                String[] cells = window.split("\\|");
                assertEquals("0", cells[2], window);
                double warm = Double.parseDouble(cells[5]);
                assertTrue(Double.parseDouble(cells[6]) <= warm && warm <= Double.parseDouble(cells[7]), window);
            }
            assertTrue(!server.rows(plotted()).isEmpty());
            String replaces = tutorial.next();
            Eventually.holds(
                    "it has all of the past",
                    () -> server.rows("SELECT state FROM millrace.backfills").equals(List.of("done")));
            server.run(replaces);
            assertEquals(List.of("t"), server.rows(tutorial.next()));
            server.run(tutorial.next());
            Eventually.holds(
                    "both have the settings",
                    () -> server.rows("SELECT count(*) FROM millrace.edges WHERE settings_done")
                            .equals(List.of("2")));
            fleet.finish();
            Eventually.holds("all is sent", () -> fleet.status().done());
            Eventually.holds(
                    "each reading is in a window, those too that came late",
                    () -> server.rows("SELECT sum(readings) = (SELECT count(*) FROM sensors) FROM plants")
                            .equals(List.of("t")));
            assertEquals(Optional.empty(), fleet.status().problem());
        } finally {
            end();
        }
        assertTrue(!tutorial.hasNext());
    }
}
