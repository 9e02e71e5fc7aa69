package dev.millrace.connectors.registry;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.net.URI;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * A registry and what is known of its schemas, shared by the decoders of a source. Safe on any thread.
 *
 * <pre>
 *   schema(id): unknown -> fetching -> known
 *                   ^          |  \ -> unknown to the registry, for {@link #MISSING_NANOS}
 *                   |          v
 *                   +----  failed, for a time that grows to {@link #LONGEST_PAUSE_NANOS}
 * </pre>
 */
public final class SchemaRegistry {
    /** The options, for help. */
    public static final List<OptionDescription> DESCRIPTIONS = List.of(
            new OptionDescription(
                    "schema_registry",
                    "",
                    "address of a registry that speaks Confluent's API, or several between commas: values begin with the"
                            + " number of their schema"),
            new OptionDescription(
                    "schema_registry.user", "", "for basic authentication; may have references to secrets"),
            new OptionDescription(
                    "schema_registry.password", "", "must be a reference, such as ${secret:name} or ${env:NAME}"),
            new OptionDescription(
                    "schema_registry.ca",
                    "the JVM's",
                    "certificates in PEM of who may sign the registry's, commonly ${file:/path}"),
            new OptionDescription(
                    "subject",
                    "<topic>-value",
                    "under which schemas of sinks are registered, and columns are looked up"));

    private static final int MOST_SCHEMAS = 10_000;
    private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
    private static final long LONGEST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long MISSING_NANOS = TimeUnit.SECONDS.toNanos(30);
    private static final long REGISTER_NANOS = TimeUnit.MINUTES.toNanos(5);

    /** What is known of a number. */
    private static final class Entry {
        Optional<RegisteredSchema> schema = Optional.empty();
        Optional<MillraceException> missing = Optional.empty();
        boolean fetching;
        long untilNanos; // asked again not before
        long pauseNanos = FIRST_PAUSE_NANOS;
        final List<Runnable> waiting = new ArrayList<>();
    }

    private final RegistryClient client;
    private final String subject;
    private final boolean descriptors;
    private final ThreadPoolExecutor fetcher;

    @GuardedBy("this") private final Map<Integer, Entry> entries = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Integer, Entry> eldest) {
            return size() > MOST_SCHEMAS && !eldest.getValue().fetching;
        }
    };

    @GuardedBy("this") private Optional<String> lastError = Optional.empty();

    private SchemaRegistry(RegistryClient client, String subject, boolean descriptors) {
        this.client = client;
        this.subject = subject;
        this.descriptors = descriptors;
        this.fetcher = new ThreadPoolExecutor(1, 1, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), work -> {
            Thread thread = new Thread(work, "schema-registry");
            thread.setDaemon(true);
            return thread;
        });
        fetcher.allowCoreThreadTimeOut(true);
    }

    /**
     * The registry that options name; empty if none.
     *
     * @param descriptors whether schemas are asked for as protobuf's descriptors
     */
    public static Optional<SchemaRegistry> read(Options options, boolean descriptors) {
        Optional<String> user = options.text("schema_registry.user");
        Optional<String> password = options.text("schema_registry.password");
        Optional<String> authority = options.text("schema_registry.ca");
        Optional<String> named = options.text("schema_registry");
        String subject = options.text("subject")
                .or(() -> options.text("topic").map(topic -> topic + "-value"))
                .orElse("");
        if (named.isEmpty()) {
            if (user.isPresent() || password.isPresent() || authority.isPresent()) {
                throw MillraceException.user(
                        SqlState.INVALID_PARAMETER_VALUE,
                        "options \"schema_registry.*\" need option \"schema_registry\"");
            }
            return Optional.empty();
        }
        password.ifPresent(text -> Options.OpenSecret.refuse("schema_registry.password", text));
        Options.OpenSecret.refuseInAddress("schema_registry", named.get());
        List<String> addresses = new ArrayList<>();
        for (String each : named.get().split(",")) {
            addresses.add(address(each.strip()));
        }
        return Optional.of(new SchemaRegistry(
                new RegistryClient(List.copyOf(addresses), user, password, authority, options.references()),
                subject,
                descriptors));
    }

    private static String address(String text) {
        try {
            URI uri = URI.create(text);
            boolean isHttp = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
            if (isHttp && uri.getHost() != null && uri.getUserInfo() == null && uri.getQuery() == null) {
                return text.replaceAll("/+$", "");
            }
        } catch (IllegalArgumentException e) {
            // falls through to the one message for all
        }
        throw Options.invalid(
                "schema_registry", text, "an address such as http://host:8081, without user and password");
    }

    /** The subject that the options name, or that is of their topic. */
    public String subject() {
        if (subject.isEmpty()) {
            throw MillraceException.user(SqlState.INVALID_PARAMETER_VALUE, "option \"subject\" is required");
        }
        return subject;
    }

    /**
     * A schema by its number. Never waits.
     *
     * @param there called, on any thread, when it is worth to ask again
     * @return empty if it is being fetched, or is to be asked for again later
     * @throws MillraceException of the user if the registry says that it has none of that number
     */
    public Optional<RegisteredSchema> schema(int id, Runnable there) {
        synchronized (this) {
            Entry entry = entries.computeIfAbsent(id, key -> new Entry());
            if (entry.schema.isPresent()) {
                return entry.schema;
            }
            long now = System.nanoTime();
            boolean isDue = now - entry.untilNanos >= 0;
            if (entry.missing.isPresent() && !isDue) {
                throw entry.missing.get().again();
            }
            if (!entry.fetching && (entry.untilNanos == 0 || isDue)) {
                entry.fetching = true;
                fetcher.execute(() -> fetch(id));
            }
            if (entry.fetching && entry.waiting.size() < MOST_SCHEMAS) {
                entry.waiting.add(there);
            }
            return Optional.empty();
        }
    }

    private void fetch(int id) {
        Optional<RegisteredSchema> schema = Optional.empty();
        Optional<MillraceException> failure = Optional.empty();
        try {
            schema = Optional.of(client.byId(id, descriptors));
        } catch (MillraceException e) {
            failure = Optional.of(e);
        } catch (RuntimeException e) {
            failure = Optional.of(MillraceException.external(SqlState.CONNECTION_FAILURE, client + ": " + e));
        }
        List<Runnable> toWake;
        synchronized (this) {
            Entry entry = entries.computeIfAbsent(id, key -> new Entry());
            entry.fetching = false;
            entry.schema = schema;
            entry.missing = failure.filter(e -> e.fault() == MillraceException.Fault.USER);
            lastError = failure.filter(e -> e.fault() != MillraceException.Fault.USER)
                    .map(MillraceException::getMessage);
            long pause = entry.missing.isPresent() ? MISSING_NANOS : entry.pauseNanos;
            entry.untilNanos = System.nanoTime() + pause;
            entry.pauseNanos = Math.min(2 * entry.pauseNanos, LONGEST_PAUSE_NANOS);
            toWake = List.copyOf(entry.waiting);
            entry.waiting.clear();
        }
        toWake.forEach(Runnable::run);
    }

    /** Why it is waited for, for users; empty while it answers. */
    public synchronized Optional<String> lastError() {
        return lastError;
    }

    /** For users; without secrets. */
    @Override
    public String toString() {
        return client.toString();
    }

    /** The newest schema of the {@link #subject}. Waits some seconds at most. */
    public RegisteredSchema latest() {
        return client.latest(subject(), descriptors);
    }

    /**
     * The number of a schema of the {@link #subject}, which has it from now on. Waits while the registry does not answer, some minutes at
     * most; gives up when interrupted.
     */
    public int register(String type, String text) {
        long begun = System.nanoTime();
        long pause = FIRST_PAUSE_NANOS;
        while (true) {
            try {
                return client.register(subject(), type, text);
            } catch (MillraceException e) {
                boolean isOver = System.nanoTime() - begun > REGISTER_NANOS;
                if (e.fault() != MillraceException.Fault.EXTERNAL || isOver) {
                    throw e;
                }
            }
            try {
                TimeUnit.NANOSECONDS.sleep(pause);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw MillraceException.user(
                        SqlState.QUERY_CANCELED, "the sink is closed while it waits for " + client);
            }
            pause = Math.min(2 * pause, LONGEST_PAUSE_NANOS);
        }
    }
}
