package dev.millrace.cli;

import dev.millrace.testing.time.Eventually;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** {@code millrace server} in a process of its own, as users run it; what it says is gathered. */
public final class ServerProcess implements AutoCloseable {
    private static final Pattern LISTENING = Pattern.compile("millrace: listening on .*:(\\d+); connect");
    private static final Pattern HTTP = Pattern.compile("http://localhost:(\\d+)");
    private static final long STOP_SECONDS = 60;

    private final Process process;
    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final Thread reader;

    private ServerProcess(Process process) {
        this.process = process;
        this.reader = new Thread(this::read, "server-output");
        reader.setDaemon(true);
        reader.start();
    }

    /** Starts it and waits until it listens or ends; {@code -Xmx..}, for another heap, comes first. */
    public static ServerProcess start(String... arguments) throws Exception {
        return start(command(arguments));
    }

    /** The same with a jar more on its class path, as those in the folder plugins are. */
    static ServerProcess startWith(Path jar, String... arguments) throws Exception {
        ProcessBuilder builder = command(arguments);
        List<String> command = builder.command();
        int place = command.indexOf("-cp") + 1;
        command.set(place, command.get(place) + File.pathSeparator + jar);
        return start(builder);
    }

    /** The same by the command that users have, with such options of the JVM. */
    public static ServerProcess launch(String jvmOptions, List<String> command) throws Exception {
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().put("MILLRACE_JVM_OPTIONS", jvmOptions);
        builder.environment().put("MILLRACE_JAVA_HOME", System.getProperty("java.home"));
        builder.environment().put("MILLRACE_REBUILD", "never");
        return start(builder);
    }

    /** The same of a server that another command starts. */
    static ServerProcess start(ProcessBuilder command) throws Exception {
        command.environment().remove("MILLRACE_PASSWORD");
        ServerProcess started =
                new ServerProcess(command.redirectErrorStream(true).start());
        try {
            Eventually.holds(
                    "the server listens or ends",
                    () -> !started.process.isAlive() || !started.find(LISTENING).isEmpty());
        } catch (AssertionError e) {
            throw new AssertionError(e.getMessage() + ": " + started.lines + "\n" + started.stacks(), e);
        }
        return started;
    }

    /** What its threads are at. */
    private String stacks() throws IOException {
        Process jstack = new ProcessBuilder(
                        System.getProperty("java.home") + "/bin/jstack", String.valueOf(process.pid()))
                .redirectErrorStream(true)
                .start();
        return new String(jstack.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    private static ProcessBuilder command(String... all) {
        List<String> arguments = new ArrayList<>(List.of(all));
        String heap = arguments.get(0).startsWith("-Xmx") ? arguments.remove(0) : "-Xmx256m";
        List<String> command = new ArrayList<>(List.of(
                System.getProperty("java.home") + "/bin/java",
                "--add-opens=java.base/java.nio=ALL-UNNAMED",
                "-XX:+UseG1GC",
                "-XX:MaxGCPauseMillis=30",
                "-XX:MaxNewSize=32m",
                "-XX:-G1UseAdaptiveIHOP",
                "-XX:InitiatingHeapOccupancyPercent=50",
                "-XX:TieredStopAtLevel=1",
                "-Xshare:auto",
                "-XX:+IgnoreUnrecognizedVMOptions",
                "-XX:TrimNativeHeapInterval=10000",
                heap));
        if (Runtime.version().feature() >= 23) {
            command.add("--sun-misc-unsafe-memory-access=allow");
        }
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName(), "server"));
        command.addAll(arguments);
        return new ProcessBuilder(command);
    }

    private void read() {
        try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = out.readLine(); line != null; line = out.readLine()) {
                lines.add(line);
            }
        } catch (IOException e) {
            lines.add("cannot read: " + e.getMessage());
        }
    }

    private List<String> find(Pattern pattern) {
        return lines.stream()
                .map(pattern::matcher)
                .filter(Matcher::find)
                .map(found -> found.group(1))
                .toList();
    }

    public int port() {
        return Integer.parseInt(found(LISTENING));
    }

    public int httpPort() {
        return Integer.parseInt(found(HTTP));
    }

    private String found(Pattern pattern) {
        return find(pattern).stream()
                .findFirst()
                .orElseThrow(() -> new AssertionError("the server did not start: " + lines));
    }

    public Connection connect() throws SQLException {
        return connect(new Properties());
    }

    /** The same with options of pgjdbc's. */
    public Connection connect(Properties options) throws SQLException {
        return DriverManager.getConnection(
                "jdbc:postgresql://localhost:" + port() + "/millrace?user=millrace&sslmode=disable", options);
    }

    /** Its number. */
    public long process() {
        return process.pid();
    }

    /** The most memory that it had so far, bytes; 0 where the system does not say. */
    public long mostResidentBytes() throws IOException {
        Path status = Path.of("/proc", Long.toString(process.pid()), "status");
        if (!Files.exists(status)) {
            return 0;
        }
        for (String line : Files.readAllLines(status)) {
            if (line.startsWith("VmHWM:")) {
                return Long.parseLong(line.replaceAll("\\D+", "")) << 10;
            }
        }
        return 0;
    }

    /** What it said so far, of both streams. */
    public List<String> lines() {
        return lines;
    }

    /** Asks it to collect garbage, as {@code jcmd} does. */
    public void collectGarbage() throws Exception {
        jcmd("GC.run");
    }

    /** What all its threads are at. */
    public String threads() throws Exception {
        return jcmd("Thread.print");
    }

    private String jcmd(String command) throws Exception {
        Process jcmd = new ProcessBuilder(
                        System.getProperty("java.home") + "/bin/jcmd", Long.toString(process.pid()), command)
                .redirectErrorStream(true)
                .start();
        String said = new String(jcmd.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (jcmd.waitFor() != 0) {
            throw new AssertionError("jcmd said: " + said);
        }
        return said;
    }

    /** As {@code kill} does. */
    public void terminate() {
        process.toHandle().destroy(); // that of the process would close what it says, too
    }

    /** As {@code kill -9} does. */
    public void kill() throws Exception {
        process.destroyForcibly();
        awaitExit();
    }

    /** Waits for its end; its exit code. */
    public int awaitExit() throws Exception {
        if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
            throw new AssertionError("the server does not end: " + lines);
        }
        reader.join();
        return process.exitValue();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
