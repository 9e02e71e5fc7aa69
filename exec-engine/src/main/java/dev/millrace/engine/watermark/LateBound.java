package dev.millrace.engine.watermark;

import dev.millrace.operator.Operator;
import dev.millrace.plan.node.WindowSpec;
import java.util.Optional;

/**
 * From which time on a row is in time, given a watermark: a row at {@code t} is late if {@code t < bound}. The last window
 * of a row ends later the later the row is, so that all windows of a row have ended exactly below such a bound:
 *
 * <pre>
 *   TUMBLE(size), CUMULATE(step, size)   floor(w / size) * size
 *   HOP(slide, size)                     (floor((w - size) / slide) + 1) * slide
 *   SESSION(gap)                         w - gap + 1
 *   rows with their window's end         w + 1, compared with that end
 *   no windows                           nothing is late
 * </pre>
 */
final class LateBound {
    private final long unit;
    private final long offset;

    private LateBound(long unit, long offset) {
        this.unit = unit;
        this.offset = offset;
    }

    static LateBound of(Optional<WindowSpec> windows) {
        if (windows.isEmpty()) {
            return new LateBound(0, 0);
        }
        WindowSpec spec = windows.get();
        if (spec instanceof WindowSpec.Tumble tumble) {
            return new LateBound(tumble.sizeMicros(), 0);
        }
        if (spec instanceof WindowSpec.Cumulate cumulate) {
            return new LateBound(cumulate.sizeMicros(), 0);
        }
        if (spec instanceof WindowSpec.Hop hop) {
            return new LateBound(hop.slideMicros(), hop.slideMicros() - hop.sizeMicros());
        }
        if (spec instanceof WindowSpec.Session session) {
            return new LateBound(1, 1 - session.gapMicros());
        }
        return new LateBound(1, 1);
    }

    boolean nothingIsLate() {
        return unit == 0;
    }

    /** The bound under a watermark; {@code Long.MIN_VALUE} before the first. */
    long at(long watermark) {
        if (watermark == Operator.NO_WATERMARK || unit == 0) {
            return Long.MIN_VALUE;
        }
        long shifted = watermark + offset;
        return shifted - Math.floorMod(shifted, unit);
    }

    /** The least watermark above this one with another bound. */
    long nextChange(long watermark) {
        return watermark == Operator.NO_WATERMARK || unit == 0 ? Long.MIN_VALUE + 1 : at(watermark) + unit - offset;
    }
}
