package dev.millrace.scheduler.simulation;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.scheduler.SchedulingPolicies;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The shapes of the papers' figures, and what a simulation promises. */
@Tag("long")
final class SimulationTest {
    private static final long MILLI = 1_000_000;
    private static final long SECOND = 1_000 * MILLI;

    /** Twenty queries with windows of three seconds on four workers, in bursts. */
    private static SimulationResult windows(String policy, double load, long seed) {
        Simulation simulation = new Simulation(4, SchedulingPolicies.named(policy), 500_000, 20 * SECOND, seed);
        for (int i = 0; i < 20; i++) {
            simulation.add(Workloads.ysb(load * 4 / 20, 4, Delays.uniform(500 * MILLI)));
        }
        return simulation.run(30 * SECOND, 90 * SECOND);
    }

    private static SimulationResult topology(String policy, double load) {
        Simulation simulation = new Simulation(4, SchedulingPolicies.named(policy), 20_000, 0, 5);
        simulation.add(Workloads.riotbench(load * 4));
        return simulation.run(5 * SECOND, 20 * SECOND);
    }

    @Test
    void oneSeedGivesOneRun() {
        assertArrayEquals(
                windows("klink", .5, 3).latencyNanos(), windows("klink", .5, 3).latencyNanos());
    }

    @Test
    void workIsConservedUnderEveryPolicy() {
        for (String policy : SchedulingPolicies.names()) {
            SimulationResult result = windows(policy, .6, 1);
            assertEquals(.62, result.workersBusy(), .05, policy);
            assertEquals(600, result.latencyNanos().length, 3, policy); // an answer in three seconds of each query
        }
    }

    @Test
    void nearSaturationKlinksTailIsHalfThatOfOthers() {
        SimulationResult klink = windows("klink", .9, 1);
        for (String other : List.of("fcfs", "highest_rate", "streambox")) {
            SimulationResult result = windows(other, .9, 1);
            assertTrue(
                    klink.latencyNanos(.99) < .5 * result.latencyNanos(.99),
                    other + ": " + result.latencyNanos(.99) + ", klink: " + klink.latencyNanos(.99));
            assertTrue(klink.meanLatencyNanos() < .85 * result.meanLatencyNanos(), other);
        }
    }

    @Test
    void whereQueriesAreLateTheLeastWorkFirstHalvesTheMean() {
        SimulationResult shortest = windows("klink_shortest", .95, 1);
        for (String other : List.of("fcfs", "streambox", "klink")) {
            SimulationResult result = windows(other, .95, 1);
            assertTrue(
                    shortest.meanLatencyNanos() < .55 * result.meanLatencyNanos(),
                    other + ": " + result.meanLatencyNanos() + ", klink_shortest: " + shortest.meanLatencyNanos());
            assertTrue(
                    shortest.latencyNanos(.99) < .8 * result.latencyNanos(.99),
                    other + ": " + result.latencyNanos(.99) + ", klink_shortest: " + shortest.latencyNanos(.99));
        }
    }

    @Test
    void estimatesAreRightInNinetyFivePercent() {
        for (Delays delays : List.of(Delays.uniform(SECOND), Delays.zipf(.99, SECOND))) {
            Simulation simulation = new Simulation(2, SchedulingPolicies.named("klink"), 500_000, 0, 9);
            for (int i = 0; i < 5; i++) {
                simulation.add(Workloads.ysb(.02, 1, delays));
            }
            SimulationResult result = simulation.run(0, 1_000 * SECOND);
            assertTrue(result.estimates() > 1_500);
            assertTrue(result.hits() >= .95 * result.estimates(), result.hits() + " of " + result.estimates());
        }
    }

    @Test
    void atSaturationTheLongestQueueFirstTakesMoreAndIsMuchSooner() {
        SimulationResult edgewise = topology("edgewise", 1);
        for (String other : List.of("random", "min_latency")) {
            SimulationResult result = topology(other, 1);
            assertTrue(edgewise.answersPerSecond() > 1.02 * result.answersPerSecond(), other);
            assertTrue(edgewise.meanLatencyNanos() < .4 * result.meanLatencyNanos(), other);
        }
    }

    @Test
    void underLoadTheLongestQueueFirstEvensOutHowBusyOperatorsAre() {
        double idle = topology("edgewise", .3).utilisationVariation();
        double busy = topology("edgewise", .9).utilisationVariation();
        double saturated = topology("edgewise", 1).utilisationVariation();
        assertTrue(busy < .8 * idle && saturated < .5 * busy, idle + ", " + busy + ", " + saturated);
        assertTrue(topology("random", 1).utilisationVariation() > .7 * idle);
    }

    @Test
    void whileMemoryIsFullSourcesWait() {
        SimulationResult result = windows("fcfs", 1.5, 1);
        assertTrue(result.mostQueuedRows() < 520_000, "" + result.mostQueuedRows());
        assertEquals(1, result.workersBusy(), .001);
    }
}
