package dev.millrace.benchmarks.wire;

import dev.millrace.benchmarks.storage.Folders;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * {@code ./millrace bench definitions DIR}: queries that differ in literals, each made by a statement of its own and on disk before its client hears
 * of it; then the server is ended and
 * started again.
 */
@Command(
        name = "definitions",
        description =
                "Makes queries that differ in literals by single statements, by one client and by many, and starts the server again; one JSON line per case.",
        mixinStandardHelpOptions = true)
public final class DefinitionsCommand implements Callable<Integer> {
    private static final int MANY = 64; // clients
    private static final int AHEAD = 64; // statements of a client that does not wait for each

    @Parameters(
            paramLabel = "DIR",
            description = "A directory on the disk to be measured; a new one is made in it, and removed.")
    private Path directory;

    @Option(names = "--queries", defaultValue = "20000", description = "Of each case (default: ${DEFAULT-VALUE}).")
    private int queries;

    private final AtomicInteger made = new AtomicInteger();

    @Override
    public Integer call() throws IOException, InterruptedException {
        Path place = Files.createTempDirectory(directory, "millrace-definitions");
        List<String> options = List.of("--data", place.resolve("data").toString());
        try {
            try (Peer peer = Peer.start(2 * MANY, options);
                    WireClient client = new WireClient(peer.port(), "millrace")) {
                client.run("CREATE STREAM readings (device TEXT, ts TIMESTAMP, temp DOUBLE PRECISION)");
                make(peer, 1, 1, queries / 4); // the server's code is compiled after that
                make(peer, MANY, 1, queries / 4);
                System.out.println(measured("one by one", peer, 1, 1));
                System.out.println(measured("ahead", peer, 1, AHEAD));
                System.out.println(measured("at once", peer, MANY, 1));
                end(peer);
            }
            long began = System.nanoTime();
            try (Peer again = Peer.start(2 * MANY, options);
                    WireClient client = new WireClient(again.port(), "millrace")) {
                client.run("CREATE VIEW restored AS SELECT 1 AS one"); // waits until all is there
                System.out.println(new ResultLine("restart", 1)
                        .rate("queries", made.get(), (System.nanoTime() - began) / 1e9)
                        .with("cpu_s", again.cpuSeconds().orElse(Double.NaN)));
                end(again);
            }
        } finally {
            Folders.remove(place);
        }
        return 0;
    }

    private static void end(Peer peer) throws InterruptedException {
        Process process = peer.process().orElseThrow();
        process.destroy();
        process.waitFor();
    }

    private ResultLine measured(String name, Peer peer, int clients, int ahead) throws IOException {
        double cpu = peer.cpuSeconds().orElse(Double.NaN);
        long began = System.nanoTime();
        make(peer, clients, ahead, queries);
        double seconds = (System.nanoTime() - began) / 1e9;
        return new ResultLine(name, clients)
                .rate("queries", queries, seconds)
                .with("cpu_ms_each", 1e3 * (peer.cpuSeconds().orElse(Double.NaN) - cpu) / queries);
    }

    /** @param ahead statements that a client has under way at once */
    private void make(Peer peer, int clients, int ahead, int count) throws IOException {
        List<WireClient> all = new ArrayList<>();
        try {
            List<CompletableFuture<Void>> threads = new ArrayList<>();
            for (int i = 0; i < clients; i++) {
                WireClient client = new WireClient(peer.port(), "millrace");
                all.add(client);
                threads.add(CompletableFuture.runAsync(
                        () -> make(client, ahead, count / clients), task -> new Thread(task).start()));
            }
            threads.forEach(CompletableFuture::join);
        } finally {
            for (WireClient client : all) {
                client.close();
            }
        }
    }

    private void make(WireClient client, int ahead, int count) {
        try {
            for (int i = 0; i < count + ahead; i++) {
                if (i >= ahead) {
                    client.untilReady();
                }
                if (i < count) {
                    int number = made.incrementAndGet();
                    client.ask("CREATE CONTINUOUS QUERY q" + number
                            + " AS SELECT ts, temp FROM readings WHERE device = 'device-" + number + "' AND temp > "
                            + (50 + number % 50));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
