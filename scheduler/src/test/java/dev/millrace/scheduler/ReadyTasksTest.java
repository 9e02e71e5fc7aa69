package dev.millrace.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.time.Clock;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The order in which runnable tasks are taken, against the plainest way to find it. */
final class ReadyTasksTest {
    private final SteppedWorkers workers = new SteppedWorkers(1, Clock.system());

    /** A task whose rank a test says. */
    private record Ranked(int priority, long[] rank) implements Task, Workload {
        @Override
        public Outcome run(long untilNanos, long mostRows) {
            return Outcome.READY;
        }

        @Override
        public String owner() {
            return "test";
        }

        @Override
        public Workload workload() {
            return this;
        }

        @Override
        public long queuedRows() {
            return rank[0];
        }
    }

    private ScheduledTask task(int priority, long rank) {
        return workers.add(new Ranked(priority, new long[] {rank}));
    }

    static List<String> policies() {
        return SchedulingPolicies.names();
    }

    @Test
    void theLeastRankOfTheGreatestPriorityIsNextWhoeverLeavesBetween() {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        ReadyTasks ready = new ReadyTasks((RankingPolicy) (now, memory, task) -> task.queuedRows(), () -> 0);
        List<ScheduledTask> model = new ArrayList<>();
        Comparator<ScheduledTask> order = Comparator.<ScheduledTask>comparingInt(task -> -task.priority())
                .thenComparingLong(ScheduledTask::queuedRows)
                .thenComparingLong(ScheduledTask::id);
        for (int step = 0; step < 50_000; step++) {
            int what = random.nextInt(10);
            if (model.isEmpty() || what < 5 && model.size() < 300) {
                ScheduledTask task = task(random.nextInt(3), random.nextInt(50));
                task.becomesReady(0);
                ready.add(task, 0);
                model.add(task);
            } else if (what < 7) {
                ready.remove(model.remove(random.nextInt(model.size())));
            } else {
                ScheduledTask expected = model.stream().min(order).orElseThrow();
                assertEquals(expected.id(), ready.take(0).id(), "seed " + seed);
                model.remove(expected);
            }
            assertEquals(model.size(), ready.size());
        }
    }

    @Test
    void aRankIsRenewedOnceItIsACycleOldAndNoSooner() {
        RankingPolicy byQueue = new RankingPolicy() {
            @Override
            public long rank(long nowNanos, double memoryShare, TaskStatistics task) {
                return task.queuedRows();
            }

            @Override
            public long cycleNanos() {
                return 100;
            }
        };
        ReadyTasks ready = new ReadyTasks(byQueue, () -> 0);
        List<Ranked> tasks = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            Ranked task = new Ranked(0, new long[] {i});
            tasks.add(task);
            ScheduledTask scheduled = workers.add(task);
            scheduled.becomesReady(0);
            ready.add(scheduled, 0);
        }
        tasks.get(29).rank[0] = -1;
        assertEquals(0, ready.take(99).id());
        for (int i = 1; i <= 3; i++) { // eight a decision
            assertEquals(i, ready.take(100).id());
        }
        assertEquals(29, ready.take(100).id());
    }

    @ParameterizedTest
    @MethodSource("policies")
    void nobodyWaitsForEverUnderAnyPolicy(String policy) {
        int tasks = 40;
        RunQueue queue = new RunQueue(SchedulingPolicies.named(policy), 1);
        SplittableRandom random = new SplittableRandom(7);
        for (int i = 0; i < tasks; i++) {
            queue.wake(task(random.nextInt(-2, 3), random.nextInt(1_000_000)), 0);
        }
        long[] lastRun = new long[tasks];
        long now = 0;
        long longest = 0;
        int decisions = 40_000;
        for (int decision = 0; decision < decisions; decision++) {
            ScheduledTask task = queue.take(now).orElseThrow();
            int id = (int) task.id();
            longest = Math.max(longest, decision - lastRun[id]);
            lastRun[id] = decision;
            long from = now;
            now += random.nextLong(2_000_000);
            queue.ran(task, Task.Outcome.READY, from, now);
        }
        for (long last : lastRun) {
            longest = Math.max(longest, decisions - last);
        }
        long late = ReadyTasks.MOST_WAIT_NANOS / 1_000_000; // decisions of a mean millisecond
        assertTrue(
                longest <= 2 * late + ReadyTasks.OLDEST_ONE_IN * (tasks + 1), policy + " let one wait for " + longest);
    }

    @Test
    void whenAllAreLateThePolicyStillHasFifteenOfSixteenDecisions() {
        RunQueue queue = new RunQueue((RankingPolicy) (now, memory, task) -> task.queuedRows(), 1);
        for (int i = 0; i < 10; i++) {
            queue.wake(task(0, i), 0);
        }
        long now = TimeUnit.SECONDS.toNanos(1);
        int chosen = 0;
        for (int decision = 0; decision < 1_600; decision++) {
            ScheduledTask task = queue.take(now).orElseThrow();
            chosen += task.id() == 0 ? 1 : 0;
            queue.ran(task, Task.Outcome.READY, now, now + 1_000_000_000);
            now += 1_000_000_000;
        }
        assertEquals(1_500, chosen, 10);
    }

    @Test
    void aLotteryGivesEachReadyTaskTheSameChance() {
        RunQueue queue = new RunQueue(SchedulingPolicies.named("random"), 1);
        int[] runs = new int[8];
        for (int i = 0; i < runs.length; i++) {
            queue.wake(task(0, i), 0);
        }
        SplittableRandom random = new SplittableRandom(3);
        for (int decision = 0; decision < 80_000; decision++) {
            ScheduledTask task = queue.take(random.nextLong()).orElseThrow();
            runs[(int) task.id()]++;
            queue.ran(task, Task.Outcome.READY, 0, 0);
        }
        for (int each : runs) {
            assertEquals(10_000, each, 500);
        }
    }
}
