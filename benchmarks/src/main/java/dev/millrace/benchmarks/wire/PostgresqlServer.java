package dev.millrace.benchmarks.wire;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A PostgreSQL that was started for a measurement, with its defaults and so with fsync, in a directory of its own; or none.
 *
 * @param peer on this machine; its role is "postgres"
 */
record PostgresqlServer(Optional<Peer> peer, Optional<Path> directory) implements AutoCloseable {
    private static final String ROLE = "postgres";
    private static final long MOST_SECONDS = 60;

    /** Starts one, if there is a program, in a new directory inside {@code place}. It does not run as root: then it is its own user. */
    static PostgresqlServer start(Optional<PostgresqlProgram> program, Path place, int connections)
            throws IOException, InterruptedException {
        if (program.isEmpty()) {
            return new PostgresqlServer(Optional.empty(), Optional.empty());
        }
        Path directory = Files.createTempDirectory(place, "millrace-postgresql").toAbsolutePath();
        boolean isRoot = System.getProperty("user.name").equals("root");
        List<String> as = isRoot ? List.of("runuser", "-u", ROLE, "--") : List.of();
        if (isRoot) {
            Files.setOwner(
                    directory,
                    directory.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName(ROLE));
        }
        String data = directory.resolve("data").toString();
        Process made = run(
                as, program.get().path("initdb"), "-D", data, "-U", ROLE, "-A", "trust", "-E", "UTF8", "--locale=C");
        if (!made.waitFor(MOST_SECONDS, TimeUnit.SECONDS) || made.exitValue() != 0) {
            throw new IOException("initdb failed");
        }
        int port = freePort();
        Process server = run(
                as,
                program.get().path("postgres"),
                "-D",
                data,
                "-p",
                Integer.toString(port),
                "-h",
                "127.0.0.1",
                "-k",
                directory.toString(),
                "-N",
                Integer.toString(connections));
        awaitStart(server, port);
        return new PostgresqlServer(Optional.of(new Peer(port, Optional.of(server))), Optional.of(directory));
    }

    private static Process run(List<String> as, String... command) throws IOException {
        List<String> all = new ArrayList<>(as);
        all.addAll(List.of(command));
        return new ProcessBuilder(all)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    private static void awaitStart(Process server, int port) throws IOException, InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(MOST_SECONDS);
        while (true) {
            try (WireClient client = new WireClient(port, ROLE)) {
                client.run("SELECT 1");
                return;
            } catch (IOException e) {
                if (System.nanoTime() > end || server.waitFor(100, TimeUnit.MILLISECONDS)) {
                    throw new IOException("PostgreSQL did not start", e);
                }
            }
        }
    }

    @Override
    public void close() throws IOException {
        peer.ifPresent(Peer::close);
        if (directory.isPresent()) {
            peer.flatMap(Peer::process)
                    .ifPresent(process -> process.onExit()
                            .orTimeout(MOST_SECONDS, TimeUnit.SECONDS)
                            .join());
            try (Stream<Path> files = Files.walk(directory.get())) {
                for (Path file : files.sorted((a, b) -> b.compareTo(a)).toList()) {
                    Files.delete(file);
                }
            }
        }
    }
}
