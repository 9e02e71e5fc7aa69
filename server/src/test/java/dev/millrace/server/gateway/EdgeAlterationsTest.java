package dev.millrace.server.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.edge.agent.EdgeAgent;
import dev.millrace.server.session.TestDatabase;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * ALTER .. AS and REPROCESS of queries whose windows devices make. What they answer is compared with queries over all rows, of the second stream of the same
 * devices.
 */
@Tag("long")
class EdgeAlterationsTest extends EdgePlant {
    private static final String FROM = " FROM TUMBLE(TABLE STREAM, DESCRIPTOR(ts), INTERVAL '1 minute')";
    private static final String BY = " GROUP BY machine, k, window_start, window_end";
    private static final String BASE = "SELECT machine, k, window_start, count(*) AS c, sum(n) AS s, min(temp) AS l,"
            + " avg(k) AS a, count(*) FILTER (WHERE ok) AS o" + FROM + " WHERE n < 15" + BY;

    @TempDir
    private Path other;

    private void retained() {
        server.run("DROP STREAM plant, whole");
        streams("1 hour", ", retention = 'forever'");
    }

    /** A query whose windows devices make, and agents that do. */
    private List<EdgeAgent> begin(String query, String... devices) throws IOException {
        server.run("ALTER STREAM plant EDGE ALL SET (rows = 'queries')");
        server.run("CREATE MATERIALIZED VIEW e WITH (run_at = 'edge') AS " + query.replace("STREAM", "plant"));
        List<EdgeAgent> agents = agents(devices);
        drive(agents, () -> isSteered(devices.length, 1));
        return agents;
    }

    private List<EdgeAgent> agents(String... devices) throws IOException {
        List<EdgeAgent> agents = new ArrayList<>();
        for (String device : devices) {
            agents.add(agent(device, false));
        }
        return agents;
    }

    /** The same over all rows that there ever were, or from now on. */
    private void oracle(String name, String query, String options) {
        server.run("CREATE MATERIALIZED VIEW " + name + options + " AS " + query.replace("STREAM", "whole"));
    }

    private static String alter(String query) {
        return "ALTER MATERIALIZED VIEW e AS " + query.replace("STREAM", "plant");
    }

    private boolean isThere(String stream) {
        return !server.rows("SELECT 1 FROM millrace.definitions WHERE name = 'e'")
                        .isEmpty()
                && server.database().catalog().object(stream).isPresent();
    }

    /** Devices make the windows of a stream of partials, and no others. */
    private void awaitWindows(String stream, List<EdgeAgent> agents) {
        String definition = server.rows("SHOW CREATE STREAM \"" + stream + "\"").get(0);
        drive(
                agents,
                () -> isSteered(agents.size(), 1)
                        && status("plant").stream()
                                .flatMap(status -> status.steering().settings().lines())
                                .filter(line -> line.startsWith("windows."))
                                .allMatch(line ->
                                        definition.contains(line.substring("windows.".length(), line.indexOf('='))
                                                .strip())));
    }

    private void assertSame(String expected, String actual) {
        assertFalse(server.flushedRows("SELECT * FROM " + expected).isEmpty());
        assertEquals(
                server.flushedRows("SELECT * FROM " + expected).stream()
                        .sorted()
                        .toList(),
                server.flushedRows("SELECT * FROM " + actual).stream().sorted().toList());
    }

    /** Kills agents and the server while some more rows come. */
    private List<EdgeAgent> live(List<EdgeAgent> before, String... devices) throws IOException {
        List<EdgeAgent> agents = before;
        for (int life = 0; life < 3; life++) {
            write(random.nextInt(120));
            for (int step = random.nextInt(30); step > 0; step--) {
                agents.get(random.nextInt(agents.size())).step();
            }
            if (life == 1) {
                restart();
            }
            agents.forEach(EdgeAgent::abandon);
            agents = agents(devices);
        }
        sendAll(agents);
        return agents;
    }

    @Test
    void whatDevicesMakeAnswersTheAlteredQueryToo() throws IOException {
        List<EdgeAgent> agents = begin(BASE, "millrace/a", "millrace/b");
        String after = "SELECT machine, k, window_start, sum(n) AS s, count(*) AS c" + FROM + " WHERE n < 15" + BY
                + " HAVING count(*) > 1";
        oracle("c", after, "");
        agents = live(agents, "millrace/a", "millrace/b");
        List<String> plan = server.rows("EXPLAIN " + alter(after));
        assertTrue(plan.stream().anyMatch(line -> line.contains("keeps its state")), plan::toString);
        assertTrue(
                plan.stream().anyMatch(line -> line.startsWith("at the edge, of each row of plant")), plan::toString);
        server.run(alter(after));
        assertTrue(isThere("e$windows") && !isThere("e$windows2"));
        agents = live(agents, "millrace/a", "millrace/b");
        writeLast();
        sendAll(agents);
        assertSame("c", "e");
        agents.forEach(EdgeAgent::close);
    }

    @Test
    void devicesMakeOthersWhereTheAlteredQueryNeedsThem() throws IOException {
        List<EdgeAgent> agents = begin(BASE, "millrace/a", "millrace/old");
        List<String> streams = List.of("e$windows2", "e$windows", "e$windows2");
        List<String> queries = List.of(
                "SELECT machine, window_start, max(temp) AS m, sum(r) AS r" + FROM + " WHERE n < 15 GROUP BY machine,"
                        + " window_start, window_end",
                "SELECT device, window_start, count(*) AS c" + FROM + " GROUP BY device, window_start, window_end",
                BASE);
        for (int i = 0; i < queries.size(); i++) {
            agents = live(agents, "millrace/a", "millrace/old");
            List<String> plan = server.rows("EXPLAIN " + alter(queries.get(i)));
            assertTrue(plan.stream().anyMatch(line -> line.contains("state starts now")), plan::toString);
            server.run(alter(queries.get(i)));
            assertTrue(isThere(streams.get(i)) && !isThere(streams.get((i + 1) % 2)), streams.get(i));
            awaitWindows(streams.get(i), agents);
            oracle("c" + i, queries.get(i), "");
        }
        agents = live(agents, "millrace/a", "millrace/old");
        writeLast();
        sendAll(agents);
        assertSame("c2", "e");
        agents.forEach(EdgeAgent::close);
        server.run(alter("SELECT machine, temp FROM STREAM WHERE temp > 10"));
        assertFalse(isThere("e$windows") || isThere("e$windows2"), "no device makes windows any more");
        server.run(alter(BASE));
        assertTrue(isThere("e$windows"));
        server.run("CREATE CONTINUOUS QUERY partials AS SELECT row_count FROM \"e$windows\"");
        assertTrue(server.error(alter(queries.get(1))).contains("others read those that they make: partials"));
        restart();
        server.run("DROP MATERIALIZED VIEW e CASCADE");
    }

    /** Queries that can be made of what devices made: longer windows, fewer keys and aggregates, some of the groups. */
    private String derived() {
        List<String> keys = new ArrayList<>();
        for (String key : List.of("machine", "k", "device")) {
            if (random.nextBoolean()) {
                keys.add(key);
            }
        }
        List<String> calls = new ArrayList<>();
        for (String call :
                List.of("count(*)", "sum(n)", "min(temp)", "avg(k)", "count(k)", "count(*) FILTER (WHERE ok)")) {
            if (random.nextBoolean() || call.equals("sum(n)")) {
                calls.add(call + " AS a" + calls.size());
            }
        }
        String windows = List.of(
                        "TUMBLE(TABLE STREAM, DESCRIPTOR(ts), INTERVAL '1 minute')",
                        "TUMBLE(TABLE STREAM, DESCRIPTOR(ts), INTERVAL '5 minutes')",
                        "HOP(TABLE STREAM, DESCRIPTOR(ts), INTERVAL '2 minutes', INTERVAL '6 minutes')",
                        "CUMULATE(TABLE STREAM, DESCRIPTOR(ts), INTERVAL '3 minutes', INTERVAL '9 minutes')")
                .get(random.nextInt(4));
        String where = List.of("", " AND k > 3", " AND machine IN ('m1', 'm2')", " AND device LIKE '%b'")
                .get(random.nextInt(4));
        String having = random.nextBoolean() ? "" : " HAVING count(*) > 2";
        String by = keys.isEmpty() ? "" : String.join(", ", keys) + ", ";
        return "SELECT " + by + "window_start, window_end, " + String.join(", ", calls) + " FROM " + windows
                + " WHERE n < 15" + where + " GROUP BY " + by + "window_start, window_end" + having;
    }

    @Test
    void whatDevicesMadeIsAskedAgain() throws IOException {
        retained();
        List<EdgeAgent> agents = begin(BASE, "millrace/a", "millrace/b", "millrace/old");
        Map<String, String> asked = new TreeMap<>();
        for (int round = 0; round < 2; round++) {
            agents = live(agents, "millrace/a", "millrace/b", "millrace/old");
            String beside = derived();
            server.run("REPROCESS MATERIALIZED VIEW e FROM 'earliest' AS b" + round + " AS "
                    + beside.replace("STREAM", "plant"));
            asked.put("b" + round, beside);
            String instead = derived();
            server.run("REPROCESS MATERIALIZED VIEW e FROM 'earliest' AS " + instead.replace("STREAM", "plant"));
            asked.put("e", instead);
            write(50);
            agents.forEach(EdgeAgent::step);
            if (round == 0) {
                restart();
            }
            Eventually.holds(
                    "it takes the place, and not " + server.rows("TABLE millrace.backfills"),
                    () -> server.database().catalog().object("e_reprocessed").isEmpty());
        }
        assertTrue(
                server.rows("SHOW CREATE MATERIALIZED VIEW e").get(0).contains("windows_of = 'e'"),
                "it reads what was made for it");
        agents = live(agents, "millrace/a", "millrace/b", "millrace/old");
        writeLast();
        sendAll(agents);
        agents.forEach(EdgeAgent::close);
        assertTrue(
                status("plant").stream().anyMatch(status -> status.kept().windowRows() > 0),
                "devices made windows, whose rows are not here");
        asked.forEach((name, query) -> {
            oracle("c" + name, query, " WITH (start = 'earliest')");
            assertSame("c" + name, name);
        });
        assertTrue(server.error("DROP MATERIALIZED VIEW e").contains("depend on it"));
        String script = server.rows(
                        "SELECT string_agg(statement, '; ' ORDER BY position) FROM millrace.definitions WHERE"
                                + " statement LIKE 'CREATE %'")
                .get(0);
        try (TestDatabase again = new TestDatabase(other.resolve("again"))) {
            again.run(script);
            assertEquals(List.of("0"), again.rows("SELECT count(*) FROM e"));
        }
        server.run("DROP MATERIALIZED VIEW e CASCADE");
    }

    @Test
    void whatIsNotInTheWindowsThatDevicesMadeIsRefusedWithTheReason() throws IOException {
        String reprocess = "REPROCESS MATERIALIZED VIEW e FROM 'earliest' AS ";
        List<EdgeAgent> agents = begin(BASE, "millrace");
        agents.forEach(EdgeAgent::close);
        assertTrue(server.error(reprocess + BASE.replace("STREAM", "plant")).contains("\"e\" are not kept"));
        server.run("DROP MATERIALIZED VIEW e");
        retained();
        agents = begin(BASE, "millrace");
        agents.forEach(EdgeAgent::close);
        Map<String, String> reasons = Map.of(
                BASE.replace("WHERE n < 15", ""),
                "devices count only rows for which (n < 15)",
                BASE.replace("n < 15", "n < 15 AND temp > 1"),
                "it cannot be told whether",
                BASE.replace("machine, k,", "machine, k, r,"),
                "devices do not group by r",
                BASE.replace("min(temp)", "max(temp)"),
                "devices make no max of temp",
                BASE.replace("1 minute", "90 seconds"),
                "devices make windows of 60000000 us",
                "SELECT machine, temp FROM STREAM WHERE temp > 5",
                "this query has no windows");
        reasons.forEach((query, reason) -> {
            String error = server.error(reprocess + query.replace("STREAM", "plant"));
            assertTrue(error.contains("their rows are not here") && error.contains(reason), error);
            assertTrue(server.database().catalog().object("e_reprocessed").isEmpty());
        });
    }
}
