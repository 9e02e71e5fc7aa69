package dev.millrace.edge.input;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;

/** An input whose bytes others wait for, on threads of their own; these wait while nobody takes what they brought. */
abstract class ThreadInput implements Input {
    static final int READ_BYTES = 32 << 10;
    private static final int CHUNKS = 16;

    private final ArrayBlockingQueue<byte[]> chunks = new ArrayBlockingQueue<>(CHUNKS);
    private final AtomicLong tooLong = new AtomicLong();
    private final List<Thread> threads = new ArrayList<>();
    private volatile Optional<String> problem = Optional.empty(); // written by all threads, read by the agent's
    private volatile boolean ended; // no thread brings anything any more
    private volatile boolean closed; // written by close, read by the threads

    /** What a thread does. */
    interface Work {
        void run() throws IOException, InterruptedException;
    }

    /** Begins a thread; on the agent's. */
    final void start(String name, Work work) {
        Thread thread = thread(name, work);
        threads.add(thread);
        thread.start();
    }

    final Thread thread(String name, Work work) {
        Thread thread = new Thread(
                () -> {
                    try {
                        work.run();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    } catch (IOException e) {
                        failed(e);
                    }
                },
                name);
        thread.setDaemon(true);
        return thread;
    }

    final void failed(IOException e) {
        if (!closed) {
            problem = Optional.of(e.getMessage() == null ? e.toString() : e.getMessage());
        }
    }

    final void succeeded() {
        problem = Optional.empty();
    }

    final boolean isClosed() {
        return closed;
    }

    final void end() {
        ended = true;
    }

    /** Brings lines; waits for room. */
    final void bring(byte[] lines) throws InterruptedException {
        if (lines.length > 0) {
            chunks.put(lines);
        }
    }

    final void tooLong(long lines) {
        tooLong.addAndGet(lines);
    }

    @Override
    public final boolean poll(LineMemory into) {
        byte[] next = chunks.poll();
        if (next == null) {
            return false;
        }
        into.add(next, 0, next.length);
        return true;
    }

    @Override
    public final boolean isFinished() {
        return ended && chunks.isEmpty();
    }

    @Override
    public final long tooLong() {
        return tooLong.get();
    }

    @Override
    public final Optional<String> problem() {
        return problem;
    }

    @Override
    public void close() {
        closed = true;
        threads.forEach(Thread::interrupt);
    }
}
