package dev.millrace.benchmarks.wire;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * Clients that read rows by their keys with a prepared statement, all on the calling thread, which does little for each: what
 * it takes is taken from the server that is measured on the same machine.
 *
 * <p>Each client sends {@code depth} reads in one packet (Bind, Execute and Sync for each read) and waits for all their
 * answers. Without a rate it then sends the next ones at once. With a rate a packet is due at fixed times, and what is timed
 * begins when it was due: a server that keeps its clients waiting does not make the figures look better.
 */
final class ReadLoad implements AutoCloseable {
    private static final int MOST_TIMED = 1 << 22;
    private static final int BUFFER = 1 << 16;
    private static final long REST_NANOS = 20_000;
    private static final String STATEMENT = "r";

    private final List<Client> clients = new ArrayList<>();
    private final Selector selector = Selector.open();
    private final int keys;
    private final SplittableRandom random = new SplittableRandom(1);
    private final long[] waits = new long[MOST_TIMED];
    private int timed;
    private long reads;

    /** @param keys numbers from 0 that the statement's parameter can be, each that of a row */
    ReadLoad(Peer peer, String user, int count, String sql, int keys) throws IOException {
        this.keys = keys;
        for (int i = 0; i < count; i++) {
            WireClient client = new WireClient(peer.port(), user, BUFFER);
            client.prepare(STATEMENT, sql);
            client.channel().configureBlocking(false);
            SelectionKey key = client.channel().register(selector, SelectionKey.OP_READ);
            clients.add(new Client(client));
            key.attach(clients.get(i));
        }
    }

    /**
     * What was read.
     *
     * @param waits how long reads took, in nanoseconds, of at most some millions
     */
    record Outcome(long reads, double seconds, double cpuSeconds, long[] waits) {}

    /**
     * Reads for some seconds.
     *
     * @param depth reads in a packet
     * @param rate reads a second of all clients; 0 for as many as are answered
     */
    Outcome run(int depth, int rate, double seconds) throws IOException {
        timed = 0;
        reads = 0;
        long start = System.nanoTime();
        long cpu = ThreadCpu.nanos();
        long end = start + (long) (seconds * 1e9);
        long interval = rate == 0 ? 0 : (long) (1e9 * depth * clients.size() / rate);
        for (int i = 0; i < clients.size(); i++) {
            clients.get(i).due = start + interval * i / clients.size(); // not all at the same moment
        }
        boolean open = true;
        while (open) {
            long now = System.nanoTime();
            open = now < end;
            boolean sent = false;
            for (Client client : clients) {
                if (client.left == 0 && now < end && client.due <= now) {
                    client.send(depth, interval == 0 ? now : client.due);
                    client.due += interval;
                    sent = true;
                }
                open |= client.left > 0;
            }
            if (rate == 0) {
                selector.select(100);
            } else if (selector.selectNow() == 0 && !sent) {
                LockSupport.parkNanos(REST_NANOS);
            }
            for (SelectionKey key : selector.selectedKeys()) {
                ((Client) key.attachment()).receive();
            }
            selector.selectedKeys().clear();
        }
        return new Outcome(
                reads, (System.nanoTime() - start) / 1e9, (ThreadCpu.nanos() - cpu) / 1e9, Arrays.copyOf(waits, timed));
    }

    /** One connection. */
    private final class Client {
        private final WireClient login;
        private final SocketChannel channel;
        private final ByteBuffer out = ByteBuffer.allocateDirect(BUFFER);
        private final ByteBuffer in = ByteBuffer.allocateDirect(BUFFER);
        private final byte[] digits = new byte[20];
        private long due;
        private long began;
        private int left; // answers that have not come
        private int rows;

        Client(WireClient login) {
            this.login = login;
            this.channel = login.channel();
        }

        void send(int depth, long from) throws IOException {
            began = from;
            left = depth;
            rows = 0;
            for (int i = 0; i < depth; i++) {
                write(random.nextInt(keys));
            }
            out.flip();
            while (out.hasRemaining()) {
                channel.write(out);
            }
            out.clear();
        }

        private void write(int key) {
            int at = digits.length;
            int rest = key;
            do {
                digits[--at] = (byte) ('0' + rest % 10);
                rest /= 10;
            } while (rest > 0);
            int length = digits.length - at;
            out.put((byte) 'B').putInt(4 + 1 + 2 + 2 + 2 + 4 + length + 2);
            out.put((byte) 0).put((byte) STATEMENT.charAt(0)).put((byte) 0);
            out.putShort((short) 0).putShort((short) 1).putInt(length).put(digits, at, length);
            out.putShort((short) 0);
            out.put((byte) 'E').putInt(4 + 1 + 4).put((byte) 0).putInt(0);
            out.put((byte) 'S').putInt(4);
        }

        void receive() throws IOException {
            if (channel.read(in) < 0) {
                throw new EOFException("the server closed the connection");
            }
            in.flip();
            while (in.remaining() >= 5 && in.remaining() > in.getInt(in.position() + 1)) {
                byte type = in.get(in.position());
                int end = in.position() + 1 + in.getInt(in.position() + 1);
                if (type == 'D') {
                    rows++;
                } else if (type == 'Z') {
                    answered();
                } else if (type == 'E') {
                    throw new IOException(StandardCharsets.UTF_8
                            .decode(in.slice(in.position(), end - in.position()))
                            .toString()
                            .replace('\0', ' '));
                }
                in.position(end);
            }
            in.compact();
        }

        private void answered() throws IOException {
            left--;
            reads++;
            if (timed < waits.length) {
                waits[timed++] = System.nanoTime() - began;
            }
            if (rows != 1) {
                throw new IOException("a key was found " + rows + " times");
            }
            rows = 0;
        }
    }

    @Override
    public void close() throws IOException {
        for (Client client : clients) {
            client.login.close();
        }
        selector.close();
    }
}
