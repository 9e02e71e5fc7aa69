package dev.millrace.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.server.session.Session;
import dev.millrace.testing.time.Eventually;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Streams to which records are POSTed. */
@Timeout(120)
class WebhookTest {
    private static final String VIEW =
            "CREATE MATERIALIZED VIEW n AS SELECT count(*) AS n, coalesce(sum(v), 0) AS total FROM s";

    @TempDir
    Path folder;

    private static String stream(String options) {
        return "CREATE STREAM s (v BIGINT) WITH (connector = 'webhook', path = 'hooks/s'" + options + ")";
    }

    private static void shows(TestHttp http, long count, long total) {
        Eventually.holds("the view shows " + count + ", " + total, () -> {
            try (Session session = http.database().session();
                    var rows = session.query("SELECT 1 FROM n WHERE n = " + count + " AND total = " + total)) {
                return rows.next()
                        .map(batch -> {
                            batch.close();
                            return true;
                        })
                        .orElse(false);
            }
        });
    }

    private static void answers(int status, String body, HttpResponse<String> response) {
        assertEquals(status, response.statusCode(), response.body());
        assertTrue(response.body().contains(body), response.body());
    }

    @Test
    void aDocumentAnArrayAndLinesAreRecords() throws Exception {
        try (TestHttp http = new TestHttp()) {
            http.run(stream(""));
            http.run(VIEW);
            answers(200, "{\"accepted\":1,\"rejected\":0}", http.post("/ingest/hooks/s", "{\n \"v\": 1\n}"));
            answers(
                    200,
                    "{\"accepted\":2,\"rejected\":1}",
                    http.post("/ingest/hooks/s", " [{\"v\": 2}, {\"v\": \"x\"},\n{\"v\": 3, \"w\": [{}]}]"));
            answers(
                    200,
                    "{\"accepted\":2,\"rejected\":0}",
                    http.post("/ingest/hooks/s", "{\"v\": 4}\r\n\n{\"v\": 5}", "content-type", "application/x-ndjson"));
            answers(422, "{\"accepted\":0,\"rejected\":1}", http.post("/ingest/hooks/s", "[{\"v\": 6}, "));
            answers(400, "no records", http.post("/ingest/hooks/s", ""));
            answers(404, "there is no", http.post("/ingest/hooks/t", "{}"));
            answers(405, "POST", http.get("/ingest/hooks/s"));
            shows(http, 5, 15);
            http.run("DROP MATERIALIZED VIEW n; DROP STREAM s");
            answers(404, "there is no", http.post("/ingest/hooks/s", "{\"v\": 1}"));
        }
    }

    /** It shows the sender that it is wrong, and does not stand in the way of what is right. */
    @Test
    void aRequestOfWhichNothingBecomesARowIsRefusedAndItsKeyIsFree() throws Exception {
        try (TestHttp http = new TestHttp(folder)) {
            http.run(stream(""));
            http.run(VIEW);
            for (int times = 0; times < 2; times++) {
                answers(
                        422,
                        "{\"accepted\":0,\"rejected\":2}",
                        http.post("/ingest/hooks/s", "[{\"v\": \"x\"}, 7]", "idempotency-key", "k"));
            }
            http.run("CHECKPOINT");
        }
        try (TestHttp http = new TestHttp(folder)) {
            answers(
                    200,
                    "{\"accepted\":1,\"rejected\":1}",
                    http.post("/ingest/hooks/s", "[{\"v\": 1}, 7]", "idempotency-key", "k"));
            answers(200, "\"repeated\":true", http.post("/ingest/hooks/s", "[{\"v\": 1}, 7]", "idempotency-key", "k"));
            shows(http, 1, 1);
        }
    }

    private static String sign(String secret, String body) throws Exception {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
        return "sha256=" + HexFormat.of().formatHex(mac.doFinal(body.getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void onlyWhatIsSignedWithTheSecretComesIn() throws Exception {
        try (TestHttp http = new TestHttp()) {
            http.run("CREATE SECRET hook AS 'it is me'");
            http.run(stream(", signature.secret = '${secret:hook}'"));
            http.run(VIEW);
            String body = "{\"v\": 1}";
            String header = "X-Hub-Signature-256";
            answers(200, "\"accepted\":1", http.post("/ingest/hooks/s", body, header, sign("it is me", body)));
            answers(401, "signature", http.post("/ingest/hooks/s", body));
            answers(401, "not that of the body", http.post("/ingest/hooks/s", body, header, sign("it is not", body)));
            answers(401, "not that", http.post("/ingest/hooks/s", body + " ", header, sign("it is me", body)));
            answers(401, "not that", http.post("/ingest/hooks/s", body, header, "sha256=%%"));
            http.run("CREATE OR REPLACE SECRET hook AS 'new'");
            answers(200, "\"accepted\":1", http.post("/ingest/hooks/s", body, header, sign("new", body)));
            shows(http, 2, 2);
        }
    }

    @Test
    void aKeyThatCameBeforeTakesNothingAlsoAfterARestart() throws Exception {
        try (TestHttp http = new TestHttp(folder)) {
            http.run(stream(", idempotency.keys = 3"));
            http.run(VIEW);
            for (int i = 1; i <= 5; i++) {
                answers(200, "\"accepted\":1", http.post("/ingest/hooks/s", "{\"v\": 1}", "idempotency-key", "k" + i));
            }
            answers(200, "\"repeated\":true", http.post("/ingest/hooks/s", "{\"v\": 1}", "Idempotency-Key", "k5"));
            http.run("CHECKPOINT");
            answers(200, "\"accepted\":1", http.post("/ingest/hooks/s", "{\"v\": 1}", "idempotency-key", "k6"));
            shows(http, 6, 6);
        }
        try (TestHttp http = new TestHttp(folder)) {
            for (String key : List.of("k4", "k5", "k6")) {
                answers(200, "\"repeated\":true", http.post("/ingest/hooks/s", "{\"v\": 1}", "idempotency-key", key));
            }
            answers(200, "\"accepted\":1", http.post("/ingest/hooks/s", "{\"v\": 1}", "idempotency-key", "k3"));
            shows(http, 7, 7);
            answers(400, "characters", http.post("/ingest/hooks/s", "{\"v\": 1}", "idempotency-key", "k".repeat(257)));
        }
    }

    @Test
    void ofRequestsWithOneKeyAtOnceOneIsTaken() throws Exception {
        try (TestHttp http = new TestHttp(folder)) {
            http.run(stream(""));
            http.run(VIEW);
            ExecutorService senders = Executors.newFixedThreadPool(8);
            List<Callable<Integer>> requests = new ArrayList<>();
            for (int i = 0; i < 32; i++) {
                String key = "k" + i / 8;
                requests.add(() -> http.post("/ingest/hooks/s", "{\"v\": 1}", "idempotency-key", key)
                        .statusCode());
            }
            for (Future<Integer> each : senders.invokeAll(requests)) {
                assertTrue(each.get() == 200 || each.get() == 409, () -> "status " + each);
            }
            senders.shutdown();
            shows(http, 4, 4);
        }
    }
}
