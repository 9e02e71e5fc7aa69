package dev.millrace.server.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/** Installs clients, once for each version of what is asked for, and runs programs. */
final class ClientPrograms {
    private static final Path CACHE = Path.of("target", "clients").toAbsolutePath();
    private static final long INSTALL_SECONDS = 240;
    private static final long RUN_SECONDS = 240;

    private ClientPrograms() {}

    /** A program of the test resources. */
    static Path program(String name) throws Exception {
        return Path.of(ClientPrograms.class.getResource("/clients/" + name).toURI());
    }

    /** The folder where something is installed, made by {@code steps} when it is not there; the test is skipped if they fail. */
    static Path installed(String name, String what, Step steps) throws Exception {
        Path folder = CACHE.resolve(name);
        Path stamp = folder.resolve("installed");
        if (Files.exists(stamp) && Files.readString(stamp).equals(what)) {
            return folder;
        }
        Files.createDirectories(folder);
        Optional<String> failure = steps.install(folder);
        if (failure.isPresent()) {
            skip(name, failure.get());
        }
        Files.writeString(stamp, what);
        return folder;
    }

    interface Step {
        /** What went wrong, if anything. */
        Optional<String> install(Path folder) throws Exception;
    }

    static void skip(String name, String why) {
        System.out.println("Client " + name + " skipped because "
                + why.lines().reduce((a, b) -> b).orElse(why));
        Assumptions.abort(why);
    }

    static void requireProgram(String name, String... versionCommand) throws Exception {
        try {
            if (new ProcessBuilder(versionCommand)
                            .redirectErrorStream(true)
                            .start()
                            .waitFor()
                    == 0) {
                return;
            }
        } catch (IOException e) {
            // not there
        }
        skip(name, "there is no " + versionCommand[0] + " on the path");
    }

    /** Runs a step of an installation; gives its output if it failed. */
    static Optional<String> step(Path folder, String... command) throws Exception {
        return run(folder, INSTALL_SECONDS, command).failure();
    }

    private record Outcome(boolean ok, String output) {
        Optional<String> failure() {
            return ok ? Optional.empty() : Optional.of(output.isBlank() ? "a step failed without a word" : output);
        }
    }

    private static Outcome run(Path folder, long seconds, String... command) throws Exception {
        Path out = Files.createTempFile("millrace-client", ".out");
        try {
            Process process = new ProcessBuilder(List.of(command))
                    .directory(folder.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(out.toFile())
                    .start();
            boolean ended = process.waitFor(seconds, TimeUnit.SECONDS);
            if (!ended) {
                process.destroyForcibly().waitFor();
            }
            return new Outcome(ended && process.exitValue() == 0, Files.readString(out, StandardCharsets.UTF_8));
        } finally {
            Files.delete(out);
        }
    }

    /** Runs a client's program, which prints {@code done} when all it checks holds. */
    static void check(Path folder, String... command) throws Exception {
        Outcome outcome = run(folder, RUN_SECONDS, command);
        assertTrue(outcome.ok(), outcome.output());
        assertEquals(
                "done", outcome.output().strip().lines().reduce((a, b) -> b).orElse(""), outcome.output());
    }
}
