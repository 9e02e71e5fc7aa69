package dev.millrace.capture;

import dev.millrace.connector.FedTable;
import dev.millrace.connector.RowChange;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SplitStatus;
import dev.millrace.connector.TableFeed;
import dev.millrace.error.MillraceException;
import io.debezium.embedded.Connect;
import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.RecordChangeEvent;
import io.debezium.engine.format.ChangeEventFormat;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.source.SourceRecord;
import org.jspecify.annotations.Nullable;

/** Follows a table of another database by an engine of Debezium's for each run. Immutable. */
final class CaptureFeed implements TableFeed {
    private static final long PATIENCE_SECONDS = 8;
    private static final long SILENT_SECONDS = 5;
    private static final String HEARTBEAT_MILLIS = "5000";

    /** They tell each step, and what counts is in {@code millrace.sources}. Held here, as levels go with loggers that nobody holds. */
    private static final List<Logger> QUIET = Stream.of("io.debezium", "org.apache.kafka.connect", "com.github.shyiko")
            .map(Logger::getLogger)
            .toList();

    static {
        QUIET.stream().filter(logger -> logger.getLevel() == null).forEach(logger -> logger.setLevel(Level.WARNING));
    }

    private final String table;
    private final SourceTable source;
    private final Upstream upstream;

    CaptureFeed(String table, SourceTable source, Upstream upstream) {
        this.table = table;
        this.source = source;
        this.upstream = upstream;
    }

    @Override
    public boolean hasPosition() {
        return true;
    }

    @Override
    public void check() {
        upstream.check(source);
    }

    @Override
    public void forget() {
        upstream.forget(source);
    }

    @Override
    public void run(FedTable fed) throws InterruptedException {
        Optional<SourcePosition> kept = fed.position();
        CapturedPosition from = kept.map(CapturedPosition::of).orElse(CapturedPosition.NOTHING);
        if (kept.isPresent() && !from.isWhole()) { // what the first reading had begun with may have gone since
            from = CapturedPosition.NOTHING;
            fed.replace(List.<RowChange>of().iterator(), Optional.of(from.toPosition()));
        }
        if (from.isWhole()) {
            upstream.checkGoesOn(source, offset(from));
        }
        fed.tell(new SplitStatus(
                source.toString(),
                from.isWhole() ? upstream.text(offset(from)) : "",
                OptionalLong.empty(),
                OptionalLong.empty(),
                0,
                0,
                0,
                Optional.empty(),
                Optional.empty()));
        try (RunState state = RunState.begin(from)) {
            ChangeReading reading = new ChangeReading(source.schema(), source.key(), fed::note);
            follow(properties(state), new CaptureRun(fed, source.toString(), upstream, reading, state));
        }
    }

    private static Map<String, Object> offset(CapturedPosition position) {
        try (JsonConverter converter = new JsonConverter()) {
            converter.configure(Map.of("schemas.enable", "false", "converter.type", "value"), false);
            Object read = converter.toConnectData("", position.offset()).value();
            @SuppressWarnings("unchecked") // JSON objects without schemas are maps by text
            Map<String, Object> offset = read instanceof Map ? (Map<String, Object>) read : Map.of();
            return offset;
        }
    }

    private Properties properties(RunState state) {
        Properties all = new Properties();
        source.properties()
                .forEach((name, text) -> all.put(name, source.references().resolve(text)));
        all.put("name", table);
        all.put(RunState.KEY, state.key());
        all.put("schema.history.internal." + RunState.KEY, state.key());
        all.put("offset.storage", OffsetOfRun.class.getName());
        all.put("offset.flush.interval.ms", "0"); // with each batch that is acknowledged
        all.put("topic.prefix", "millrace"); // positions have it
        all.put(
                "custom.metric.tags",
                "run=" + state.key()); // engines wait a minute for others' names of metrics to become free
        all.put("bootstrap.servers", "localhost:1"); // Connect's workers must have one, and ours asks none
        all.put("database.hostname", source.resolvedHost());
        all.put("database.port", Integer.toString(source.port()));
        all.put("database.user", source.resolvedUser());
        all.put("database.password", source.resolvedPassword());
        all.put("tombstones.on.delete", "false");
        all.put("skipped.operations", "none");
        all.put("provide.transaction.metadata", "true");
        all.put("unavailable.value.placeholder", ChangeReading.UNAVAILABLE);
        all.put("decimal.handling.mode", "string");
        all.put("time.precision.mode", "isostring");
        all.put("binary.handling.mode", "hex");
        all.put("interval.handling.mode", "string");
        all.put("hstore.handling.mode", "json");
        all.put("errors.max.retries", "0"); // who runs the feed tries again, and says why
        all.putIfAbsent("heartbeat.interval.ms", HEARTBEAT_MILLIS);
        all.putIfAbsent("poll.interval.ms", "20");
        all.putAll(upstream.properties(source));
        return all;
    }

    /** Runs an engine until it fails or the thread is interrupted. */
    private void follow(Properties properties, CaptureRun run) throws InterruptedException {
        CompletableFuture<Optional<Throwable>> end = new CompletableFuture<>();
        DebeziumEngine<RecordChangeEvent<SourceRecord>> engine = DebeziumEngine.create(
                        ChangeEventFormat.of(Connect.class))
                .using(properties)
                .using(getClass().getClassLoader())
                .using((success, message, error) -> end.complete(
                        success
                                ? Optional.empty()
                                : Optional.of(error == null ? new IllegalStateException(message) : error)))
                .notifying(run)
                .build();
        Thread thread = new Thread(
                () -> {
                    try {
                        engine.run();
                        end.complete(Optional.empty()); // unless it said something else
                    } catch (RuntimeException | LinkageError e) {
                        end.complete(Optional.of(e));
                    }
                },
                "millrace-capture-" + table);
        thread.setContextClassLoader(getClass().getClassLoader());
        thread.setDaemon(true);
        thread.start();
        try {
            untilEnd(end, run).ifPresent(why -> {
                throw failure(why);
            });
        } catch (ExecutionException e) {
            throw failure(e);
        } finally {
            close(engine, thread);
        }
    }

    /** Of a database that goes away a binary log just brings nothing any more: so it is asked while that is so. */
    private Optional<Throwable> untilEnd(CompletableFuture<Optional<Throwable>> end, CaptureRun run)
            throws InterruptedException, ExecutionException {
        while (true) {
            try {
                return end.get(SILENT_SECONDS, TimeUnit.SECONDS);
            } catch (TimeoutException e) {
                if (run.isSilentFor(TimeUnit.SECONDS.toNanos(SILENT_SECONDS))) {
                    upstream.requireThere(source);
                }
            }
        }
    }

    /** Also where the thread was interrupted: whoever follows must find what the engine had outside free. */
    private static void close(DebeziumEngine<?> engine, Thread thread) {
        boolean interrupted = Thread.interrupted();
        try {
            engine.close();
        } catch (IOException | IllegalStateException e) {
            // it has ended by itself
        }
        try {
            thread.join(TimeUnit.SECONDS.toMillis(PATIENCE_SECONDS));
            thread.interrupt(); // no effect if it has ended
        } catch (InterruptedException e) {
            interrupted = true;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** What we threw within the engine as it is, all else as one line. */
    private MillraceException failure(Throwable failure) {
        Throwable innermost = failure;
        for (@Nullable Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof MillraceException own) {
                return own;
            }
            innermost = cause;
        }
        String why = String.valueOf(failure.getMessage());
        String reason = String.valueOf(innermost.getMessage());
        return source.failure(why.contains(reason) ? why : why + ": " + reason);
    }
}
