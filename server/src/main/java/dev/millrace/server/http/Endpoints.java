package dev.millrace.server.http;

import dev.millrace.connectors.webhook.Webhook;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.pgwire.Authentication;
import dev.millrace.server.role.Roles;
import dev.millrace.server.role.ScramSecret;
import dev.millrace.server.session.Session;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Says which endpoint answers a request, after it has seen to it that the client may ask. For one request. */
final class Endpoints {
    private static final Pattern ROWS = Pattern.compile("/api/v1/streams/([^/]+)/rows");
    private static final Pattern LOOPBACK = Pattern.compile("(localhost|127(\\.\\d+){3}|\\[::1])(:\\d+)?");

    private final HttpServer server;
    private final HttpConnection connection;

    Endpoints(HttpServer server, HttpConnection connection) {
        this.server = server;
        this.connection = connection;
    }

    /** Which endpoint a request is for, as metrics name it: never what a client made up. */
    static String name(FullHttpRequest request) {
        String path = request.uri().replaceAll("\\?.*", "");
        return switch (path) {
            case "/metrics", "/api/v1/query", "/api/v1/subscribe" -> path;
            default ->
                ROWS.matcher(path).matches()
                        ? "/api/v1/streams/rows"
                        : path.startsWith(IngestEndpoint.PREFIX)
                                ? "/ingest"
                                : path.startsWith("/health") ? "/health" : "other";
        };
    }

    void answer(FullHttpRequest request, HttpReply reply) {
        QueryStringDecoder target = new QueryStringDecoder(request.uri());
        String path = target.path();
        if (request.decoderResult().isFailure()) {
            reply.fail(MillraceException.user(SqlState.PROTOCOL_VIOLATION, "malformed request"));
            return;
        }
        if (path.equals("/health") || path.equals("/health/live") || path.equals("/health/ready")) {
            health(path, reply);
            return;
        }
        if (!server.hasStarted()) {
            throw MillraceException.resources(SqlState.CANNOT_CONNECT_NOW, "the server is starting")
                    .withHint("/health says how far it is");
        }
        if (!connection.isOrdinary()) {
            throw MillraceException.resources(
                            SqlState.TOO_MANY_CONNECTIONS, "too many connections; of this one only /health is answered")
                    .withHint("limits.connections is the number in all, http.connections-per-address of one address");
        }
        Optional<Webhook> webhook = path.startsWith(IngestEndpoint.PREFIX)
                ? server.database().webhooks().at(path.substring(IngestEndpoint.PREFIX.length()))
                : Optional.empty();
        if (webhook.filter(Webhook::isSigned).isPresent()) { // no page can sign
            requirePlainBody(request);
            require(request, HttpMethod.POST, reply, () -> ingest(webhook.get(), request, reply));
            return;
        }
        if (!isAllowedOrigin(request)) {
            reply.send(
                    HttpResponseStatus.FORBIDDEN,
                    HttpReply.JSON,
                    HttpReply.error(MillraceException.user(
                                    SqlState.INSUFFICIENT_PRIVILEGE, "pages of other servers may not use this one")
                            .withHint("http.cors-origin names those that may")));
            return;
        }
        if (request.method().equals(HttpMethod.OPTIONS)) {
            reply.sendPreflight();
            return;
        }
        requirePlainBody(request);
        Matcher rows = ROWS.matcher(path);
        switch (path) {
            case "/metrics" -> {
                require(request, HttpMethod.GET, reply, () -> {
                    role(request);
                    reply.send(
                            HttpResponseStatus.OK,
                            server.metrics().contentType(),
                            server.metrics().text());
                });
            }
            case "/openapi.yaml" -> require(request, HttpMethod.GET, reply, () -> openApi(reply));
            case "/api/v1/query" ->
                require(request, HttpMethod.POST, reply, () -> {
                    try (Session session = session(request)) {
                        connection.working(session, false);
                        new QueryEndpoint(session, server.options().mostRows()).answer(request, reply);
                    }
                });
            case "/api/v1/subscribe" -> {
                try (Session session = session(request)) {
                    connection.working(session, true);
                    new SubscribeEndpoint(session).answer(request, target, reply);
                }
            }
            default -> {
                if (webhook.isPresent()) {
                    require(request, HttpMethod.POST, reply, () -> {
                        try (Session session = session(request)) {
                            connection.working(session, false);
                            session.requireInsert(webhook.get().stream());
                            ingest(webhook.get(), request, reply);
                        }
                    });
                } else if (rows.matches()) {
                    require(request, HttpMethod.POST, reply, () -> {
                        try (Session session = session(request)) {
                            connection.working(session, false);
                            String stream = QueryStringDecoder.decodeComponent(rows.group(1));
                            new RowsEndpoint(session).answer(stream, request, target, reply);
                        }
                    });
                } else {
                    reply.send(
                            HttpResponseStatus.NOT_FOUND,
                            HttpReply.JSON,
                            HttpReply.error(MillraceException.user(SqlState.UNDEFINED_OBJECT, "there is no " + path)
                                    .withHint("/openapi.yaml describes what there is")));
                }
            }
        }
    }

    private void ingest(Webhook webhook, FullHttpRequest request, HttpReply reply) {
        if (server.isStopping()) {
            throw MillraceException.user(SqlState.ADMIN_SHUTDOWN, "the server stops");
        }
        new IngestEndpoint(webhook).answer(request, server.database().clock().epochMicros(), reply);
    }

    /** What is packed would be read as rows: none of them would be one, and the answer be 200. */
    private static void requirePlainBody(FullHttpRequest request) {
        String encoding = request.headers().get(HttpHeaderNames.CONTENT_ENCODING, "identity");
        if (!encoding.equalsIgnoreCase("identity")) {
            throw MillraceException.user(
                            SqlState.INVALID_PARAMETER_VALUE,
                            "a body with content-encoding \"" + encoding + "\" cannot be read")
                    .withHint("send it unpacked");
        }
    }

    private static void require(FullHttpRequest request, HttpMethod method, HttpReply reply, Runnable answer) {
        if (request.method().equals(method)) {
            answer.run();
        } else {
            reply.send(
                    HttpResponseStatus.METHOD_NOT_ALLOWED,
                    HttpReply.JSON,
                    HttpReply.error(MillraceException.user(
                            SqlState.PROTOCOL_VIOLATION, "this takes " + method + ", not " + request.method())));
        }
    }

    private void health(String path, HttpReply reply) {
        boolean ready = server.hasStarted() && !server.isStopping();
        String starting = server.hasStarted() ? "" : ",\"starting\":" + server.progress();
        boolean well = ready || path.equals("/health/live");
        reply.send(
                well ? HttpResponseStatus.OK : HttpResponseStatus.SERVICE_UNAVAILABLE,
                HttpReply.JSON,
                "{\"live\":true,\"ready\":" + ready + starting + "}\n");
    }

    private static void openApi(HttpReply reply) {
        try (InputStream in = Endpoints.class.getResourceAsStream("openapi.yaml")) {
            reply.send(HttpResponseStatus.OK, "application/yaml", in.readAllBytes());
        } catch (IOException e) {
            throw MillraceException.internal("the API's description cannot be read", e);
        }
    }

    /**
     * A page that a browser on this machine shows could send statements as well; browsers say where it is from. Without a
     * password also the name by which the server was reached has to be this machine's, as others may be made to lead here.
     */
    private boolean isAllowedOrigin(FullHttpRequest request) {
        String origin = request.headers().get(HttpHeaderNames.ORIGIN, "");
        String host = request.headers().get(HttpHeaderNames.HOST, "");
        boolean trusts = server.options().authentication() instanceof Authentication.Trust;
        if (trusts && !host.isEmpty() && !LOOPBACK.matcher(host).matches()) {
            return false;
        }
        Optional<String> allowed = server.options().corsOrigin();
        return origin.isEmpty()
                || allowed.filter(one -> one.equals("*") || one.equals(origin)).isPresent()
                || origin.equals("http://" + host)
                || origin.equals("https://" + host);
    }

    private Session session(FullHttpRequest request) {
        if (server.isStopping()) {
            throw MillraceException.user(SqlState.ADMIN_SHUTDOWN, "the server stops");
        }
        Session session = server.database().login(role(request));
        session.servesClientAt(connection.address());
        return session;
    }

    /** Who asks, by Basic authentication. */
    private String role(FullHttpRequest request) {
        Optional<List<String>> given = credentials(request);
        if (server.options().authentication() instanceof Authentication.Scram required) {
            boolean right = given.filter(both -> proves(required, both.get(0), both.get(1)))
                    .isPresent();
            if (!right) {
                throw MillraceException.user(
                        given.isPresent() ? SqlState.INVALID_PASSWORD : SqlState.INVALID_AUTHORIZATION,
                        given.isPresent()
                                ? "password authentication failed for user \""
                                        + given.get().get(0) + "\""
                                : "a role and its password are needed (Basic authentication)");
            }
        }
        return given.map(both -> both.get(0)).orElse(Roles.OWNER);
    }

    /** A role that does not exist is answered no sooner than a wrong password. */
    private static boolean proves(Authentication.Scram required, String role, String password) {
        Optional<ScramSecret> secret = required.secrets().apply(role);
        boolean fits = secret.orElseGet(() -> required.decoys().of(role)).matches(password);
        return fits && secret.isPresent();
    }

    private static Optional<List<String>> credentials(FullHttpRequest request) {
        String header = request.headers().get(HttpHeaderNames.AUTHORIZATION, "");
        if (!header.regionMatches(true, 0, "Basic ", 0, 6)) {
            return Optional.empty();
        }
        try {
            String both =
                    new String(Base64.getDecoder().decode(header.substring(6).strip()), StandardCharsets.UTF_8);
            int colon = both.indexOf(':');
            return colon < 0
                    ? Optional.empty()
                    : Optional.of(List.of(both.substring(0, colon), both.substring(colon + 1)));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }
}
