package dev.millrace.engine.join;

import dev.millrace.engine.state.RowCodec;
import dev.millrace.memory.Memory;
import dev.millrace.plan.node.JoinTime;
import java.util.Optional;
import java.util.OptionalInt;

/** {@link JoinTime.Bounds} and {@link JoinTime.Kept} over encoded rows. */
final class TimeBounds {
    private static final int NONE = -1;

    private final JoinTime.Bounds bounds;
    private final boolean isLimited; // whether not all rows that are there meet
    private final int leftTime; // slots
    private final int rightTime;
    private final int leftUntil;
    private final int rightUntil;

    private TimeBounds(JoinTime.Bounds bounds, boolean isLimited, RowCodec left, RowCodec right) {
        this.bounds = bounds;
        this.isLimited = isLimited;
        this.leftTime = slot(left, bounds.left());
        this.rightTime = slot(right, bounds.right());
        this.leftUntil = slot(left, bounds.leftUntil());
        this.rightUntil = slot(right, bounds.rightUntil());
    }

    /** The bounds of a join, if time drops its rows one by one. */
    static Optional<TimeBounds> of(Optional<JoinTime> time, RowCodec left, RowCodec right) {
        if (time.isPresent() && time.get() instanceof JoinTime.Bounds both) {
            return Optional.of(new TimeBounds(both, true, left, right));
        }
        if (time.isPresent() && time.get() instanceof JoinTime.Kept kept) {
            JoinTime.Bounds both = new JoinTime.Bounds(
                    columnOrNone(kept.left()), columnOrNone(kept.right()), -kept.ttlMicros(), kept.ttlMicros());
            return Optional.of(
                    new TimeBounds(both, kept.left().isPresent() && kept.right().isPresent(), left, right));
        }
        return Optional.empty();
    }

    private static int columnOrNone(OptionalInt column) {
        return column.orElse(NONE);
    }

    private static int slot(RowCodec codec, int column) {
        return column == NONE ? NONE : codec.slot(column);
    }

    /** Whether rows of equal keys may be too far apart, so that {@link #meet} has to be asked. */
    boolean isLimited() {
        return isLimited;
    }

    /** The bounds of the plan. */
    JoinTime.Bounds bounds() {
        return bounds;
    }

    /** Whether rows of a side go by their time. */
    boolean isTimed(int side) {
        return untilSlot(side) != NONE;
    }

    /** Whether two rows meet in time. */
    boolean meet(long left, long right) {
        return distance(Memory.getLong(right + rightTime), Memory.getLong(left + leftUntil)) <= bounds.upperMicros()
                && distance(Memory.getLong(left + leftTime), Memory.getLong(right + rightUntil))
                        <= -bounds.lowerMicros()
                && (bounds.leftByTime() || !RowCodec.isNull(left, bounds.leftUntil()))
                && (bounds.rightByTime() || !RowCodec.isNull(right, bounds.rightUntil()));
    }

    /** From one time to another; as far as 64 bits go where one of them is infinite, which an end of a lifetime may be. */
    static long distance(long to, long from) {
        long distance = to - from;
        return ((to ^ from) & (to ^ distance)) >= 0 ? distance : to < 0 ? Long.MIN_VALUE : Long.MAX_VALUE;
    }

    /** Where in a row of a side is until when it can have partners: {@link #reach} behind the watermark; 0 if never. */
    int untilSlot(int side) {
        return side == 0 ? leftUntil : rightUntil;
    }

    /** How far behind that time the watermark must be for partners not to come any more. */
    long reach(int side) {
        return Math.max(0, side == 0 ? bounds.upperMicros() : -bounds.lowerMicros());
    }
}
