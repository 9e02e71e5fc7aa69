package dev.millrace.engine.join;

import dev.millrace.batch.Memory;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.plan.node.JoinTime;

/** {@link JoinTime.Bounds} over encoded rows. */
final class TimeBounds {
    private final int leftTime; // slots
    private final int rightTime;
    private final int leftUntil;
    private final int rightUntil;
    private final JoinTime.Bounds bounds;

    TimeBounds(JoinTime.Bounds bounds, RowCodec left, RowCodec right) {
        this.bounds = bounds;
        this.leftTime = left.slot(bounds.left());
        this.rightTime = right.slot(bounds.right());
        this.leftUntil = left.slot(bounds.leftUntil());
        this.rightUntil = right.slot(bounds.rightUntil());
    }

    /** Whether two rows meet in time. */
    boolean meet(long left, long right) {
        return Memory.getLong(right + rightTime) - Memory.getLong(left + leftUntil) <= bounds.upperMicros()
                && Memory.getLong(left + leftTime) - Memory.getLong(right + rightUntil) <= -bounds.lowerMicros()
                && (bounds.leftByTime() || !RowCodec.isNull(left, bounds.leftUntil()))
                && (bounds.rightByTime() || !RowCodec.isNull(right, bounds.rightUntil()));
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
