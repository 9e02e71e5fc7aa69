package dev.millrace.edge.mqtt;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.edge.socket.RemoteHost;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A connection to a broker, by MQTT 5. One thread {@link #read reads} what comes; any may send.
 *
 * <pre>
 *   open -> CONNECT, CONNACK      subscribe -> SUBSCRIBE; SUBACK: told to the reader
 *   publish -> PUBLISH at QoS 1   ; PUBACK: told to the reader, and there is room for another
 *   PUBLISH: told to the reader   ; acknowledge -> PUBACK
 * </pre>
 */
public final class BrokerSocket implements AutoCloseable {
    private static final int KEEP_ALIVE_SECONDS = 60;
    private static final int MOST_UNDER_WAY = 1000;
    private static final int MOST_PACKET_BYTES = 256 << 20;
    private static final int ALIAS = 1; // of the topic that was published to first
    private static final int FAREWELL = 0x04; // DISCONNECT, and the will is to be said all the same
    private static final int PUBLISH_OVERHEAD_BYTES = 16;

    private final RemoteHost peer;
    private final Socket socket;
    private final DataInputStream in;
    private final OutputStream out;
    private final AtomicLong bytes = new AtomicLong();
    private final Semaphore room = new Semaphore(0); // for messages that are not acknowledged; none before CONNACK
    private final int mostBytes;
    private boolean sessionPresent;
    private long brokerBytes = MOST_PACKET_BYTES;
    private boolean aliases;
    private int keepAliveSeconds = KEEP_ALIVE_SECONDS;

    @GuardedBy("out") private Optional<String> aliased = Optional.empty();

    @GuardedBy("out") private int lastId;

    private volatile long sentNanos = System.nanoTime(); // written by all that send, read by the reader
    private volatile boolean ended; // written by who notices, read by who waits for room

    /** Who a client says that it is. */
    public record Login(String clientId, Optional<String> user, Optional<String> password) {
        @Override
        public String toString() {
            return clientId; // and no password
        }
    }

    /**
     * What the broker is to keep of a client.
     *
     * @param expirySeconds how long subscriptions and messages after a connection has ended; 0: it begins anew
     * @param underWay messages that it sends before the first of them is acknowledged
     * @param mostBytes of a packet that it sends
     * @param will what it tells others when the connection breaks off
     */
    public record Session(long expirySeconds, int underWay, int mostBytes, Optional<Will> will) {}

    /** What the broker sends in the place of a client that is gone. */
    public record Will(String topic, byte[] payload) {}

    /** Is told what comes, on the reader's thread. */
    public interface Listener {
        /** A message, which is to be acknowledged if its id is not 0. */
        void arrived(String topic, byte[] payload, int id) throws IOException, InterruptedException;

        /** The broker has taken the subscription. */
        void subscribed();

        /** The broker has a message; of those that nobody subscribes to it may say so. */
        void published(boolean anybody) throws IOException;
    }

    private BrokerSocket(RemoteHost peer, Socket socket, Session session) throws IOException {
        this.peer = peer;
        this.socket = socket;
        this.mostBytes = session.mostBytes();
        this.in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
        this.out = new BufferedOutputStream(socket.getOutputStream(), 16 << 10);
    }

    /** Connects, some seconds at most. @throws MqttException if the broker does not want it */
    public static BrokerSocket open(RemoteHost peer, Login login, Session session)
            throws IOException, GeneralSecurityException {
        Socket socket = peer.connect();
        try {
            BrokerSocket opened = new BrokerSocket(peer, socket, session);
            opened.greet(login, session);
            return opened;
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    private void greet(Login login, Session session) throws IOException {
        int flags = (session.expirySeconds() == 0 ? 0x02 : 0)
                | (session.will().isPresent() ? 0x0C : 0) // at QoS 1
                | (login.password().isPresent() ? 0x40 : 0)
                | (login.user().isPresent() ? 0x80 : 0);
        PacketWriter packet = new PacketWriter()
                .text("MQTT")
                .u8(5)
                .u8(flags)
                .u16(KEEP_ALIVE_SECONDS)
                .properties(new PacketWriter()
                        .u8(Properties.SESSION_EXPIRY)
                        .u32(session.expirySeconds())
                        .u8(Properties.RECEIVE_MAXIMUM)
                        .u16(session.underWay())
                        .u8(Properties.MAXIMUM_PACKET)
                        .u32(session.mostBytes()))
                .text(login.clientId());
        session.will()
                .ifPresent(will ->
                        packet.properties(new PacketWriter()).text(will.topic()).bytes(will.payload()));
        login.user().ifPresent(packet::text);
        login.password().ifPresent(packet::text);
        send(packet.packet(0x10), true);
        socket.setSoTimeout(RemoteHost.CONNECT_MILLIS);
        try {
            welcomed(packet());
        } catch (SocketTimeoutException e) {
            throw new MqttException("the broker does not answer");
        }
        socket.setSoTimeout((int) TimeUnit.SECONDS.toMillis(keepAliveSeconds) / 4);
    }

    private void welcomed(Packet packet) throws MqttException {
        if (packet.kind() != 2) {
            throw new MqttException("the broker does not answer as one that speaks MQTT 5");
        }
        ByteBuffer body = packet.body();
        sessionPresent = (body.get() & 1) != 0;
        int code = body.get() & 0xFF;
        if (code != 0 && !body.hasRemaining()) {
            throw new MqttException("the broker does not speak MQTT 5");
        }
        Properties said = Properties.read(body);
        if (code >= ReasonCodes.FIRST_FAILURE) {
            throw new MqttException("the broker refuses the connection: " + ReasonCodes.text(code, said.reason()));
        }
        if (said.number(Properties.MAXIMUM_QOS, 2) < 1) {
            throw new MqttException("the broker refuses the connection: " + ReasonCodes.text(0x9B, ""));
        }
        aliases = said.number(Properties.TOPIC_ALIAS_MAXIMUM, 0) >= ALIAS;
        brokerBytes = Math.min(brokerBytes, said.number(Properties.MAXIMUM_PACKET, MOST_PACKET_BYTES));
        long alive = said.number(Properties.SERVER_KEEP_ALIVE, KEEP_ALIVE_SECONDS);
        keepAliveSeconds = alive == 0 ? KEEP_ALIVE_SECONDS : (int) Math.min(alive, KEEP_ALIVE_SECONDS);
        room.release((int) Math.min(MOST_UNDER_WAY, said.number(Properties.RECEIVE_MAXIMUM, MOST_UNDER_WAY)));
    }

    /** Whether the broker knows an earlier session of this client. */
    public boolean isSessionPresent() {
        return sessionPresent;
    }

    /** Bytes of a message's payload that the broker takes, at the topic. */
    public int mostPayloadBytes(String topic) {
        int overhead = PUBLISH_OVERHEAD_BYTES + topic.getBytes(StandardCharsets.UTF_8).length;
        return (int) Math.max(0, brokerBytes - overhead);
    }

    /** Asks for messages at QoS 1, but for those that it sends itself. */
    public void subscribe(Iterable<String> filters) throws IOException {
        synchronized (out) {
            PacketWriter packet = new PacketWriter().u16(id()).u8(0);
            filters.forEach(filter -> packet.text(filter).u8(0x04 | 1));
            send(packet.packet(0x82), true);
        }
    }

    @GuardedBy("out") private int id() {
        lastId = lastId % 0xFFFF + 1; // fewer are under way
        return lastId;
    }

    /**
     * Sends a message at QoS 1; waits while the broker takes no more for now.
     *
     * @param flush whether it is to go at once, and all before it
     */
    public void publish(String topic, byte[] payload, boolean flush) throws IOException, InterruptedException {
        if (!room.tryAcquire()) {
            synchronized (out) {
                out.flush();
            }
            while (!room.tryAcquire(1, TimeUnit.SECONDS)) {
                if (ended) {
                    throw new MqttException("the broker has closed the connection");
                }
            }
        }
        synchronized (out) {
            boolean known = aliased.equals(Optional.of(topic));
            PacketWriter properties = new PacketWriter();
            if (aliases && (known || aliased.isEmpty())) {
                properties.u8(Properties.TOPIC_ALIAS).u16(ALIAS);
                aliased = Optional.of(topic);
            }
            send(
                    new PacketWriter()
                            .text(known ? "" : topic)
                            .u16(id())
                            .properties(properties)
                            .raw(payload)
                            .packet(0x32),
                    flush);
        }
    }

    public void flush() throws IOException {
        synchronized (out) {
            out.flush();
        }
    }

    /** A message that came needs not come again. */
    public void acknowledge(int id) throws IOException {
        send(new PacketWriter().u16(id).packet(0x40), true);
    }

    private void send(byte[] packet, boolean flush) throws IOException {
        synchronized (out) {
            out.write(packet);
            if (flush) {
                out.flush();
            }
        }
        bytes.addAndGet(packet.length);
        sentNanos = System.nanoTime();
    }

    // ---- what comes
    // --------------------------------------------------------------------------------------------------

    private record Packet(int head, ByteBuffer body) {
        int kind() {
            return head >> 4 & 0xF;
        }
    }

    /** The next packet. @throws SocketTimeoutException if none has begun for a while */
    private Packet packet() throws IOException {
        int head = in.read(); // the one place where a timeout loses nothing
        if (head < 0) {
            throw new MqttException("the broker has closed the connection");
        }
        try {
            int length = 0;
            for (int i = 0; ; i++) {
                int next = in.readByte();
                length |= (next & 0x7F) << 7 * i;
                if (next >= 0) {
                    break;
                }
                if (i == 3) {
                    throw new MqttException("the broker sends a length that does not end");
                }
            }
            if (length > mostBytes) {
                throw new MqttException(
                        "the broker sends a packet of " + length + " bytes, and not " + mostBytes + " at most");
            }
            byte[] body = new byte[length];
            in.readFully(body);
            bytes.addAndGet(2L + length);
            return new Packet(head, ByteBuffer.wrap(body));
        } catch (SocketTimeoutException e) {
            throw new MqttException("the broker does not end a packet");
        }
    }

    /** Tells what comes, until it ends: by an exception, always. */
    public void read(Listener listener) throws IOException, InterruptedException {
        boolean asked = false; // PINGREQ, and nothing has come since
        try {
            while (true) {
                long quiet = System.nanoTime() - sentNanos;
                if (quiet > TimeUnit.SECONDS.toNanos(keepAliveSeconds) / 2) {
                    send(new PacketWriter().packet(0xC0), true);
                    asked = true;
                }
                try {
                    take(packet(), listener);
                    asked = false;
                } catch (SocketTimeoutException e) {
                    if (asked) {
                        throw new MqttException("the broker does not answer any more");
                    }
                }
            }
        } catch (BufferUnderflowException e) {
            throw new MqttException("the broker sends a packet that ends early");
        } finally {
            ended = true;
        }
    }

    private void take(Packet packet, Listener listener) throws IOException, InterruptedException {
        ByteBuffer body = packet.body();
        switch (packet.kind()) {
            case 3 -> message(packet.head() >> 1 & 3, body, listener);
            case 4 -> {
                body.getShort(); // the id: any that is acknowledged makes room for one
                int code = body.hasRemaining() ? body.get() & 0xFF : 0;
                if (code >= ReasonCodes.FIRST_FAILURE) {
                    throw new MqttException("the broker refuses a message: "
                            + ReasonCodes.text(code, Properties.read(body).reason()));
                }
                room.release();
                listener.published(code != ReasonCodes.NO_SUBSCRIBERS);
            }
            case 9 -> {
                body.getShort();
                Properties said = Properties.read(body);
                while (body.hasRemaining()) {
                    int code = body.get() & 0xFF;
                    if (code >= ReasonCodes.FIRST_FAILURE) {
                        throw new MqttException(
                                "the broker refuses the subscription: " + ReasonCodes.text(code, said.reason()));
                    }
                }
                listener.subscribed();
            }
            case 13 -> {} // PINGRESP: it is there
            case 14 -> {
                int code = body.hasRemaining() ? body.get() & 0xFF : 0;
                throw new MqttException("the broker ends the connection: "
                        + ReasonCodes.text(code, Properties.read(body).reason()));
            }
            default -> throw new MqttException("the broker sends a packet of kind " + packet.kind());
        }
    }

    private static void message(int qos, ByteBuffer body, Listener listener) throws IOException, InterruptedException {
        if (qos > 1) {
            throw new MqttException("the broker sends a message of QoS " + qos);
        }
        String topic = new String(PacketWriter.bytes(body), StandardCharsets.UTF_8);
        int id = qos == 0 ? 0 : body.getShort() & 0xFFFF;
        Properties.read(body);
        byte[] payload = new byte[body.remaining()];
        body.get(payload);
        listener.arrived(topic, payload, id);
    }

    /** Bytes that were sent and that came, without those of TLS and below. */
    public long bytes() {
        return bytes.get();
    }

    public RemoteHost peer() {
        return peer;
    }

    /** Says good-bye where that takes no time; the will is said. */
    @Override
    public void close() throws IOException {
        ended = true;
        try {
            if (!socket.isClosed()) {
                send(new PacketWriter().u8(FAREWELL).packet(0xE0), true);
            }
        } catch (IOException e) {
            // it was gone
        } finally {
            socket.close();
        }
    }
}
