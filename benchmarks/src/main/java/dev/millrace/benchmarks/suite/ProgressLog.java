package dev.millrace.benchmarks.suite;

import dev.millrace.benchmarks.process.ProcessClock;
import java.util.ArrayList;
import java.util.List;

/** Readings taken while a query runs, from which its steady part follows once it ended. */
final class ProgressLog {
    private static final double WARM_UP = 0.25;

    private record Sample(long rows, ProcessClock.Reading at) {}

    private final List<Sample> samples = new ArrayList<>();

    /** The part of a run after the warm-up. {@code share} is what part of all events that was. */
    record Steady(double share, double seconds, double cpuSeconds) {}

    /** Notes how many rows were read by now. */
    void sample(long rows, ProcessClock.Reading now) {
        samples.add(new Sample(rows, now));
    }

    /** The part from the first sample with at least a quarter of the last one's rows. */
    Steady steady() {
        Sample last = samples.get(samples.size() - 1);
        Sample from = samples.stream()
                .filter(sample -> sample.rows >= WARM_UP * last.rows)
                .findFirst()
                .orElse(samples.get(0));
        if (from == last) { // too short a run to tell its parts apart
            from = samples.get(0);
        }
        return new Steady(
                1 - (double) from.rows / Math.max(1, last.rows),
                (last.at.nanos() - from.at.nanos()) / 1e9,
                (last.at.cpuNanos() - from.at.cpuNanos()) / 1e9);
    }
}
