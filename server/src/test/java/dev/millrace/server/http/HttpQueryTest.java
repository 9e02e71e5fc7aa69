package dev.millrace.server.http;

import static dev.millrace.server.http.TestHttp.MAPPER;
import static dev.millrace.server.http.TestHttp.sqlState;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.channels.Channels;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.arrow.vector.ipc.ArrowStreamWriter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Statements, and rows that come in, over HTTP. */
@Timeout(120)
class HttpQueryTest {
    private static final String ARROW = "application/vnd.apache.arrow.stream";

    private final TestHttp http = new TestHttp();

    @AfterEach
    void stop() {
        http.close();
    }

    @Test
    void queriesAreAnsweredInLinesOfJsonOrCsv() throws Exception {
        HttpResponse<String> rows = http.post(
                "/api/v1/query",
                "CREATE STREAM s (k TEXT, v BIGINT); INSERT INTO s VALUES ('a', 1);"
                        + "SELECT * FROM (VALUES (1, 'x', NULL), (2, 'y\"', 1.5)) AS t(n, w, d) ORDER BY n");
        assertEquals(200, rows.statusCode());
        assertEquals(
                "application/x-ndjson",
                rows.headers().firstValue("content-type").orElse(""));
        assertEquals("{\"n\":1,\"w\":\"x\",\"d\":null}\n{\"n\":2,\"w\":\"y\\\"\",\"d\":1.5}\n", rows.body());
        assertEquals(
                "n\n1\n2\n",
                http.post("/api/v1/query", "SELECT * FROM (VALUES (1), (2)) AS t(n) ORDER BY n", "accept", "text/csv")
                        .body());
        assertEquals(
                "{\"command\":\"INSERT 0 2\"}\n",
                http.post("/api/v1/query", "INSERT INTO s VALUES ('b', 1), ('c', 2)")
                        .body());
        assertEquals(
                "{\"n\":42,\"w\":\"x\"}\n",
                http.post(
                                "/api/v1/query",
                                "{\"sql\": \"SELECT $1::bigint + 1 AS n, $2::text AS w\", \"parameters\": [41, \"x\"]}",
                                "content-type",
                                "application/json")
                        .body());
    }

    /** The answer as lines of text, as Arrow's own reader takes it. */
    private List<String> arrowRows(String sql) throws Exception {
        HttpResponse<byte[]> response = http.send(
                http.request("/api/v1/query", "accept", ARROW)
                        .POST(BodyPublishers.ofString(sql))
                        .build(),
                BodyHandlers.ofByteArray());
        assertEquals(ARROW, response.headers().firstValue("content-type").orElse(""));
        List<String> rows = new ArrayList<>();
        try (RootAllocator allocator = new RootAllocator();
                ArrowStreamReader reader =
                        new ArrowStreamReader(new ByteArrayInputStream(response.body()), allocator)) {
            VectorSchemaRoot root = reader.getVectorSchemaRoot();
            rows.add(root.getSchema().getFields().stream()
                    .map(field -> field.getName() + " " + field.getType())
                    .collect(Collectors.joining(", ")));
            while (reader.loadNextBatch()) {
                for (int row = 0; row < root.getRowCount(); row++) {
                    int at = row;
                    rows.add(root.getFieldVectors().stream()
                            .map(vector -> "" + vector.getObject(at))
                            .collect(Collectors.joining(", ")));
                }
            }
        }
        return rows;
    }

    @Test
    void queriesAreAnsweredInArrowsStreamFormat() throws Exception {
        assertEquals(
                List.of(
                        "n Int(32, true), w Utf8, d Decimal(2, 1, 128), b Bool, t Timestamp(MICROSECOND, UTC)",
                        "1, x, null, true, 1000000",
                        "2, y\u00e9, 1.5, null, 2000001"),
                arrowRows(
                        "CREATE STREAM s (v INT); SELECT n, w, d::numeric(2,1) AS d, b, t::timestamptz AS t FROM (VALUES"
                                + " (1, 'x', NULL, true, '1970-01-01 00:00:01+00'),"
                                + " (2, 'y\u00e9', 1.5, NULL, '1970-01-01 00:00:02.000001+00')) AS v(n, w, d, b, t) ORDER BY n"));
        List<String> none = arrowRows("SELECT g FROM generate_series(1, 0) AS g");
        assertEquals(1, none.size(), "the columns are told also if there are no rows: " + none);
        List<String> many = arrowRows("SELECT g FROM generate_series(1, 300000) AS g");
        for (int row = 1; row <= 300_000; row++) {
            assertEquals("" + row, many.get(row));
        }
        assertEquals(300_001, many.size());
        assertEquals(
                "{\"command\":\"INSERT 0 1\"}\n",
                http.post("/api/v1/query", "INSERT INTO s VALUES (1)", "accept", ARROW)
                        .body());
        assertEquals("400 22012", sqlState(http.post("/api/v1/query", "SELECT 1 / 0", "accept", ARROW)));
        String failing = "SELECT 1 / (200000 - g) AS x FROM generate_series(1, 200000) AS g";
        try {
            assertEquals(
                    "400 22012",
                    sqlState(http.post("/api/v1/query", failing, "accept", ARROW)),
                    "nothing was sent yet");
        } catch (IOException e) {
            // rows were sent: what is cut off is not taken for whole
        }
        http.restart(HttpOptions.local(0).withLimits(1000, 10));
        assertEquals(11, arrowRows("SELECT * FROM generate_series(1, 10) AS g").size());
        assertEquals(
                "413 54000",
                sqlState(http.post("/api/v1/query", "SELECT * FROM generate_series(1, 11) AS g", "accept", ARROW)));
    }

    @Test
    void longAnswersAreStreamedAndBoundedOnlyIfAsked() throws Exception {
        String sql = "SELECT g FROM generate_series(1, 300000) AS g";
        assertEquals(300_000, http.post("/api/v1/query", sql).body().lines().count());
        http.restart(HttpOptions.local(0).withLimits(1000, 10));
        String ten = http.post("/api/v1/query", "SELECT * FROM generate_series(1, 10) AS g")
                .body();
        assertEquals(10, ten.lines().count(), ten);
        assertEquals("413 54000", sqlState(http.post("/api/v1/query", sql)));
        assertEquals(
                413,
                http.post("/api/v1/query", "SELECT '" + "x".repeat(2000) + "'").statusCode());
    }

    @Test
    void errorsHaveAStatusAndSayWhatAndWhere() throws Exception {
        HttpResponse<String> typo = http.post("/api/v1/query", "SELECT nope FROM (VALUES (1)) AS t(x)");
        JsonNode error = MAPPER.readTree(typo.body()).path("error");
        assertEquals(400, typo.statusCode());
        assertEquals("42703", error.path("sqlstate").asText());
        assertEquals("column \"nope\" does not exist", error.path("message").asText());
        assertEquals(8, error.path("position").asInt());
        assertEquals("404 42P01", sqlState(http.post("/api/v1/query", "SELECT * FROM nowhere")));
        assertEquals("400 42601", sqlState(http.post("/api/v1/query", "")));
        assertEquals("400 42809", sqlState(http.post("/api/v1/query", "CREATE STREAM s (v INT); SUBSCRIBE TO s")));
        assertEquals("501 0A000", sqlState(http.post("/api/v1/query", "COPY s FROM STDIN")));
        assertEquals("400 22032", sqlState(http.post("/api/v1/query", "{", "content-type", "application/json")));
        assertEquals("404 42704", sqlState(http.get("/api/v2/query")));
        assertEquals("405 08P01", sqlState(http.get("/api/v1/query")));
        String late = http.post("/api/v1/query", "SELECT 1 / (200000 - g) AS x FROM generate_series(1, 200000) AS g")
                .body();
        String last = late.substring(late.lastIndexOf('\n', late.length() - 2) + 1);
        assertEquals(
                "22012", MAPPER.readTree(last).path("error").path("sqlstate").asText(), last);
    }

    @Test
    void rowsAreInsertedAndWhatIsNoneIsCountedWithItsReason() throws Exception {
        http.run(
                "CREATE STREAM s (k TEXT, v BIGINT); CREATE MATERIALIZED VIEW t AS SELECT count(*) AS n, sum(v) AS v FROM s");
        JsonNode lines = MAPPER.readTree(http.post(
                        "/api/v1/streams/s/rows",
                        "{\"k\":\"a\",\"v\":1}\n{\"k\":\"b\",\"v\":\"many\"}\nnot json\n{\"v\":3}\n")
                .body());
        assertEquals("2 2", lines.path("accepted") + " " + lines.path("rejected"), lines.toString());
        assertEquals(2, lines.path("reasons").get(0).path("line").asInt(), lines.toString());
        assertEquals("v", lines.path("reasons").get(0).path("column").asText(), lines.toString());
        assertEquals("22P02", lines.path("reasons").get(0).path("sqlstate").asText(), lines.toString());
        JsonNode csv = MAPPER.readTree(
                http.post("/api/v1/streams/s/rows?delimiter=%3B", "k;v\nc;10\nd;x\n", "content-type", "text/csv")
                        .body());
        assertEquals("1 1", csv.path("accepted") + " " + csv.path("rejected"), csv.toString());
        HttpResponse<String> arrow = http.send(
                http.request("/api/v1/streams/s/rows", "content-type", "application/vnd.apache.arrow.stream")
                        .POST(BodyPublishers.ofByteArray(arrow()))
                        .build(),
                BodyHandlers.ofString());
        assertEquals("{\"accepted\":2,\"rejected\":0,\"reasons\":[]}\n", arrow.body());
        assertEquals(
                "{\"n\":5,\"v\":314}\n",
                http.post("/api/v1/query", "SELECT n, v FROM t").body());
        assertEquals("404 42P01", sqlState(http.post("/api/v1/streams/nowhere/rows", "{}")));
        assertEquals("400 22023", sqlState(http.post("/api/v1/streams/s/rows", "", "content-type", "image/png")));
        assertEquals("400 22023", sqlState(http.post("/api/v1/streams/s/rows", "{}", "content-encoding", "gzip")));
        assertEquals("400 22023", sqlState(http.post("/api/v1/query", "SELECT 1", "content-encoding", "br")));
        assertEquals(
                4,
                sqlState(http.post("/api/v1/streams/s/rows?delimitr=x", "k,v\n", "content-type", "text/csv"))
                                .charAt(0)
                        - '0');
    }

    private static byte[] arrow() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (RootAllocator allocator = new RootAllocator();
                BigIntVector values = new BigIntVector("v", allocator)) {
            values.allocateNew(2);
            values.set(0, 100);
            values.set(1, 200);
            values.setValueCount(2);
            try (VectorSchemaRoot root = VectorSchemaRoot.of(values);
                    ArrowStreamWriter writer = new ArrowStreamWriter(root, null, Channels.newChannel(out))) {
                writer.writeBatch();
            }
        }
        return out.toByteArray();
    }
}
