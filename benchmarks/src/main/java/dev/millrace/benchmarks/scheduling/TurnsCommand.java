package dev.millrace.benchmarks.scheduling;

import dev.millrace.scheduler.ScheduledTask;
import dev.millrace.scheduler.SchedulingPolicies;
import dev.millrace.scheduler.SteppedWorkers;
import dev.millrace.scheduler.Task;
import dev.millrace.scheduler.Workload;
import dev.millrace.time.Clock;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code ./millrace bench turns}: how long it takes to choose a task, have it run (it does nothing) and take it back, among so
 * many that are runnable, for each policy; of some rounds the best. One JSON line each.
 */
@Command(
        name = "turns",
        description = "Measures what a decision of the scheduler costs, by policy and number of runnable tasks.",
        mixinStandardHelpOptions = true)
public final class TurnsCommand implements Callable<Integer> {
    private static final int TURNS = 200_000;

    @Option(names = "--tasks", split = ",", defaultValue = "10,1000,100000", description = "Default: ${DEFAULT-VALUE}.")
    private List<Integer> tasks;

    @Option(names = "--rounds", defaultValue = "5", description = "Of 200,000 decisions (default: ${DEFAULT-VALUE}).")
    private int rounds;

    /** A task that always has something to do; how much is there differs and changes. */
    private static final class Busy implements Task, Workload {
        private final int number;
        private long rows;

        Busy(int number) {
            this.number = number;
        }

        @Override
        public Outcome run(long untilNanos, long mostRows) {
            rows += 10;
            return Outcome.READY;
        }

        @Override
        public String owner() {
            return "busy";
        }

        @Override
        public int priority() {
            return 0;
        }

        @Override
        public Workload workload() {
            return this;
        }

        @Override
        public long queuedRows() {
            return (number * 31L + rows) % 1_000;
        }

        @Override
        public long rowsIn() {
            return rows;
        }

        @Override
        public long rowsOut() {
            return rows / (1 + number % 7);
        }
    }

    @Override
    public Integer call() {
        for (String policy : SchedulingPolicies.names()) {
            for (int count : tasks) {
                SteppedWorkers workers = new SteppedWorkers(SchedulingPolicies.named(policy), Clock.system());
                for (int i = 0; i < count; i++) {
                    ScheduledTask task = workers.add(new Busy(i));
                    task.wake();
                }
                double best = Double.MAX_VALUE;
                for (int round = 0; round < rounds; round++) {
                    best = Math.min(best, nanosOfTurn(workers));
                }
                System.out.printf(
                        Locale.ROOT,
                        "{\"policy\":\"%s\",\"tasks\":%d,\"best_ns_per_turn\":%.0f,\"rounds\":%d}%n",
                        policy,
                        count,
                        best,
                        rounds);
            }
        }
        return 0;
    }

    private static double nanosOfTurn(SteppedWorkers workers) {
        long since = System.nanoTime();
        for (int i = 0; i < TURNS; i++) {
            workers.step();
        }
        return (double) (System.nanoTime() - since) / TURNS;
    }
}
