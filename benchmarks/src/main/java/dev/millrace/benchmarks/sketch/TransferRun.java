package dev.millrace.benchmarks.sketch;

import com.sun.management.ThreadMXBean;
import dev.millrace.benchmarks.sketch.TransferMode.Frame;
import dev.millrace.benchmarks.sketch.TransferMode.Incoming;
import dev.millrace.benchmarks.sketch.TransferMode.Outgoing;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.arrow.memory.BufferAllocator;

/**
 * An ingester, a connection of TCP over this machine, and a processor with a buffer before it that has room for so many bytes; a thread
 * each.
 *
 * <pre>
 *   ingester -- TCP --> reader --> buffer --> processor
 * </pre>
 *
 * @param cpuSeconds of all three threads, so that what else the machine does counts little
 * @param linkBytes with four of the length of each frame
 * @param switches how often threads gave up their processor to wait; 0 where the system does not say
 * @param allocated bytes on the heap, by all three
 * @param held rows in the buffer when it was full, and its reader waited
 */
record TransferRun(long rows, double cpuSeconds, long linkBytes, long switches, long allocated, long held) {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** What came and waits, up to so many bytes. */
    private static final class Inbound {
        private final Deque<Frame> frames = new ArrayDeque<>();
        private final long most;
        private long bytes;
        private long rows;
        private long held;
        private boolean ended;

        Inbound(long most) {
            this.most = most;
        }

        synchronized void put(Frame frame) throws InterruptedException {
            while (bytes + frame.bytes().length > most) {
                held = Math.max(held, rows);
                notifyAll();
                wait();
            }
            frames.add(frame);
            bytes += frame.bytes().length;
            rows += frame.rows();
            notifyAll();
        }

        synchronized void end() {
            ended = true;
            notifyAll();
        }

        /** Until it is full, or nothing is to come. */
        synchronized void awaitFull() throws InterruptedException {
            while (held == 0 && !ended) {
                wait();
            }
        }

        /** The next; empty at the end. */
        synchronized Optional<Frame> take() throws InterruptedException {
            while (frames.isEmpty() && !ended) {
                wait();
            }
            Optional<Frame> next = Optional.ofNullable(frames.poll());
            next.ifPresent(frame -> {
                bytes -= frame.bytes().length;
                rows -= frame.rows();
                notifyAll();
            });
            return next;
        }

        synchronized long held() {
            return held;
        }
    }

    private interface Work {
        void run() throws IOException, InterruptedException;
    }

    /**
     * Sends a set so many times.
     *
     * @param bufferBytes of the buffer before the processor
     * @param isSlow whether the processor does not begin before the buffer is full
     */
    static TransferRun of(
            TransferMode mode,
            TimeSeries series,
            int passes,
            long bufferBytes,
            boolean isSlow,
            BufferAllocator allocator)
            throws IOException {
        Outgoing outgoing = mode.outgoing(series);
        MovingAverages averages = new MovingAverages(series.features().size());
        Incoming incoming = mode.incoming(averages, allocator);
        Inbound inbound = new Inbound(bufferBytes);
        AtomicLong sent = new AtomicLong();
        AtomicLong switches = new AtomicLong();
        AtomicLong allocated = new AtomicLong();
        AtomicLong cpuNanos = new AtomicLong();
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Socket from = new Socket(InetAddress.getLoopbackAddress(), listener.getLocalPort());
                Socket to = listener.accept()) {
            from.setTcpNoDelay(true);
            CompletableFuture<Void> ingester = begin("ingester", switches, allocated, cpuNanos, () -> {
                try (DataOutputStream out = new DataOutputStream(from.getOutputStream())) {
                    for (int pass = 0; pass < passes; pass++) {
                        for (int i = 0; i < outgoing.count(); i++) {
                            send(outgoing.frame(i), out, sent);
                        }
                    }
                }
            });
            CompletableFuture<Void> reader = begin("reader", switches, allocated, cpuNanos, () -> {
                try (DataInputStream in = new DataInputStream(new BufferedInputStream(to.getInputStream(), 1 << 16))) {
                    while (true) {
                        int rows = in.readInt();
                        byte[] bytes = new byte[in.readInt()];
                        in.readFully(bytes);
                        inbound.put(new Frame(bytes, rows));
                    }
                } catch (EOFException e) {
                    return; // the ingester is done
                } finally {
                    inbound.end();
                }
            });
            CompletableFuture<Void> processor = begin("processor", switches, allocated, cpuNanos, () -> {
                if (isSlow) {
                    inbound.awaitFull();
                }
                for (Optional<Frame> frame = inbound.take(); frame.isPresent(); frame = inbound.take()) {
                    incoming.take(frame.get().bytes());
                }
            });
            CompletableFuture.allOf(ingester, reader, processor).join();
            if (averages.rows() != (long) passes * series.rows() || Double.isNaN(averages.checksum())) {
                throw new IllegalStateException(averages.rows() + " rows came");
            }
            return new TransferRun(
                    averages.rows(), cpuNanos.get() / 1e9, sent.get(), switches.get(), allocated.get(), inbound.held());
        } catch (CompletionException e) {
            throw new IOException(e.getCause());
        }
    }

    /** The rows of a frame are told beside it, which a message need not: only its length counts. */
    private static void send(Frame frame, DataOutputStream out, AtomicLong sent) throws IOException {
        byte[] whole = new byte[2 * Integer.BYTES + frame.bytes().length];
        ByteBuffer.wrap(whole).putInt(frame.rows()).putInt(frame.bytes().length).put(frame.bytes());
        out.write(whole);
        sent.addAndGet(whole.length - Integer.BYTES);
    }

    private static CompletableFuture<Void> begin(
            String name, AtomicLong switches, AtomicLong allocated, AtomicLong cpuNanos, Work work) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        Thread thread = new Thread(
                () -> {
                    try {
                        long before = waits();
                        long bytesBefore = THREADS.getThreadAllocatedBytes(
                                Thread.currentThread().getId());
                        work.run();
                        allocated.addAndGet(THREADS.getThreadAllocatedBytes(
                                        Thread.currentThread().getId())
                                - bytesBefore);
                        switches.addAndGet(waits() - before);
                        cpuNanos.addAndGet(THREADS.getCurrentThreadCpuTime());
                        done.complete(null);
                    } catch (IOException | InterruptedException | RuntimeException | Error e) {
                        done.completeExceptionally(e);
                    }
                },
                "bench-" + name);
        thread.setDaemon(true);
        thread.start();
        return done;
    }

    /** How often the calling thread gave up its processor so far. */
    private static long waits() throws IOException {
        Path status = Path.of("/proc/thread-self/status");
        if (!Files.exists(status)) {
            return 0;
        }
        return Files.readAllLines(status).stream()
                .filter(line -> line.startsWith("voluntary_ctxt_switches:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                .sum();
    }
}
