package dev.millrace.edge.link;

import dev.millrace.edge.config.EdgeConfig.Broker;
import dev.millrace.edge.config.EdgeConfig.Server;
import dev.millrace.edge.mqtt.BrokerSocket;
import dev.millrace.edge.mqtt.MqttException;
import dev.millrace.edge.socket.RemoteHost;
import dev.millrace.edge.wire.BrokerPart;
import dev.millrace.edge.wire.BrokerPartReader;
import dev.millrace.edge.wire.DeviceTopics;
import dev.millrace.edge.wire.Message;
import dev.millrace.edge.wire.MessageCodec;
import dev.millrace.error.MillraceException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A connection to the server by way of a broker, at QoS 1: frames, cut into {@link BrokerPart parts}. It lives as long as that to the broker, and ends when the
 * broker has lost something, or nobody reads what is sent: what is not acknowledged is sent again on the next. A thread that connects and writes, and one that reads.
 */
public final class BrokerWire implements DeviceWire {
    private static final int STACK_BYTES = 256 << 10;
    private static final int UNDER_WAY = 100;

    private final LinkedBlockingQueue<Message> out = new LinkedBlockingQueue<>();
    private final ConcurrentLinkedQueue<Message> in = new ConcurrentLinkedQueue<>();
    private final CountDownLatch subscribed = new CountDownLatch(1);
    private final RemoteHost peer;
    private final BrokerSocket.Login login;
    private final String up;
    private final String down;
    private final long number; // of the connection
    private final Thread writer;
    private int parts; // the writer's
    private volatile Optional<BrokerSocket> connection = Optional.empty(); // written by the writer, read by all
    private volatile Optional<String> failure = Optional.empty(); // written by both threads, read by the agent's
    private volatile boolean closed; // written by the agent's thread, read by both

    /**
     * Begins to connect.
     *
     * @param broker that the server is behind
     * @param number that no other connection of the device has
     */
    public BrokerWire(Server server, Broker broker, String device, long number) {
        DeviceTopics topics = new DeviceTopics(broker.topic());
        this.peer = server.peer();
        this.login = new BrokerSocket.Login(
                broker.clientId().orElse("millrace-edge/" + device + "/" + Long.toHexString(number)),
                broker.user(),
                broker.password());
        this.up = topics.up(DeviceTopics.levels(device));
        this.down = topics.down(DeviceTopics.levels(device));
        this.number = number;
        this.writer = new Thread(null, this::write, "edge-send", STACK_BYTES);
        writer.setDaemon(true);
        writer.start();
    }

    /** The wire that a configuration says. @param number as above; of no use without a broker */
    public static DeviceWire of(Server server, String device, long number) {
        return server.broker()
                .<DeviceWire>map(broker -> new BrokerWire(server, broker, device, number))
                .orElseGet(() -> new SocketWire(server));
    }

    private void write() {
        BrokerSocket.Will will =
                new BrokerSocket.Will(up, BrokerPart.end(number).encoded());
        BrokerSocket.Session session = new BrokerSocket.Session(
                0, UNDER_WAY, MessageCodec.MOST_TO_DEVICE_BYTES + BrokerPart.MOST_BYTES, Optional.of(will));
        try (BrokerSocket opened = BrokerSocket.open(peer, login, session)) {
            connection = Optional.of(opened);
            Thread reader = new Thread(null, () -> read(opened), "edge-receive", STACK_BYTES);
            reader.setDaemon(true);
            reader.start();
            opened.subscribe(List.of(down));
            if (!subscribed.await(RemoteHost.CONNECT_MILLIS, TimeUnit.MILLISECONDS)) {
                throw new MqttException("the broker does not answer");
            }
            int most = Math.min(BrokerPart.MOST_BYTES, opened.mostPayloadBytes(up) - BrokerPart.HEAD_BYTES);
            if (most < 1) {
                throw new MqttException("the broker takes no messages that are large enough");
            }
            while (!closed && failure.isEmpty()) {
                send(opened, frames(), most);
            }
        } catch (IOException | GeneralSecurityException | RuntimeException e) { // of an authority that is none, too
            failed(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** What waits, but not much more than a part. */
    private byte[] frames() throws InterruptedException {
        ByteArrayOutputStream frames = new ByteArrayOutputStream();
        Message next = out.take();
        while (next != null) {
            frames.writeBytes(MessageCodec.frame(next));
            next = frames.size() < BrokerPart.MOST_BYTES ? out.poll() : null;
        }
        return frames.toByteArray();
    }

    private void send(BrokerSocket to, byte[] frames, int most) throws IOException, InterruptedException {
        for (int from = 0; from < frames.length; from += most) {
            if (parts == Integer.MAX_VALUE) {
                throw new MqttException("the connection has had all its numbers");
            }
            byte[] bytes = Arrays.copyOfRange(frames, from, Math.min(frames.length, from + most));
            to.publish(
                    up, new BrokerPart(number, parts++, bytes).encoded(), out.isEmpty() || from + most < frames.length);
        }
    }

    private void read(BrokerSocket from) {
        BrokerPartReader reader = new BrokerPartReader(MessageCodec.MOST_TO_DEVICE_BYTES);
        try {
            from.read(new BrokerSocket.Listener() {
                @Override
                public void arrived(String topic, byte[] payload, int id) throws IOException {
                    if (id != 0) {
                        from.acknowledge(id);
                    }
                    BrokerPart part = BrokerPart.read(payload);
                    if (part.connection() != number) {
                        return; // of an earlier one
                    }
                    if (part.number() == BrokerPart.END) {
                        throw new MqttException("the server has closed it");
                    }
                    in.addAll(reader.take(part));
                }

                @Override
                public void subscribed() {
                    subscribed.countDown();
                }

                @Override
                public void published(boolean anybody) throws IOException {
                    if (!anybody) {
                        throw new MqttException("the server is not at the broker: nobody reads " + up);
                    }
                }
            });
        } catch (IOException | RuntimeException e) { // of any kind: what came is of no use
            failed(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            writer.interrupt();
        }
    }

    private void failed(Exception e) {
        if (failure.isEmpty()) {
            failure = Optional.of(e instanceof MillraceException ? String.valueOf(e.getMessage()) : peer.reason(e));
        }
    }

    @Override
    public void send(Message message) {
        out.add(message);
    }

    @Override
    public Optional<Message> receive() {
        return Optional.ofNullable(in.poll());
    }

    @Override
    public Optional<String> failure() {
        return in.isEmpty() ? failure : Optional.empty();
    }

    @Override
    public long bytes() {
        return connection.map(BrokerSocket::bytes).orElse(0L);
    }

    /** Ends it; the server is told by the broker. */
    @Override
    public void close() {
        closed = true;
        writer.interrupt();
        connection.ifPresent(open -> {
            try {
                open.close();
            } catch (IOException e) {
                failed(e); // nobody looks any more
            }
        });
    }
}
