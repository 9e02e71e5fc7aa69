package dev.millrace.benchmarks.wire;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;

/**
 * From INSERT to the subscriber's row through a query without windows. Rows are due at a fixed rate, some of them in one
 * INSERT each millisecond where there are more than one, and what is timed begins when a row was due: a server that keeps
 * its client waiting does not make the figure look better.
 */
final class Latency {
    private static final long PERIOD_NANOS = 1_000_000;
    private static final int WARM_UP = 40_000; // INSERTs, one after the other: the server's code is compiled by then

    private final Peer peer;
    private final String user;
    private final double seconds;

    Latency(Peer peer, String user, double seconds) {
        this.peer = peer;
        this.user = user;
        this.seconds = seconds;
    }

    /** Inserts at a rate, a multiple of 1,000 rows a second; the first third of the time, after a warm-up, is not counted. */
    List<ResultLine> run(int rowsPerSecond) throws IOException {
        int batch = Math.max(1, (int) (rowsPerSecond * PERIOD_NANOS / 1_000_000_000L));
        int periods = (int) (seconds * 1e9 / PERIOD_NANOS);
        try (WireClient sender = new WireClient(peer.port(), user);
                WireClient reader = new WireClient(peer.port(), user)) {
            sender.run("DROP CONTINUOUS QUERY IF EXISTS wire_passed");
            sender.run("DROP STREAM IF EXISTS wire_sent");
            sender.run("CREATE STREAM wire_sent (due BIGINT, n INTEGER)");
            sender.run("CREATE CONTINUOUS QUERY wire_passed AS SELECT due, n + 1 AS n FROM wire_sent WHERE n >= 0");
            reader.ask("SUBSCRIBE TO wire_passed");
            CompletableFuture<long[]> waits = CompletableFuture.supplyAsync(
                    () -> read(reader, (WARM_UP + periods) * batch), task -> new Thread(task).start());
            LockSupport.parkNanos(200_000_000); // until it listens
            for (int i = 0; i < WARM_UP; i++) {
                sender.run(insert(System.nanoTime(), batch));
            }
            long start = System.nanoTime();
            for (int period = 0; period < periods; period++) {
                long due = start + period * PERIOD_NANOS;
                for (long now = System.nanoTime(); now < due; now = System.nanoTime()) {
                    LockSupport.parkNanos(due - now);
                }
                sender.run(insert(due, batch));
            }
            long[] nanos = waits.join();
            long[] counted = Arrays.copyOfRange(nanos, (WARM_UP + periods / 3) * batch, nanos.length);
            return List.of(new ResultLine("latency", 1)
                    .with("rows_per_second", rowsPerSecond)
                    .with("rows", counted.length)
                    .waits(counted));
        }
    }

    private static String insert(long due, int rows) {
        StringBuilder sql = new StringBuilder("INSERT INTO wire_sent VALUES ");
        for (int i = 0; i < rows; i++) {
            sql.append(i == 0 ? "(" : ", (").append(due).append(", ").append(i).append(')');
        }
        return sql.toString();
    }

    /** Column 2 of a row is when it was due: behind the change's sign and the epoch's time. */
    private static long[] read(WireClient reader, int rows) {
        try {
            long[] waits = new long[rows];
            for (int row = 0; row < rows; ) {
                if (reader.next() == 'D') {
                    waits[row++] = System.nanoTime() - Long.parseLong(reader.column(2));
                }
            }
            return waits;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
