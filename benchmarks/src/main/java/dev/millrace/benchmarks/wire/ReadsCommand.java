package dev.millrace.benchmarks.wire;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code ./millrace bench reads}: prepared reads by key of a table and of a view, alone and beside rows that are inserted and
 * that the view counts; one JSON line each on stdout. Of the processors' time server and clients are told apart.
 */
@Command(
        name = "reads",
        description = "Measures reads by key, alone and beside inserted rows, on a Millrace started for it, or --port.",
        mixinStandardHelpOptions = true)
public final class ReadsCommand implements Callable<Integer> {
    private static final int KEYS = 100_000; // of the view
    private static final int ROWS_TOGETHER = 1_000;
    private static final double WARM_UP_SECONDS = 5; // the server's code is compiled by then

    @Option(names = "--port", description = "Of a server that runs on this machine and asks for no password.")
    private @Nullable Integer port; // null: one is started

    @Option(names = "--user", defaultValue = "millrace", description = "Role and database (default: ${DEFAULT-VALUE}).")
    private String user;

    @Option(names = "--clients", defaultValue = "8", description = "That read (default: ${DEFAULT-VALUE}).")
    private int clients;

    @Option(
            names = "--pipeline",
            defaultValue = "16",
            description = "Reads that a client sends together, where not one by one (default: ${DEFAULT-VALUE}).")
    private int pipeline;

    @Option(
            names = "--rate",
            defaultValue = "100000",
            description = "Reads a second that are due, where not as many as are answered (default: ${DEFAULT-VALUE}).")
    private int rate;

    @Option(names = "--rows", defaultValue = "1000000", description = "Of the table (default: ${DEFAULT-VALUE}).")
    private int rows;

    @Option(
            names = "--inserts",
            defaultValue = "100000",
            description = "Rows inserted a second meanwhile (default: ${DEFAULT-VALUE}).")
    private int inserts;

    @Option(names = "--seconds", defaultValue = "10", description = "Of each case (default: ${DEFAULT-VALUE}).")
    private double seconds;

    @Override
    public Integer call() throws IOException {
        try (Peer peer = port == null ? Peer.start(clients + 10) : Peer.at(port);
                WireClient first = new WireClient(peer.port(), user)) {
            first.run("DROP MATERIALIZED VIEW IF EXISTS reads_counts");
            first.run("DROP STREAM IF EXISTS reads_inserted");
            first.run("DROP TABLE IF EXISTS reads_rows");
            first.run("CREATE TABLE reads_rows (k BIGINT PRIMARY KEY, v BIGINT, name TEXT)");
            first.run("CREATE STREAM reads_inserted (k BIGINT, v BIGINT)");
            first.run("CREATE MATERIALIZED VIEW reads_counts AS"
                    + " SELECT k, count(*) AS n, sum(v) AS v FROM reads_inserted GROUP BY k");
            copy(first, "reads_rows", rows, true);
            copy(first, "reads_inserted", KEYS, false);
            first.run("FLUSH");
            run(peer, "table", "SELECT v, name FROM reads_rows WHERE k = $1", rows);
            run(peer, "view", "SELECT n, v FROM reads_counts WHERE k = $1", KEYS);
        }
        return 0;
    }

    private static void copy(WireClient client, String relation, int count, boolean named) throws IOException {
        client.copyIn("COPY " + relation + " FROM STDIN");
        for (int from = 0; from < count; from += ROWS_TOGETHER) {
            byte[] lines = lines(from, Math.min(count, from + ROWS_TOGETHER), count, named);
            client.copyData(lines, lines.length);
        }
        client.copyDone();
    }

    private static byte[] lines(long from, long to, int keys, boolean named) {
        StringBuilder lines = new StringBuilder();
        for (long row = from; row < to; row++) {
            lines.append(row % keys).append('\t').append(row * 7);
            if (named) {
                lines.append("\tname-").append(row);
            }
            lines.append('\n');
        }
        return lines.toString().getBytes(StandardCharsets.UTF_8);
    }

    private void run(Peer peer, String name, String sql, int keys) throws IOException {
        try (ReadLoad load = new ReadLoad(peer, user, clients, sql, keys)) {
            load.run(1, 0, WARM_UP_SECONDS / 2);
            load.run(pipeline, 0, WARM_UP_SECONDS / 2);
            alone(peer, load, name, 1);
            alone(peer, load, name, pipeline);
            AtomicBoolean over = new AtomicBoolean();
            CompletableFuture<Long> inserted =
                    CompletableFuture.supplyAsync(() -> insert(peer, over), task -> new Thread(task).start());
            load.run(pipeline, rate, WARM_UP_SECONDS);
            beside(peer, load, name, 1, 0);
            beside(peer, load, name, pipeline, 0);
            beside(peer, load, name, pipeline, rate);
            over.set(true);
            System.out.println(
                    new ResultLine("rows inserted beside reads of a " + name, 1).with("rows", inserted.join()));
        }
    }

    private void alone(Peer peer, ReadLoad load, String name, int depth) throws IOException {
        Optional<Double> before = peer.cpuSeconds();
        ReadLoad.Outcome outcome = load.run(depth, 0, seconds);
        ResultLine result = result("reads of a " + name, depth, outcome);
        before.ifPresent(from -> result.with(
                "server_cpu_us_per_read", 1e6 * (peer.cpuSeconds().orElseThrow() - from) / outcome.reads()));
        System.out.println(result);
    }

    /** What the server takes here is for the rows that are inserted, too. */
    private void beside(Peer peer, ReadLoad load, String name, int depth, int due) throws IOException {
        Optional<Double> before = peer.cpuSeconds();
        ReadLoad.Outcome outcome = load.run(depth, due, seconds);
        ResultLine result = result("reads of a " + name + " beside inserts", depth, outcome);
        if (due > 0) {
            result.with("reads_due_per_second", due);
        }
        before.ifPresent(
                from -> result.with("server_cpus", (peer.cpuSeconds().orElseThrow() - from) / outcome.seconds()));
        System.out.println(result);
    }

    private ResultLine result(String name, int depth, ReadLoad.Outcome outcome) {
        return new ResultLine(name, clients)
                .with("reads_in_a_packet", depth)
                .rate("reads", outcome.reads(), outcome.seconds())
                .with("client_cpu_us_per_read", 1e6 * outcome.cpuSeconds() / outcome.reads())
                .waits(outcome.waits());
    }

    /** Inserts at the rate that is asked for; returns how many rows. */
    private long insert(Peer peer, AtomicBoolean over) {
        try (WireClient client = new WireClient(peer.port(), user)) {
            long row = 0;
            long begin = System.nanoTime();
            client.copyIn("COPY reads_inserted FROM STDIN");
            while (!over.get() && inserts > 0) {
                byte[] lines = lines(row, row + ROWS_TOGETHER, KEYS, false);
                client.copyData(lines, lines.length);
                row += ROWS_TOGETHER;
                LockSupport.parkNanos(begin + (long) (row * 1e9 / inserts) - System.nanoTime());
            }
            client.copyDone();
            return row;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
