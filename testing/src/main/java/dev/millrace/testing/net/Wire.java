package dev.millrace.testing.net;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** A wire to a server on this machine that can be cut, after which not a byte passes in either direction, and mended. */
public final class Wire implements AutoCloseable {
    private final URI server;
    private final ServerSocket listening;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private volatile boolean cut;

    /** @param url of the server */
    public Wire(String url) throws IOException {
        server = URI.create(url);
        listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        start(this::accept);
    }

    /** Where it begins. */
    public String url() {
        return server.getScheme() + "://127.0.0.1:" + listening.getLocalPort();
    }

    private static void start(Runnable work) {
        Thread thread = new Thread(work, "wire");
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        while (!listening.isClosed()) {
            try {
                Socket here = listening.accept();
                open.add(here);
                if (cut) {
                    here.close();
                    continue;
                }
                Socket there = new Socket(server.getHost(), server.getPort());
                open.add(there);
                start(() -> pump(here, there));
                start(() -> pump(there, here));
            } catch (IOException e) {
                // the next one may succeed
            }
        }
    }

    private void pump(Socket from, Socket to) {
        byte[] bytes = new byte[8192];
        try (from;
                to) {
            for (int read = from.getInputStream().read(bytes);
                    read >= 0 && !cut;
                    read = from.getInputStream().read(bytes)) {
                to.getOutputStream().write(bytes, 0, read);
            }
        } catch (IOException e) {
            // it was cut, or one end is gone
        }
    }

    /** Ends all connections, and takes no other. */
    public void cut() throws IOException {
        cut = true;
        for (Socket each : open) {
            each.close();
        }
        open.clear();
    }

    public void mend() {
        cut = false;
    }

    @Override
    public void close() throws IOException {
        listening.close();
        cut();
    }
}
