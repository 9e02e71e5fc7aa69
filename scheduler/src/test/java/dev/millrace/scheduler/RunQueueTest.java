package dev.millrace.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.scheduler.Task.Outcome;
import dev.millrace.time.Clock;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Who runs next, without threads. */
final class RunQueueTest {
    private final SteppedWorkers workers = new SteppedWorkers(1, Clock.system());

    private record Named(String owner) implements Task {
        @Override
        public boolean isBackground() {
            return owner.startsWith("past");
        }

        @Override
        public Outcome run(long untilNanos, long mostRows) {
            return Outcome.WAITING;
        }

        @Override
        public int priority() {
            return 0;
        }
    }

    private ScheduledTask task(String name) {
        return workers.add(new Named(name));
    }

    private static List<String> takeAll(RunQueue queue, long now) {
        List<String> order = new ArrayList<>();
        for (var next = queue.take(now); next.isPresent(); next = queue.take(now)) {
            order.add(next.get().owner());
        }
        return order;
    }

    @Test
    void firstComeIsFirstServed() {
        RunQueue queue = new RunQueue(SchedulingPolicies.named("fcfs"), 1);
        queue.wake(task("b"), 20);
        queue.wake(task("a"), 10);
        queue.wake(task("c"), 30);
        assertEquals(List.of("a", "b", "c"), takeAll(queue, 40));
    }

    @Test
    void roundRobinPrefersWhoRanLongestAgo() {
        RunQueue queue = new RunQueue(SchedulingPolicies.named("round_robin"), 1);
        ScheduledTask a = task("a");
        ScheduledTask b = task("b");
        queue.wake(a, 0);
        queue.wake(b, 0);
        assertEquals("a", queue.take(1).orElseThrow().owner());
        queue.ran(a, Outcome.READY, 1, 2);
        assertEquals("b", queue.take(2).orElseThrow().owner());
        queue.ran(b, Outcome.READY, 2, 3);
        assertEquals("a", queue.take(3).orElseThrow().owner());
        assertEquals(1, a.runs());
        assertEquals(1, a.cpuNanos());
    }

    @Test
    void whatIsInTheBackgroundWaitsForOthersButNotForLong() {
        RunQueue queue = new RunQueue(SchedulingPolicies.named("fcfs"), 1);
        ScheduledTask past = task("past");
        ScheduledTask live = task("live");
        queue.wake(past, 0);
        queue.wake(live, 10);
        assertEquals(List.of("live", "past"), takeAll(queue, 20));
        queue.ran(live, Outcome.READY, 20, 30);
        queue.ran(past, Outcome.READY, 20, 30);
        assertEquals("past", queue.take(30 + 20_000_000).orElseThrow().owner());
        assertEquals("live", queue.take(30 + 20_000_000).orElseThrow().owner());
        queue.ran(past, Outcome.READY, 40, 50);
        int others = 0;
        queue.ran(live, Outcome.READY, 40, 50);
        for (String next = queue.take(60).orElseThrow().owner();
                next.equals("live");
                next = queue.take(60).orElseThrow().owner()) {
            others++;
            queue.ran(live, Outcome.READY, 50, 60);
        }
        assertEquals(1_000, others);
        assertTrue(queue.wake(task("past again"), 70));
        assertEquals(2, queue.statistics().ready());
    }

    @Test
    void oneOfSeveralWorkersIsKeptFreeOfTheBackgroundWhileThereAreOthers() {
        RunQueue queue = new RunQueue(SchedulingPolicies.named("fcfs"), 2);
        List<ScheduledTask> past = List.of(task("past 1"), task("past 2"));
        ScheduledTask live = task("live");
        past.forEach(each -> queue.wake(each, 0));
        assertEquals(List.of("past 1", "past 2"), takeAll(queue, 1), "nobody else was ever there");
        past.forEach(each -> queue.ran(each, Outcome.READY, 1, 2));
        queue.wake(live, 2);
        assertEquals(List.of("live", "past 1"), takeAll(queue, 3));
        queue.ran(live, Outcome.WAITING, 3, 4);
        assertEquals(List.of(), takeAll(queue, 4), "also between two of its turns");
        assertEquals(Long.MAX_VALUE, queue.backgroundInNanos(4));
        queue.ran(past.get(0), Outcome.READY, 3, 6);
        assertEquals(3, queue.backgroundInNanos(6), "a pause as long as the run");
        assertEquals(List.of(), takeAll(queue, 8));
        assertEquals(List.of("past 2"), takeAll(queue, 9), "they take turns");
        long later = 3 + 999_999_999;
        assertEquals(Long.MAX_VALUE, queue.backgroundInNanos(later));
        assertEquals(0, queue.backgroundInNanos(later + 1), "nobody else was there for a second");
        assertEquals(List.of("past 1"), takeAll(queue, later + 1));
    }

    @Test
    void aTaskWokenWhileItRunsRunsAgain() {
        RunQueue queue = new RunQueue(SchedulingPolicies.named("fcfs"), 1);
        ScheduledTask task = task("a");
        assertTrue(queue.wake(task, 0));
        assertFalse(queue.wake(task, 0));
        queue.take(1);
        assertFalse(queue.wake(task, 2));
        queue.ran(task, Outcome.WAITING, 1, 3);
        assertEquals(List.of("a"), takeAll(queue, 4));
        queue.ran(task, Outcome.WAITING, 4, 5);
        assertEquals(0, queue.statistics().ready());
    }

    @Test
    void aRemovedTaskNeverRunsAgain() {
        RunQueue queue = new RunQueue(SchedulingPolicies.named("fcfs"), 1);
        ScheduledTask ready = task("ready");
        ScheduledTask running = task("running");
        queue.wake(running, 0);
        queue.take(1);
        queue.wake(ready, 2);
        assertTrue(queue.remove(ready));
        assertFalse(queue.remove(running));
        queue.ran(running, Outcome.READY, 1, 3);
        assertFalse(queue.wake(running, 4));
        assertEquals(0, queue.statistics().ready());
    }

    @Test
    void thePolicyMayChangeWhileTasksWait() {
        RunQueue queue = new RunQueue((RankingPolicy) (now, memory, task) -> -task.readySinceNanos(), 1);
        queue.wake(task("a"), 1);
        queue.wake(task("b"), 2);
        queue.wake(task("c"), 3);
        assertEquals("c", queue.take(4).orElseThrow().owner());
        queue.setPolicy(SchedulingPolicies.named("fcfs"), 4);
        assertEquals("a", queue.take(4).orElseThrow().owner());
    }

    @Test
    void policiesAreToldHowMuchMemoryIsUsed() {
        RunQueue queue = new RunQueue((RankingPolicy) (now, memory, task) -> memory > .5 ? -task.id() : task.id(), 1);
        List<ScheduledTask> tasks = List.of(task("a"), task("b"), task("c"));
        tasks.forEach(task -> queue.wake(task, 0));
        assertEquals(List.of("a", "b", "c"), takeAll(queue, 0));
        tasks.forEach(task -> queue.ran(task, Outcome.WAITING, 0, 0));
        queue.measureMemory(() -> .9);
        tasks.forEach(task -> queue.wake(task, 0));
        assertEquals(List.of("c", "b", "a"), takeAll(queue, 0));
    }

    @Test
    void whatATaskIsKnownByIsCountedAsItRuns() {
        long[] rows = new long[2];
        Workload workload = new Workload() {
            @Override
            public long rowsIn() {
                return rows[0];
            }

            @Override
            public long rowsOut() {
                return rows[1];
            }
        };
        ScheduledTask task = workers.add(new Counted(workload));
        RunQueue queue = new RunQueue(SchedulingPolicies.named("fcfs"), 1);
        long began = Clock.system().nanoTime();
        long woken = began + 1_000_000_000;
        queue.wake(task, woken);
        queue.take(woken + 500);
        rows[0] = 100;
        rows[1] = 25;
        queue.ran(task, Outcome.WAITING, woken + 500, woken + 10_500);
        assertEquals(100, task.rowNanos(), 1e-9);
        assertEquals(.25, task.selectivity(), 1e-9);
        assertEquals(500, task.waitNanos());
        assertTrue(task.utilisation(woken + 1_000_000_000)
                < 1e-3); // of two seconds it had something to do for ten microseconds
        for (int i = 1; i <= 20; i++) { // rows that come now are slower
            queue.wake(task, woken + i * 100_000L);
            queue.take(woken + i * 100_000L);
            rows[0] += 10;
            queue.ran(task, Outcome.WAITING, woken + i * 100_000L, woken + i * 100_000L + 10_000);
        }
        assertTrue(task.rowNanos() > 400 && task.rowNanos() < 1_000, "now " + task.rowNanos());
        assertEquals(new SchedulerStatistics(0, 0, 21, 500), queue.statistics());
    }

    private record Counted(Workload workload) implements Task {
        @Override
        public Outcome run(long untilNanos, long mostRows) {
            return Outcome.WAITING;
        }

        @Override
        public String owner() {
            return "counted";
        }

        @Override
        public int priority() {
            return 0;
        }
    }

    @Test
    void anUnknownPolicyIsRefusedWithASuggestion() {
        MillraceException unknown = assertThrows(MillraceException.class, () -> SchedulingPolicies.named("fcsf"));
        assertEquals("did you mean \"fcfs\"?", unknown.hint().orElseThrow());
    }

    @Test
    void timersFireByTimeThenByOrderUnlessCancelled() {
        Timers timers = new Timers();
        List<String> fired = new ArrayList<>();
        timers.schedule(20, () -> fired.add("c"));
        timers.schedule(10, () -> fired.add("a"));
        timers.schedule(10, () -> fired.add("b"));
        Timers.Timer cancelled = timers.schedule(5, () -> fired.add("never"));
        cancelled.cancel();
        assertEquals(10, timers.nextNanos());
        assertTrue(timers.takeDue(9).isEmpty());
        for (var due = timers.takeDue(20); due.isPresent(); due = timers.takeDue(20)) {
            due.get().run();
        }
        assertEquals(List.of("a", "b", "c"), fired);
        assertEquals(Long.MAX_VALUE, timers.nextNanos());
    }
}
