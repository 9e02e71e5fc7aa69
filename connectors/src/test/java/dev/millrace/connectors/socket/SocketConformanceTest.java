package dev.millrace.connectors.socket;

import dev.millrace.connector.Options;
import dev.millrace.connector.PushedSource;
import dev.millrace.connector.SplitStatus;
import dev.millrace.connectors.Connectors;
import dev.millrace.testing.connector.ConformanceOf;
import dev.millrace.testing.connector.PushedConformance;
import dev.millrace.testing.connector.PushedFault;
import dev.millrace.testing.connector.PushedOutside;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Lines of peers that hear nothing: what comes while the stream is there is rows, once. */
@Tag("long")
@ConformanceOf({"source tcp", "source udp"})
@Timeout(120)
class SocketConformanceTest {
    private static int freePort(boolean datagrams) {
        try (ServerSocket tcp = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                DatagramSocket udp = new DatagramSocket(0, InetAddress.getLoopbackAddress())) {
            return datagrams ? udp.getLocalPort() : tcp.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A peer that writes lines, and forgets them. */
    private abstract static class Peer implements PushedOutside {
        final int port;
        private final SocketSourceFactory factory;

        Peer(boolean datagrams) {
            port = freePort(datagrams);
            factory = datagrams
                    ? SocketSourceFactory.udp(Connectors.formats())
                    : SocketSourceFactory.tcp(Connectors.formats());
        }

        abstract void write(String lines) throws IOException;

        private void send(String lines) {
            try {
                write(lines);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public PushedSource source() {
            return (PushedSource) factory.create(SCHEMA, new Options(Map.of("listen", "127.0.0.1:" + port)));
        }

        @Override
        public void bring(long from, long to) {
            for (long id = from; id < to; id++) {
                send("{\"id\": " + id + "}\n");
            }
        }

        @Override
        public void poison() {
            send("no JSON\n");
        }

        @Override
        public boolean bringsAgain() {
            return false;
        }

        @Override
        public boolean isExactlyOnce() {
            return true; // what came, came once
        }

        @Override
        public boolean knows(SplitStatus split) {
            return true;
        }

        @Override
        public void cut() {}

        @Override
        public void mend() {}
    }

    /** Of a connection, and another when it was cut. */
    private static final class TcpPeer extends Peer {
        private Optional<Socket> socket = Optional.empty();

        TcpPeer() {
            super(false);
        }

        @Override
        void write(String lines) throws IOException {
            if (socket.isEmpty()) {
                socket = Optional.of(new Socket(InetAddress.getLoopbackAddress(), port));
            }
            socket.get().getOutputStream().write(lines.getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public void cut() {
            try {
                if (socket.isPresent()) {
                    socket.get().close();
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            socket = Optional.empty();
        }
    }

    private static final class UdpPeer extends Peer {
        UdpPeer() {
            super(true);
        }

        @Override
        void write(String lines) throws IOException {
            byte[] bytes = lines.getBytes(StandardCharsets.UTF_8);
            try (DatagramSocket socket = new DatagramSocket()) {
                socket.send(new DatagramPacket(bytes, bytes.length, InetAddress.getLoopbackAddress(), port));
            }
        }
    }

    private abstract static class OfPeer extends PushedConformance {
        @ParameterizedTest
        @EnumSource(names = "LOSES_A_BATCH")
        void faultsAreCaught(PushedFault fault) {
            catches(fault);
        }
    }

    @Nested
    class Tcp extends OfPeer {
        @Override
        protected PushedOutside outside() {
            return new TcpPeer();
        }
    }

    @Nested
    class Udp extends OfPeer {
        @Override
        protected PushedOutside outside() {
            return new UdpPeer();
        }
    }
}
