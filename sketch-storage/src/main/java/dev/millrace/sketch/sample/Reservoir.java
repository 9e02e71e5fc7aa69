package dev.millrace.sketch.sample;

/** A sample of bounded size of the values that went by. Not thread-safe. */
public interface Reservoir {
    /** Offers a value with its event time in ticks; times should not go back. */
    void offer(double value, long ticks);

    /** The values in the sample, in no order. */
    double[] sample();
}
