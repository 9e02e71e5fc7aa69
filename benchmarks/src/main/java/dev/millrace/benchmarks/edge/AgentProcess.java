package dev.millrace.benchmarks.edge;

import dev.millrace.edge.agent.EdgeProgram;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** An agent as it is shipped, started by its launcher, and what it has used as the system counts that. */
final class AgentProcess implements AutoCloseable {
    private final Process process;
    private final long startNanos = System.nanoTime();
    private long peakKilobytes;
    private Duration cpu = Duration.ZERO;

    AgentProcess(Path config) throws IOException {
        process = new ProcessBuilder(launcher().toString(), "--config", config.toString())
                .inheritIO()
                .start();
    }

    private static Path launcher() throws IOException {
        try {
            Path jar = Path.of(EdgeProgram.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
            return jar.resolveSibling("../edge/millrace-edge").normalize();
        } catch (URISyntaxException e) {
            throw new IOException(e);
        }
    }

    /** Looks at it; false if it has ended. */
    boolean look() {
        try {
            Files.readAllLines(Path.of("/proc/" + process.pid() + "/status")).stream()
                    .filter(line -> line.startsWith("VmHWM:"))
                    .forEach(line ->
                            peakKilobytes = Math.max(peakKilobytes, Long.parseLong(line.replaceAll("\\D", ""))));
        } catch (IOException e) {
            return process.isAlive(); // the system has no such files, or it has just ended
        }
        process.info().totalCpuDuration().ifPresent(now -> cpu = now.compareTo(cpu) > 0 ? now : cpu);
        return process.isAlive();
    }

    /** Looks until it ends. @throws IOException if that is with an error */
    void await() throws IOException, InterruptedException {
        while (look()) {
            process.waitFor(5, TimeUnit.MILLISECONDS);
        }
        if (process.waitFor() != 0) {
            throw new IOException("the agent has ended with " + process.exitValue());
        }
    }

    long startNanos() {
        return startNanos;
    }

    /** Seconds of processors, as of the last look. */
    double cpuSeconds() {
        return cpu.toNanos() / 1e9;
    }

    /** The most memory that was resident, in MB, as of the last look; 0 where that is not known. */
    double peakMb() {
        return peakKilobytes / 1024.0;
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
