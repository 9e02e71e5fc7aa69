package dev.millrace.server.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.edge.agent.EdgeAgent;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Windows that devices make: real agents, of which one is of before and knows none, read one file as two streams. Of one they send partial aggregates, and what
 * else is needed; of the other all rows, over which the server makes the same windows.
 */
class EdgeWindowsTest extends EdgePlant {
    private static final String AT_EDGE = " WITH (run_at = 'edge') AS ";
    private static final String PERIOD = "'10 seconds'";

    private final Map<String, String> queries = new TreeMap<>(); // those that run, by their numbers

    // ---- what is asked
    // ----------------------------------------------------------------------------------------------

    private String query() {
        String where = List.of(
                        "",
                        "",
                        " WHERE temp > " + random.nextInt(60),
                        " WHERE machine IN ('m1', 'm2') OR ok",
                        " WHERE n < 15 AND r IS NOT NULL",
                        " WHERE NOT (d = DATE '2026-01-02')")
                .get(random.nextInt(6));
        String keys = List.of("", "machine, ", "k, ", "device, machine, ", "temp, ", "d, ok, ", "r, ", "device, ")
                .get(random.nextInt(8));
        List<String> all = List.of(
                "count(*)",
                "count(n)",
                "count(machine)",
                "sum(k)",
                "sum(n)",
                "avg(k)",
                "avg(n)",
                "min(temp)",
                "max(temp)",
                "min(n)",
                "max(k)",
                "min(r)",
                "max(ts)",
                "min(d)",
                "sum(temp)",
                "avg(temp)",
                "avg(k::double precision)");
        List<String> filters = List.of("", "", " FILTER (WHERE ok)", " FILTER (WHERE temp > 20 OR k IS NULL)");
        List<String> some = new ArrayList<>();
        for (int i = 1 + random.nextInt(5); i > 0; i--) {
            some.add(all.get(random.nextInt(all.size())) + filters.get(random.nextInt(4)) + " AS a" + i);
        }
        String windows = List.of(
                        "TUMBLE(TABLE STREAM, DESCRIPTOR(ts), INTERVAL " + PERIOD,
                        "TUMBLE(TABLE STREAM, DESCRIPTOR(ts), INTERVAL " + PERIOD,
                        "HOP(TABLE STREAM, DESCRIPTOR(ts), INTERVAL '4 seconds', INTERVAL '12 seconds'",
                        "CUMULATE(TABLE STREAM, DESCRIPTOR(ts), INTERVAL '5 seconds', INTERVAL '15 seconds'")
                .get(random.nextInt(4));
        return "SELECT " + keys + "window_start, window_end, " + String.join(", ", some) + " FROM " + windows + ")"
                + where + " GROUP BY " + keys + "window_start, window_end"
                + (random.nextInt(4) == 0 ? " HAVING count(*) > 1" : "");
    }

    /** One that devices make no windows of, and that needs rows of its own. */
    private String other() {
        return "SELECT k, machine, count(*) AS c FROM STREAM WHERE temp > " + random.nextInt(80)
                + " GROUP BY k, machine";
    }

    private void create(String number, String query) {
        queries.put(number, query);
        server.run("CREATE MATERIALIZED VIEW e" + number + AT_EDGE + query.replace("STREAM", "plant"));
        server.run("CREATE MATERIALIZED VIEW c" + number + " AS " + query.replace("STREAM", "whole"));
    }

    private static List<String> sorted(List<String> rows) {
        return rows.stream().sorted().toList();
    }

    private void assertSameAnswers() {
        queries.forEach((number, query) -> {
            List<String> expected = new ArrayList<>(server.flushedRows("SELECT * FROM c" + number));
            List<String> more = new ArrayList<>(server.flushedRows("SELECT * FROM e" + number));
            assertFalse(expected.isEmpty(), query);
            List<String> all = List.copyOf(expected);
            more.forEach(expected::remove);
            all.forEach(more::remove);
            assertEquals(
                    List.of(),
                    sorted(more),
                    () -> "other than should be of " + query + ": " + more.size() + ", and missing: " + sorted(expected)
                            + " late " + server.rows("SELECT query, late_rows FROM millrace.query_stats"));
            assertEquals(List.of(), sorted(expected), () -> "missing of " + query);
        });
    }

    // ---- tests
    // ------------------------------------------------------------------------------------------------------

    /** Devices of both kinds are killed, links exchange, repeat and cut, the server begins again, steering changes, and queries come and go while rows do. */
    @Test
    void answersAreThoseOverAllRowsWhateverHappens() throws IOException {
        List<String> devices = List.of("millrace/new", "millrace/old");
        server.run("ALTER STREAM plant EDGE ALL SET (rows = 'queries')");
        for (int life = 0; life < 12; life++) {
            if (life < 3) {
                List<EdgeAgent> settled = new ArrayList<>();
                for (String device : devices) {
                    settled.add(agent(device, false));
                }
                sendAll(settled); // what came before a query is not its
                for (int i = 0; i < 3; i++) {
                    create(life + "_" + i, i == life ? other() : query());
                }
                if (life == 2) {
                    server.run("DROP MATERIALIZED VIEW e0_1");
                    assertTrue(server.error("SELECT * FROM \"e0_1$windows\"").contains("does not exist"));
                    queries.remove("0_1");
                }
                drive(settled, () -> isSteered(2, queries.size()));
                settled.forEach(EdgeAgent::close);
            }
            List<EdgeAgent> agents = new ArrayList<>();
            for (String device : devices) {
                agents.add(agent(device, true));
            }
            for (int i = 0; i < 3; i++) {
                write(random.nextInt(80));
                for (int step = random.nextInt(30); step > 0; step--) {
                    agents.get(random.nextInt(agents.size())).step();
                }
                if (life > 3 && random.nextInt(4) == 0) {
                    String which = random.nextBoolean() ? "'millrace/new'" : "ALL";
                    String rows = random.nextBoolean() ? "all" : "queries";
                    server.run("ALTER STREAM plant EDGE " + which + " SET (rows = '" + rows + "')");
                }
            }
            if (life % 4 == 3) {
                restart();
            }
            for (EdgeAgent agent : agents) {
                if (random.nextBoolean()) {
                    agent.abandon();
                } else {
                    agent.close();
                }
            }
        }
        List<EdgeAgent> agents = new ArrayList<>();
        for (String device : devices) {
            agents.add(agent(device, false));
        }
        sendAll(agents); // all of both, before one of them ends all windows
        writeLast();
        sendAll(agents);
        agents.forEach(EdgeAgent::close);
        assertSameAnswers();
        assertTrue(
                status("plant").stream()
                        .filter(status -> status.device().endsWith("new"))
                        .allMatch(status -> status.kept().windowRows() > 0),
                "some were made at a device");
        assertTrue(status("plant").stream()
                .filter(status -> status.device().endsWith("old"))
                .allMatch(status -> status.kept().windowRows() == 0));
    }

    private void recreate(String delay) {
        server.run("DROP STREAM plant, whole");
        streams(delay, "");
        server.run("ALTER STREAM plant EDGE ALL SET (rows = 'queries')");
    }

    @Test
    void windowsEndWhileRowsComeAndOpenOnesStayAtTheDevice() throws IOException {
        recreate("5 seconds");
        create(
                "_",
                "SELECT window_start, count(*) AS c, sum(n) AS s FROM TUMBLE(TABLE STREAM, DESCRIPTOR(ts), INTERVAL "
                        + PERIOD + ") GROUP BY window_start, window_end");
        List<EdgeAgent> agents = List.of(agent("millrace", false));
        drive(agents, () -> isSteered(1, 1));
        writeInOrder(205);
        drive(
                agents,
                () -> server.rows("SELECT * FROM e_").size()
                        == 19); // of the one that ends at 200 s the delay has not passed
        assertEquals(200, status("plant").get(0).kept().windowRows());
        assertTrue(status("plant").get(0).kept().rows() <= 4, "but for rows with which time goes on");
        agents.get(0).close();
        writeInOrder(10);
        agents = List.of(agent("millrace", false));
        drive(agents, () -> server.rows("SELECT * FROM e_").size() == 20);
        agents.get(0).abandon();
        assertEquals(
                List.of("2026-01-01 00:03:10|10|1945"),
                server.rows("SELECT * FROM e_ WHERE window_start = TIMESTAMP '2026-01-01 00:03:10'"));
    }

    @Test
    void groupsThatTakeTooMuchMemoryAreSentAndBegunAnew() throws IOException {
        create(
                "_",
                "SELECT n, window_start, count(*) AS c FROM TUMBLE(TABLE STREAM, DESCRIPTOR(ts), INTERVAL '2 hours')"
                        + " GROUP BY n, window_start, window_end");
        server.run("ALTER STREAM plant EDGE ALL SET (rows = 'queries')");
        List<EdgeAgent> agents = List.of(agent("millrace", false));
        drive(agents, () -> isSteered(1, 1));
        writeInOrder(6000);
        drive(agents, () -> status("plant").get(0).kept().windowRows() > 0);
        writeLast();
        sendAll(agents);
        agents.get(0).close();
        assertSameAnswers();
        assertEquals(List.of("6000"), server.flushedRows("SELECT sum(c) FROM e_"));
    }

    /** Said for docs/edge.md, and held to an order of magnitude. */
    @Test
    void partialsAreAFractionOfTheRows() throws IOException {
        server.run("ALTER STREAM plant EDGE ALL SET (rows = 'queries', sketch.segment = '10m')");
        server.run("ALTER STREAM whole EDGE ALL SET (sketch.segment = '10m')");
        long before = 0;
        long rows = 0;
        for (String size : List.of("1 minute", "1 hour")) {
            create(
                    "_",
                    "SELECT machine, window_start, count(*) AS c, avg(temp) AS a, min(temp) AS l, max(temp) AS h"
                            + " FROM TUMBLE(TABLE STREAM, DESCRIPTOR(ts), INTERVAL '" + size + "')"
                            + " GROUP BY machine, window_start, window_end");
            List<EdgeAgent> agents = List.of(agent("millrace", false));
            drive(agents, () -> isSteered(1, 1));
            write(3600);
            sendAll(agents);
            agents.get(0).close();
            long partials = status("plant").get(0).kept().bytes() - before;
            long all = status("whole").get(0).kept().bytes() - rows;
            before += partials;
            rows += all;
            System.out.println("windows of " + size + ", an hour of a row a second: " + partials
                    + " bytes of partials and " + "rows, " + all + " of all rows");
            assertTrue(partials * (size.equals("1 hour") ? 20 : 2) < all, () -> partials + " of " + all);
            server.run("DROP MATERIALIZED VIEW e_, c_");
        }
    }

    @Test
    void whatRunsWhereIsSaidAndTheStreamOfPartialsGoesWithItsQuery() {
        String from = " FROM TUMBLE(TABLE plant, DESCRIPTOR(ts), INTERVAL '1 minute')";
        String by = " GROUP BY window_start, window_end";
        String create = "CREATE MATERIALIZED VIEW q" + AT_EDGE;
        List<String> plan =
                server.rows("EXPLAIN " + create + "SELECT window_start, avg(k)" + from + " WHERE k > 3" + by);
        assertTrue(
                plan.contains("at the edge, of each row of plant: whether (k > 3); windows of 60000000 us of ts, by ():"
                        + " count, sum(k), count(k)"),
                plan::toString);
        Map<String, String> why = new TreeMap<>(Map.of(
                "sum(DISTINCT k)", "no DISTINCT",
                "sum(k + 1)", "as it may overflow",
                "min(machine)", "min of numbers and times alone",
                "stddev_pop(k)", "do not know stddev_pop",
                "count(*) FILTER (WHERE k + 1 > 1)", "as it may overflow"));
        why.forEach((call, reason) -> {
            List<String> lines =
                    server.rows("EXPLAIN " + create + "SELECT window_start, " + call + from + " WHERE k > 3" + by);
            assertTrue(lines.get(lines.size() - 1).startsWith("windows at the server: "), lines::toString);
            assertTrue(lines.get(lines.size() - 1).contains(reason), lines::toString);
        });
        List<String> hop = server.rows("EXPLAIN " + create + "SELECT window_start, count(*) FROM HOP(TABLE plant,"
                + " DESCRIPTOR(ts), INTERVAL '2 minutes', INTERVAL '3 minutes') WHERE k > 3" + by);
        assertTrue(hop.get(hop.size() - 1).contains("whose distance divides it"), hop::toString);
        List<String> panes = server.rows("EXPLAIN " + create + "SELECT window_start, count(*) FILTER (WHERE ok) FROM"
                + " HOP(TABLE plant, DESCRIPTOR(ts), INTERVAL '1 minute', INTERVAL '3 minutes')" + by);
        assertTrue(
                panes.contains(
                        "at the edge, of each row of plant: windows of 60000000 us of ts, by (): count, count(true)"
                                + " where ok"),
                panes::toString);

        server.run(create + "SELECT window_start, avg(k)" + from + by);
        server.run(
                "CREATE CONTINUOUS QUERY partials AS SELECT window_start, row_count, value_1, device FROM \"q$windows\"");
        assertTrue(server.error("DROP MATERIALIZED VIEW q").contains("depend on it"));
        server.run("DROP CONTINUOUS QUERY partials");
        assertTrue(server.error("DROP STREAM \"q$windows\"").contains("depend on it"));
        server.run("CREATE OR REPLACE MATERIALIZED VIEW q" + AT_EDGE + "SELECT window_start, avg(n)" + from + by);
        restart();
        assertFalse(server.error("DROP STREAM \"q$windows\"").contains("does not exist"), "it is there again");
        server.run("DROP MATERIALIZED VIEW q");
        assertTrue(server.error("SELECT * FROM \"q$windows\"").contains("does not exist"));
        restart();
        assertTrue(server.error("SELECT * FROM \"q$windows\"").contains("does not exist"));
    }
}
