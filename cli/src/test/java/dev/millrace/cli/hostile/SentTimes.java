package dev.millrace.cli.hostile;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import javax.net.SocketFactory;

/**
 * Sockets of pgjdbc that know when the last byte was given to them: the time of a statement begins when the server has it, and
 * a client needs a while to send megabytes. Only the first socket of a name counts; others are for cancelling.
 */
public final class SentTimes extends SocketFactory {
    private static final Map<String, AtomicLong> LAST_NANOS = new ConcurrentHashMap<>();
    private static final AtomicInteger NAMES = new AtomicInteger();

    private final String name;

    /** pgjdbc makes it, with its option {@code socketFactoryArg}. */
    public SentTimes(String name) {
        this.name = name;
    }

    /** Adds the options of a connection with a name of its own, which it returns. */
    static String name(Properties options) {
        String name = "hostile " + NAMES.incrementAndGet();
        options.setProperty("socketFactory", SentTimes.class.getName());
        options.setProperty("socketFactoryArg", name);
        return name;
    }

    /** When the connection of a name, which is open, sent last, as {@link System#nanoTime} has it. */
    static LongSupplier lastNanos(String name) {
        return LAST_NANOS.get(name)::get;
    }

    /** The connection is closed. */
    static void forget(String name) {
        LAST_NANOS.remove(name);
    }

    @Override
    public Socket createSocket() {
        AtomicLong last = new AtomicLong(System.nanoTime());
        return LAST_NANOS.putIfAbsent(name, last) == null ? new Timed(last) : new Socket();
    }

    @Override
    public Socket createSocket(String host, int port) {
        throw new UnsupportedOperationException("pgjdbc connects by itself");
    }

    @Override
    public Socket createSocket(String host, int port, InetAddress localHost, int localPort) {
        throw new UnsupportedOperationException("pgjdbc connects by itself");
    }

    @Override
    public Socket createSocket(InetAddress host, int port) {
        throw new UnsupportedOperationException("pgjdbc connects by itself");
    }

    @Override
    public Socket createSocket(InetAddress address, int port, InetAddress localAddress, int localPort) {
        throw new UnsupportedOperationException("pgjdbc connects by itself");
    }

    private static final class Timed extends Socket {
        private final AtomicLong lastNanos;

        Timed(AtomicLong lastNanos) {
            this.lastNanos = lastNanos;
        }

        @Override
        public OutputStream getOutputStream() throws IOException {
            return new FilterOutputStream(super.getOutputStream()) {
                @Override
                public void write(byte[] bytes, int from, int length) throws IOException {
                    out.write(bytes, from, length);
                    lastNanos.set(System.nanoTime());
                }
            };
        }
    }
}
