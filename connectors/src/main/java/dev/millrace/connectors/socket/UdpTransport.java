package dev.millrace.connectors.socket;

import dev.millrace.connector.PushedContext;
import dev.millrace.connectors.push.ArrivalQueue;
import dev.millrace.connectors.push.Consignment;
import dev.millrace.connectors.push.RecordReceiver;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Takes datagrams of one or more lines, by a thread that never waits: what finds no room is thrown away, or makes older lines be. What the
 * system throws away before it can be read nobody counts here.
 */
final class UdpTransport implements RecordReceiver.Transport {
    private static final int MOST_DATAGRAM_BYTES = 65_535;
    private static final int SYSTEM_BUFFER_BYTES = 4 << 20; // as much as the system allows of it

    private final PushedContext context;
    private final ArrivalQueue inbox;
    private final SocketSource source;
    private final DatagramSocket socket;
    private final String target;
    private Optional<Thread> receiving = Optional.empty(); // of the thread that polls and closes
    private volatile Optional<String> lastError = Optional.empty(); // written by the thread
    private volatile boolean closed; // written by close, read by the thread

    UdpTransport(SocketSource source, PushedContext context, ArrivalQueue inbox) {
        this.source = source;
        this.context = context;
        this.inbox = inbox;
        try {
            this.socket = new DatagramSocket(source.listen().resolved());
            socket.setReceiveBufferSize(SYSTEM_BUFFER_BYTES);
        } catch (IOException e) {
            throw source.listen().failure(e);
        }
        this.target = "udp " + TcpTransport.nameOf((InetSocketAddress) socket.getLocalSocketAddress());
    }

    @Override
    public void begin() {
        receiving = Optional.of(TcpTransport.start("millrace-udp-" + socket.getLocalPort(), this::receive));
    }

    private void receive() {
        byte[] bytes = new byte[MOST_DATAGRAM_BYTES];
        while (!closed) {
            try {
                DatagramPacket packet = new DatagramPacket(bytes, bytes.length);
                socket.receive(packet);
                LineCutter cutter = new LineCutter(MOST_DATAGRAM_BYTES);
                List<byte[]> lines = new ArrayList<>(cutter.cut(bytes, 0, packet.getLength()));
                lines.addAll(cutter.rest());
                if (!lines.isEmpty()) {
                    String peer = TcpTransport.nameOf((InetSocketAddress) packet.getSocketAddress());
                    Sender sender = new Sender(peer, context.clock().epochMicros());
                    inbox.offerOrShed(
                            new Consignment(lines, sender, target, Consignment.Receipt.NONE), source.overload());
                }
            } catch (IOException e) {
                if (!closed) {
                    lastError = Optional.of(String.valueOf(e.getMessage()));
                }
            }
        }
    }

    @Override
    public String target() {
        return target;
    }

    @Override
    public Optional<String> lastError() {
        return lastError;
    }

    @Override
    public void close() {
        closed = true;
        socket.close();
        receiving.ifPresent(TcpTransport::leave);
    }
}
