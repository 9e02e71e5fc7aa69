package dev.millrace.scheduler;

import java.util.Optional;

/** A task and those behind it, as far as each has one alone, up to the query's end. */
final class Path {
    private static final double LEAST_NANOS = 1; // of a row whose time is not known yet

    private Path() {}

    /** How many tasks are behind it. */
    static int length(TaskStatistics task) {
        int length = 0;
        for (Optional<? extends TaskStatistics> next = task.downstream();
                next.isPresent();
                next = next.get().downstream()) {
            length++;
        }
        return length;
    }

    /** What carrying one of its rows to the end takes, and what comes of it there. */
    static double rowNanos(TaskStatistics task) {
        double nanos = 0;
        double rows = 1;
        for (Optional<? extends TaskStatistics> next = Optional.of(task);
                next.isPresent();
                next = next.get().downstream()) {
            nanos += rows * Math.max(LEAST_NANOS, next.get().rowNanos());
            rows *= next.get().selectivity();
        }
        return nanos;
    }

    /** Rows at the end for one of its rows. */
    static double selectivity(TaskStatistics task) {
        double rows = 1;
        for (Optional<? extends TaskStatistics> next = Optional.of(task);
                next.isPresent();
                next = next.get().downstream()) {
            rows *= next.get().selectivity();
        }
        return rows;
    }

    /** What carrying all that is queued for it and for those behind it to the end takes. */
    static double workNanos(TaskStatistics task) {
        double nanos = 0;
        double rows = 0;
        for (Optional<? extends TaskStatistics> next = Optional.of(task);
                next.isPresent();
                next = next.get().downstream()) {
            rows += next.get().queuedRows();
            nanos += rows * Math.max(LEAST_NANOS, next.get().rowNanos());
            rows *= next.get().selectivity();
        }
        return nanos;
    }

    /** The greatest share of rows that go away in a nanosecond, up to any of the tasks behind it: the steepest way down (Chain). */
    static double steepest(TaskStatistics task) {
        double steepest = Double.NEGATIVE_INFINITY;
        double nanos = 0;
        double rows = 1;
        for (Optional<? extends TaskStatistics> next = Optional.of(task);
                next.isPresent();
                next = next.get().downstream()) {
            nanos += rows * Math.max(LEAST_NANOS, next.get().rowNanos());
            rows *= next.get().selectivity();
            steepest = Math.max(steepest, (1 - rows) / nanos);
        }
        return steepest;
    }

    /** How many of the queued rows a cycle can do away with, up to any of the tasks behind it (Klink's p, section 3.4). */
    static double released(TaskStatistics task, long cycleNanos) {
        double most = 0;
        double nanos = 0;
        double rows = 1;
        for (Optional<? extends TaskStatistics> next = Optional.of(task);
                next.isPresent();
                next = next.get().downstream()) {
            nanos += rows * Math.max(LEAST_NANOS, next.get().rowNanos());
            rows *= next.get().selectivity();
            most = Math.max(most, Math.min(task.queuedRows(), cycleNanos / nanos) * (1 - rows));
        }
        return most;
    }
}
