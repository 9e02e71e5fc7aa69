package dev.millrace.connectors.socket;

import dev.millrace.connector.PushedContext;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.SplitStatus;
import dev.millrace.connectors.push.ArrivalQueue;
import dev.millrace.connectors.push.Consignment;
import dev.millrace.connectors.push.RecordReceiver;
import dev.millrace.error.SqlState;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * Reads lines of all that connect, each by a thread of its own, which waits while the inbox is full. Nothing is answered: a sender knows only
 * that what it wrote was taken by its own machine.
 */
final class TcpTransport implements RecordReceiver.Transport {
    private static final int READ_BYTES = 64 << 10;
    private static final int BACKLOG = 128;
    private static final long LEAVE_MILLIS = 1_000;

    private final PushedContext context;
    private final ArrivalQueue inbox;
    private final SocketSource source;
    private final ServerSocket server;
    private final Map<String, Peer> peers = new ConcurrentSkipListMap<>(); // that are connected
    private Optional<Thread> accepting = Optional.empty(); // of the thread that polls and closes
    private volatile Optional<String> lastError = Optional.empty(); // written by all threads of this
    private volatile boolean closed; // written by close, read by the threads

    /** Listens from now on; who connects is answered from {@link #begin} on. */
    TcpTransport(SocketSource source, PushedContext context, ArrivalQueue inbox) {
        this.source = source;
        this.context = context;
        this.inbox = inbox;
        try {
            ServerSocket listening = new ServerSocket();
            try {
                listening.setReuseAddress(true);
                listening.bind(source.listen().resolved(), BACKLOG);
            } catch (IOException | RuntimeException e) {
                listening.close();
                throw e;
            }
            server = listening;
        } catch (IOException e) {
            throw source.listen().failure(e);
        }
    }

    @Override
    public void begin() {
        accepting = Optional.of(start("millrace-tcp-" + server.getLocalPort(), this::accept));
    }

    static Thread start(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    /** A port is free when the thread has left that waits at it: waits for that, a moment at most, also if it is interrupted. */
    static void leave(Thread thread) {
        boolean interrupted = Thread.interrupted();
        try {
            thread.join(LEAVE_MILLIS);
        } catch (InterruptedException e) {
            interrupted = true;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void accept() {
        while (!closed) {
            try {
                Socket socket = server.accept();
                Peer peer = new Peer(socket);
                if (peers.size() >= source.mostConnections()) {
                    lastError = Optional.of(
                            peer.name + " was refused: there are " + source.mostConnections() + " connections");
                    socket.close();
                    continue;
                }
                peers.put(peer.name, peer);
                start("millrace-tcp-" + server.getLocalPort() + "-" + socket.getPort(), peer);
            } catch (IOException e) {
                if (!closed) {
                    lastError = Optional.of(String.valueOf(e.getMessage()));
                }
            }
        }
    }

    /** One that is connected. */
    private final class Peer implements Runnable {
        private final Socket socket;
        private final String name;
        private volatile long records; // written by its thread

        Peer(Socket socket) {
            this.socket = socket;
            this.name = nameOf((InetSocketAddress) socket.getRemoteSocketAddress());
        }

        @Override
        public void run() {
            LineCutter lines = new LineCutter(source.mostRecordBytes());
            try (Socket open = socket;
                    InputStream in = open.getInputStream()) {
                byte[] bytes = new byte[READ_BYTES];
                boolean taken = true;
                for (int read = in.read(bytes); read >= 0 && taken; read = in.read(bytes)) {
                    taken = deliver(lines.cut(bytes, 0, read), lines);
                }
                if (taken) {
                    deliver(lines.rest(), lines);
                }
            } catch (IOException e) {
                if (!closed) {
                    lastError = Optional.of(name + ": " + e.getMessage());
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } finally {
                peers.remove(name);
            }
        }

        private boolean deliver(List<byte[]> cut, LineCutter lines) throws InterruptedException {
            long tooLong = lines.takeTooLong();
            if (tooLong > 0) {
                context.report(new RejectedRecord(
                        name,
                        records,
                        "",
                        tooLong + " lines were longer than " + source.mostRecordBytes() + " bytes (max_record_bytes)",
                        SqlState.PROGRAM_LIMIT_EXCEEDED,
                        ""));
            }
            records += cut.size();
            Sender sender = new Sender(name, context.clock().epochMicros());
            return cut.isEmpty() || inbox.put(new Consignment(cut, sender, name, Consignment.Receipt.NONE));
        }

        SplitStatus status() {
            return new SplitStatus(
                    name,
                    "",
                    OptionalLong.empty(),
                    OptionalLong.empty(),
                    records,
                    0,
                    0,
                    Optional.empty(),
                    Optional.empty());
        }
    }

    static String nameOf(InetSocketAddress address) {
        String host = address.getAddress().getHostAddress();
        return (host.contains(":") ? "[" + host + "]" : host) + ":" + address.getPort();
    }

    @Override
    public String target() {
        return "tcp " + nameOf((InetSocketAddress) server.getLocalSocketAddress());
    }

    @Override
    public Optional<String> lastError() {
        return lastError;
    }

    @Override
    public List<SplitStatus> peers() {
        List<SplitStatus> all = new ArrayList<>();
        peers.values().forEach(peer -> all.add(peer.status()));
        return all;
    }

    @Override
    public void close() {
        closed = true;
        closeQuietly(server);
        accepting.ifPresent(TcpTransport::leave);
        peers.values().forEach(peer -> closeQuietly(peer.socket));
    }

    private void closeQuietly(AutoCloseable socket) {
        try {
            socket.close();
        } catch (Exception e) {
            lastError = Optional.of(String.valueOf(e.getMessage())); // nobody looks any more
        }
    }
}
