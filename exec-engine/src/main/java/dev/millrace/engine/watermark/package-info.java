/**
 * Event time: which rows are late, how far the slowest input is, and which version of a table's row holds when.
 *
 * <p>Entry: {@link dev.millrace.engine.watermark.WatermarkOperator} assigns watermarks,
 * {@link dev.millrace.engine.watermark.LowWatermark} combines those of several inputs, {@link
 * dev.millrace.engine.watermark.VersionsOperator} makes of a table's changes rows that are never taken back, which a temporal
 * join looks up. Driven by one thread at a time.
 */
package dev.millrace.engine.watermark;
