package dev.millrace.connectors.registry;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.millrace.connector.Options;
import dev.millrace.connectors.http.HttpReason;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/**
 * Asks a registry, and waits for its answers: {@link #MOST_SECONDS} each at most. Addresses are tried one after the other. Immutable, safe
 * on any thread.
 *
 * @param user and {@code password}, {@code authority} (certificates in PEM): as they were written, with references to secrets, which are
 *     looked up for every question
 */
record RegistryClient(
        List<String> addresses,
        Optional<String> user,
        Optional<String> password,
        Optional<String> authority,
        Options.References references) {
    static final int MOST_SECONDS = 10;

    private static final int MOST_BYTES = 8 << 20;
    private static final int MOST_REFERENCES = 100;
    private static final JsonFactory JSON = new JsonFactory();
    private static final String MEDIA = "application/vnd.schemaregistry.v1+json";
    private static final int NOT_FOUND = 404;
    private static final int UNPROCESSABLE = 422;
    private static final int CONFLICT = 409;

    /** Made when first asked for; its threads are daemons. */
    private static final class Shared {
        static final HttpClient CLIENT = builder().build();

        static HttpClient.Builder builder() {
            return HttpClient.newBuilder()
                    .version(HttpClient.Version.HTTP_1_1)
                    .followRedirects(HttpClient.Redirect.NEVER)
                    .connectTimeout(Duration.ofSeconds(3));
        }
    }

    /** The client that was made last for certificates of its own: registries are few, and clients have threads. */
    private static final AtomicReference<@Nullable Secured> SECURED = new AtomicReference<>();

    private record Secured(String certificates, HttpClient client) {}

    /** An answer: what stands in its object, of nested values nothing but the references. */
    private record Answer(Map<String, String> members, List<Map<String, String>> references) {
        String required(String name) throws IOException {
            String value = members.get(name);
            if (value == null) {
                throw new IOException("an answer without \"" + name + "\"");
            }
            return value;
        }
    }

    /** For users; without secrets. */
    @Override
    public String toString() {
        return "schema registry " + String.join(", ", addresses);
    }

    /**
     * A schema by its number.
     *
     * @throws MillraceException of the user if the registry has none of that number; else external
     */
    RegisteredSchema byId(int id, boolean isDescriptor) {
        return answered(() -> {
            Answer answer = get("/schemas/ids/" + Integer.toUnsignedString(id) + format(isDescriptor), "schema " + id);
            return schema(id, answer, isDescriptor);
        });
    }

    /** The newest schema of a subject, as {@link #byId}. */
    RegisteredSchema latest(String subject, boolean isDescriptor) {
        return answered(() -> {
            Answer answer = get("/subjects/" + encoded(subject) + "/versions/latest", "subject " + subject);
            int id = Integer.parseInt(answer.required("id"));
            return isDescriptor ? byId(id, true) : schema(id, answer, false);
        });
    }

    /** The number of a schema, which is made one of the subject if it is none. */
    int register(String subject, String type, String text) {
        return answered(() -> {
            StringWriter body = new StringWriter();
            try (JsonGenerator json = JSON.createGenerator(body)) {
                json.writeStartObject();
                json.writeStringField("schema", text);
                if (!type.equals("AVRO")) {
                    json.writeStringField("schemaType", type);
                }
                json.writeEndObject();
            }
            Answer answer = ask(
                    "/subjects/" + encoded(subject) + "/versions",
                    HttpRequest.BodyPublishers.ofString(body.toString()),
                    "subject " + subject);
            return Integer.parseInt(answer.required("id"));
        });
    }

    private static String format(boolean isDescriptor) {
        return isDescriptor ? "?format=serialized" : "";
    }

    private static String encoded(String part) {
        return URLEncoder.encode(part, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private RegisteredSchema schema(int id, Answer answer, boolean isDescriptor)
            throws IOException, InterruptedException {
        Map<String, RegisteredSchema.Reference> references = new LinkedHashMap<>();
        addReferences(answer, isDescriptor, references, 0);
        return new RegisteredSchema(
                id,
                answer.members().getOrDefault("schemaType", "AVRO"),
                answer.required("schema"),
                List.copyOf(references.values()));
    }

    private void addReferences(Answer of, boolean isDescriptor, Map<String, RegisteredSchema.Reference> into, int depth)
            throws IOException, InterruptedException {
        for (Map<String, String> reference : of.references()) {
            String name = reference.getOrDefault("name", "");
            if (into.containsKey(name)) {
                continue;
            }
            if (into.size() >= MOST_REFERENCES || depth >= MOST_REFERENCES) {
                throw new IOException("a schema of more than " + MOST_REFERENCES + " references");
            }
            String subject = reference.getOrDefault("subject", "");
            Answer answer = get(
                    "/subjects/" + encoded(subject) + "/versions/" + encoded(reference.getOrDefault("version", "")),
                    "subject " + subject);
            addReferences(answer, isDescriptor, into, depth + 1);
            Answer whole = isDescriptor
                    ? get("/schemas/ids/" + encoded(answer.required("id")) + format(true), "subject " + subject)
                    : answer;
            into.put(name, new RegisteredSchema.Reference(name, whole.required("schema")));
        }
    }

    // ---- questions -------------------------------------------------------------------------------------------------

    private interface Asking<T> {
        T ask() throws IOException, InterruptedException;
    }

    private <T> T answered(Asking<T> asking) {
        try {
            return asking.ask();
        } catch (IOException | NumberFormatException e) {
            String why = e instanceof IOException failure ? HttpReason.of(failure) : String.valueOf(e.getMessage());
            throw MillraceException.external(SqlState.CONNECTION_FAILURE, this + ": " + why);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw MillraceException.user(SqlState.QUERY_CANCELED, "canceling statement due to user request");
        }
    }

    private Answer get(String path, String what) throws IOException, InterruptedException {
        return ask(path, HttpRequest.BodyPublishers.noBody(), what);
    }

    /** Of each address in turn: the next is asked where one does not answer. */
    private Answer ask(String path, HttpRequest.BodyPublisher body, String what)
            throws IOException, InterruptedException {
        IOException failure = new IOException("no address");
        for (String address : addresses) {
            try {
                return ask(URI.create(address + path), body, what);
            } catch (IOException e) {
                failure = e;
            }
        }
        throw failure;
    }

    private Answer ask(URI uri, HttpRequest.BodyPublisher body, String what) throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(uri)
                .timeout(Duration.ofSeconds(MOST_SECONDS))
                .header("Accept", MEDIA);
        if (body.contentLength() != 0) {
            request.header("Content-Type", MEDIA).POST(body);
        }
        user.ifPresent(name -> request.header("Authorization", basic(name)));
        CompletableFuture<HttpResponse<byte[]>> sent =
                client().sendAsync(request.build(), head -> new BoundedBody(MOST_BYTES));
        HttpResponse<byte[]> response;
        try {
            response = sent.get(MOST_SECONDS + 1L, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            Throwable cause = e.getCause();
            String why = cause == null || cause.getMessage() == null ? "no connection" : cause.getMessage();
            throw new IOException(why);
        } catch (TimeoutException e) {
            throw new IOException("no answer within " + MOST_SECONDS + " s");
        } finally {
            sent.cancel(true);
        }
        return answer(response.statusCode(), response.body(), what);
    }

    private Answer answer(int status, byte[] body, String what) throws IOException {
        Answer answer;
        try {
            answer = parsed(body);
        } catch (IOException e) {
            answer = new Answer(Map.of(), List.of());
        }
        if (status / 100 == 2) {
            return parsed(body);
        }
        String said = answer.members().getOrDefault("message", "status " + status);
        if (status == NOT_FOUND) {
            throw MillraceException.user(SqlState.UNDEFINED_OBJECT, what + " is not in " + this + ": " + said);
        }
        if (status == CONFLICT || status == UNPROCESSABLE) {
            throw MillraceException.user(
                            SqlState.INVALID_PARAMETER_VALUE, this + " refuses a schema for " + what + ": " + said)
                    .withHint("its rules of compatibility, or another subject, may let it");
        }
        throw new IOException(said + " (" + status + ")");
    }

    private static Answer parsed(byte[] body) throws IOException {
        Map<String, String> members = new LinkedHashMap<>();
        List<Map<String, String>> references = new ArrayList<>();
        try (JsonParser json = JSON.createParser(body)) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                throw new IOException("an answer that is no JSON object");
            }
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                String name = json.currentName();
                JsonToken value = json.nextToken();
                if (value.isScalarValue()) {
                    members.put(name, json.getText());
                } else if (name.equals("references") && value == JsonToken.START_ARRAY) {
                    readReferences(json, references);
                } else {
                    json.skipChildren();
                }
            }
        }
        return new Answer(members, references);
    }

    private static void readReferences(JsonParser json, List<Map<String, String>> into) throws IOException {
        while (json.nextToken() == JsonToken.START_OBJECT) {
            Map<String, String> reference = new LinkedHashMap<>();
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                String name = json.currentName();
                if (json.nextToken().isScalarValue()) {
                    reference.put(name, json.getText());
                } else {
                    json.skipChildren();
                }
            }
            into.add(reference);
        }
    }

    // ---- secrets ---------------------------------------------------------------------------------------------------

    private String basic(String name) {
        String both = references.resolve(name) + ":" + references.resolve(password.orElse(""));
        return "Basic " + Base64.getEncoder().encodeToString(both.getBytes(StandardCharsets.UTF_8));
    }

    private HttpClient client() throws IOException {
        if (authority.isEmpty()) {
            return Shared.CLIENT;
        }
        String pem = references.resolve(authority.get());
        Secured made = SECURED.get();
        if (made != null && made.certificates().equals(pem)) {
            return made.client();
        }
        try {
            KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
            trusted.load(null, null);
            int number = 0;
            for (Certificate each : CertificateFactory.getInstance("X.509")
                    .generateCertificates(new ByteArrayInputStream(pem.getBytes(StandardCharsets.UTF_8)))) {
                trusted.setCertificateEntry("authority" + number++, each);
            }
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(trusted);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, trust.getTrustManagers(), null);
            HttpClient client = Shared.builder().sslContext(context).build();
            SECURED.set(new Secured(pem, client));
            return client;
        } catch (GeneralSecurityException e) {
            throw new IOException("schema_registry.ca has no certificates in PEM: " + e.getMessage());
        }
    }
}
