package dev.millrace.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
final class WorkerThreadsTest {
    private final WorkerThreads workers = new WorkerThreads(2, SchedulingPolicies.named("fcfs"), Clock.system());

    @AfterEach
    void close() {
        workers.close();
    }

    private record Running(Supplier<Task.Outcome> body) implements Task {
        @Override
        public Outcome run(long untilNanos, long mostRows) {
            return body.get();
        }

        @Override
        public String owner() {
            return "test";
        }

        @Override
        public int priority() {
            return 0;
        }
    }

    @Test
    void noWakeIsLostAndNoTaskRunsTwiceAtOnce() throws InterruptedException {
        int tasks = 5;
        int wakes = 20_000;
        AtomicInteger[] pending = new AtomicInteger[tasks];
        AtomicInteger[] inside = new AtomicInteger[tasks];
        AtomicInteger total = new AtomicInteger();
        AtomicBoolean overlapped = new AtomicBoolean();
        Signal signal = new Signal();
        List<ScheduledTask> scheduled = new ArrayList<>();
        for (int i = 0; i < tasks; i++) {
            int me = i;
            pending[i] = new AtomicInteger();
            inside[i] = new AtomicInteger();
            scheduled.add(workers.add(new Running(() -> {
                overlapped.compareAndSet(false, inside[me].incrementAndGet() != 1);
                total.addAndGet(pending[me].getAndSet(0));
                inside[me].decrementAndGet();
                signal.raise();
                return Task.Outcome.WAITING;
            })));
        }
        for (int i = 0; i < wakes; i++) {
            pending[i % tasks].incrementAndGet();
            scheduled.get(i % tasks).wake();
        }
        assertTrue(workers.await(signal, () -> total.get() == wakes, TimeUnit.SECONDS.toNanos(60)));
        assertFalse(overlapped.get());
    }

    @Test
    void removeWaitsForTheRunUnderWay() throws InterruptedException {
        CountDownLatch started = new CountDownLatch(1);
        Thread remover = Thread.currentThread();
        AtomicBoolean finished = new AtomicBoolean();
        ScheduledTask task = workers.add(new Running(() -> {
            started.countDown();
            while (remover.getState() != Thread.State.TIMED_WAITING) {
                Thread.onSpinWait();
            }
            finished.set(true);
            return Task.Outcome.READY;
        }));
        task.wake();
        while (started.getCount() > 0) {
            Thread.onSpinWait(); // it takes us for waiting only in remove
        }
        task.remove(Long.MAX_VALUE);
        assertTrue(finished.get());
        long runs = task.runs();
        task.wake();
        CountDownLatch later = new CountDownLatch(1);
        workers.add(new Running(() -> {
                    later.countDown();
                    return Task.Outcome.WAITING;
                }))
                .wake();
        later.await(); // first come, first served
        assertEquals(runs, task.runs());
    }

    @Test
    void aWorkerWhoseRunDoesNotEndIsReplaced() throws InterruptedException {
        CountDownLatch end = new CountDownLatch(1);
        List<ScheduledTask> stuck = new ArrayList<>();
        for (int i = 0; i < 5; i++) { // more than there are workers
            CountDownLatch begun = new CountDownLatch(1);
            ScheduledTask task = workers.add(new Running(() -> {
                begun.countDown();
                try {
                    end.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                return Task.Outcome.WAITING;
            }));
            task.wake();
            begun.await();
            stuck.add(task);
        }
        assertTrue(stuck.get(0).remove(1) < 0); // it does not end in time
        assertTrue(workers.replaced() > 0);
        end.countDown();
        stuck.get(0).awaitOut();
        for (ScheduledTask task : stuck) {
            assertTrue(task.remove(Long.MAX_VALUE) >= 0);
        }
    }

    @Test
    void aTimerFiresInTime() throws InterruptedException {
        Signal signal = new Signal();
        AtomicBoolean fired = new AtomicBoolean();
        workers.schedule(Clock.system().nanoTime() + TimeUnit.HOURS.toNanos(1), () -> {});
        workers.schedule(Clock.system().nanoTime() + TimeUnit.MILLISECONDS.toNanos(20), () -> {
            fired.set(true);
            signal.raise();
        });
        assertTrue(workers.await(signal, fired::get, TimeUnit.SECONDS.toNanos(60)));
    }

    @Test
    void awaitGivesUpInTime() throws InterruptedException {
        assertFalse(workers.await(new Signal(), () -> false, TimeUnit.MILLISECONDS.toNanos(10)));
    }
}
