package dev.millrace.benchmarks.edge;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.atomic.AtomicLong;

/** A link whose bytes are counted: what connects to it is passed on, both ways. */
final class CountingRelay implements AutoCloseable {
    private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final int port;
    private final AtomicLong up = new AtomicLong();
    private final AtomicLong down = new AtomicLong();
    private volatile long connectedNanos; // of the first; written by the thread that accepts

    /** @param port where to */
    CountingRelay(int port) throws IOException {
        this.port = port;
        begin(this::accept);
    }

    private static void begin(Runnable work) {
        Thread thread = new Thread(work, "bench-relay");
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        try {
            while (true) {
                Socket from = listener.accept();
                if (connectedNanos == 0) {
                    connectedNanos = System.nanoTime();
                }
                Socket to = new Socket(InetAddress.getLoopbackAddress(), port);
                begin(() -> pump(from, to, up));
                begin(() -> pump(to, from, down));
            }
        } catch (IOException e) {
            return; // it is closed
        }
    }

    private static void pump(Socket from, Socket to, AtomicLong count) {
        byte[] bytes = new byte[64 << 10];
        try (from;
                to;
                InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream()) {
            int read;
            while ((read = in.read(bytes)) >= 0) {
                out.write(bytes, 0, read);
                count.addAndGet(read);
            }
        } catch (IOException e) {
            return; // one of them has ended it
        }
    }

    int port() {
        return listener.getLocalPort();
    }

    /** Bytes from the agent, and to it. */
    long bytes() {
        return up.get() + down.get();
    }

    /** When something connected first; 0 before. */
    long connectedNanos() {
        return connectedNanos;
    }

    @Override
    public void close() throws IOException {
        listener.close();
    }
}
