package dev.millrace.benchmarks.wire;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The server that is measured: one that runs already, or a Millrace in a process of its own.
 *
 * @param port on this machine
 * @param process of a server that was started for this
 */
record Peer(int port, Optional<Process> process) implements AutoCloseable {
    private static final Pattern LISTENING = Pattern.compile("listening on \\S+:(\\d+)");
    private static final Pattern PEAK = Pattern.compile("VmHWM:\\s+(\\d+) kB");

    static Peer at(int port) {
        return new Peer(port, Optional.empty());
    }

    /** Starts {@code millrace server} in memory with this program's JVM options. */
    static Peer start(int connections) throws IOException {
        return start(connections, List.of());
    }

    /** The same with further options of the server. */
    static Peer start(int connections, List<String> options) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(ProcessHandle.current().info().command().orElse("java"));
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), "dev.millrace.cli.Main", "server"));
        command.addAll(List.of("--port", "0", "--no-http", "--max-connections", Integer.toString(connections)));
        command.addAll(options);
        Process process = new ProcessBuilder(command)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        BufferedReader errors =
                new BufferedReader(new InputStreamReader(process.getErrorStream(), StandardCharsets.UTF_8));
        for (String line = errors.readLine(); line != null; line = errors.readLine()) {
            Matcher matcher = LISTENING.matcher(line);
            if (matcher.find()) {
                Thread drain = new Thread(() -> passOn(errors), "server-errors");
                drain.setDaemon(true);
                drain.start();
                return new Peer(Integer.parseInt(matcher.group(1)), Optional.of(process));
            }
            System.err.println(line);
        }
        throw new IOException("the server did not start");
    }

    private static void passOn(BufferedReader errors) {
        try {
            errors.lines().forEach(System.err::println);
        } catch (UncheckedIOException e) {
            // the server was stopped
        }
    }

    /** CPU seconds that the server has taken, where it was started for this. */
    Optional<Double> cpuSeconds() {
        return process.flatMap(p -> p.info().totalCpuDuration()).map(cpu -> cpu.toNanos() / 1e9);
    }

    /** The most memory that the server had, in megabytes, where it was started for this and the system tells. */
    Optional<Long> peakMegabytes() {
        if (process.isEmpty()) {
            return Optional.empty();
        }
        Path status = Path.of("/proc", Long.toString(process.get().pid()), "status");
        try {
            Matcher matcher = PEAK.matcher(Files.readString(status));
            return matcher.find() ? Optional.of(Long.parseLong(matcher.group(1)) >> 10) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty(); // not Linux
        }
    }

    @Override
    public void close() {
        process.ifPresent(Process::destroy);
    }
}
