package dev.millrace.server.bytes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * Runs {@link BytesFuzz} where every access to memory is checked, in a JVM of its own, which a bad one may end. A failure names
 * its case: {@code -Dmillrace.bytes.seed=S -Dmillrace.bytes.first=N -Dmillrace.bytes.messages=1} runs it again.
 */
class BytesFuzzTest {
    private static final long MESSAGES = Long.getLong("millrace.bytes.messages", 2_000);
    private static final long FIRST = Long.getLong("millrace.bytes.first", 0);
    private static final int PROCESSES = Integer.getInteger("millrace.bytes.processes", 1);
    private static final int SHOWN_LINES = 100;
    private static final long SEED = Long.getLong("millrace.bytes.seed", 1);

    @Test
    void damagedMessagesAreReadOrRefusedAndTouchNothingElse() throws Exception {
        System.out.println("bytes: " + MESSAGES + " damaged messages, seed " + SEED);
        List<CompletableFuture<String>> processes = new ArrayList<>();
        for (int process = 0; process < PROCESSES; process++) {
            long first = FIRST + MESSAGES * process / PROCESSES;
            long end = FIRST + MESSAGES * (process + 1) / PROCESSES;
            processes.add(CompletableFuture.supplyAsync(() -> run(first, end - first)));
        }
        for (CompletableFuture<String> process : processes) {
            assertEquals("", process.get());
        }
    }

    /** What a process said last that failed. */
    private static String run(long first, long count) {
        try {
            Process process = new ProcessBuilder(command(first, count))
                    .redirectErrorStream(true)
                    .start();
            Deque<String> last = new ArrayDeque<>();
            try (BufferedReader lines =
                    new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    last.add(line);
                    if (last.size() > SHOWN_LINES) {
                        last.remove();
                    }
                    if (line.contains("damaged messages")) {
                        System.out.println(line);
                    }
                }
                return process.waitFor() == 0 ? "" : String.join("\n", last);
            } finally {
                process.destroy();
            }
        } catch (IOException | InterruptedException e) {
            return e.toString();
        }
    }

    private static List<String> command(long first, long count) {
        List<String> command = new ArrayList<>();
        command.add(ProcessHandle.current().info().command().orElseThrow());
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(argument -> argument.startsWith("--") || argument.startsWith("-XX:+"))
                .forEach(command::add);
        command.addAll(List.of(
                "-Xmx1g",
                "-Dmillrace.memory.checked=true",
                "-cp",
                System.getProperty("java.class.path"),
                BytesFuzz.class.getName(),
                Long.toString(count),
                Long.toString(SEED),
                Long.toString(first)));
        return command;
    }
}
