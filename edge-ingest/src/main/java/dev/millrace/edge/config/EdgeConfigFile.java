package dev.millrace.edge.config;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigOrigin;
import com.typesafe.config.ConfigParseOptions;
import com.typesafe.config.ConfigUtil;
import com.typesafe.config.ConfigValue;
import com.typesafe.config.ConfigValueType;
import dev.millrace.edge.config.EdgeConfig.InputConfig;
import dev.millrace.edge.config.EdgeConfig.StreamConfig;
import dev.millrace.edge.queue.QueueOptions;
import dev.millrace.edge.queue.WhenFull;
import dev.millrace.edge.socket.RemoteHost;
import dev.millrace.edge.wire.DeviceTopics;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.error.Suggestion;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Reads {@code edge.conf}, in the form that the server's configuration has (HOCON). Errors name the file and the line. */
public final class EdgeConfigFile {
    private static final Map<String, DataType> TYPES = types();
    private static final Set<String> INPUTS = Set.of("stdin", "file", "tcp", "http", "mqtt", "system", "sensor");
    private static final Map<String, Schema> GIVEN_COLUMNS =
            Map.of("system", VitalColumns.SCHEMA, "sensor", SensorColumns.SCHEMA);
    private static final int MOST_KEYS = 100_000;
    private static final int DEFAULT_KEYS = 1000;

    private final Config config;
    private final String prefix;
    private final Set<String> asked = new TreeSet<>();

    private EdgeConfigFile(Config config, String prefix) {
        this.config = config;
        this.prefix = prefix;
    }

    private static Map<String, DataType> types() {
        Map<String, DataType> types = new LinkedHashMap<>();
        types.put("smallint", DataType.SMALLINT);
        types.put("integer", DataType.INTEGER);
        types.put("int", DataType.INTEGER);
        types.put("bigint", DataType.BIGINT);
        types.put("real", DataType.REAL);
        types.put("double precision", DataType.DOUBLE);
        types.put("double", DataType.DOUBLE);
        types.put("boolean", DataType.BOOLEAN);
        types.put("text", DataType.TEXT);
        types.put("date", DataType.DATE);
        types.put("timestamp", DataType.TIMESTAMP);
        types.put("timestamptz", DataType.TIMESTAMPTZ);
        return types;
    }

    /**
     * Reads a file.
     *
     * @throws MillraceException F0000 with file and line
     */
    public static EdgeConfig read(Path file) {
        if (!Files.isReadable(file)) {
            throw MillraceException.user(SqlState.CONFIG_FILE_ERROR, "cannot read " + file);
        }
        return checked(() -> ConfigFactory.parseFile(
                file.toFile(), ConfigParseOptions.defaults().setAllowMissing(false)));
    }

    /** Reads a text; {@code name} is what errors call it. */
    public static EdgeConfig parse(String text, String name) {
        return checked(() ->
                ConfigFactory.parseString(text, ConfigParseOptions.defaults().setOriginDescription(name)));
    }

    private interface Parsing {
        Config parse();
    }

    private static EdgeConfig checked(Parsing parsing) {
        try {
            Config parsed = parsing.parse().resolve();
            return new EdgeConfigFile(parsed, "").config();
        } catch (ConfigException e) {
            throw MillraceException.user(SqlState.CONFIG_FILE_ERROR, String.valueOf(e.getMessage()));
        }
    }

    private EdgeConfig config() {
        String device = text("device");
        if (device.isBlank() || device.length() > 200) {
            throw bad("device", "is a name of 1 to 200 characters");
        }
        EdgeConfig read = new EdgeConfig(
                device,
                Path.of(text("data")),
                config.hasPath("server") ? Optional.of(server(device)) : Optional.empty(),
                queue(),
                micros("commit", "5s"),
                micros("status", "10s"),
                streams());
        rejectUnknown();
        return read;
    }

    private EdgeConfig.Server server(String device) {
        EdgeConfigFile server = in("server");
        String address = server.text("address");
        int colon = address.lastIndexOf(':');
        int port = -1;
        try {
            port = Integer.parseInt(address.substring(colon + 1));
        } catch (NumberFormatException e) {
            // said below
        }
        if (colon < 1 || port < 1 || port > 65_535) {
            throw server.bad("address", "is host:port, not \"" + address + "\"");
        }
        int slash = device.indexOf('/');
        EdgeConfig.Server read = new EdgeConfig.Server(
                new RemoteHost(
                        address.substring(0, colon).replaceAll("^\\[|]$", ""),
                        port,
                        server.bool("tls", true),
                        server.given("authority").map(Path::of)),
                server.text("user", slash < 0 ? device : device.substring(0, slash)),
                server.secret("token").orElseThrow(() -> server.missing("token")),
                server.broker(device));
        server.rejectUnknown();
        return read;
    }

    private Optional<EdgeConfig.Broker> broker(String device) {
        String transport = text("transport", "tcp");
        if (transport.equals("tcp")) {
            return Optional.empty();
        }
        if (!transport.equals("mqtt")) {
            throw bad("transport", "is tcp or mqtt, not \"" + transport + "\"");
        }
        String topic = text("topic", DeviceTopics.DEFAULT_PREFIX);
        if (!DeviceTopics.isPrefix(topic)) {
            throw bad("topic", "is the beginning of topics, such as \"" + DeviceTopics.DEFAULT_PREFIX + "\"");
        }
        return Optional.of(
                new EdgeConfig.Broker(topic, given("client-id"), given("broker-user"), secret("broker-password")));
    }

    private Optional<String> given(String name) {
        return Optional.of(text(name, "")).filter(text -> !text.isEmpty());
    }

    /** Itself, or in a file that others cannot read. */
    private Optional<String> secret(String name) {
        Optional<String> file = given(name + "-file");
        Optional<String> secret = given(name);
        if (file.isPresent() && secret.isPresent()) {
            throw missing(name);
        }
        try {
            return file.isEmpty()
                    ? secret
                    : Optional.of(Files.readString(Path.of(file.get())).strip());
        } catch (java.io.IOException e) {
            throw bad(name + "-file", "cannot be read: " + e.getMessage());
        }
    }

    private ConfigException missing(String secret) {
        return new ConfigException.BadValue(
                config.root().origin(),
                prefix + secret,
                "either " + secret + " or " + secret + "-file has to be there");
    }

    private EdgeConfig.Queue queue() {
        EdgeConfigFile queue = in("queue");
        long bytes = queue.has("size") ? queue.config.getBytes("size") : 64L << 20;
        if (bytes < QueueOptions.LEAST_BYTES) {
            throw queue.bad("size", "must be at least 1m, not " + bytes + " bytes");
        }
        String name = queue.text("when-full", "oldest").toUpperCase(Locale.ROOT);
        WhenFull whenFull;
        try {
            whenFull = WhenFull.valueOf(name);
        } catch (IllegalArgumentException e) {
            throw queue.bad("when-full", "is oldest, newest or coarser, not \"" + name.toLowerCase(Locale.ROOT) + "\"");
        }
        int coarsest = queue.has("coarsest") ? queue.config.getInt("coarsest") : 2;
        if (coarsest < 0 || coarsest > 10) {
            throw queue.bad("coarsest", "is 0 to 10, not " + coarsest);
        }
        queue.rejectUnknown();
        return new EdgeConfig.Queue(bytes, whenFull, coarsest);
    }

    private List<StreamConfig> streams() {
        asked.add("streams");
        List<StreamConfig> streams = new ArrayList<>();
        for (String name : config.getObject("streams").keySet()) {
            EdgeConfigFile stream = in("streams").in(ConfigUtil.quoteString(name));
            streams.add(stream.stream(name, "millrace-edge/" + text("device") + "/" + name));
            stream.rejectUnknown();
        }
        if (streams.isEmpty()) {
            throw bad("streams", "has none");
        }
        return streams;
    }

    private StreamConfig stream(String name, String clientId) {
        InputConfig input = input(clientId);
        Schema columns = columns(input);
        Optional<Integer> time = column("time", columns);
        time.ifPresent(index -> {
            DataType type = columns.field(index).type();
            if (!type.equals(DataType.TIMESTAMP) && !type.equals(DataType.TIMESTAMPTZ)) {
                throw bad(
                        "time",
                        "is a column of type timestamp or timestamptz, and "
                                + columns.field(index).name() + " is " + type);
            }
        });
        if (time.isPresent() && columns.size() == 1) {
            throw bad("columns", "has the time alone");
        }
        Optional<Integer> key = column("key", columns);
        key.ifPresent(index -> {
            if (!columns.field(index).type().equals(DataType.TEXT) || key.equals(time)) {
                throw bad("key", "is a column of type text");
            }
        });
        int keys = has("keys") ? config.getInt("keys") : DEFAULT_KEYS;
        if (keys < 1 || keys > MOST_KEYS) {
            throw bad("keys", "is 1 to " + MOST_KEYS + ", not " + keys);
        }
        return new StreamConfig(name, columns, time, key, keys, input, settings(columns));
    }

    private Schema columns(InputConfig input) {
        Schema given = GIVEN_COLUMNS.get(input.type());
        if (given != null) {
            if (has("columns")) {
                throw bad("columns", "are those that the input " + input.type() + " has, and are not declared");
            }
            return given;
        }
        List<Field> fields = new ArrayList<>();
        asked.add("columns");
        for (String declared : config.getStringList("columns")) {
            String[] words = declared.strip().split("\\s+", 2);
            DataType type = words.length < 2 ? null : TYPES.get(words[1].toLowerCase(Locale.ROOT));
            if (type == null) {
                throw bad(
                        "columns",
                        "has \"" + declared + "\", which is no name and type; types are "
                                + String.join(", ", TYPES.keySet()));
            }
            if (fields.stream().anyMatch(field -> field.name().equals(words[0]))) {
                throw bad("columns", "has \"" + words[0] + "\" twice");
            }
            fields.add(new Field(words[0], type, true));
        }
        if (fields.isEmpty()) {
            throw bad("columns", "has none");
        }
        return new Schema(fields);
    }

    private Optional<Integer> column(String option, Schema columns) {
        if (!has(option)) {
            return Optional.empty();
        }
        int index = columns.indexOf(config.getString(option));
        if (index < 0) {
            throw bad(option, "is no column: \"" + config.getString(option) + "\"");
        }
        return Optional.of(index);
    }

    /** @param clientId as whom a broker is connected to, if it is not said */
    private InputConfig input(String clientId) {
        EdgeConfigFile input = in("input");
        String type = input.text("type");
        if (!INPUTS.contains(type)) {
            throw input.bad(
                    "type",
                    "is one of " + String.join(", ", new TreeSet<>(INPUTS)) + ", not \"" + type + "\""
                            + Suggestion.nearest(type, INPUTS)
                                    .map(near -> "; did you mean \"" + near + "\"?")
                                    .orElse(""));
        }
        String format = input.text("format", type.equals("system") ? "json" : "csv");
        Map<String, String> options = new LinkedHashMap<>();
        for (Map.Entry<String, ConfigValue> entry : input.config.entrySet()) {
            String name = String.join(".", ConfigUtil.splitPath(entry.getKey()));
            if (!name.equals("type") && !name.equals("format")) {
                options.put(name, value(entry.getValue()));
            }
        }
        if (type.equals("mqtt")) {
            options.putIfAbsent("client_id", clientId);
        }
        return new InputConfig(type, format, options);
    }

    /** Of a list its values, a line each. */
    private static String value(ConfigValue value) {
        return value.unwrapped() instanceof List<?> several
                ? several.stream().map(String::valueOf).collect(Collectors.joining("\n"))
                : String.valueOf(value.unwrapped());
    }

    private SketchSettings settings(Schema columns) {
        asked.add("sketch");
        Map<String, String> changes = new LinkedHashMap<>();
        if (config.hasPath("sketch")) {
            for (Map.Entry<String, ConfigValue> entry :
                    config.getConfig("sketch").entrySet()) {
                String name =
                        String.join(".", ConfigUtil.splitPath(entry.getKey())).replace("errors.", "error.");
                if ((name.startsWith("error.") || name.startsWith("bins."))
                        && columns.indexOf(name.substring(name.indexOf('.') + 1)) < 0) {
                    throw new ConfigException.BadValue(
                            entry.getValue().origin(), prefix + "sketch." + name, "there is no such column");
                }
                changes.put("sketch." + name, String.valueOf(entry.getValue().unwrapped()));
            }
        }
        for (String name : List.of("sample", "enabled", SketchSettings.ROWS)) {
            if (has(name)) {
                changes.put(name, String.valueOf(config.getAnyRef(name)));
            }
        }
        try {
            return SketchSettings.DEFAULTS.with(changes);
        } catch (MillraceException e) {
            ConfigOrigin origin = config.hasPath("sketch")
                    ? config.getValue("sketch").origin()
                    : config.root().origin();
            throw new ConfigException.BadValue(origin, prefix + "sketch", String.valueOf(e.getMessage()));
        }
    }

    // ---- options one by one
    // -----------------------------------------------------------------------------------------

    private EdgeConfigFile in(String name) {
        asked.add(ConfigUtil.splitPath(name).get(0));
        if (!config.hasPath(name)) {
            return new EdgeConfigFile(ConfigFactory.empty(config.root().origin().description()), prefix + name + ".");
        }
        if (config.getValue(name).valueType() != ConfigValueType.OBJECT) {
            throw bad(name, "is a group of options: { .. }");
        }
        return new EdgeConfigFile(config.getConfig(name), prefix + name + ".");
    }

    private boolean has(String name) {
        asked.add(name);
        return config.hasPath(name);
    }

    private String text(String name) {
        asked.add(name);
        return config.getString(name);
    }

    private String text(String name, String otherwise) {
        return has(name) ? config.getString(name) : otherwise;
    }

    private boolean bool(String name, boolean otherwise) {
        return has(name) ? config.getBoolean(name) : otherwise;
    }

    private long micros(String name, String otherwise) {
        try {
            return SketchSettings.micros(name, text(name, otherwise), 1);
        } catch (MillraceException e) {
            throw bad(name, String.valueOf(e.getMessage()));
        }
    }

    private void rejectUnknown() {
        for (Map.Entry<String, ConfigValue> entry : config.root().entrySet()) {
            if (!asked.contains(entry.getKey())) {
                String near = Suggestion.nearest(entry.getKey(), asked)
                        .map(name -> "; did you mean \"" + name + "\"?")
                        .orElse("");
                throw new ConfigException.BadValue(
                        entry.getValue().origin(), prefix + entry.getKey(), "there is no such option" + near);
            }
        }
    }

    private ConfigException bad(String name, String why) {
        ConfigOrigin origin = config.hasPath(name)
                ? config.getValue(name).origin()
                : config.root().origin();
        return new ConfigException.BadValue(origin, prefix + name, why);
    }
}
