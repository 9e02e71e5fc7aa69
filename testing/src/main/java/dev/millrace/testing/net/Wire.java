package dev.millrace.testing.net;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A wire to a server on this machine that can be cut, after which not a byte passes in either direction, or silenced, of which neither
 * end hears, and mended.
 */
public final class Wire implements AutoCloseable {
    private final URI server;
    private final ServerSocket listening;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private volatile boolean cut;
    private volatile boolean silent;

    /** @param url of the server */
    public Wire(String url) {
        server = URI.create(url);
        try {
            listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
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
        boolean isLost = false; // some of it, so that nothing behind it would make sense
        try (from;
                to) {
            for (int read = from.getInputStream().read(bytes);
                    read >= 0 && !cut;
                    read = from.getInputStream().read(bytes)) {
                isLost |= silent;
                if (!isLost) {
                    to.getOutputStream().write(bytes, 0, read);
                }
            }
        } catch (IOException e) {
            // it was cut, or one end is gone
        }
    }

    /** Ends all connections, and takes no other. */
    public void cut() {
        cut = true;
        try {
            for (Socket each : open) {
                each.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        open.clear();
    }

    /** Loses what is sent from now on, by connections that are there and new ones; a connection that lost something stays silent. */
    public void silence() {
        silent = true;
    }

    /** From now on connections are taken, and what is sent by them arrives. */
    public void mend() {
        cut = false;
        silent = false;
    }

    @Override
    public void close() {
        try {
            listening.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        cut();
    }
}
