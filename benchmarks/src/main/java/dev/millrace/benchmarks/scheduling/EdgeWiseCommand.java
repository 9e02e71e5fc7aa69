package dev.millrace.benchmarks.scheduling;

import dev.millrace.scheduler.SchedulingPolicies;
import dev.millrace.scheduler.simulation.Simulation;
import dev.millrace.scheduler.simulation.Workloads;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code ./millrace bench edgewise}: a simulated topology of sixteen operators on four cores, as in EdgeWise's section 7, under each policy and
 * load. One JSON line each; nothing of this machine is measured.
 */
@Command(
        name = "edgewise",
        description = "Simulates a topology of many operators on few cores, under each policy.",
        mixinStandardHelpOptions = true)
public final class EdgeWiseCommand implements Callable<Integer> {
    @Option(names = "--cores", defaultValue = "4", description = "Default: ${DEFAULT-VALUE}.")
    private int cores;

    @Option(
            names = "--loads",
            split = ",",
            defaultValue = "0.3,0.6,0.9,0.95,1.0,1.2",
            description = "The share of the cores that it needs in the mean (default: ${DEFAULT-VALUE}).")
    private List<Double> loads;

    @Option(names = "--seconds", defaultValue = "60", description = "Of virtual time (default: ${DEFAULT-VALUE}).")
    private int seconds;

    @Option(names = "--seed", defaultValue = "5", description = "Default: ${DEFAULT-VALUE}.")
    private long seed;

    @Override
    public Integer call() {
        for (double load : loads) {
            for (String policy : SchedulingPolicies.names()) {
                Simulation simulation = new Simulation(cores, SchedulingPolicies.named(policy), 20_000, 0, seed);
                simulation.add(Workloads.riotbench(load * cores));
                SimulatedLine.print(
                        "riotbench",
                        policy,
                        "none",
                        cores,
                        1,
                        load,
                        simulation.run(TimeUnit.SECONDS.toNanos(5), TimeUnit.SECONDS.toNanos(seconds)));
            }
        }
        return 0;
    }
}
