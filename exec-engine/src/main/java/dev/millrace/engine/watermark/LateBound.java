package dev.millrace.engine.watermark;

import dev.millrace.operator.Operator;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.text.CalendarUnits;
import java.util.Optional;

/**
 * From which time on a row is in time, given a watermark {@code w}: a row at {@code t} is late if {@code t < bound}. The
 * first window of a row ends later the later the row is, so that a window of a row has ended exactly below such a bound:
 *
 * <pre>
 *   TUMBLE(size)            floor(w / size) * size
 *   CUMULATE(step, size)    floor(w / step) * step
 *   HOP(slide, size)        floor((w - size) / slide) * slide + size
 *   SESSION(gap)            w - gap + 1, by the session the row would open alone
 *   rows with their window  w + 1, compared with its end
 *   no windows              nothing is late
 * </pre>
 *
 * Of windows with an offset {@code o}, the bound under {@code w - o}, and {@code o} later. Of windows that a calendar counts, the same of its units' numbers: the beginning
 * of the unit that has the bound under the number of the watermark's.
 */
final class LateBound {
    /** How often the clock is looked at where it is not known when a window ends. */
    private static final long TICK_MICROS = 100_000;

    private static final long LEAST_TICK_MICROS = 1_000;
    private static final long FOREVER = Long.MAX_VALUE / 2;

    private final long unit;
    private final long offset; // of the watermark, before it is cut to units
    private final long base; // added after
    private final long life;
    private final long tick;
    private final Optional<CalendarUnits> counted; // of which all of these are numbers

    private LateBound(long unit, long offset, long base, long life, long tick) {
        this(unit, offset, base, life, tick, Optional.empty());
    }

    private LateBound(long unit, long offset, long base, long life, long tick, Optional<CalendarUnits> counted) {
        this.unit = unit;
        this.offset = offset;
        this.base = base;
        this.life = life;
        this.tick = tick;
        this.counted = counted;
    }

    static LateBound of(Optional<WindowSpec> windows) {
        if (windows.isEmpty()) {
            return new LateBound(0, 0, 0, FOREVER, TICK_MICROS);
        }
        WindowSpec spec = windows.get();
        if (spec instanceof WindowSpec.Tumble tumble) {
            long moved = tumble.offsetMicros();
            return new LateBound(tumble.sizeMicros(), -moved, moved, tumble.sizeMicros(), 0);
        }
        if (spec instanceof WindowSpec.Cumulate cumulate) {
            long moved = cumulate.offsetMicros();
            return new LateBound(cumulate.stepMicros(), -moved, moved, cumulate.sizeMicros(), 0);
        }
        if (spec instanceof WindowSpec.Hop hop) {
            long end = hop.sizeMicros() + hop.offsetMicros(); // of the window that begins at the offset
            return new LateBound(hop.slideMicros(), -end, end, hop.sizeMicros(), 0);
        }
        if (spec instanceof WindowSpec.Session session) {
            long gap = session.gapMicros();
            return new LateBound(1, 1 - gap, 0, 2 * gap, Math.max(LEAST_TICK_MICROS, Math.min(TICK_MICROS, gap / 4)));
        }
        if (spec instanceof WindowSpec.Calendar calendar) {
            LateBound numbers = of(Optional.of(calendar.counted()));
            CalendarUnits units = calendar.units();
            return new LateBound(
                    numbers.unit,
                    numbers.offset,
                    numbers.base,
                    saturated(numbers.life, units.longestMicros()),
                    0,
                    Optional.of(units));
        }
        return new LateBound(1, 1, 0, FOREVER, TICK_MICROS);
    }

    private static long saturated(long count, long micros) {
        return count >= FOREVER / micros ? FOREVER : count * micros;
    }

    boolean nothingIsLate() {
        return unit == 0;
    }

    /** The bound under a watermark; {@code Long.MIN_VALUE} before the first. */
    long at(long watermark) {
        if (watermark == Operator.NO_WATERMARK || unit == 0) {
            return Long.MIN_VALUE;
        }
        return counted.isPresent() ? counted.get().start(boundOf(counted.get().at(watermark))) : boundOf(watermark);
    }

    private long boundOf(long watermark) {
        long shifted = watermark + offset;
        return shifted - Math.floorMod(shifted, unit) + base;
    }

    /** The least watermark above this one with another bound. */
    long nextChange(long watermark) {
        if (watermark == Operator.NO_WATERMARK || unit == 0) {
            return Long.MIN_VALUE + 1;
        }
        return counted.isPresent()
                ? counted.get().start(changeAfter(counted.get().at(watermark)))
                : changeAfter(watermark);
    }

    private long changeAfter(long watermark) {
        return boundOf(watermark) - base + unit - offset;
    }

    /** When a watermark that follows the clock is worth another look, if it is {@code watermark} now. */
    long nextTick(long watermark) {
        return tick > 0 ? watermark + tick : nextChange(watermark);
    }

    /** How long after a row the last window that holds it is closed, at most. */
    long lifeMicros() {
        return life;
    }
}
