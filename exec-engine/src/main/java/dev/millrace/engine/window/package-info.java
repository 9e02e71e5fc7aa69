/**
 * Windows of event time: assignment, aggregation by slices and by sessions, and the rows with a window's extreme.
 *
 * <p>Entry: {@link dev.millrace.engine.window.SliceAggregateOperator}, {@link dev.millrace.engine.window.SessionAggregateOperator},
 * {@link dev.millrace.engine.window.WindowExtremeOperator}, {@link dev.millrace.engine.window.WindowAssignOperator}. All
 * but the last emit a window once, in order of window ends: when the watermark reaches its end, and sessions when no row
 * can come any more that would join them.
 */
package dev.millrace.engine.window;
