/**
 * Tables that are kept like those of PostgreSQL and MySQL by following their logs, with Debezium's engine.
 *
 * <p>Entry: {@link dev.millrace.capture.PostgresFeedFactory}, {@link dev.millrace.capture.BinlogFeedFactory}, which are services: this module is
 * not a part of every distribution. Each table has an engine of its own ({@link dev.millrace.capture.CaptureFeed}), whose threads bring records;
 * {@link dev.millrace.capture.CaptureRun} makes transactions of them. What Debezium would keep in files (its offset, and what it knows of the
 * tables' definitions) is a part of the position ({@link dev.millrace.capture.CapturedPosition}), which is written in the same transaction as the
 * rows.
 *
 * <pre>
 *   log -> Debezium -> CaptureRun: to the end of a transaction -> FedTable.change(rows, position) -> acknowledged to the database
 * </pre>
 */
package dev.millrace.capture;
