package dev.millrace.server.config;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigException;
import dev.millrace.edge.wire.DeviceTopics;
import dev.millrace.engine.runtime.EngineOptions;
import dev.millrace.error.Suggestion;
import dev.millrace.expressions.python.PythonOptions;
import dev.millrace.scheduler.SchedulingPolicies;
import dev.millrace.server.config.ServerConfig.Auth;
import dev.millrace.server.config.ServerConfig.AuthMethod;
import dev.millrace.server.config.ServerConfig.Http;
import dev.millrace.server.config.ServerConfig.Limits;
import dev.millrace.server.log.LogFormat;
import dev.millrace.server.log.LogLevel;
import dev.millrace.server.log.LogOptions;
import dev.millrace.server.tls.TlsMode;
import dev.millrace.server.tls.TlsOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/** Makes a {@link ServerConfig} of options that are complete, checking each value; knows which it asked for. */
final class ConfigReader {
    private static final int PORTS = 1 << 16;
    private static final long LEAST_MESSAGE_BYTES = 64 << 10;
    private static final long MOST_MESSAGE_BYTES = 1 << 30;
    private static final long LEAST_MEMORY_BYTES = 16 << 20;

    private final Config config;
    private final Set<String> asked = new TreeSet<>();

    ConfigReader(Config config) {
        this.config = config;
    }

    ServerConfig config() {
        return new ServerConfig(
                path("data"),
                addresses(),
                (int) integer("listen.port", 0, PORTS - 1),
                new Http(
                        bool("http.enabled"),
                        (int) integer("http.port", -1, PORTS - 1),
                        bytes("http.max-body", 1, MOST_MESSAGE_BYTES),
                        integer("http.max-rows", 0, Long.MAX_VALUE),
                        text("http.cors-origin"),
                        httpLimits()),
                (int) integer("edge.port", -1, PORTS - 1),
                edgeBroker(),
                new TlsOptions(
                        oneOf("tls.mode", TlsMode.values()),
                        path("tls.certificate"),
                        path("tls.key"),
                        Optional.empty()),
                new Auth(oneOf("auth.method", AuthMethod.values()), duration("auth.timeout")),
                new Limits((int) integer("limits.connections", 1, 1_000_000), (int)
                        bytes("limits.message", LEAST_MESSAGE_BYTES, MOST_MESSAGE_BYTES)),
                engine(),
                new PythonOptions(
                        get("python.command"),
                        (int) integer("python.processes", 1, 1000),
                        bytes("python.memory", 1 << 20, Long.MAX_VALUE)),
                new LogOptions(oneOf("log.level", LogLevel.values()), oneOf("log.format", LogFormat.values())),
                duration("stop-timeout"));
    }

    private HttpLimits httpLimits() {
        int connections = (int) integer("limits.connections", 1, 1_000_000);
        int ofAddress = (int) integer("http.connections-per-address", 0, 1_000_000);
        return new HttpLimits(
                duration("http.header-timeout"),
                duration("http.body-timeout"),
                duration("http.idle-timeout"),
                ofAddress == 0 ? Math.max(1, connections / 2) : ofAddress);
    }

    private Optional<EdgeBroker> edgeBroker() {
        String topic = get("edge.mqtt.topic");
        if (!DeviceTopics.isPrefix(topic)) {
            throw bad("edge.mqtt.topic", "must be the beginning of topics, such as " + DeviceTopics.DEFAULT_PREFIX);
        }
        EdgeBroker broker = new EdgeBroker(
                get("edge.mqtt.url"),
                topic,
                text("edge.mqtt.client-id"),
                text("edge.mqtt.user"),
                text("edge.mqtt.password"),
                path("edge.mqtt.authority"),
                path("edge.mqtt.certificate"),
                path("edge.mqtt.key"));
        return Optional.of(broker).filter(given -> !given.url().isEmpty());
    }

    /** All options that were asked for. */
    Set<String> asked() {
        return asked;
    }

    private EngineOptions engine() {
        EngineOptions engine = EngineOptions.defaults();
        int workers = (int) integer("engine.workers", 0, 4096);
        long memory = bytes("engine.memory", 0, Long.MAX_VALUE);
        if (memory > 0 && memory < LEAST_MEMORY_BYTES) {
            throw bad("engine.memory", "must be at least 16m, or 0 for a third of the machine's");
        }
        return engine.withWorkers(workers == 0 ? engine.workers() : workers)
                .withMemoryLimitBytes(memory == 0 ? engine.memoryLimitBytes() : memory)
                .withSpillLimitBytes(bytes("engine.spill-limit", 0, Long.MAX_VALUE))
                .withBatchRows((int) integer("engine.batch-rows", 1, 1 << 16))
                .withEpochMillis((int) Math.max(1, duration("engine.epoch").toMillis()))
                .withSchedulingPolicy(oneOf("engine.scheduling-policy", SchedulingPolicies.names()));
    }

    private List<String> addresses() {
        List<String> addresses = Stream.of(get("listen.addresses").split(","))
                .map(String::strip)
                .filter(address -> !address.isEmpty())
                .toList();
        if (addresses.isEmpty()) {
            throw bad("listen.addresses", "must name at least one interface");
        }
        return addresses;
    }

    private String get(String name) {
        asked.add(name);
        return config.getString(name);
    }

    private Optional<String> text(String name) {
        return Optional.of(get(name)).filter(text -> !text.isEmpty());
    }

    private Optional<Path> path(String name) {
        return text(name).map(Path::of);
    }

    private boolean bool(String name) {
        asked.add(name);
        return config.getBoolean(name);
    }

    private long integer(String name, long least, long most) {
        asked.add(name);
        long value = config.getLong(name);
        if (value < least || value > most) {
            throw bad(name, "must be from " + least + " to " + most + ", not " + value);
        }
        return value;
    }

    private long bytes(String name, long least, long most) {
        asked.add(name);
        long value = config.getBytes(name);
        if (value < least || value > most) {
            throw bad(name, "must be from " + least + " to " + most + " bytes, not " + value);
        }
        return value;
    }

    private Duration duration(String name) {
        asked.add(name);
        Duration value = config.getDuration(name);
        if (value.isNegative()) {
            throw bad(name, "must not be negative");
        }
        return value;
    }

    private <E extends Enum<E>> E oneOf(String name, E[] values) {
        List<String> names = Arrays.stream(values)
                .map(value -> value.name().toLowerCase(Locale.ROOT))
                .toList();
        return values[names.indexOf(oneOf(name, names))];
    }

    private String oneOf(String name, Collection<String> values) {
        String value = get(name).toLowerCase(Locale.ROOT);
        if (!values.contains(value)) {
            throw bad(
                    name,
                    "must be one of " + String.join(", ", values) + ", not \"" + value + "\""
                            + Suggestion.nearest(value, values)
                                    .map(nearest -> "; did you mean \"" + nearest + "\"?")
                                    .orElse(""));
        }
        return value;
    }

    private ConfigException bad(String name, String why) {
        return new ConfigException.BadValue(config.getValue(name).origin(), name, why);
    }
}
