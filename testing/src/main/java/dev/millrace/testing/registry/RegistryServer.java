package dev.millrace.testing.registry;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Speaks the part of Confluent's API that clients of a schema registry use:
 *
 * <pre>
 *   POST /subjects/S/versions          {"schema": .., "schemaType": ..}   -> {"id": N}
 *   GET  /subjects/S/versions/V        V a number or "latest"             -> {"subject", "version", "id", "schema", ..}
 *   GET  /schemas/ids/N                                                   -> {"schema", "schemaType", "references"}
 *   GET  /schemas/ids/N?format=serialized                                 -> of protobuf the descriptor in base64
 * </pre>
 *
 * It can be stopped and begun again at the same address, fail, and ask for a login. Safe on any thread.
 */
public final class RegistryServer implements AutoCloseable {
    private static final JsonFactory JSON = new JsonFactory();

    /**
     * A schema that another needs.
     *
     * @param name by which the other names it
     */
    public record Reference(String name, String subject, int version) {}

    private record Registered(
            int id,
            String subject,
            int version,
            String type,
            String text,
            String descriptor,
            List<Reference> references) {}

    /** How often each path was asked for. */
    public final Map<String, Integer> asked = new ConcurrentHashMap<>();

    private final List<Registered> schemas = new CopyOnWriteArrayList<>();
    private final AtomicInteger status = new AtomicInteger(200); // with which all is answered, if it is another
    private volatile Optional<String> login = Optional.empty(); // written by the test, read by the server
    private final int port;
    private Optional<HttpServer> server = Optional.empty();

    private RegistryServer() throws IOException {
        HttpServer first = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        this.port = first.getAddress().getPort();
        begin(first);
    }

    /** A registry that runs, on a free port of this machine. */
    public static RegistryServer start() {
        try {
            return new RegistryServer();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Begins again after {@link #stop}. */
    public void begin() {
        try {
            begin(HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void begin(HttpServer begun) {
        begun.createContext("/", this::answer);
        begun.start();
        server = Optional.of(begun);
    }

    /** Nobody is at its address any more; what it knows stays. */
    public void stop() {
        server.ifPresent(running -> running.stop(0));
        server = Optional.empty();
    }

    public String address() {
        return "http://localhost:" + port;
    }

    /** From now on all is answered with this status; 200 for as it should be. */
    public void answerWith(int newStatus) {
        status.set(newStatus);
    }

    /** From now on this login is asked for. */
    public void requireLogin(String user, String password) {
        String both = user + ":" + password;
        login = Optional.of("Basic " + Base64.getEncoder().encodeToString(both.getBytes(StandardCharsets.UTF_8)));
    }

    /** Makes a schema one of a subject, and returns its number. */
    public int register(String subject, String type, String text) {
        return register(subject, type, text, "", List.of());
    }

    /** @param descriptor of protobuf, in base64 */
    public synchronized int register(
            String subject, String type, String text, String descriptor, List<Reference> references) {
        int version = 1;
        int id = schemas.size() + 1;
        for (Registered each : schemas) {
            boolean same = each.text().equals(text) && each.type().equals(type);
            if (same && each.subject().equals(subject)) {
                return each.id();
            }
            id = same ? each.id() : id;
            version += each.subject().equals(subject) ? 1 : 0;
        }
        schemas.add(new Registered(id, subject, version, type, text, descriptor, references));
        return id;
    }

    /** The texts of a subject's schemas, the newest last. */
    public List<String> schemas(String subject) {
        return schemas.stream()
                .filter(each -> each.subject().equals(subject))
                .map(Registered::text)
                .toList();
    }

    // ---- answers ---------------------------------------------------------------------------------------------------

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            String path = exchange.getRequestURI().getRawPath();
            asked.merge(path, 1, Integer::sum);
            byte[] body = exchange.getRequestBody().readAllBytes();
            String authorization = exchange.getRequestHeaders().getFirst("Authorization");
            if (login.isPresent() && !login.get().equals(authorization)) {
                send(exchange, 401, error(40101, "Unauthorized"));
            } else if (status.get() != 200) {
                send(exchange, status.get(), error(50001, "not now"));
            } else {
                String query = exchange.getRequestURI().getQuery();
                boolean isSerialized = query != null && query.contains("format=serialized");
                answer(exchange, path.substring(1).split("/"), body, isSerialized);
            }
        }
    }

    private void answer(HttpExchange exchange, String[] path, byte[] body, boolean isSerialized) throws IOException {
        if (path.length == 3
                && path[0].equals("subjects")
                && exchange.getRequestMethod().equals("POST")) {
            Map<String, String> given = object(body);
            String type = given.getOrDefault("schemaType", "AVRO");
            int id = register(decoded(path[1]), type, given.getOrDefault("schema", ""));
            send(exchange, 200, "{\"id\":" + id + "}");
            return;
        }
        Optional<Registered> found = Optional.empty();
        boolean ofSubject = path.length == 4 && path[0].equals("subjects");
        for (Registered each : schemas) {
            boolean is = ofSubject
                    ? each.subject().equals(decoded(path[1]))
                            && (path[3].equals("latest") || path[3].equals(Integer.toString(each.version())))
                    : path.length == 3 && path[2].equals(Integer.toString(each.id()));
            found = is ? Optional.of(each) : found;
        }
        if (found.isEmpty()) {
            send(exchange, 404, ofSubject ? error(40401, "Subject not found.") : error(40403, "Schema not found"));
        } else {
            send(exchange, 200, text(found.get(), ofSubject, isSerialized));
        }
    }

    private static String text(Registered schema, boolean ofSubject, boolean isSerialized) throws IOException {
        StringWriter text = new StringWriter();
        try (JsonGenerator json = JSON.createGenerator(text)) {
            json.writeStartObject();
            if (ofSubject) {
                json.writeStringField("subject", schema.subject());
                json.writeNumberField("version", schema.version());
                json.writeNumberField("id", schema.id());
            }
            if (!schema.type().equals("AVRO")) {
                json.writeStringField("schemaType", schema.type());
            }
            if (!schema.references().isEmpty()) {
                json.writeArrayFieldStart("references");
                for (Reference reference : schema.references()) {
                    json.writeStartObject();
                    json.writeStringField("name", reference.name());
                    json.writeStringField("subject", reference.subject());
                    json.writeNumberField("version", reference.version());
                    json.writeEndObject();
                }
                json.writeEndArray();
            }
            json.writeStringField("schema", isSerialized ? schema.descriptor() : schema.text());
            json.writeEndObject();
        }
        return text.toString();
    }

    private static Map<String, String> object(byte[] body) throws IOException {
        Map<String, String> members = new ConcurrentHashMap<>();
        try (JsonParser json = JSON.createParser(body)) {
            json.nextToken();
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                String name = json.currentName();
                json.nextToken();
                members.put(name, json.getText());
            }
        }
        return members;
    }

    private static String decoded(String part) {
        return URLDecoder.decode(part, StandardCharsets.UTF_8);
    }

    private static String error(int code, String message) {
        return "{\"error_code\":" + code + ",\"message\":\"" + message + "\"}";
    }

    private static void send(HttpExchange exchange, int code, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/vnd.schemaregistry.v1+json");
        exchange.sendResponseHeaders(code, bytes.length);
        exchange.getResponseBody().write(bytes);
    }

    @Override
    public void close() {
        stop();
    }
}
