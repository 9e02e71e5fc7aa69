package dev.millrace.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The dashboard and the alerts that are shipped ask for metrics that there are, by labels that these have. */
@Timeout(120)
class DeployedFilesTest {
    private static final Path FOLDER = Path.of("../cli/src/dist/deploy");
    private static final Pattern METRIC = Pattern.compile("\\b(?:millrace|jvm)_[a-z_]+");
    private static final Pattern ALERT = Pattern.compile("- alert: (\\w+)");

    private final TestHttp http = new TestHttp();

    @AfterEach
    void stop() {
        http.close();
    }

    private static Set<String> metrics(String text) {
        Set<String> metrics = new TreeSet<>();
        Matcher metric = METRIC.matcher(text);
        while (metric.find()) {
            metrics.add(metric.group());
        }
        return metrics;
    }

    @Test
    void metricsAreThere() throws Exception {
        http.run("CREATE STREAM s (k TEXT, at TIMESTAMP, WATERMARK FOR at AS at);"
                + " CREATE MATERIALIZED VIEW v AS SELECT k, count(*) AS n FROM s GROUP BY k;"
                + " CREATE MATERIALIZED VIEW w AS SELECT count(*) AS n FROM TUMBLE(s, at, '1 minute') GROUP BY window_start, window_end;"
                + " CREATE SINK out WITH (connector = 'blackhole') AS SELECT * FROM s;"
                + " INSERT INTO s VALUES ('a', '2026-01-01 00:00:00'); SELECT * FROM v; SELECT * FROM w");
        Set<String> there = metrics(http.get("/metrics").body());
        String dashboard = Files.readString(FOLDER.resolve("grafana.json"));
        Set<String> wanted = metrics(
                TestHttp.MAPPER.readTree(dashboard).findValuesAsText("expr").toString());
        wanted.addAll(metrics(Files.readString(FOLDER.resolve("alerts.yml"))));
        assertTrue(wanted.size() > 20, wanted::toString);
        wanted.removeAll(there);
        String declared = Files.readString(Path.of(
                "src/main/java/dev/millrace/server/metrics/DatabaseMetrics.java")); // of brokers, which none is here
        wanted.removeIf(name -> name.matches("millrace_(source|sink)_.*") && declared.contains('"' + name + '"'));
        assertEquals(Set.of(), wanted);
    }

    @Test
    void panelsHaveTitlesAndDoNotOverlap() throws IOException {
        JsonNode panels = TestHttp.MAPPER
                .readTree(Files.readString(FOLDER.resolve("grafana.json")))
                .get("panels");
        Set<String> places = new TreeSet<>();
        Set<String> titles = new TreeSet<>();
        for (JsonNode panel : panels) {
            JsonNode at = panel.get("gridPos");
            for (int x = 0; x < at.get("w").asInt(); x++) {
                for (int y = 0; y < at.get("h").asInt(); y++) {
                    assertTrue(
                            places.add((at.get("x").asInt() + x) + ","
                                    + (at.get("y").asInt() + y)),
                            panel::toString);
                }
            }
            titles.add(panel.get("title").asText());
        }
        assertEquals(panels.size(), titles.size());
    }

    @Test
    void whatToDoIsSaidOfEachAlert() throws IOException {
        String page = Files.readString(Path.of("../docs/monitoring.md"));
        Matcher alert = ALERT.matcher(Files.readString(FOLDER.resolve("alerts.yml")));
        int alerts = 0;
        while (alert.find()) {
            alerts++;
            String name = alert.group(1);
            assertTrue(page.contains("`" + name + "`") || name.equals("MillraceDown"), name);
        }
        assertEquals(9, alerts);
    }
}
