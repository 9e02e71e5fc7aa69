package dev.millrace.engine.watermark;

import dev.millrace.operator.Operator;
import java.util.Arrays;

/**
 * The least watermark of several inputs, those that are idle left out. Never goes back: an input that was idle and comes
 * back with older rows does not hold back what was promised without it. While all are idle it stays.
 */
public final class LowWatermark {
    private final long[] inputs;
    private final boolean[] idle;
    private long combined = Operator.NO_WATERMARK;

    public LowWatermark(int count) {
        inputs = new long[count];
        idle = new boolean[count];
        Arrays.fill(inputs, Operator.NO_WATERMARK);
    }

    /** An input's watermark; returns whether the least one grew. */
    public boolean advance(int input, long micros) {
        idle[input] = false;
        inputs[input] = Math.max(inputs[input], micros);
        return combine();
    }

    /** Nobody should wait for this input; returns whether the least watermark grew. */
    public boolean idle(int input) {
        idle[input] = true;
        return combine();
    }

    /** Something came from an input. */
    public void active(int input) {
        idle[input] = false;
    }

    private boolean combine() {
        long least = Long.MAX_VALUE;
        boolean any = false;
        for (int i = 0; i < inputs.length; i++) {
            if (!idle[i]) {
                least = Math.min(least, inputs[i]);
                any = true;
            }
        }
        if (!any || least <= combined) {
            return false;
        }
        combined = least;
        return true;
    }

    public long micros() {
        return combined;
    }

    /** Whether all inputs are idle. */
    public boolean isIdle() {
        for (boolean one : idle) {
            if (!one) {
                return false;
            }
        }
        return idle.length > 0;
    }
}
