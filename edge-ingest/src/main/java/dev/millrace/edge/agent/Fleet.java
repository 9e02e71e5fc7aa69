package dev.millrace.edge.agent;

import dev.millrace.edge.config.EdgeConfig;
import dev.millrace.edge.link.EdgeLink;
import dev.millrace.edge.link.SharedWires;
import dev.millrace.edge.stream.EdgeStream;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.storage.disk.RealDisk;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Many devices in one process, for tests and demonstrations: each an agent with a queue of its own, driven by some threads together, over
 * connections of one thread without TLS. Begun when it is made; safe on any thread.
 */
public final class Fleet implements AutoCloseable {
    private static final long PAUSE_NANOS = 5_000_000;
    private static final long LOOK_NANOS = 100_000_000;

    private final SharedWires wires;
    private final List<Driver> drivers = new ArrayList<>();

    /**
     * How the devices are, as of some tenths of a second ago.
     *
     * @param connected how many have a connection
     * @param rows that they took
     * @param backlog of these, rows that the server has not said to have
     * @param bytes that went over all connections
     * @param done whether all that was taken is there, and nothing more comes
     * @param problem of one of those that have any
     */
    public record Status(
            int devices, int connected, long rows, long backlog, long bytes, boolean done, Optional<String> problem) {
        private Status plus(Status other) {
            return new Status(
                    devices + other.devices,
                    connected + other.connected,
                    rows + other.rows,
                    backlog + other.backlog,
                    bytes + other.bytes,
                    done && other.done,
                    problem.or(other::problem));
        }
    }

    private static final Status NONE = new Status(0, 0, 0, 0, 0, true, Optional.empty());

    /**
     * Begins.
     *
     * @param devices each with a folder of its own and a server
     * @param threads that drive them, each a part
     * @param allocator of all, safe on any thread; is not closed
     * @throws MillraceException 58030 if a folder cannot be had
     */
    public Fleet(List<EdgeConfig> devices, int threads, BufferAllocator allocator) {
        List<List<EdgeAgent>> parts = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            parts.add(new ArrayList<>());
        }
        try {
            wires = new SharedWires();
            long heap = Runtime.getRuntime().maxMemory() / 8 * 3 / Math.max(1, devices.size());
            for (int i = 0; i < devices.size(); i++) {
                parts.get(i % threads).add(agent(devices.get(i), heap, allocator));
            }
        } catch (IOException e) {
            parts.forEach(part -> part.forEach(EdgeAgent::abandon));
            throw MillraceException.external(SqlState.IO_ERROR, "cannot begin the devices: " + e.getMessage(), e);
        }
        for (List<EdgeAgent> part : parts) {
            Driver driver = new Driver(part);
            drivers.add(driver);
            driver.start();
        }
    }

    private EdgeAgent agent(EdgeConfig config, long heapBytes, BufferAllocator allocator) throws IOException {
        Files.createDirectories(config.data());
        EdgeAgent.Machine here =
                EdgeAgent.Machine.of(new RealDisk(config.data()), allocator, InputStream.nullInputStream(), line -> {});
        EdgeAgent.Machine part = new EdgeAgent.Machine(
                here.disk(), here.clock(), allocator, here.stdin(), here.random(), heapBytes, here.log());
        EdgeConfig.Server server = config.server().orElseThrow();
        return new EdgeAgent(
                config,
                part,
                () -> wires.dial(server.peer().host(), server.peer().port()));
    }

    public Status status() {
        return drivers.stream().map(driver -> driver.status).reduce(NONE, Status::plus);
    }

    /** Has the devices take nothing more; what they have is sent, as {@link #status} says. */
    public void finish() {
        drivers.forEach(driver -> driver.finishing = true);
    }

    /** Ends; what is not sent stays in the folders. */
    @Override
    public void close() {
        drivers.forEach(driver -> driver.closing = true);
        try {
            for (Driver driver : drivers) {
                driver.join();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            wires.close();
        }
    }

    private static final class Driver extends Thread {
        private final List<EdgeAgent> agents;
        private volatile Status status = new Status(0, 0, 0, 0, 0, false, Optional.empty()); // written by the thread
        private volatile boolean finishing; // written by others, read by the thread
        private volatile boolean closing; // likewise

        Driver(List<EdgeAgent> agents) {
            super("edge-fleet");
            this.agents = agents;
            setDaemon(true);
        }

        @Override
        public void run() {
            long lookAt = System.nanoTime();
            while (!closing) {
                boolean any = false;
                for (EdgeAgent agent : agents) {
                    if (finishing) {
                        agent.finish();
                    }
                    any |= agent.step();
                }
                if (System.nanoTime() - lookAt >= 0) {
                    lookAt = System.nanoTime() + LOOK_NANOS;
                    status = agents.stream().map(Driver::statusOf).reduce(NONE, Status::plus);
                }
                if (!any) {
                    LockSupport.parkNanos(PAUSE_NANOS);
                }
            }
            agents.forEach(EdgeAgent::close);
        }

        private static Status statusOf(EdgeAgent agent) {
            EdgeLink.Health health = agent.health().orElseThrow();
            long rows = 0;
            long backlog = 0;
            for (EdgeStream stream : agent.streams()) {
                rows += stream.counts().rows();
                backlog += stream.openRows() + agent.backlog(stream.name()).rows();
            }
            return new Status(1, health.up() ? 1 : 0, rows, backlog, health.bytes(), agent.isDone(), health.problem());
        }
    }
}
