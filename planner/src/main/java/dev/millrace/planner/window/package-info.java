/**
 * Windows: which aggregations, joins and ranks may wait for a window's end and then speak once, and where watermarks
 * and lateness come from.
 *
 * <p>Entry: {@link dev.millrace.planner.window.WindowRecognition}, then {@link
 * dev.millrace.planner.window.WatermarkPlacement} when nothing moves any more. Recognition needs append-only rows and a
 * watermark (a pull query has the end of its input instead); where either is missing the plan stays an updating one,
 * and {@link dev.millrace.planner.window.EmissionCheck} says why if that was not what the user asked for.
 */
package dev.millrace.planner.window;
