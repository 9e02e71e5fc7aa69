package dev.millrace.server.gateway;

import dev.millrace.connectors.mqtt.BrokerLine;
import dev.millrace.edge.wire.BrokerPart;
import dev.millrace.edge.wire.DeviceTopics;
import dev.millrace.error.MillraceException;
import dev.millrace.server.config.EdgeBroker;
import dev.millrace.server.log.EventLog;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * Devices that speak by way of a broker, all on one thread. A connection of a device lives as long as that to the broker, at most: what is lost with it, or by
 * the broker, the device sends again.
 *
 * <pre>
 *   PREFIX/up/DEVICE   -> part 0 of a number: a connection; of one that is not known: its end is sent
 *   PREFIX/down/DEVICE <- parts
 * </pre>
 */
final class BrokerGateway implements AutoCloseable {
    private static final EventLog LOG = EventLog.named("edge");
    private static final long LEAST_PAUSE_MILLIS = 250;
    private static final long MOST_PAUSE_MILLIS = 30_000;
    private static final long LOOK_SECONDS = 5;
    private static final long MOST_BYTES = 128L << 20; // that have come and are not read, of all devices
    private static final int PACKET_OVERHEAD_BYTES = 32;

    private final EdgeGateway gateway;
    private final EdgeBroker broker;
    private final DeviceTopics topics;
    private final ScheduledThreadPoolExecutor loop;
    private final Map<String, BrokerDevice> devices = new HashMap<>(); // by levels; the loop's, as what follows
    private Optional<BrokerLine> line = Optional.empty();
    private Listening listening = new Listening(); // of the line
    private long pauseMillis = LEAST_PAUSE_MILLIS;
    private String said = "";
    private volatile boolean closed; // written by close, read by the loop

    /** Begins to connect. @throws MillraceException naming what is wrong with an option */
    BrokerGateway(EdgeGateway gateway, EdgeBroker broker) {
        this.gateway = gateway;
        this.broker = broker;
        this.topics = new DeviceTopics(broker.topic());
        line(new Listening()).close(); // is all right with the options?
        this.loop = new ScheduledThreadPoolExecutor(1, work -> {
            Thread thread = new Thread(work, "millrace-edge-broker");
            thread.setDaemon(true);
            return thread;
        });
        loop.setRemoveOnCancelPolicy(true);
        execute(this::connect);
        loop.scheduleWithFixedDelay(this::look, LOOK_SECONDS, LOOK_SECONDS, TimeUnit.SECONDS);
    }

    private BrokerLine line(Listening listening) {
        String clientId = broker.clientId()
                .orElseGet(() -> "millrace-server/" + broker.topic() + "/"
                        + Long.toHexString(ThreadLocalRandom.current().nextLong()));
        return new BrokerLine(broker.options(), clientId, gateway.clock(), listening);
    }

    /** Of one connection to the broker: what comes of it later is of no use. On its thread. */
    private final class Listening implements BrokerLine.Listener {
        @Override
        public void arrived(String topic, byte[] payload, Runnable acknowledge) {
            execute(() -> {
                acknowledge.run(); // what matters is acknowledged to the device, and not to the broker
                if (listening == this) {
                    take(topic, payload);
                }
            });
        }

        @Override
        public void taken() {
            execute(() -> List.copyOf(devices.values()).forEach(BrokerDevice::flush));
        }

        @Override
        public void refused(String topic, String reason) {
            execute(() -> {
                String levels = topic.substring(topics.down("").length());
                LOG.warning("a broker refuses what is for a device", "device", levels, "reason", reason);
                Optional.ofNullable(devices.get(levels)).ifPresent(BrokerDevice::gone);
            });
        }

        @Override
        public void lost(String reason) {
            execute(() -> {
                if (listening == this && line.isPresent()) {
                    disconnect();
                    again("the connection is gone: " + reason);
                }
            });
        }
    }

    // ---- the connection to the broker
    // ----------------------------------------------------------------------------------

    private void connect() {
        listening = new Listening();
        BrokerLine fresh = line(listening);
        line = Optional.of(fresh); // it may be lost before it is there
        try {
            fresh.open(topics.allUp());
            pauseMillis = LEAST_PAUSE_MILLIS;
            said = "";
            LOG.info("reads what devices send by a broker", "broker", broker.url(), "topic", topics.allUp());
        } catch (MillraceException e) {
            disconnect();
            again(String.valueOf(e.getMessage()));
        }
    }

    private void disconnect() {
        line.ifPresent(BrokerLine::close);
        line = Optional.empty();
        List.copyOf(devices.values()).forEach(BrokerDevice::gone);
    }

    private void again(String reason) {
        if (closed) {
            return;
        }
        if (!reason.equals(said)) {
            said = reason;
            LOG.warning("no broker for devices", "broker", broker.url(), "reason", reason);
        }
        loop.schedule(this::connect, pauseMillis, TimeUnit.MILLISECONDS);
        pauseMillis = Math.min(MOST_PAUSE_MILLIS, 2 * pauseMillis);
    }

    // ---- devices
    // -------------------------------------------------------------------------------------------------------

    private void take(String topic, byte[] payload) {
        String levels = topics.levelsOf(topic);
        BrokerPart part;
        try {
            part = BrokerPart.read(payload);
        } catch (MillraceException e) {
            LOG.warning("not of a device", "topic", topic, "reason", String.valueOf(e.getMessage()));
            return;
        }
        Optional<BrokerDevice> known = Optional.ofNullable(devices.get(levels));
        boolean isOf = known.isPresent() && known.get().number() == part.connection();
        if (part.number() == BrokerPart.END) {
            known.filter(device -> isOf).ifPresent(BrokerDevice::gone);
        } else if (isOf) {
            take(known.get(), part);
        } else if (part.number() == 0) {
            known.ifPresent(BrokerDevice::gone);
            BrokerDevice fresh = new BrokerDevice(this, gateway, levels, part.connection());
            if (gateway.has(fresh.connection())) {
                devices.put(levels, fresh);
                take(fresh, part);
            } else {
                publish(levels, BrokerPart.end(part.connection()));
            }
        } else {
            publish(
                    levels,
                    BrokerPart.end(part.connection())); // of one that ended with an earlier connection to the broker
        }
    }

    private void take(BrokerDevice device, BrokerPart part) {
        device.take(part, System.nanoTime());
        if (device.bytes() > 0
                && devices.values().stream().mapToLong(BrokerDevice::bytes).sum() > MOST_BYTES) {
            LOG.warning("devices send faster than their streams take it", "device", device.levels());
            device.end();
        }
    }

    /** Devices that have said nothing for long are gone. */
    private void look() {
        long oldest = System.nanoTime() - TimeUnit.SECONDS.toNanos(EdgeGateway.SILENCE_SECONDS);
        List.copyOf(devices.values()).stream()
                .filter(device -> device.heardNanos() - oldest < 0)
                .forEach(BrokerDevice::gone);
    }

    /** Bytes of a part for a device, at most. */
    int mostBytes(String levels) {
        long overhead = PACKET_OVERHEAD_BYTES
                + BrokerPart.HEAD_BYTES
                + topics.down(levels).getBytes(StandardCharsets.UTF_8).length;
        long most = line.map(BrokerLine::mostPacketBytes).orElse(Long.MAX_VALUE) - overhead;
        return (int) Math.max(1, Math.min(BrokerPart.MOST_BYTES, most));
    }

    /** Sends to a device. @return false if the broker takes nothing for now */
    boolean publish(String levels, BrokerPart part) {
        return line.isPresent() && line.get().publish(topics.down(levels), part.encoded());
    }

    void left(BrokerDevice device) {
        devices.remove(device.levels(), device);
        gateway.left(device.connection());
    }

    void execute(Runnable work) {
        try {
            loop.execute(() -> {
                try {
                    work.run();
                } catch (RuntimeException e) { // ours; others are served all the same
                    LOG.warning("a fault with devices at a broker", "reason", String.valueOf(e));
                }
            });
        } catch (RejectedExecutionException e) {
            // it is closed, and so are all devices
        }
    }

    String url() {
        return broker.url();
    }

    @Override
    public String toString() {
        return broker.toString();
    }

    /** Tells devices that it ends. */
    @Override
    public void close() {
        closed = true;
        execute(() -> {
            List.copyOf(devices.values()).forEach(BrokerDevice::end);
            disconnect();
        });
        loop.shutdown();
        try {
            if (!loop.awaitTermination(2, TimeUnit.SECONDS)) {
                loop.shutdownNow();
            }
        } catch (InterruptedException e) {
            loop.shutdownNow();
            Thread.currentThread().interrupt();
        }
    }
}
