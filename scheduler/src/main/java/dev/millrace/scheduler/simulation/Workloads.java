package dev.millrace.scheduler.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Queries of the shape of the papers' workloads. Costs are of a slow machine, so that few rows are much work and a simulation is short. */
public final class Workloads {
    private static final long MICRO = 1_000;
    private static final long MILLI = 1_000 * MICRO;

    private Workloads() {}

    /**
     * Like the Yahoo streaming benchmark (Klink, section 6.1.1): parsed, filtered to a third, joined, counted in windows of three seconds.
     *
     * @param workers how many workers it keeps at work, in the mean
     * @param burst see {@link QuerySpec#burst}
     */
    public static QuerySpec ysb(double workers, double burst, Delays delays) {
        return query(
                workers,
                burst,
                delays,
                List.of(
                        new OperatorSpec(30 * MICRO, 1, 0),
                        new OperatorSpec(10 * MICRO, .33, 0),
                        new OperatorSpec(30 * MICRO, 1, 0),
                        new OperatorSpec(30 * MICRO, .01, TimeUnit.SECONDS.toNanos(3)),
                        new OperatorSpec(10 * MICRO, 1, 0)));
    }

    /** Like RIoTBench's topologies (EdgeWise, Fig. 6): many operators without windows, one of which takes much longer than others. */
    public static QuerySpec riotbench(double workers) {
        List<OperatorSpec> operators = new ArrayList<>();
        for (int micros : new int[] {20, 15, 30, 15, 100, 15, 30, 15, 20, 25, 15, 20, 20, 15, 30, 25}) {
            operators.add(new OperatorSpec(micros * MICRO, 1, 0));
        }
        return query(workers, 1, random -> 0, operators);
    }

    private static QuerySpec query(double workers, double burst, Delays delays, List<OperatorSpec> operators) {
        double rowNanos = 0;
        double rows = 1;
        for (OperatorSpec operator : operators) {
            rowNanos += rows * operator.rowNanos();
            rows *= operator.selectivity();
        }
        return new QuerySpec(workers * 1e9 / rowNanos, burst, 20 * MILLI, 500 * MILLI, delays, operators);
    }
}
