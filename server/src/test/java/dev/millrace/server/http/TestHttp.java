package dev.millrace.server.http;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.millrace.Millrace;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;
import dev.millrace.server.session.Session;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;

/** A server for HTTP over a database of its own, and requests to it. Closing it fails if a byte was leaked. */
final class TestHttp implements AutoCloseable {
    static final ObjectMapper MAPPER = new ObjectMapper();

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final Database database;
    private HttpServer server;

    TestHttp() {
        this(Millrace.open());
    }

    /** Over a database that keeps what it has. */
    TestHttp(Path data) {
        this(Millrace.open(DatabaseOptions.defaults().withData(data)));
    }

    private TestHttp(Database database) {
        this.database = database;
        this.server = HttpServer.listen(database, HttpOptions.local(0));
    }

    Database database() {
        return database;
    }

    HttpServer server() {
        return server;
    }

    int port() {
        return server.port();
    }

    void restart(HttpOptions options) {
        server.close();
        server = HttpServer.listen(database, options);
    }

    /** Executes statements, not over HTTP. */
    void run(String sql) {
        try (Session session = database.session()) {
            session.execute(sql).drain();
        }
    }

    HttpRequest.Builder request(String path, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://localhost:" + server.port() + path))
                .timeout(Duration.ofSeconds(60));
        return headers.length == 0 ? request : request.headers(headers);
    }

    <T> HttpResponse<T> send(HttpRequest request, HttpResponse.BodyHandler<T> body) throws Exception {
        return client.send(request, body);
    }

    HttpResponse<String> post(String path, String body, String... headers) throws Exception {
        return send(request(path, headers).POST(BodyPublishers.ofString(body)).build(), BodyHandlers.ofString());
    }

    HttpResponse<String> get(String path, String... headers) throws Exception {
        return send(request(path, headers).build(), BodyHandlers.ofString());
    }

    /** The status of an answer and the SQLSTATE of the error in it. */
    static String sqlState(HttpResponse<String> response) throws IOException {
        return response.statusCode() + " "
                + MAPPER.readTree(response.body())
                        .path("error")
                        .path("sqlstate")
                        .asText();
    }

    @Override
    public void close() {
        server.close();
        database.close();
    }
}
