package dev.millrace.edge.input;

import dev.millrace.connector.Options;
import dev.millrace.edge.config.EdgeConfig.InputConfig;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.time.Clock;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Path;
import java.util.Optional;

/** Makes inputs of what is configured. */
public final class EdgeInputs {
    private static final long RECORD_BYTES = 1 << 20;
    private static final long MOST_RECORD_BYTES = 16 << 20;
    private static final int MOST_PEERS = 100;

    private EdgeInputs() {}

    /**
     * An input.
     *
     * @param options of input and format; those of the input are read
     * @param place where an earlier one was
     * @throws MillraceException naming the option that is wrong, or 08006 if a port cannot be had
     */
    public static Input open(
            InputConfig config, Options options, Optional<String> place, Clock clock, InputStream stdin, Path data) {
        int mostBytes = (int) options.integer("max_record_bytes", RECORD_BYTES, 1, MOST_RECORD_BYTES);
        return switch (config.type()) {
            case "stdin" -> new StdinInput(stdin, mostBytes, options.bool("skip_header", false));
            case "file" ->
                new TailedFile(
                        Path.of(options.required("path")),
                        options.bool("follow", true),
                        options.bool("skip_header", false),
                        mostBytes,
                        place);
            case "tcp" -> {
                String listen = options.required("listen");
                int colon = listen.lastIndexOf(':');
                yield new TcpInput(
                        listen.substring(0, Math.max(0, colon)).replaceAll("^\\[|]$", ""),
                        port(listen.substring(colon + 1), listen),
                        mostBytes,
                        (int) options.integer("max_connections", MOST_PEERS, 1, 10_000));
            }
            case "http" ->
                new HttpInput(
                        address(options.required("url")),
                        Math.max(1, options.durationMicros("every", 10_000_000) / 1000),
                        mostBytes);
            case "mqtt" -> MqttInput.open(config.format(), options, mostBytes, clock);
            case "system" -> new SystemInput(clock, Math.max(1000, options.durationMicros("every", 1_000_000)), data);
            case "sensor" ->
                new SensorInput(
                        clock,
                        Math.max(1000, options.durationMicros("every", 1_000_000)),
                        options.integer("seed", 1, Long.MIN_VALUE, Long.MAX_VALUE));
            default ->
                throw MillraceException.user(
                        SqlState.INVALID_PARAMETER_VALUE, "there is no input \"" + config.type() + "\"");
        };
    }

    private static int port(String text, String listen) {
        try {
            int port = Integer.parseInt(text);
            if (port >= 0 && port <= 65_535) {
                return port;
            }
        } catch (NumberFormatException e) {
            // falls through
        }
        throw Options.invalid("listen", listen, "host:port, such as 127.0.0.1:7000");
    }

    private static URI address(String text) {
        if (!text.startsWith("http://") && !text.startsWith("https://")) {
            throw Options.invalid("url", text, "an address of http or https");
        }
        try {
            return URI.create(text);
        } catch (IllegalArgumentException e) {
            throw Options.invalid("url", text, "an address of http or https");
        }
    }
}
