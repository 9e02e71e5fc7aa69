package dev.millrace.engine.task;

import dev.millrace.plan.node.WindowSpec;
import dev.millrace.scheduler.SweepingWatermarks;
import java.util.Optional;

/** Sees from an input's watermarks when windows ended, and says so to who estimates when the next will. */
final class WindowEnds {
    private static final long NEVER = Long.MIN_VALUE;

    /** A century: what is further off is as far for whoever plans, and is counted in nanoseconds. */
    private static final long MOST_MICROS = 100L * 365 * 86_400 * 1_000_000;

    private final long periodMicros;
    private final long offsetMicros;
    private final SweepingWatermarks estimates;
    private long lastEnd = NEVER;

    private WindowEnds(long periodMicros, long offsetMicros) {
        this.periodMicros = periodMicros;
        this.offsetMicros = offsetMicros;
        this.estimates = new SweepingWatermarks(1_000 * Math.min(periodMicros, MOST_MICROS));
    }

    /** Of windows that end at regular times; those of sessions are not known before. */
    static Optional<WindowEnds> of(WindowSpec window) {
        if (window.equals(WindowSpec.INSTANT)) {
            return Optional.empty(); // what only tells late rows
        }
        if (window instanceof WindowSpec.Tumble tumble) {
            return Optional.of(new WindowEnds(tumble.sizeMicros(), tumble.offsetMicros()));
        }
        if (window instanceof WindowSpec.Hop hop) {
            return Optional.of(
                    new WindowEnds(hop.slideMicros(), (hop.sizeMicros() + hop.offsetMicros()) % hop.slideMicros()));
        }
        if (window instanceof WindowSpec.Cumulate cumulate) {
            return Optional.of(new WindowEnds(cumulate.stepMicros(), cumulate.offsetMicros() % cumulate.stepMicros()));
        }
        return Optional.empty();
    }

    SweepingWatermarks estimates() {
        return estimates;
    }

    /**
     * A watermark has come; on the task's thread. Of the first it is not known which windows it completes.
     *
     * @param nowMicros since 1970, at {@code nowNanos} of the clock
     */
    void reached(long watermarkMicros, long nowMicros, long nowNanos) {
        long end = watermarkMicros - Math.floorMod(watermarkMicros - offsetMicros, periodMicros);
        if (end <= lastEnd) {
            return;
        }
        boolean isFirst = lastEnd == NEVER;
        lastEnd = end;
        if (!isFirst) {
            long agoMicros = Math.max(-MOST_MICROS, Math.min(MOST_MICROS, nowMicros - end));
            estimates.swept(nowNanos - 1_000 * agoMicros, nowNanos);
            estimates.through(); // the task carries it on before it takes another row; what follows elsewhere is due as
            // it comes
        }
    }
}
