package dev.millrace.scheduler;

import java.util.List;

/**
 * When the next answer of a query with windows is due. A join has an input for each side, whose watermarks come at their own pace: the one
 * with the least slack counts (Klink, section 3.3).
 */
public final class WindowProgress {
    private final List<SweepingWatermarks> inputs;

    /** @param inputs one at least */
    public WindowProgress(List<SweepingWatermarks> inputs) {
        if (inputs.isEmpty()) {
            throw new IllegalArgumentException("a query with windows has an input");
        }
        this.inputs = List.copyOf(inputs);
    }

    public List<SweepingWatermarks> inputs() {
        return inputs;
    }

    /** Whether a window's end was seen on any input; before there is nothing to go by. */
    public boolean isKnown() {
        for (int i = 0; i < inputs.size(); i++) {
            if (inputs.get(i).isKnown()) {
                return true;
            }
        }
        return false;
    }

    /**
     * The time that is left until the next answer's input is complete, less that which what is queued takes: how long the query can do without a
     * worker before its answer is late.
     *
     * @param workNanos what carrying all that is queued to the query's end takes
     */
    public double slackNanos(long nowNanos, double workNanos) {
        double least = Double.MAX_VALUE;
        for (int i = 0; i < inputs.size(); i++) {
            if (inputs.get(i).isKnown()) {
                least = Math.min(least, inputs.get(i).slackNanos(nowNanos, workNanos));
            }
        }
        return least;
    }

    /** When the next window ends in event time, by the clock: the first of the inputs'. */
    public long deadlineNanos() {
        long first = Long.MAX_VALUE;
        for (int i = 0; i < inputs.size(); i++) {
            if (inputs.get(i).isKnown()) {
                first = Math.min(first, inputs.get(i).deadlineNanos());
            }
        }
        return first;
    }
}
