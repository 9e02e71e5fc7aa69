package dev.millrace.benchmarks.wire;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;

/** The same asked again and again by several clients at once. For one thread. */
final class Repetition {
    private final Connection connection;
    private final int clients;
    private final double seconds;

    /** How a client comes to the server. */
    interface Connection {
        WireClient open() throws IOException;
    }

    /** What is asked; the number counts over all clients. */
    interface Question {
        void ask(WireClient client, long number) throws IOException;
    }

    /** @param seconds for which it is counted; a third of that more goes by before */
    Repetition(Connection connection, int clients, double seconds) {
        this.connection = connection;
        this.clients = clients;
        this.seconds = seconds;
    }

    /** How often it was answered. */
    long count(Question question) throws IOException, InterruptedException {
        long begin = System.nanoTime() + (long) (seconds / 3 * 1e9);
        long end = begin + (long) (seconds * 1e9);
        AtomicLong next = new AtomicLong();
        List<Callable<Long>> tasks = new ArrayList<>();
        for (int c = 0; c < clients; c++) {
            tasks.add(() -> {
                long counted = 0;
                try (WireClient client = connection.open()) {
                    while (System.nanoTime() < end) {
                        question.ask(client, next.getAndIncrement());
                        counted += System.nanoTime() >= begin ? 1 : 0;
                    }
                }
                return counted;
            });
        }
        return sum(tasks);
    }

    private static long sum(List<Callable<Long>> tasks) throws IOException, InterruptedException {
        ExecutorService threads = Executors.newFixedThreadPool(tasks.size());
        try {
            long total = 0;
            for (Future<Long> future : threads.invokeAll(tasks)) {
                total += future.get();
            }
            return total;
        } catch (ExecutionException e) {
            throw new IOException(e.getCause());
        } finally {
            threads.shutdownNow();
        }
    }
}
