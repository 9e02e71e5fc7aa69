package dev.millrace.server.gateway;

import dev.millrace.edge.wire.BrokerPart;
import dev.millrace.edge.wire.BrokerPartReader;
import dev.millrace.edge.wire.DeviceTopics;
import dev.millrace.edge.wire.Message;
import dev.millrace.edge.wire.MessageCodec;
import dev.millrace.error.MillraceException;
import dev.millrace.server.log.EventLog;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;

/** A device that speaks by way of a broker. On the gateway's thread. */
final class BrokerDevice implements DeviceChannel {
    private static final EventLog LOG = EventLog.named("edge");
    private static final int WRITABLE_BYTES = 256 << 10;
    private static final int MOST_OUT_BYTES = 2 << 20; // of a device that reads nothing

    private final BrokerGateway gateway;
    private final EdgeConnection connection;
    private final String levels; // the end of its topics
    private final long number; // of the connection
    private final BrokerPartReader reader = new BrokerPartReader(MessageCodec.MOST_HELLO_BYTES);
    private final Deque<BrokerPart> waiting = new ArrayDeque<>(); // until more is wanted
    private final Deque<BrokerPart> out = new ArrayDeque<>();
    private boolean wanted = true;
    private boolean open = true;
    private int parts;
    private long waitingBytes;
    private long outBytes;
    private long heardNanos;

    BrokerDevice(BrokerGateway gateway, EdgeGateway of, String levels, long number) {
        this.gateway = gateway;
        this.levels = levels;
        this.number = number;
        this.connection = new EdgeConnection(of, this);
    }

    EdgeConnection connection() {
        return connection;
    }

    long number() {
        return number;
    }

    String levels() {
        return levels;
    }

    long heardNanos() {
        return heardNanos;
    }

    /** Bytes that it keeps of what has come. */
    long bytes() {
        return waitingBytes + reader.bytes();
    }

    // ---- what comes
    // --------------------------------------------------------------------------------------------------

    /** Takes a part that is not the end. */
    void take(BrokerPart part, long nowNanos) {
        heardNanos = nowNanos;
        waiting.add(part);
        waitingBytes += part.bytes().length;
        readWaiting();
    }

    private void readWaiting() {
        try {
            while (open && wanted && !waiting.isEmpty()) {
                BrokerPart next = waiting.remove();
                waitingBytes -= next.bytes().length;
                for (Message message : reader.take(next)) {
                    if (open) {
                        connection.take(message);
                    }
                }
            }
        } catch (MillraceException e) {
            connection.refuse(e, true);
        } catch (RuntimeException e) { // ours; the device is told nothing of it
            LOG.warning("ends a connection of a device", "device", levels, "reason", String.valueOf(e));
            end();
        }
    }

    // ---- what goes
    // ---------------------------------------------------------------------------------------------------

    @Override
    public void send(Message message) {
        execute(() -> write(message));
    }

    @Override
    public void sendLast(Message message) {
        execute(() -> {
            write(message);
            end();
        });
    }

    private void write(Message message) {
        if (!open) {
            return;
        }
        byte[] frame = MessageCodec.frame(message);
        int most = gateway.mostBytes(levels);
        for (int from = 0; from < frame.length; from += most) {
            add(new BrokerPart(number, parts++, Arrays.copyOfRange(frame, from, Math.min(frame.length, from + most))));
        }
        if (outBytes > MOST_OUT_BYTES) {
            gone();
        } else {
            flush();
        }
    }

    private void add(BrokerPart part) {
        out.add(part);
        outBytes += part.bytes().length;
    }

    /** Sends what the broker takes. */
    void flush() {
        boolean before = isWritable();
        while (!out.isEmpty() && gateway.publish(levels, out.element())) {
            outBytes -= out.remove().bytes().length;
        }
        if (open && before != isWritable()) {
            connection.readOrWait();
        }
    }

    /** Ends it here; the device is told if the broker takes that. */
    void end() {
        if (open) {
            add(BrokerPart.end(number));
            flush();
            gone();
        }
    }

    /** It has ended. */
    void gone() {
        if (open) {
            open = false;
            gateway.left(this);
            connection.ended();
        }
    }

    // ---- as a channel
    // ------------------------------------------------------------------------------------------------

    @Override
    public void execute(Runnable work) {
        gateway.execute(work);
    }

    @Override
    public void read(boolean isWanted) {
        boolean more = isWanted && !wanted;
        wanted = isWanted;
        if (more) {
            execute(this::readWaiting); // and not within what was read
        }
    }

    @Override
    public boolean isWritable() {
        return outBytes < WRITABLE_BYTES;
    }

    @Override
    public boolean isOpen() {
        return open;
    }

    @Override
    public void admit() {
        reader.admit(MessageCodec.MOST_BYTES);
    }

    @Override
    public boolean mayBe(String device) {
        return DeviceTopics.levels(device).equals(levels);
    }

    @Override
    public String address() {
        return gateway.url();
    }

    @Override
    public void close() {
        execute(this::end);
    }
}
