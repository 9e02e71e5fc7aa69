package dev.millrace.benchmarks.scheduling;

import dev.millrace.scheduler.SchedulingPolicies;
import dev.millrace.scheduler.simulation.Delays;
import dev.millrace.scheduler.simulation.Simulation;
import dev.millrace.scheduler.simulation.Workloads;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code ./millrace bench klink}: simulated queries with windows, as in Klink's section 6, under each policy and load, with uniform and Zipf
 * delays. One JSON line each; nothing of this machine is measured.
 */
@Command(
        name = "klink",
        description = "Simulates queries with windows on a machine with any number of cores, under each policy.",
        mixinStandardHelpOptions = true)
public final class KlinkCommand implements Callable<Integer> {
    @Option(names = "--cores", defaultValue = "24", description = "Default: ${DEFAULT-VALUE}.")
    private int cores;

    @Option(names = "--queries", split = ",", defaultValue = "80", description = "Default: ${DEFAULT-VALUE}.")
    private List<Integer> queries;

    @Option(
            names = "--loads",
            split = ",",
            defaultValue = "0.8,0.9,0.95,1.05",
            description = "The share of the cores that they need in the mean (default: ${DEFAULT-VALUE}).")
    private List<Double> loads;

    @Option(names = "--burst", defaultValue = "4", description = "See QuerySpec (default: ${DEFAULT-VALUE}).")
    private double burst;

    @Option(names = "--seconds", defaultValue = "120", description = "Of virtual time (default: ${DEFAULT-VALUE}).")
    private int seconds;

    @Option(names = "--seed", defaultValue = "1", description = "Default: ${DEFAULT-VALUE}.")
    private long seed;

    @Override
    public Integer call() {
        long delay = TimeUnit.MILLISECONDS.toNanos(500);
        for (int count : queries) {
            for (double load : loads) {
                run("uniform", Delays.uniform(delay), count, load);
                run("zipf", Delays.zipf(.99, delay), count, load);
            }
        }
        return 0;
    }

    private void run(String name, Delays delays, int count, double load) {
        long spread = TimeUnit.SECONDS.toNanos(20);
        for (String policy : SchedulingPolicies.names()) {
            Simulation simulation =
                    new Simulation(cores, SchedulingPolicies.named(policy), 100_000L * cores, spread, seed);
            for (int i = 0; i < count; i++) {
                simulation.add(Workloads.ysb(load * cores / count, burst, delays));
            }
            SimulatedLine.print(
                    "ysb", policy, name, cores, count, load, simulation.run(spread, TimeUnit.SECONDS.toNanos(seconds)));
        }
    }
}
