package dev.millrace.engine.task;

import dev.millrace.operator.Operator;

/**
 * How far event time has come at a stage, for one that takes its place.
 *
 * @param watermark the least of its inputs, {@link Operator#NO_WATERMARK} before there is one
 * @param idle whether it assigns watermarks, and nobody is to wait for it
 */
public record StageMark(long watermark, boolean idle) {
    public static final StageMark NONE = new StageMark(Operator.NO_WATERMARK, false);

    /** Of two whose rows may come to one stage, what holds for both. */
    public StageMark and(StageMark other) {
        return new StageMark(Math.min(watermark, other.watermark), idle && other.idle);
    }
}
