/**
 * Rewrites around window functions: ranks that no filter limits number all rows, functions of one window are computed
 * together, and where it is asked for rows wait for the watermark instead of changing.
 *
 * <p>Entry: {@link dev.millrace.planner.over.OverRecognition}. Runs after windows of event time were recognised.
 */
package dev.millrace.planner.over;
