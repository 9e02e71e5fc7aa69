/**
 * Event time: which rows are late, and how far the slowest input is.
 *
 * <p>Entry: {@link dev.millrace.engine.watermark.WatermarkOperator} assigns watermarks,
 * {@link dev.millrace.engine.watermark.LowWatermark} combines those of several inputs. Driven by one thread at a time.
 */
package dev.millrace.engine.watermark;
