package dev.millrace.scheduler.simulation;

import dev.millrace.scheduler.SchedulingPolicy;
import dev.millrace.scheduler.SimulatedWorkers;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/** Queries on workers under a policy, for some virtual time. Used once, by one thread. */
public final class Simulation {
    private static final long QUANTUM_NANOS = TimeUnit.MILLISECONDS.toNanos(2); // the engine's

    private final SimulatedWorkers workers;
    private final int workerCount;
    private final List<SimulatedQuery> queries = new ArrayList<>();
    private final ArrayDeque<Runnable> outside = new ArrayDeque<>();
    private final long mostQueuedRows;
    private final SplittableRandom random;
    private final long spreadNanos;
    private boolean measures;
    private double[] latencies = new double[1 << 10];
    private int answers;
    private long rows;
    private long answered;
    private long queued;
    private long greatestQueued;
    private long queuedSinceNanos;
    private double queuedNanos;

    /**
     * @param mostQueuedRows that all queues have at most, about: then sources wait
     * @param spreadNanos queries begin at random times within
     */
    public Simulation(int workers, SchedulingPolicy policy, long mostQueuedRows, long spreadNanos, long seed) {
        this.workers = new SimulatedWorkers(workers, QUANTUM_NANOS, policy);
        this.workers.measureMemory(() -> (double) queued / mostQueuedRows);
        this.workerCount = workers;
        this.mostQueuedRows = mostQueuedRows;
        this.spreadNanos = spreadNanos;
        this.random = new SplittableRandom(seed);
    }

    public void add(QuerySpec spec) {
        long start = spreadNanos == 0 ? 0 : random.nextLong(spreadNanos);
        queries.add(new SimulatedQuery("q" + queries.size(), spec, start, this, workers, random.split()));
    }

    /** Lets time pass, the first part of it for warming up. */
    public SimulationResult run(long warmNanos, long measuredNanos) {
        queries.forEach(SimulatedQuery::start);
        workers.runUntil(warmNanos);
        measures = true;
        greatestQueued = queued;
        queuedSinceNanos = warmNanos;
        long busy = workers.busyNanos();
        long decisions = workers.statistics().decisions();
        long sourceRows = taken();
        List<Double> before = utilisations();
        workers.runUntil(warmNanos + measuredNanos);
        queued(0);
        double seconds = measuredNanos / 1e9;
        double[] sorted = Arrays.copyOf(latencies, answers);
        Arrays.sort(sorted);
        return new SimulationResult(
                sorted,
                rows / seconds,
                (taken() - sourceRows) / seconds,
                answered / seconds,
                greatestQueued,
                queuedNanos / measuredNanos,
                variation(before, warmNanos, measuredNanos),
                (double) (workers.busyNanos() - busy) / measuredNanos / workerCount,
                sum(true),
                sum(false),
                workers.statistics().decisions() - decisions);
    }

    private long sum(boolean estimates) {
        return queries.stream()
                .flatMap(query -> query.sweeping().stream())
                .mapToLong(input -> estimates ? input.estimates() : input.hits())
                .sum();
    }

    private long taken() {
        return queries.stream().mapToLong(SimulatedQuery::rowsTaken).sum();
    }

    private List<Double> utilisations() {
        return queries.stream()
                .flatMap(query -> query.operators().stream())
                .map(operator -> operator.scheduled().utilisation(workers.nowNanos()))
                .toList();
    }

    /** Of the utilisation in the time that is measured: what it is since the start, less what it was before. */
    private double variation(List<Double> before, long warmNanos, long measuredNanos) {
        List<Double> after = utilisations();
        double sum = 0;
        double squares = 0;
        for (int i = 0; i < after.size(); i++) {
            double each = (after.get(i) * (warmNanos + measuredNanos) - before.get(i) * warmNanos) / measuredNanos;
            sum += each;
            squares += each * each;
        }
        double mean = sum / after.size();
        return mean == 0 ? 0 : Math.sqrt(Math.max(0, squares / after.size() - mean * mean)) / mean;
    }

    /** Has something arrive as soon as queues have room; in the order in which it came. */
    void whenThereIsRoom(Runnable arrival) {
        if (queued >= mostQueuedRows || !outside.isEmpty()) {
            outside.add(arrival);
        } else {
            arrival.run();
        }
    }

    void queued(long change) {
        long now = workers.nowNanos();
        queuedNanos += measures ? (double) queued * (now - queuedSinceNanos) : 0;
        queuedSinceNanos = now;
        queued += change;
        greatestQueued = Math.max(greatestQueued, queued);
        while (change < 0 && queued < mostQueuedRows && !outside.isEmpty()) {
            outside.remove().run();
        }
    }

    void worked(long change) {
        rows += measures ? change : 0;
    }

    void answered(long dueNanos, long times) {
        if (!measures || times == 0) {
            return;
        }
        answered += times;
        if (answers == latencies.length) {
            latencies = Arrays.copyOf(latencies, 2 * answers);
        }
        latencies[answers++] = workers.nowNanos() - dueNanos;
    }
}
