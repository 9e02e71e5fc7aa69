package dev.millrace.benchmarks.scheduling;

import dev.millrace.scheduler.assignment.Rebalancing;
import dev.millrace.scheduler.simulation.GroupResult;
import dev.millrace.scheduler.simulation.GroupSimulation;
import dev.millrace.scheduler.simulation.GroupSpec;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code ./millrace bench groups}: simulated groups of queries, few of which have most members, on workers that have each its own, without and with
 * rebalancing, as in Pluto's Fig. 3.7. One JSON line each; nothing of this machine is measured.
 */
@Command(
        name = "groups",
        description = "Simulates groups of queries on workers that have each its own, without and with rebalancing.",
        mixinStandardHelpOptions = true)
public final class GroupsCommand implements Callable<Integer> {
    private static final double NANOS_PER_MILLI = 1e6;

    @Option(names = "--workers", defaultValue = "24", description = "Default: ${DEFAULT-VALUE}.")
    private int workers;

    @Option(names = "--groups", defaultValue = "6000", description = "Codes (default: ${DEFAULT-VALUE}).")
    private int groups;

    @Option(names = "--members", defaultValue = "60000", description = "Queries (default: ${DEFAULT-VALUE}).")
    private int members;

    @Option(
            names = "--loads",
            split = ",",
            defaultValue = "0.5,0.7,0.8",
            description = "The share of the workers that they need in the mean (default: ${DEFAULT-VALUE}).")
    private List<Double> loads;

    @Option(
            names = "--zipf",
            split = ",",
            defaultValue = "0,1",
            description = "Exponents of how many members the groups have (default: ${DEFAULT-VALUE}).")
    private List<Double> exponents;

    @Option(
            names = "--member-zipf",
            defaultValue = "0",
            description = "The exponent of how many events the members have (default: ${DEFAULT-VALUE}).")
    private double memberExponent;

    @Option(
            names = "--event-micros",
            defaultValue = "1000",
            description = "What an event takes in the mean (default: ${DEFAULT-VALUE}).")
    private long eventMicros;

    @Option(names = "--seconds", defaultValue = "60", description = "Of virtual time (default: ${DEFAULT-VALUE}).")
    private int seconds;

    @Option(names = "--seed", defaultValue = "7", description = "Default: ${DEFAULT-VALUE}.")
    private long seed;

    @Override
    public Integer call() {
        for (double exponent : exponents) {
            for (double load : loads) {
                GroupSpec spec = new GroupSpec(
                        groups, members, exponent, memberExponent, load, TimeUnit.MICROSECONDS.toNanos(eventMicros));
                print(spec, false, run(spec, Optional.empty()));
                print(spec, true, run(spec, Optional.of(Rebalancing.PLUTO)));
            }
        }
        return 0;
    }

    private GroupResult run(GroupSpec spec, Optional<Rebalancing> rebalancing) {
        return new GroupSimulation(workers, spec, rebalancing, seed).run(TimeUnit.SECONDS.toNanos(seconds));
    }

    private void print(GroupSpec spec, boolean isRebalanced, GroupResult result) {
        System.out.printf(
                Locale.ROOT,
                "{\"simulated\":\"groups\",\"rebalancing\":%b,\"workers\":%d,\"groups\":%d,\"members\":%d,\"zipf\":%.2f,"
                        + "\"member_zipf\":%.2f,\"load\":%.2f,\"seconds\":%d,\"events\":%d,\"p50_ms\":%.1f,\"p95_ms\":%.1f,"
                        + "\"p99_ms\":%.1f,\"moves\":%d,\"splits\":%d,\"merges\":%d,\"parts\":%d,\"digest\":\"%016x\"}%n",
                isRebalanced,
                workers,
                spec.groups(),
                spec.members(),
                spec.groupExponent(),
                spec.memberExponent(),
                spec.load(),
                seconds,
                result.latencyNanos().length,
                result.latencyNanos(.5) / NANOS_PER_MILLI,
                result.latencyNanos(.95) / NANOS_PER_MILLI,
                result.latencyNanos(.99) / NANOS_PER_MILLI,
                result.moves(),
                result.splits(),
                result.merges(),
                result.parts(),
                result.digest());
    }
}
