package dev.millrace.cli.edge;

import dev.millrace.edge.agent.Fleet;
import dev.millrace.edge.config.EdgeConfig;
import dev.millrace.edge.config.EdgeConfigFile;
import dev.millrace.error.MillraceException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/**
 * {@code millrace edge simulate}: many devices in this process, with sensors that make up what they measure. A line a second says how they are. Exit codes: 0
 * when all that they took is at the server, 1 if not, or for an error.
 */
final class SimulateCommand {
    private static final long SECOND = 1_000_000_000L;

    private SimulateCommand() {}

    static CommandSpec spec() {
        CommandSpec spec = CommandSpec.create().name("simulate").mixinStandardHelpOptions(true);
        spec.usageMessage()
                .description(
                        "Has many devices in this process send to a server's --edge-port, without TLS, for tests and demonstrations.",
                        "The stream: CREATE STREAM sensors (time TIMESTAMPTZ, reading BIGINT, temperature DOUBLE PRECISION, state TEXT)",
                        "WITH (connector = 'edge', include.device = 'device')");
        option(spec, "--devices", "N", "How many (default: ${DEFAULT-VALUE}).", "1000");
        option(spec, "--server", "HOST:PORT", "Where to (default: ${DEFAULT-VALUE}).", "localhost:5435");
        option(
                spec,
                "--user",
                "ROLE",
                "The role whose devices they are: ROLE/1 and so on (default: ${DEFAULT-VALUE}).",
                "millrace");
        option(
                spec,
                "--token",
                "TOKEN",
                "Its password, where the server asks for one (default: ${DEFAULT-VALUE}).",
                "none");
        option(spec, "--stream", "NAME", "What they call the stream (default: ${DEFAULT-VALUE}).", "sensors");
        option(
                spec,
                "--every",
                "TIME",
                "How long from one reading of a device to the next (default: ${DEFAULT-VALUE}).",
                "1s");
        option(spec, "--error", "BOUND", "How far a temperature may be off (default: ${DEFAULT-VALUE}).", "1%");
        option(spec, "--segment", "TIME", "How long a segment is (default: ${DEFAULT-VALUE}).", "10s");
        option(spec, "--seconds", "N", "How long readings are taken (default: ${DEFAULT-VALUE}).", "60");
        option(spec, "--threads", "N", "Threads that drive the devices (default: ${DEFAULT-VALUE}).", "2");
        option(
                spec,
                "--data",
                "DIR",
                "Keep their queues there, and go on from them; otherwise they are removed at the end.",
                null);
        return spec;
    }

    private static void option(
            CommandSpec spec,
            String name,
            String label,
            String description,
            @org.jspecify.annotations.Nullable String otherwise) {
        OptionSpec.Builder option = OptionSpec.builder(name)
                .paramLabel(label)
                .description(description)
                .type(label.equals("N") ? Integer.class : String.class);
        spec.addOption(
                otherwise == null
                        ? option.build()
                        : option.defaultValue(otherwise).build());
    }

    static int run(ParseResult arguments) {
        if (arguments.isUsageHelpRequested()) {
            arguments.commandSpec().commandLine().usage(System.out);
            return 0;
        }
        Optional<Path> kept = Optional.ofNullable(arguments.matchedOptionValue("--data", (String) null))
                .map(Path::of);
        try {
            Path folder = kept.isPresent()
                    ? Files.createDirectories(kept.get())
                    : Files.createTempDirectory("millrace-fleet");
            try {
                return run(arguments, folder);
            } finally {
                if (kept.isEmpty()) {
                    remove(folder);
                }
            }
        } catch (MillraceException e) {
            System.err.println("millrace edge simulate: " + e.getMessage()
                    + e.hint().map(hint -> "; " + hint).orElse(""));
        } catch (IOException e) {
            System.err.println("millrace edge simulate: cannot use the directory " + e.getMessage());
        }
        return 1;
    }

    private static void remove(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path file : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    private static int number(ParseResult arguments, String name) {
        int number = arguments.commandSpec().findOption(name).getValue();
        if (number < 1 || number > 1_000_000) {
            throw MillraceException.user(
                    dev.millrace.error.SqlState.INVALID_PARAMETER_VALUE, name + " is 1 to 1000000, not " + number);
        }
        return number;
    }

    private static String text(ParseResult arguments, String name) {
        return arguments.commandSpec().findOption(name).getValue();
    }

    private static int run(ParseResult arguments, Path folder) {
        List<EdgeConfig> devices = new ArrayList<>();
        for (int i = 1; i <= number(arguments, "--devices"); i++) {
            devices.add(EdgeConfigFile.parse(
                    """
                    device = "%s/%d", data = "%s", commit = 30s, status = 10s, queue { size = 16m }
                    server { address = "%s", token = "%s", tls = false }
                    streams { "%s" {
                      input { type = sensor, every = %s, seed = %d }
                      sketch { error = "%s", segment = %s }
                    } }
                    """.formatted(
                                    text(arguments, "--user"),
                                    i,
                                    folder.resolve(String.valueOf(i)),
                                    text(arguments, "--server"),
                                    text(arguments, "--token"),
                                    text(arguments, "--stream"),
                                    text(arguments, "--every"),
                                    i,
                                    text(arguments, "--error"),
                                    text(arguments, "--segment")),
                    "the command line"));
        }
        long seconds = number(arguments, "--seconds");
        try (BufferAllocator allocator = new RootAllocator();
                Fleet fleet = new Fleet(devices, number(arguments, "--threads"), allocator)) {
            watch(fleet, seconds, () -> false);
            fleet.finish();
            watch(fleet, Math.max(60, seconds), () -> fleet.status().done());
            Fleet.Status end = fleet.status();
            System.out.printf(
                    Locale.ROOT,
                    "{\"devices\":%d,\"rows\":%d,\"acknowledged\":%d,\"bytes\":%d}%n",
                    end.devices(),
                    end.rows(),
                    end.rows() - end.backlog(),
                    end.bytes());
            return end.done() ? 0 : 1;
        }
    }

    /** Says how they are once a second, for so long or until something is so. */
    private static void watch(Fleet fleet, long seconds, BooleanSupplier until) {
        long begin = System.nanoTime();
        for (long second = 1; second <= seconds && !until.getAsBoolean(); second++) {
            while (System.nanoTime() - begin < second * SECOND && !until.getAsBoolean()) {
                LockSupport.parkNanos(SECOND / 20);
            }
            Fleet.Status now = fleet.status();
            System.err.printf(
                    Locale.ROOT,
                    "%,d of %,d devices connected; %,d rows, of which %,d wait; %,d bytes%s%n",
                    now.connected(),
                    now.devices(),
                    now.rows(),
                    now.backlog(),
                    now.bytes(),
                    now.problem().map(problem -> "; " + problem).orElse(""));
        }
    }
}
