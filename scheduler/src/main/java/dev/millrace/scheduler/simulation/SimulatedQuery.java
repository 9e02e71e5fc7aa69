package dev.millrace.scheduler.simulation;

import dev.millrace.scheduler.SimulatedWorkers;
import dev.millrace.scheduler.SweepingWatermarks;
import dev.millrace.scheduler.WindowProgress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/** A query's source and operators. */
final class SimulatedQuery {
    private static final double BURST_SHARE = .1;

    private final String name;
    private final QuerySpec spec;
    private final Simulation simulation;
    private final SimulatedWorkers workers;
    private final SplittableRandom random;
    private final List<SimulatedOperator> operators = new ArrayList<>(); // from the last
    private final long windowNanos;
    private final Optional<SweepingWatermarks> sweeping;
    private final Optional<WindowProgress> progress;
    private final long startNanos;
    private long lastWatermarkArrival;
    private long nextSweep;
    private double owed;
    private boolean bursts;

    SimulatedQuery(
            String name,
            QuerySpec spec,
            long startNanos,
            Simulation simulation,
            SimulatedWorkers workers,
            SplittableRandom random) {
        this.name = name;
        this.spec = spec;
        this.startNanos = startNanos;
        this.simulation = simulation;
        this.workers = workers;
        this.random = random;
        this.windowNanos = spec.operators().stream()
                .mapToLong(OperatorSpec::windowNanos)
                .max()
                .orElse(0);
        this.sweeping = windowNanos > 0 ? Optional.of(new SweepingWatermarks(windowNanos)) : Optional.empty();
        this.progress = sweeping.map(input -> new WindowProgress(List.of(input)));
        this.nextSweep = windowNanos;
        Optional<SimulatedOperator> next = Optional.empty();
        for (int i = spec.operators().size() - 1; i >= 0; i--) {
            SimulatedOperator operator =
                    new SimulatedOperator(this, spec.operators().get(i), next, workers);
            operators.add(operator);
            next = Optional.of(operator);
        }
    }

    void start() {
        workers.schedule(startNanos, () -> sendRows(startNanos));
        workers.schedule(startNanos, () -> sendWatermark(startNanos));
    }

    private SimulatedOperator first() {
        return operators.get(operators.size() - 1);
    }

    private void sendRows(long atNanos) {
        double mean = spec.rowsPerSecond() * spec.tickNanos() / 1e9;
        if (spec.burst() > 1 && random.nextInt(50) == 0) { // a burst or its absence lasts fifty ticks in the mean
            bursts = random.nextDouble() < BURST_SHARE;
        }
        double other = (1 - BURST_SHARE * spec.burst()) / (1 - BURST_SHARE);
        owed += mean * (spec.burst() == 1 ? .5 + random.nextDouble() : bursts ? spec.burst() : other);
        long rows = (long) owed;
        owed -= rows;
        if (rows > 0) {
            workers.schedule(
                    atNanos + spec.delays().draw(random),
                    () -> simulation.whenThereIsRoom(() -> first().rows(atNanos - startNanos, rows)));
        }
        workers.schedule(atNanos + spec.tickNanos(), () -> sendRows(atNanos + spec.tickNanos()));
    }

    /** Watermarks do not overtake each other. */
    private void sendWatermark(long atNanos) {
        lastWatermarkArrival =
                Math.max(lastWatermarkArrival, atNanos + spec.delays().draw(random));
        workers.schedule(
                lastWatermarkArrival, () -> simulation.whenThereIsRoom(() -> watermarkArrives(atNanos - startNanos)));
        workers.schedule(atNanos + spec.watermarkNanos(), () -> sendWatermark(atNanos + spec.watermarkNanos()));
    }

    private void watermarkArrives(long eventNanos) {
        if (windowNanos > 0 && eventNanos >= nextSweep) {
            long end = eventNanos - eventNanos % windowNanos;
            nextSweep = end + windowNanos;
            sweeping.orElseThrow().swept(startNanos + end, workers.nowNanos());
        }
        first().watermark(eventNanos);
    }

    /** Rows are at the end. */
    void answered(long eventNanos, long rows) {
        if (windowNanos == 0) {
            simulation.answered(startNanos + eventNanos, rows);
        }
    }

    /** A window's watermark is at the end. */
    void swept(long eventNanos) {
        if (windowNanos > 0) {
            sweeping.orElseThrow().through();
            simulation.answered(startNanos + eventNanos, 1);
        }
    }

    void queued(long rows) {
        simulation.queued(rows);
    }

    void worked(long rows) {
        simulation.worked(rows);
    }

    long nowNanos() {
        return workers.nowNanos();
    }

    String name() {
        return name;
    }

    Optional<WindowProgress> progress() {
        return progress;
    }

    Optional<SweepingWatermarks> sweeping() {
        return sweeping;
    }

    List<SimulatedOperator> operators() {
        return operators;
    }

    long rowsTaken() {
        return first().rowsIn();
    }
}
