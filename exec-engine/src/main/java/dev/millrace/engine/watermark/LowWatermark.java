package dev.millrace.engine.watermark;

import dev.millrace.operator.Operator;
import java.util.Arrays;

/**
 * The least watermark of several inputs, those that are idle left out. Never goes back: an input that was idle and comes
 * back with older rows does not hold back what was promised without it. While all are idle it stays.
 *
 * <p>An input may be without event time, as a table beside a stream: nobody waits for it, but the end has come only when it has
 * come there, too.
 */
public final class LowWatermark {
    private final long[] inputs;
    private final boolean[] idle;
    private final boolean[] timeless;
    private long combined = Operator.NO_WATERMARK;

    public LowWatermark(int count) {
        inputs = new long[count];
        idle = new boolean[count];
        timeless = new boolean[count];
        Arrays.fill(inputs, Operator.NO_WATERMARK);
    }

    /** This input has no event time. Before anything came. */
    public void ignore(int input) {
        timeless[input] = true;
        idle[input] = true;
    }

    /** An input's watermark; returns whether the least one grew. */
    public boolean advance(int input, long micros) {
        idle[input] = timeless[input];
        inputs[input] = Math.max(inputs[input], micros);
        return combine();
    }

    /** Nobody should wait for this input; returns whether the least watermark grew. */
    public boolean idle(int input) {
        idle[input] = true;
        return combine();
    }

    /** It begins where another was; before anything came. Returns whether that is anywhere. */
    public boolean goOnAt(long micros) {
        combined = Math.max(combined, micros);
        return combined != Operator.NO_WATERMARK;
    }

    /** Something came from an input. */
    public void active(int input) {
        idle[input] = timeless[input];
    }

    private boolean combine() {
        long least = Long.MAX_VALUE;
        boolean any = false;
        boolean ended = true;
        for (int i = 0; i < inputs.length; i++) {
            if (!idle[i]) {
                least = Math.min(least, inputs[i]);
                any = true;
            }
            ended &= !timeless[i] || inputs[i] == Operator.END_OF_INPUT;
        }
        if (least == Operator.END_OF_INPUT && !ended) {
            least--;
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
