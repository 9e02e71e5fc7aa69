package dev.millrace.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.server.result.StatementResult;
import dev.millrace.server.session.Session;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is told to Prometheus. */
@Timeout(120)
class HttpMetricsTest {
    private final TestHttp http = new TestHttp();

    @AfterEach
    void stop() {
        http.close();
    }

    @Test
    void metricsAreThoseOfTheSystemRelations() throws Exception {
        http.run(
                "CREATE STREAM s (k TEXT, v BIGINT); CREATE MATERIALIZED VIEW t AS SELECT k, sum(v) AS v FROM s GROUP BY k;"
                        + "INSERT INTO s VALUES ('a', 1), ('b', 2); SELECT * FROM t");
        http.get("/health");
        String metrics = http.get("/metrics").body();
        assertTrue(metrics.contains("millrace_query_rows_in_total{query=\"t\"} 2.0\n"), metrics);
        assertTrue(metrics.contains("millrace_query_view_rows{query=\"t\"} 2.0\n"), metrics);
        assertTrue(metrics.contains("# TYPE millrace_operator_cpu_seconds_total counter\n"), metrics);
        assertTrue(metrics.contains("# TYPE millrace_operator_utilisation gauge\n"), metrics);
        assertTrue(metrics.contains("# TYPE millrace_scheduler_decisions_total counter\n"), metrics);
        assertTrue(metrics.contains("millrace_statement_seconds_bucket{le=\"+Inf\"} "), metrics);
        assertTrue(metrics.contains("millrace_http_request_seconds_count{endpoint=\"/health\"} 1\n"), metrics);
        assertTrue(metrics.contains("jvm_memory_used_bytes"), metrics);
        for (String line : metrics.split("\n")) {
            assertTrue(line.matches("#.*|[a-z_0-9]+(\\{.*})? [-+.0-9EINaf]+"), line);
        }
    }

    @Test
    void metricsTellHowLongEpochsTakeAndHowFarSubscribersAreBehind() throws Exception {
        http.run("CREATE STREAM s (v BIGINT); CREATE MATERIALIZED VIEW t AS SELECT v FROM s");
        long start = System.nanoTime();
        long before = Math.round(metric("millrace_query_latency_seconds_count{query=\"t\"}"));
        for (int i = 0; i < 5; i++) {
            http.run("INSERT INTO s VALUES (1); SELECT * FROM t");
        }
        double epochs = metric("millrace_query_latency_seconds_count{query=\"t\"}") - before;
        assertTrue(epochs >= 5 && epochs < 10, "an epoch may be cut in two, but none is counted twice: " + epochs);
        double seconds = metric("millrace_query_latency_seconds_sum{query=\"t\"}");
        assertTrue(seconds > 0 && seconds < (System.nanoTime() - start) / 1e9, "" + seconds);
        assertEquals(
                metric("millrace_query_latency_seconds_count{query=\"t\"}"),
                metric("millrace_query_latency_seconds_bucket{query=\"t\",le=\"+Inf\"}"));
        try (Session session = http.database().session();
                StatementResult.Changes changes = session.subscribe("SUBSCRIBE TO t", OptionalLong.empty())) {
            assertEquals(1, metric("millrace_query_subscribers{query=\"t\"}"));
            assertEquals(0, metric("millrace_query_subscriber_queue_rows{query=\"t\"}"));
            assertEquals(0, metric("millrace_query_subscriber_lag_seconds{query=\"t\"}"));
            http.run("INSERT INTO s VALUES (2), (3); SELECT * FROM t");
            http.run("INSERT INTO s VALUES (4); SELECT * FROM t");
            assertEquals(3, metric("millrace_query_subscriber_queue_rows{query=\"t\"}"));
            double bytes = metric("millrace_query_subscriber_queue_bytes{query=\"t\"}");
            assertTrue(bytes >= 24, "" + bytes);
            assertEquals(bytes, metric("millrace_query_subscriber_queue_max_bytes{query=\"t\"}"));
            double lag = metric("millrace_query_subscriber_lag_seconds{query=\"t\"}");
            assertTrue(lag > 0 && lag < 60, "" + lag);
            changes.next(60_000_000).orElseThrow().close();
            assertEquals(1, metric("millrace_query_subscriber_queue_rows{query=\"t\"}"));
        }
        assertEquals(0, metric("millrace_query_subscribers{query=\"t\"}"));
    }

    private double metric(String series) throws Exception {
        String metrics = http.get("/metrics").body();
        return metrics.lines()
                .filter(line -> line.startsWith(series + " "))
                .mapToDouble(line -> Double.parseDouble(line.substring(series.length() + 1)))
                .findFirst()
                .orElseThrow(() -> new AssertionError(series + " in " + metrics));
    }
}
