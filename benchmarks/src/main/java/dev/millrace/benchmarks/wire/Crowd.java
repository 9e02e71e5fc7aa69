package dev.millrace.benchmarks.wire;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * A thousand clients at once: 200 subscribers that read, 5 that subscribed and read nothing, the others idle. Meanwhile rows
 * are inserted, and one client more asks {@code SELECT 1}, a hundred times a second, and is timed.
 */
final class Crowd {
    private static final int CONNECTIONS = 1000;
    private static final int READING = 200;
    private static final int SLEEPING = 5;
    private static final int BUFFER = 1 << 12;
    private static final int ROWS_PER_INSERT = 20;
    private static final long INSERT_NANOS = 10_000_000; // between two: 2,000 rows a second
    private static final long SELECT_NANOS = 10_000_000;
    private static final String FILL = "x".repeat(200);

    private final Peer peer;
    private final String user;
    private final double seconds;

    Crowd(Peer peer, String user, double seconds) {
        this.peer = peer;
        this.user = user;
        this.seconds = seconds;
    }

    ResultLine run() throws IOException {
        List<WireClient> clients = new ArrayList<>();
        AtomicBoolean over = new AtomicBoolean();
        try (Selector selector = Selector.open()) {
            for (int i = 0; i < CONNECTIONS - 2; i++) {
                clients.add(new WireClient(peer.port(), user, BUFFER));
            }
            WireClient inserting = new WireClient(peer.port(), user);
            clients.add(inserting);
            WireClient asking = new WireClient(peer.port(), user);
            clients.add(asking);
            asking.run("DROP CONTINUOUS QUERY IF EXISTS wire_crowd");
            asking.run("DROP STREAM IF EXISTS wire_heard");
            asking.run("CREATE STREAM wire_heard (n BIGINT, fill TEXT)");
            asking.run("CREATE CONTINUOUS QUERY wire_crowd AS SELECT n, fill FROM wire_heard");
            for (int i = 0; i < READING + SLEEPING; i++) {
                WireClient subscriber = clients.get(i);
                subscriber.ask("SUBSCRIBE TO wire_crowd");
                while (subscriber.next() != 'T') {
                    // notices
                }
                if (i < READING) {
                    SocketChannel channel = subscriber.channel();
                    channel.configureBlocking(false);
                    channel.register(selector, SelectionKey.OP_READ);
                }
            }
            CompletableFuture<Long> heard =
                    CompletableFuture.supplyAsync(() -> read(selector, over), task -> new Thread(task).start());
            CompletableFuture<Long> inserted =
                    CompletableFuture.supplyAsync(() -> insert(inserting, over), task -> new Thread(task).start());
            long[] waits = select(asking);
            over.set(true);
            long sent = inserted.join();
            selector.wakeup();
            ResultLine result = new ResultLine("crowd", CONNECTIONS)
                    .with("inserted_rows", sent)
                    .with("subscribers_read_mb", heard.join() >> 20)
                    .waits(waits);
            peer.peakMegabytes().ifPresent(peak -> result.with("server_peak_mb", peak));
            return result;
        } finally {
            for (WireClient client : clients) {
                client.close();
            }
        }
    }

    private long[] select(WireClient client) throws IOException {
        long[] waits = new long[(int) (seconds * 1e9 / SELECT_NANOS)];
        for (int i = 0; i < waits.length; i++) {
            long start = System.nanoTime();
            client.run("SELECT 1");
            waits[i] = System.nanoTime() - start;
            LockSupport.parkNanos(SELECT_NANOS);
        }
        return Arrays.copyOfRange(waits, waits.length / 3, waits.length);
    }

    private static long insert(WireClient client, AtomicBoolean over) {
        try {
            long rows = 0;
            for (long due = System.nanoTime(); !over.get(); due += INSERT_NANOS) {
                StringBuilder sql = new StringBuilder("INSERT INTO wire_heard VALUES ");
                for (int i = 0; i < ROWS_PER_INSERT; i++) {
                    sql.append(i == 0 ? "(" : ", (")
                            .append(rows++)
                            .append(", '")
                            .append(FILL)
                            .append("')");
                }
                client.run(sql.toString());
                LockSupport.parkNanos(due + INSERT_NANOS - System.nanoTime());
            }
            return rows;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Reads what the subscribers are sent, and throws it away; returns how many bytes. */
    private static long read(Selector selector, AtomicBoolean over) {
        try {
            long bytes = 0;
            ByteBuffer buffer = ByteBuffer.allocateDirect(1 << 16);
            while (!over.get()) {
                selector.select(100);
                for (SelectionKey key : selector.selectedKeys()) {
                    buffer.clear();
                    int read = ((SocketChannel) key.channel()).read(buffer);
                    if (read < 0) {
                        throw new IOException("the server closed a subscriber that reads");
                    }
                    bytes += read;
                }
                selector.selectedKeys().clear();
            }
            return bytes;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
