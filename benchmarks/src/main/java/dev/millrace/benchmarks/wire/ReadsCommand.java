package dev.millrace.benchmarks.wire;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code ./millrace bench reads}: prepared reads by key of a table and of a view, beside rows that are inserted and that the
 * view counts; one JSON line each on stdout.
 */
@Command(
        name = "reads",
        description = "Measures reads by key, beside inserted rows, on a Millrace started for it, or --port.",
        mixinStandardHelpOptions = true)
public final class ReadsCommand implements Callable<Integer> {
    private static final int KEYS = 100_000; // of the view
    private static final int ROWS_TOGETHER = 1_000;
    private static final int MOST_TIMED = 4_000_000;

    @Option(names = "--port", description = "Of a server that runs on this machine and asks for no password.")
    private Integer port; // null: one is started

    @Option(names = "--user", defaultValue = "millrace", description = "Role and database (default: ${DEFAULT-VALUE}).")
    private String user;

    @Option(names = "--clients", defaultValue = "8", description = "That read (default: ${DEFAULT-VALUE}).")
    private int clients;

    @Option(
            names = "--pipeline",
            defaultValue = "16",
            description = "Reads that a client sends before it reads (default: ${DEFAULT-VALUE}).")
    private int pipeline;

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
        AtomicBoolean over = new AtomicBoolean();
        CompletableFuture<Long> inserted =
                CompletableFuture.supplyAsync(() -> insert(peer, over), task -> new Thread(task).start());
        read(peer, sql, keys, seconds / 3); // the server's code is compiled by then
        List<CompletableFuture<long[]>> readers = new ArrayList<>();
        long start = System.nanoTime();
        for (int i = 0; i < clients; i++) {
            readers.add(CompletableFuture.supplyAsync(
                    () -> read(peer, sql, keys, seconds), task -> new Thread(task).start()));
        }
        long[] waits = readers.stream()
                .map(CompletableFuture::join)
                .flatMapToLong(Arrays::stream)
                .toArray();
        double took = (System.nanoTime() - start) / 1e9;
        over.set(true);
        System.out.println(new Result("reads of a " + name, clients)
                .with("pipeline", pipeline)
                .with("inserted_rows", inserted.join())
                .rate("reads", waits.length, took)
                .waits(waits));
    }

    /** Reads until the time is over; returns how long each waited, from when it was sent. */
    private long[] read(Peer peer, String sql, int keys, double howLong) {
        long[] waits = new long[MOST_TIMED];
        long[] sent = new long[pipeline];
        int count = 0;
        SplittableRandom random = new SplittableRandom();
        try (WireClient client = new WireClient(peer.port(), user)) {
            client.prepare("r", sql);
            long end = System.nanoTime() + (long) (howLong * 1e9);
            int ahead = 0;
            for (int read = 0; count < waits.length && System.nanoTime() < end; read++) {
                if (ahead - read <= pipeline / 2) { // half of them at once: a message each would measure the network
                    for (; ahead < read + pipeline; ahead++) {
                        sent[ahead % pipeline] = System.nanoTime();
                        client.execute("r", Integer.toString(random.nextInt(keys)));
                    }
                    client.flush();
                }
                if (client.untilReady() != 1) {
                    throw new IOException("a key was not found");
                }
                waits[count++] = System.nanoTime() - sent[read % pipeline];
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return Arrays.copyOf(waits, count);
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
